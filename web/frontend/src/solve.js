// The solve page: the editor in place of the text area, Run and Submit without leaving the page.
import { announce } from "./copy.js";
import { makeDivider } from "./divider.js";
import { draftOf } from "./draft.js";
import { dress } from "./dress.js";
import { makeEditor, replaceText } from "./editor.js";
import { follow } from "./live.js";
import { fetchPanel } from "./panel.js";
import { makeTabs } from "./tabs.js";

const drill = JSON.parse(document.getElementById("drill").textContent);
const form = document.getElementById("solution-form");
const area = document.getElementById("source");
const results = document.getElementById("results");
const flatDivider = document.querySelector('[data-divider="--results"]');
const reset = document.getElementById("reset");
const buttons = [...form.querySelectorAll("[name=action]")];
const onMac = /Mac|iPhone|iPad/.test(navigator.platform);
const draft = draftOf(drill.slug, document.getElementById("draft"));
let sending = false;
let leave = () => {};
let before = null;

for (const root of document.querySelectorAll("[data-tabs]")) makeTabs(root);
makeDivider(document.querySelector('[data-divider="--reading"]'));
if (!results.hidden) makeDivider(flatDivider);

const view = makeEditor({
  parent: document.getElementById("field"),
  text: firstText(),
  nonce: drill.nonce,
  onChange: (text) => draft.keep(text),
  keys: [
    { key: "Mod-Enter", run: () => (send("run"), true) },
    { key: "Mod-Shift-Enter", run: () => (send("submit"), true) },
  ],
});
area.hidden = true;
document.getElementById("source-label").removeAttribute("for");
document.querySelector("[data-with-editor]").hidden = false;
showKeys();
offerReset(view.state.doc.toString() !== drill.stub);

// A refused form, or a submission that was asked for, outranks the draft; the draft stays one click away.
function firstText() {
  const kept = draft.read();
  const sent = area.value;
  if (kept === null || kept === sent) return sent;
  if (!drill.fromOther) return kept;
  before = kept;
  return sent;
}

function offerReset(wanted) {
  reset.hidden = !wanted && before === null;
  reset.textContent = before === null ? "Start over" : "Bring my draft back";
}

reset.addEventListener("click", () => {
  const now = view.state.doc.toString();
  replaceText(view, before ?? drill.stub);
  before = before === null ? now : null;
  offerReset(true);
  announce(before === null ? "Your draft is back" : "The stub is back; your draft can be brought back");
  view.focus();
});

form.addEventListener("submit", (event) => {
  event.preventDefault();
  send(event.submitter?.value ?? "run");
});

document.addEventListener("keydown", (event) => {
  const mod = onMac ? event.metaKey : event.ctrlKey;
  if (!mod || event.altKey || event.defaultPrevented) return;
  if (event.key === "Enter" && !event.target.closest?.("input, select, textarea, .cm-editor")) {
    event.preventDefault();
    send(event.shiftKey ? "submit" : "run");
  } else if (event.key === "'") {
    event.preventDefault();
    results.querySelector("[data-result-heading]")?.focus();
  }
});

function showKeys() {
  for (const key of document.querySelectorAll("[data-key]")) {
    const names = key.dataset.key.split(" ").map((name) => ({ Shift: onMac ? "⇧" : "Shift", Enter: onMac ? "⏎" : "Enter" })[name]);
    key.textContent = [onMac ? "⌘" : "Ctrl", ...names].join(onMac ? "" : "+");
    key.hidden = false;
  }
}

async function send(action) {
  if (sending) return;
  busy(true);
  leave();
  try {
    await show(await post(action));
  } catch (problem) {
    complain(problem);
  } finally {
    busy(false);
  }
}

function busy(on) {
  sending = on;
  for (const button of buttons) button.setAttribute("aria-disabled", String(on));
}

async function post(action) {
  const body = JSON.stringify({ source: view.state.doc.toString(), action, once: crypto.getRandomValues(new Uint32Array(4)).join("") });
  const answer = await fetch(form.getAttribute("action"), {
    method: "POST",
    body,
    headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRFToken": drill.csrf },
  }).catch(() => {
    throw { title: "The server does not answer", detail: "Your code is kept in this browser. Try again in a moment." };
  });
  const isJson = answer.headers.get("Content-Type")?.includes("json");
  const said = isJson ? await answer.json() : {};
  if (answer.ok && said.id) return said;
  throw { title: said.title ?? sentence(answer.status), detail: said.detail ?? "Your code is kept in this browser." };
}

function sentence(status) {
  if (status === 413) return "That is more than 256 KiB of source";
  if (status === 401 || status === 403) return "You are not signed in any more";
  if (status === 400) return "This page is too old to send from; reload it";
  return `The server answered ${status}`;
}

async function show(sent) {
  const panel = await fetchPanel(sent.panel);
  results.replaceChildren(panel);
  if (results.hidden) {
    results.hidden = false;
    makeDivider(flatDivider);
  }
  dress(panel);
  leave = follow(panel);
  results.scrollTop = 0;
  history.replaceState(null, "", `?submission=${encodeURIComponent(sent.id)}`);
  if (matchMedia("(max-width: 63.99rem)").matches) results.scrollIntoView({ block: "start" });
}

function complain({ title, detail }) {
  const box = document.createElement("div");
  box.className = "notice bad";
  box.setAttribute("role", "alert");
  const strong = document.createElement("strong");
  strong.textContent = `${title}. `;
  box.append(strong, detail ?? "");
  results.hidden = false;
  results.replaceChildren(box);
}
