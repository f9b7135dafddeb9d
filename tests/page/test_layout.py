"""How the page is laid out at three widths in both colours: nothing is cut off, covered, or wider than the window.

What a reader would see is measured in the browser itself, so that the fonts of a machine do not matter.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragweave.tests.page.asked import drawn

pytest.importorskip("playwright.sync_api")

_WRONG = """
() => {
  const found = [];
  const told = (e) => `${e.localName}.${e.className} “${(e.ariaLabel || e.textContent).trim().slice(0, 40)}”`;
  const hidden = ".unseen, .skip, .letters, #toasts";
  const shown = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    && !e.closest(hidden) && e.offsetWidth !== 1;
  // The middle of the part of an element that no box around it cuts away.
  const middle = (e) => {
    const { left, top, right, bottom } = e.getBoundingClientRect();
    const part = { left: Math.max(left, 0), top: Math.max(top, 0), right: Math.min(right, innerWidth),
      bottom: Math.min(bottom, innerHeight) };
    for (let at = e.parentElement; at && at !== document.body; at = at.parentElement) {
      if (getComputedStyle(at).overflow === "visible") continue;
      const box = at.getBoundingClientRect();
      for (const side of ["left", "top"]) part[side] = Math.max(part[side], box[side]);
      for (const side of ["right", "bottom"]) part[side] = Math.min(part[side], box[side]);
    }
    const seen = part.right - part.left > 4 && part.bottom - part.top > 4;
    return seen ? [(part.left + part.right) / 2, (part.top + part.bottom) / 2] : null;
  };
  if (document.documentElement.scrollWidth > innerWidth) found.push("wider than the window: the page");
  for (const e of document.querySelectorAll("body *")) {
    if (!shown(e)) continue;
    const { overflowX, textOverflow, webkitLineClamp } = getComputedStyle(e);
    const over = e.clientWidth && e.scrollWidth > e.clientWidth + 1;
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    const cut = overflowX === "hidden" && textOverflow !== "ellipsis" && webkitLineClamp === "none";
    if (over && own && cut) found.push(`cut off: ${told(e)}`);
    if (over && e.matches("#main, #side, #panel, #composer, dialog")) found.push(`scrolls sideways: ${told(e)}`);
  }
  const pen = document.createElement("canvas").getContext("2d");
  for (const e of document.querySelectorAll("select")) {
    const { font, paddingLeft, paddingRight, textOverflow } = getComputedStyle(e);
    if (!shown(e) || textOverflow === "ellipsis") continue;
    pen.font = font;
    const room = e.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) + 1;
    if (pen.measureText(e.selectedOptions[0]?.text || "").width > room) {
      found.push(`cut off: ${told(e)} at “${e.selectedOptions[0].text}”`);
    }
  }
  const controls = "button, a[href], input, select, textarea, summary";
  const panel = document.getElementById("panel");
  const above = document.querySelector("dialog[open]") || (panel.offsetWidth === innerWidth ? panel : document);
  for (const e of above.querySelectorAll(controls)) {
    const at = shown(e) && middle(e);
    const hit = at && document.elementFromPoint(...at);
    if (hit && !e.contains(hit) && !hit.closest("label")?.contains(e) && !hit.closest("#toasts")) {
      found.push(`covered: ${told(e)} by ${told(hit)}`);
    }
  }
  return found;
}
"""
WIDTHS = ((360, 740), (768, 1024), (1280, 800))


def _check(page: Any, what: str) -> None:
    """Look at what is shown at every width; the widest is there before and after."""
    for width, height in WIDTHS:
        page.set_viewport_size({"width": width, "height": height})
        drawn(page, 15)  # the rail is laid out anew once it was measured
        assert page.evaluate(_WRONG) == [], f"{what} at {width} pixels"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_off_covered_or_wider_than_the_window(window: Any, ask: Any, scheme: str) -> None:
    page = window(color_scheme=scheme, reduced_motion="reduce")
    page.locator(".documents li").first.wait_for()
    _check(page, "the front page")
    turn = ask(page, "What does the new pier cost?")
    turn.locator(".trail > summary").click()
    turn.get_by_role("button", name="Not a good answer").click()
    _check(page, "an answer with its steps")
    turn.locator(".answer .cite").first.click()
    page.locator(".sheet .box").first.wait_for()
    _check(page, "a page of a PDF")
    page.keyboard.press("Escape")
    ask(page, "Qwrtzpf xkcdvb?")
    _check(page, "a refusal")
    for name in ("Web off", "Add", "Menu"):
        page.get_by_role("button", name=name).first.click()
        page.get_by_role("dialog").wait_for()
        _check(page, name)
        page.keyboard.press("Escape")


@pytest.mark.parametrize("language", ["de", "zh"])
def test_in_other_languages_nothing_is_cut_off_either(window: Any, ask: Any, language: str) -> None:
    page = window(keep={"language": json.dumps(language)}, reduced_motion="reduce")
    page.locator(".documents li").first.wait_for()
    _check(page, "the front page")
    ask(page, "What does the new pier cost?")
    _check(page, "an answer")
    page.locator("#composer .how").click()
    page.locator("dialog summary").click()
    _check(page, "the settings")


def test_the_measure_finds_what_is_cut_off_covered_or_too_wide(window: Any) -> None:
    page = window()
    assert page.evaluate(_WRONG) == []
    page.evaluate("""() => {
      const boxes = ["width: 40px; overflow: hidden; white-space: nowrap", "width: 3000px", "position: relative"];
      const [cut, wide, under] = boxes.map((style) => Object.assign(document.createElement("div"), { style }));
      const over = Object.assign(document.createElement("div"), { style: "position: absolute; inset: 0" });
      cut.textContent = "What is cut off";
      under.append(Object.assign(document.createElement("button"), { textContent: "Under" }), over);
      document.getElementById("main").replaceChildren(cut, wide, under);
    }""")
    kinds = {found.split(":")[0] for found in page.evaluate(_WRONG)}
    assert kinds == {"cut off", "covered", "scrolls sideways"}
