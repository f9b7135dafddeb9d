"""axe-core over every part of the page, in both colours: no finding that it calls serious or critical."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragweave.tests.page.asked import QUESTION

expect = pytest.importorskip("playwright.sync_api").expect

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")


def findings(page: Any) -> list[str]:
    page.evaluate(AXE)
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    bad = [v for v in found["violations"] if v["impact"] in ("serious", "critical")]
    return [f"{v['id']}: {n['target']} {n['html'][:150]}" for v in bad for n in v["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_part_of_the_page_has_a_serious_finding(window: Any, ask: Any, scheme: str) -> None:
    page = window(color_scheme=scheme, reduced_motion="reduce")
    page.locator(".front").wait_for(state="attached")
    assert findings(page) == [], "the front page"
    turn = ask(page, QUESTION)
    turn.locator(".trail > summary").click()
    turn.get_by_role("button", name="Not a good answer").click()
    expect(turn.get_by_role("button", name="Something is missing")).to_be_visible()
    turn.locator(".reply > .answer .cite").first.click()
    page.locator(".panel mark").wait_for()
    assert findings(page) == [], "an answer, its steps and a source"
    page.keyboard.press("Escape")
    for name in ("Web off", "Add", "Menu", "Keyboard"):
        page.get_by_role("button", name=name).first.click()
        page.get_by_role("dialog").wait_for()
        assert findings(page) == [], name
        if name != "Menu":
            page.keyboard.press("Escape")
    ask(page, "Qwrtzpf xkcdvb?")
    assert findings(page) == [], "a refusal"


def test_a_phone_has_no_serious_finding(window: Any, ask: Any) -> None:
    page = window(viewport={"width": 390, "height": 800}, reduced_motion="reduce", has_touch=True)
    ask(page, QUESTION)
    assert findings(page) == []
    page.get_by_role("button", name="Show the side").click()
    expect(page.locator("#side")).to_be_visible()
    assert findings(page) == [], "the side"
