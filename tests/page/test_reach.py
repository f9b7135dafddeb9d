"""Phone width, keyboard alone, dark and light, screen readers, and the door of a locked server."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

expect = pytest.importorskip("playwright.sync_api").expect

QUESTION = "When was the lamp of the lighthouse first lit?"
_CONTRAST = """
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (c) => {
    const straight = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = c.slice(0, 3).map((v) => straight(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] > 250) return colour;
    }
    return [255, 255, 255, 255];
  };
  const low = [];
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.checkVisibility() || e.closest(".unseen, :disabled, .skip")) continue;
    const [a, b] = [light(rgba(getComputedStyle(e).color)), light(ground(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.push(`${e.className || e.localName} ${ratio.toFixed(2)} ${e.textContent.slice(0, 30)}`);
  }
  return low;
}
"""
_NAMELESS = """
() => [...document.querySelectorAll("button, a[href], input, select, textarea, video, img")]
  .filter((e) => e.checkVisibility())
  .filter((e) => !(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.innerText?.trim()
    || e.labels?.length || e.alt || (e.localName === "img" && e.hasAttribute("alt"))))
  .map((e) => e.outerHTML.slice(0, 90))
"""


def _fits(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_a_phone_shows_everything_without_scrolling_sideways(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window(viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
    assert _fits(page)
    expect(page.locator("#side")).to_be_hidden()
    turn = ask(page, QUESTION + " " + "Donaudampfschiff" * 12)
    turn.locator(".trail summary").click()
    assert _fits(page)
    turn = ask(page, "What does the new pier cost?")
    turn.locator(".answer .cite").first.click()
    expect(page.locator(".sheet .box").first).to_be_visible()
    assert _fits(page)
    assert page.locator("#panel").bounding_box()["width"] == 360
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Show the side").click()
    expect(page.locator("#side")).to_be_visible()
    assert _fits(page)
    page.get_by_role("button", name="Hide the side").click()
    page.locator(".how").click()
    assert _fits(page)


def test_what_is_opened_never_covers_the_answer_on_a_small_screen(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window(viewport={"width": 1024, "height": 700})
    turn = ask(page, "What does the new pier cost?")
    turn.locator(".answer .cite").first.click()
    panel = page.locator("#panel")
    expect(panel.locator(".sheet .box").first).to_be_visible()
    said, opened = turn.locator(".quotation").first.bounding_box(), panel.bounding_box()
    assert said["x"] + said["width"] <= opened["x"] and opened["x"] + opened["width"] <= 1024
    expect(page.locator("#side")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator("#side")).to_be_visible()


def test_the_keyboard_alone_asks_reads_and_opens(window: Callable[..., Any]) -> None:
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


def test_the_focus_stays_where_the_reader_is_when_a_list_is_drawn_anew(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window()
    page.locator("button.library").press("Enter")
    here = page.get_by_role("dialog").locator("button.choose[aria-current]")
    with page.expect_response("**/api/libraries"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_timeout(100)
    expect(here).to_be_focused()
    page.keyboard.press("Escape")
    ask(page, QUESTION)
    page.locator(".thread.here a").focus()
    for _ in range(3):  # past pinning and renaming
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).press("Enter")
    page.locator(".turn").wait_for(state="detached")
    expect(page.locator("#side :focus, #composer :focus")).to_have_count(1)


def test_nothing_that_is_shown_speaks_of_items_strips_or_papers_variables(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window()
    turn = ask(page, QUESTION)
    turn.locator(".trail summary").click()
    page.locator(".how").click()
    page.get_by_text("All settings").click()
    told = turn.inner_text() + page.get_by_role("dialog").inner_text()
    assert not re.search(r"\b(?:items?|strips?|corpora|hops?|top k|Auto-RAG [TE]|RAGWEAVE_\w+|ids?)\b", told), told


def test_tab_reaches_every_part_in_the_order_of_the_page(window: Callable[..., Any], ask: Callable[..., Any]) -> None:
    page = window()
    ask(page, QUESTION)
    page.locator(".skip").focus()
    reached = []
    for _ in range(1_000):  # a conversation of each test before it stands at the side
        page.keyboard.press("Tab")
        place = page.evaluate("document.activeElement.closest('.skip, #side, #main, #composer, #panel')?.id || 'skip'")
        if not reached or reached[-1] != place:
            reached.append(place)
        if reached[-1] == "composer":
            break
    assert [r for r in reached if r != "skip"][:3] == ["side", "main", "composer"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_the_contrast_of_level_aa_and_every_control_a_name(
    window: Callable[..., Any], ask: Callable[..., Any], scheme: str
) -> None:
    page = window(color_scheme=scheme, reduced_motion="reduce")
    turn = ask(page, QUESTION)
    turn.locator(".trail summary").click()
    turn.locator(".answer .cite").first.click()
    page.locator(".panel mark").wait_for()
    page.wait_for_timeout(300)
    assert page.evaluate(_CONTRAST) == []
    assert page.evaluate(_NAMELESS) == []
    page.locator(".how").click()
    assert page.evaluate(_CONTRAST) == []
    assert page.evaluate(_NAMELESS) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_button_can_be_read_under_the_mouse(window: Callable[..., Any], scheme: str) -> None:
    page = window(color_scheme=scheme, reduced_motion="reduce")
    for kind in ("button", "button primary", "button danger", "button danger primary", "button small"):
        page.evaluate(
            """(kind) => {
          const button = Object.assign(document.createElement("button"), { className: kind, textContent: "Press" });
          document.getElementById("main").replaceChildren(button);
        }""",
            kind,
        )
        page.locator("#main > button").hover()
        page.wait_for_timeout(200)
        assert page.evaluate(_CONTRAST) == [], kind


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_control_can_be_read_under_the_mouse_pressed_and_focused(
    window: Callable[..., Any], ask: Callable[..., Any], scheme: str
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
    chosen = {"nodeId": browser.send("DOM.getDocument")["root"]["nodeId"], "selector": "button, a, input, summary"}
    controls = browser.send("DOM.querySelectorAll", chosen)["nodeIds"]
    for state in (["hover"], ["hover", "active"], ["focus", "focus-visible"]):
        for control in controls:
            browser.send("CSS.forcePseudoState", {"nodeId": control, "forcedPseudoClasses": state})
        page.wait_for_timeout(200)  # colours fade in
        assert page.evaluate(_CONTRAST) == [], state


def test_colours_follow_the_system_until_the_reader_chooses(window: Callable[..., Any]) -> None:
    page = window(color_scheme="dark")
    theme = "document.documentElement.dataset.theme"
    assert page.evaluate(theme) == "dark"
    page.get_by_role("button", name="Menu").click()
    page.get_by_label("Colours").select_option("light")
    assert page.evaluate(theme) == "light"
    page.reload()
    page.wait_for_selector("#question")
    assert page.evaluate(theme) == "light"


def test_a_locked_server_asks_for_a_key_and_keeps_it_from_scripts(window: Callable[..., Any], site: Any) -> None:
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
from ragweave.serve.access import Keys
from ragweave.serve.store import Store
print(Keys(Store(Path(sys.argv[1]) / "serve.sqlite")).create("tester", None)[1])
"""
