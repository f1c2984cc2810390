// The two dividers of the solve page: dragged, or moved with the arrow keys; a double click puts them back.
const KEYS = { ArrowLeft: -2, ArrowUp: -2, ArrowRight: 2, ArrowDown: 2, Home: -100, End: 100 };

export function makeDivider(divider) {
  const flat = divider.getAttribute("aria-orientation") === "horizontal";
  const name = divider.dataset.divider;
  const first = Number(divider.getAttribute("aria-valuenow"));
  divider.hidden = false;
  const set = (percent) => {
    const low = Number(divider.getAttribute("aria-valuemin"));
    const high = Number(divider.getAttribute("aria-valuemax"));
    const value = Math.round(Math.max(low, Math.min(high, percent)));
    divider.parentElement.style.setProperty(name, `${value}%`);
    divider.setAttribute("aria-valuenow", String(value));
    store(name, value);
  };
  const kept = Number(stored(name));
  if (kept) set(kept);
  divider.addEventListener("keydown", (event) => {
    if (!(event.key in KEYS)) return;
    event.preventDefault();
    // The lower pane is measured from below: up makes it taller.
    set(Number(divider.getAttribute("aria-valuenow")) + (flat ? -KEYS[event.key] : KEYS[event.key]));
  });
  divider.addEventListener("dblclick", () => set(first));
  divider.addEventListener("pointerdown", (event) => drag(divider, event, flat, set));
}

function drag(divider, event, flat, set) {
  divider.setPointerCapture(event.pointerId);
  divider.classList.add("held");
  const box = divider.parentElement.getBoundingClientRect();
  const move = ({ clientX, clientY }) =>
    set(flat ? (100 * (box.bottom - clientY)) / box.height : (100 * (clientX - box.left)) / box.width);
  divider.addEventListener("pointermove", move);
  const end = () => {
    divider.classList.remove("held");
    divider.removeEventListener("pointermove", move);
  };
  divider.addEventListener("lostpointercapture", end, { once: true });
}

function stored(name) {
  try {
    return localStorage.getItem(`prefill.layout.${name}`);
  } catch {
    return null;
  }
}

function store(name, value) {
  try {
    localStorage.setItem(`prefill.layout.${name}`, value);
  } catch {
    // A browser that keeps nothing still moves the divider.
  }
}
