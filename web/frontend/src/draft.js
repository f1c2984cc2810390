// The draft of one drill, kept in this browser as one types. It survives a closed tab and a server that is down.
const PAUSE_MS = 400;
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });

export function draftOf(slug, place) {
  const key = `prefill.draft.${slug}`;
  let timer = 0;
  let waiting = null;
  const say = (text) => (place.textContent = text);

  function write() {
    clearTimeout(timer);
    if (waiting === null) return;
    try {
      localStorage.setItem(key, JSON.stringify({ text: waiting, saved: Date.now() }));
      say(`Draft kept ${CLOCK.format(Date.now())}`);
      waiting = null;
    } catch {
      say("This browser keeps no drafts");
    }
  }

  function keep(text) {
    waiting = text;
    clearTimeout(timer);
    timer = setTimeout(write, PAUSE_MS);
  }

  function read() {
    try {
      const { text, saved } = JSON.parse(localStorage.getItem(key)) ?? {};
      if (typeof text !== "string") return null;
      say(`Draft of ${new Date(saved).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}`);
      return text;
    } catch {
      return null;
    }
  }

  addEventListener("pagehide", write);
  return { keep, read, say };
}
