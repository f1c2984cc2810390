// Light, dark or the system's. Kept in a cookie so that the server's first paint is already right.
const ORDER = ["system", "light", "dark"];

export function startTheme() {
  const button = document.querySelector("[data-theme-button]");
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    const now = document.documentElement.dataset.theme || "system";
    choose(ORDER[(ORDER.indexOf(now) + 1) % ORDER.length], button);
  });
}

function choose(theme, button) {
  const seconds = theme === "system" ? 0 : 365 * 24 * 3600;
  document.cookie = `theme=${theme}; path=/; max-age=${seconds}; samesite=lax`;
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  button.querySelector("[data-theme-name]").textContent = theme;
}
