// Every page: theme, local times, copy buttons, stepping through a case, live results, filters that apply themselves.
import { startCopying } from "./copy.js";
import { follow } from "./live.js";
import { dress } from "./dress.js";
import { startStepping } from "./steps.js";
import { startTheme } from "./theme.js";

document.documentElement.classList.add("scripted");
startTheme();
startCopying();
startStepping();
dress(document);
for (const panel of document.querySelectorAll("[data-panel]")) follow(panel);

for (const form of document.querySelectorAll("[data-filters]")) {
  form.addEventListener("change", (event) => {
    if (event.target.matches("select")) form.requestSubmit();
  });
}
