// Follow one submission until nothing more can come. Events tell when to look; the server's panel is what is shown.
// Where events do not get through (a proxy, an old server), looking once a second is just as good.
import { announce } from "./copy.js";
import { fetchPanel, headline, mark, remember, take } from "./panel.js";

const LOOK_MS = 1000;
const SOON_MS = 150;
const MOST_MS = 8000;
const FAILURES_BEFORE_POLLING = 3;

export function follow(panel) {
  const life = { panel, stream: null, timer: 0, failures: 0, looking: false, again: false, ended: false };
  remember(panel);
  panel.addEventListener("submit", (event) => reveal(life, event));
  panel.addEventListener("click", (event) => openCase(life, event));
  if (panel.hasAttribute("data-settled")) return () => {};
  listen(life);
  return () => stop(life);
}

function listen(life) {
  if (life.panel.hasAttribute("data-finished") || !window.EventSource) return look(life);
  const stream = (life.stream = new EventSource(life.panel.dataset.events));
  const on = (name, act) =>
    stream.addEventListener(name, (event) => {
      life.failures = 0;
      act(JSON.parse(event.data || "{}"));
    });
  on("state", ({ state }) => running(life, state));
  on("group", (group) => mark(life.panel, group));
  on("verdict", () => look(life));
  on("case", () => look(life));
  on("done", () => {
    stream.close();
    look(life);
  });
  stream.onerror = () => {
    life.failures += 1;
    if (stream.readyState !== EventSource.CLOSED && life.failures < FAILURES_BEFORE_POLLING) return;
    stream.close();
    look(life);
  };
}

function running(life, state) {
  if (state !== "running" || life.panel.hasAttribute("data-finished")) return;
  headline(life.panel, "Running");
  announce("Running");
}

// One look at a time; a wish that comes meanwhile is kept as one more look.
async function look(life, address = life.panel.dataset.panel) {
  if (life.ended) return;
  if (life.looking) return void (life.again = true);
  life.looking = true;
  clearTimeout(life.timer);
  const wasFinished = life.panel.hasAttribute("data-finished");
  try {
    take(life.panel, await fetchPanel(address));
    life.misses = 0;
    if (!wasFinished && life.panel.hasAttribute("data-finished")) tell(life.panel);
  } catch {
    life.misses = (life.misses ?? 0) + 1;
    if (life.misses === 2) announce("The server does not answer; still trying.");
  }
  life.looking = false;
  next(life);
}

function next(life) {
  if (life.panel.hasAttribute("data-settled")) return stop(life);
  const soon = life.again;
  life.again = false;
  const eventsStillCome = life.stream && life.stream.readyState !== EventSource.CLOSED;
  const verdictKnown = life.panel.hasAttribute("data-finished");
  if (eventsStillCome && !soon && verdictKnown && !life.misses) return;
  const pause = soon || eventsStillCome ? SOON_MS : Math.min(LOOK_MS * 2 ** (life.misses ?? 0), MOST_MS);
  life.timer = setTimeout(() => look(life), pause);
}

function stop(life) {
  life.ended = true;
  clearTimeout(life.timer);
  life.stream?.close();
}

function tell(panel) {
  const tally = panel.querySelector(".tally")?.textContent ?? "";
  announce(`${panel.querySelector("[data-headline]").textContent}. ${tally}`);
  panel.dispatchEvent(new CustomEvent("verdict", { bubbles: true }));
}

async function reveal(life, event) {
  const form = event.target.closest("[data-reveal]");
  if (!form) return;
  event.preventDefault();
  try {
    const answer = await fetch(form.getAttribute("action"), {
      method: "POST",
      body: new URLSearchParams(new FormData(form)),
      headers: { "X-Requested-With": "fetch" },
    });
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
    await bring(life, form.dataset.reveal);
  } catch {
    form.submit(); // the plain way shows the page that explains
  }
}

async function openCase(life, event) {
  const link = event.target.closest("[data-case-link]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  try {
    await bring(life, link.dataset.caseLink);
  } catch {
    location.assign(link.href);
  }
}

async function bring(life, group) {
  const address = new URL(life.panel.dataset.panel.split("?")[0], location.href);
  address.searchParams.set("case", group);
  life.panel.dataset.panel = address.pathname + address.search;
  take(life.panel, await fetchPanel(life.panel.dataset.panel));
  const title = document.getElementById(`case-${group}-title`);
  title?.focus();
  title?.scrollIntoView({ block: "start" });
}
