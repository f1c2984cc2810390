// Copy buttons. The clipboard needs a secure context; elsewhere the text is selected, ready for the keyboard.
export function startCopying() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const code = document.getElementById(button.dataset.copy);
    const said = (await copied(code.textContent)) ? "Copied" : select(code);
    announce(said);
    button.textContent = said;
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function select(element) {
  getSelection().selectAllChildren(element);
  return "Selected";
}

export function announce(text) {
  const place = document.getElementById("announce");
  if (place && place.textContent !== text) place.textContent = text;
}
