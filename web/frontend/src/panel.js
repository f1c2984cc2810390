// The result panel on an open page: swaps in what the server renders, part by part, and leaves the rest alone.
import { dress } from "./dress.js";

const SIGNS = { passed: "✓", failed: "✗", not_reached: "–" };
const seen = new WeakMap();

export async function fetchPanel(address) {
  const answer = await fetch(address, { headers: { "X-Requested-With": "fetch" } });
  if (!answer.ok) throw new Error(`the panel answered ${answer.status}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const panel = page.querySelector("[data-panel]");
  if (!panel) throw new Error("the answer holds no panel");
  return document.importNode(panel, true);
}

// Remember how the server wrote each part, before scripts change it.
export function remember(panel) {
  for (const part of parts(panel)) seen.set(part, wording(part));
}

// Take over what is new. While it is still running the live rows know more than the server's, so they stay.
export function take(panel, fresh) {
  const finished = fresh.hasAttribute("data-finished");
  for (const name of ["class", "data-finished", "data-settled"]) copyAttribute(panel, fresh, name);
  remember(fresh);
  const old = new Map(parts(panel).map((part) => [part.dataset.part, part]));
  const focus = document.activeElement?.id;
  for (const part of parts(fresh)) {
    const before = old.get(part.dataset.part);
    old.delete(part.dataset.part);
    if (before && (seen.get(before) === seen.get(part) || (!finished && part.dataset.part === "groups"))) {
      panel.append(before);
    } else {
      panel.append(part);
      dress(part);
      before?.remove();
    }
  }
  for (const gone of old.values()) gone.remove();
  if (focus && document.activeElement === document.body) document.getElementById(focus)?.focus();
}

export function mark(panel, group) {
  const row = panel.querySelector(`[data-group="${CSS.escape(group.key)}"]`);
  if (!row) return;
  row.dataset.state = group.state;
  row.querySelector(".sign").textContent = SIGNS[group.state] ?? "·";
  row.querySelector(".word").textContent = word(group);
}

export function headline(panel, text) {
  panel.querySelector("[data-headline]").textContent = text;
}

function word(group) {
  if (group.state === "failed" && group.verdict) return group.verdict.replaceAll("_", " ");
  return group.state.replaceAll("_", " ");
}

function parts(panel) {
  return [...panel.querySelectorAll(":scope > [data-part]")];
}

// A form's token is new in each answer and says nothing about the part.
function wording(part) {
  return part.outerHTML.replaceAll(/name="csrf_token" value="[^"]*"/g, "");
}

function copyAttribute(to, from, name) {
  if (from.hasAttribute(name)) to.setAttribute(name, from.getAttribute(name));
  else to.removeAttribute(name);
}
