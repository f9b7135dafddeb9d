"""Phone width, keyboard alone, dark and light, screen readers, and the door of a locked server."""

from __future__ import annotations

from typing import Any

import pytest

from ragweave.tests.page.asked import QUESTION
from ragweave.tests.page.test_axe import findings

expect = pytest.importorskip("playwright.sync_api").expect


def test_the_keyboard_alone_asks_reads_and_opens(window: Any) -> None:
    page = window()
    page.keyboard.press("Tab")
    page.evaluate("document.body.tabIndex = -1; document.body.focus()")
    page.keyboard.press("/")
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_selector(".turn.over")
    page.keyboard.press("Escape")
    page.evaluate("document.getElementById('main').focus()")
    page.keyboard.press("1")
    expect(page.get_by_role("complementary").locator("mark")).to_contain_text("1874")
    page.keyboard.press("Escape")
    expect(page.get_by_role("complementary")).to_be_hidden()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.get_by_role("switch").press("Space")
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_tab_reaches_every_part_in_the_order_of_the_page(window: Any, ask: Any) -> None:
    page = window()
    ask(page, QUESTION)
    page.locator(".skip").focus()
    reached = []
    for _ in range(1_000):  # a conversation of each test before it stands at the side
        page.keyboard.press("Tab")
        place = page.evaluate(
            "document.activeElement.closest('.skip, #side, #main, #composer, #panel')?.id || 'skip'"
        )
        if not reached or reached[-1] != place:
            reached.append(place)
        if reached[-1] == "composer":
            break
    assert [r for r in reached if r != "skip"][:3] == ["side", "main", "composer"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_control_can_be_read_under_the_mouse_pressed_and_focused(
    window: Any, ask: Any, scheme: str
) -> None:
    page = window(color_scheme=scheme, reduced_motion="reduce")
    ask(page, QUESTION).locator(".trail > summary").click()
    _every_state(page)
    page.locator("button.library").click()
    page.get_by_role("dialog").get_by_role("button", name="New library").click()
    page.get_by_label("Name of the library").fill("New")
    _every_state(page)


def _every_state(page: Any) -> None:
    browser = page.context.new_cdp_session(page)
    for domain in ("DOM", "CSS"):
        browser.send(f"{domain}.enable")
    chosen = {
        "nodeId": browser.send("DOM.getDocument")["root"]["nodeId"],
        "selector": "button, a, input, summary",
    }
    controls = browser.send("DOM.querySelectorAll", chosen)["nodeIds"]
    for state in (["hover"], ["hover", "active"], ["focus", "focus-visible"]):
        for control in controls:
            browser.send("CSS.forcePseudoState", {"nodeId": control, "forcedPseudoClasses": state})
        page.wait_for_timeout(200)  # colours fade in
        assert findings(page) == [], state


def test_a_locked_server_asks_for_a_key_and_keeps_it_from_scripts(window: Any, site: Any) -> None:
    import subprocess
    import sys

    page = window()
    secret = subprocess.run(
        [sys.executable, "-c", _MAKE_KEY, str(site.home)], capture_output=True, text=True, check=True
    ).stdout.strip()
    try:
        page.reload()
        expect(page.get_by_role("heading", name="This server asks for a key")).to_be_visible()
        page.get_by_label("API key").fill("rw_wrong")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("wrong or was revoked")
        page.get_by_label("API key").fill(secret)
        page.keyboard.press("Enter")
        page.wait_for_selector("#question")
        assert secret not in page.evaluate("document.cookie + JSON.stringify([localStorage, sessionStorage])")
        page.reload()
        page.get_by_role("button", name="Menu").click()
        page.get_by_role("button", name="Forget the key of this server").click()
        expect(page.get_by_role("heading", name="This server asks for a key")).to_be_visible()
    finally:
        import sqlite3

        with sqlite3.connect(site.home / "serve.sqlite") as db:
            db.execute("DELETE FROM keys")


_MAKE_KEY = """
import sys
from pathlib import Path
from ragweave.serve.keys import Keys
from ragweave.serve.store import Store
print(Keys(Store(Path(sys.argv[1]) / "serve.sqlite")).create("tester", None)[1])
"""
