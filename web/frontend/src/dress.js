// What each new piece of a page needs: local times, the tools that only work with a script.
import { placeSteps } from "./steps.js";

const SHORT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function dress(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    time.title = time.dateTime;
    time.textContent = SHORT.format(moment);
  }
  for (const button of root.querySelectorAll("[data-copy]")) button.hidden = false;
  for (const steps of root.querySelectorAll("[data-steps]")) placeSteps(steps);
}
