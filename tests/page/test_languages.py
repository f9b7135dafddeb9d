"""The page in English, German and Chinese: by the browser's language or by choice, and in English where words lack."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

expect = pytest.importorskip("playwright.sync_api").expect

LANG = Path(__file__).resolve().parents[2] / "serve" / "static" / "lang"
UNMARKED = """
(data) => {
  const said = [];
  const own = (text) => /\\p{L}{2,}/u.test(text) && !text.includes("⟦");
  const note = (e, what, text) => own(text) && !e.closest(data) && said.push(`${what}: ${text}`);
  for (const e of document.querySelectorAll("body *")) {
    if (!e.checkVisibility() || e.localName === "article") continue; // a turn is named by its question
    for (const name of ["aria-label", "title", "placeholder", "alt"]) note(e, name, e.getAttribute(name) || "");
    for (const node of e.childNodes) if (node.nodeType === 3) note(e, e.className || e.localName, node.textContent);
  }
  return said;
}
"""
DATA = ", ".join(
    [
        *(
            "noscript",
            "#where",
            ".brand",
            ".library .name",
            ".language",
            ".source-list",
            ".threads",
            ".suggestions",
            ".timeline",
        ),
        *("[dir=auto]", "kbd", "select[id^=knob]", ".knob .fine"),
    ]
)
"""What is not the page's own: names, what sources and questions say, and the descriptions that the server gives."""


def test_the_page_speaks_the_language_of_the_browser_and_another_by_choice(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window(locale="de-AT")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_role("button", name="Einstellungen eines Laufs")).to_be_visible()
    expect(page.get_by_text("3. Okt. 1874")).to_be_visible()
    turn = ask(page, "Wer leitet die Sternwarte von Ulm?")
    expect(turn.get_by_role("button", name="Weiter suchen")).to_be_visible()
    turn.locator(".trail > summary").click()
    steps = turn.locator(".trail").inner_text()
    assert re.search(r"Textstellen: \d+ Stellen in \d", steps) and re.search(r"\d von \d+ behalten", steps)
    assert "places" not in steps and "not yet" not in steps
    page.get_by_label("Sprache").select_option(label="中文")
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    expect(page.get_by_role("heading", name="对话", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_label("语言")).to_have_value("zh")


def test_files_can_be_dropped_in_every_language(window: Callable[..., Any]) -> None:
    page = window(locale="zh-CN")
    carried = page.evaluate_handle(
        "() => { const d = new DataTransfer(); d.items.add(new File(['x'], 'x.md')); return d; }"
    )
    page.dispatch_event("body", "dragenter", {"dataTransfer": carried})
    expect(page.locator(".dropover")).to_be_visible()


def test_a_language_that_lacks_words_has_the_english_ones(window: Callable[..., Any]) -> None:
    page = window()
    short = {k: v for k, v in json.loads((LANG / "de.json").read_text("utf-8")).items() if k != "threads"}
    page.route("**/lang/de.json", lambda route: route.fulfill(json=short))
    page.get_by_label("Language").select_option(label="Deutsch")
    expect(page.get_by_role("heading", name="Quellen", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="Conversations", exact=True)).to_be_visible()


def test_nothing_that_the_page_says_stands_outside_its_words(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window()

    def marked(value: Any) -> Any:
        return f"⟦{value}⟧" if isinstance(value, str) else {k: f"⟦{v}⟧" for k, v in value.items()}

    words = {k: marked(v) for k, v in json.loads((LANG / "en.json").read_text("utf-8")).items()}
    page.route("**/lang/en.json", lambda route: route.fulfill(json=words))
    page.reload()
    page.locator(".front").wait_for(state="attached")
    assert page.evaluate(UNMARKED, DATA) == []
    ask(page, "How tall is the cathedral of Ulm in Bavaria?")
    assert page.evaluate(UNMARKED, DATA) == []
    for name in ("settings", "keys"):
        page.get_by_role("button", name=words[name], exact=True).click()
        page.get_by_role("dialog").wait_for()
        assert page.evaluate(UNMARKED, DATA) == []
        page.keyboard.press("Escape")
