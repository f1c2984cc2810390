// Sections of the statement as tabs; without a script they stand one under the other.
export function makeTabs(root) {
  const sections = [...root.querySelectorAll(":scope > [data-tab]")];
  const list = document.createElement("div");
  list.className = "tabs";
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "About this drill");
  const tabs = sections.map((section) => makeTab(section, list));
  list.addEventListener("click", (event) => select(tabs, sections, tabs.indexOf(event.target.closest("[role=tab]"))));
  list.addEventListener("keydown", (event) => {
    const now = tabs.indexOf(document.activeElement);
    const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined || now < 0) return;
    event.preventDefault();
    const at = (to + tabs.length) % tabs.length;
    select(tabs, sections, at);
    tabs[at].focus();
  });
  root.prepend(list);
  select(tabs, sections, Math.max(0, sections.findIndex((section) => `#${section.id}` === location.hash)));
}

function makeTab(section, list) {
  const tab = document.createElement("button");
  tab.type = "button";
  tab.id = `tab-${section.id}`;
  tab.textContent = section.dataset.tab;
  tab.setAttribute("role", "tab");
  tab.setAttribute("aria-controls", section.id);
  section.setAttribute("role", "tabpanel");
  section.setAttribute("aria-labelledby", tab.id);
  section.querySelector("[data-tab-title]")?.classList.add("unseen");
  list.append(tab);
  return tab;
}

function select(tabs, sections, at) {
  if (at < 0) return;
  tabs.forEach((tab, index) => {
    tab.setAttribute("aria-selected", String(index === at));
    tab.tabIndex = index === at ? 0 : -1;
    sections[index].hidden = index !== at;
  });
}
