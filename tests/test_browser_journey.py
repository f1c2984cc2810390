"""A person in a real browser: from the printed link to a verdict and the smallest case that breaks it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.house_fixture import REPOSITORY, House, running_house
from tests.parts import need

DRILL = REPOSITORY / "drills" / "kv-cache" / "block-allocator"
REFERENCE = (DRILL / "reference.py").read_text()
WRONG = (DRILL / "wrong" / "appends_every_free.py").read_text()
CHROMIUM = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
PATIENCE_MS = 60_000

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    need("redis")
    need("bubblewrap")
    with running_house(tmp_path_factory.mktemp("house"), PREFILL_SANDBOX="bubblewrap") as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    need("browser")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=[*CHROMIUM])
        yield chromium
        chromium.close()


def signed_in(browser: Browser, house: House, *, scripts: bool = True) -> BrowserContext:
    context = browser.new_context(java_script_enabled=scripts, viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    context.new_page().goto(f"{house.url}/enter/{house.key}")
    return context


@pytest.fixture
def page(browser: Browser, house: House) -> Iterator[Page]:
    """A signed-in page; whatever it complains about in its console is a failure, a blocked script or style too."""
    context = signed_in(browser, house)
    [opened] = context.pages
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    assert complaints == []


PASTE = """(editor, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  editor.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""


def write(page: Page, source: str) -> None:
    """Replace what stands in the editor by a paste."""
    editor = page.locator(".cm-content")
    editor.click()
    page.keyboard.press("Control+a")
    editor.evaluate(PASTE, source)


def test_a_wrong_answer_leads_to_its_smallest_case(page: Page):
    """Link, catalogue, editor, keys, live groups, verdict, the case with its first bad step and a runnable repro."""
    page.get_by_role("link", name="Block allocator").click()
    write(page, WRONG)
    page.keyboard.press("Control+Shift+Enter")
    expect(page.get_by_text("Wrong answer", exact=True)).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_role("button", name="Show the smallest failing case").first.click()
    expect(page.get_by_text("differs here").first).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_text("def test_blocks_without_hash_go_to_the_front_as_given_case")).to_be_visible()


def test_run_grades_the_visible_tests_alone(page: Page, house: House):
    page.goto(f"{house.url}/drills/block-allocator")
    write(page, REFERENCE)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Visible tests pass")).to_be_visible(timeout=PATIENCE_MS)
    groups = page.locator("[data-panel] [data-group]")
    expect(groups).to_have_count(1)


def test_a_reload_shows_the_same_result_and_keeps_the_code(page: Page, house: House):
    page.goto(f"{house.url}/drills/block-allocator")
    write(page, REFERENCE)
    page.keyboard.press("Control+Shift+Enter")
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible(timeout=PATIENCE_MS)
    page.reload()
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible()
    expect(page.locator(".cm-content")).to_contain_text("class")


def test_escape_then_tab_leaves_the_editor(page: Page, house: House):
    """No keyboard trap: Tab indents inside, Esc and Tab go on to the next control."""
    page.goto(f"{house.url}/drills/block-allocator")
    page.locator(".cm-content").click()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.classList.contains('cm-content')")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.classList.contains('cm-content')")


def test_without_scripts_it_is_a_plain_form(browser: Browser, house: House, tmp_path: Path):
    """Text area, Submit, and a page that says the verdict when it is asked again."""
    context = signed_in(browser, house, scripts=False)
    [page] = context.pages
    page.goto(f"{house.url}/drills/block-allocator")
    page.locator("textarea[name=source]").fill(WRONG)
    page.locator("button[name=action][value=submit]").click()
    for _ in range(60):
        if page.get_by_role("button", name="Show the smallest failing case").count():
            break
        page.wait_for_timeout(1000)
        page.reload()
    expect(page.get_by_text("Wrong answer", exact=True)).to_be_visible()
    page.get_by_role("button", name="Show the smallest failing case").first.click()
    expect(page.get_by_text("differs here").first).to_be_visible()
    context.close()
