// Step through a failing case with the arrow keys. The table alone tells the whole story; this only moves a marker.
const MOVES = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -Infinity, End: Infinity };

export function startStepping() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-step]");
    if (button) move(button.closest("[data-steps]"), Number(button.dataset.step));
  });
  document.addEventListener("keydown", (event) => {
    const steps = event.target.closest?.("[data-steps]");
    if (!steps || !(event.key in MOVES) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    move(steps, MOVES[event.key]);
  });
}

export function placeSteps(steps) {
  const rows = rowsOf(steps);
  if (rows.length < 2) return;
  const bad = rows.findIndex((row) => row.dataset.n === steps.dataset.firstBad);
  steps.querySelector(".stepper").hidden = false;
  steps.querySelector("[data-step-place]").setAttribute("aria-live", "polite");
  show(steps, rows, bad < 0 ? rows.length - 1 : bad, { scroll: false });
}

function rowsOf(steps) {
  return [...steps.querySelectorAll("tbody tr")];
}

function move(steps, by) {
  const rows = rowsOf(steps);
  const now = rows.findIndex((row) => row.hasAttribute("aria-current"));
  show(steps, rows, Math.max(0, Math.min(rows.length - 1, now + by)), { scroll: true });
}

function show(steps, rows, at, { scroll }) {
  for (const row of rows) row.removeAttribute("aria-current");
  rows[at].setAttribute("aria-current", "step");
  steps.querySelector("[data-step-place]").textContent = `Step ${at + 1} of ${rows.length}`;
  if (scroll) rows[at].scrollIntoView({ block: "nearest" });
}
