"""What a citation opens: text, a page of a PDF, a picture, a recording, a web page."""

from __future__ import annotations

import json
from typing import Any

import pytest

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture
def kept(window: Any) -> Any:
    """The conversation that cites a web page."""
    page = window(keep={"library": json.dumps("media")})
    page.get_by_role("link", name="What about the pump?").click()
    page.wait_for_selector(".turn.over")
    return page


def test_text_opens_under_its_heading_with_the_words_marked_and_gives_the_focus_back(
    window: Any, ask: Any
) -> None:
    page = window()
    turn = ask(page, "When was the lamp of the lighthouse first lit?")
    chip = turn.locator(".answer .cite").first
    chip.click()
    panel = page.get_by_role("complementary")
    expect(panel.locator("mark")).to_contain_text(
        "The lamp of the lighthouse was first lit on 3 October 1874."
    )
    assert panel.locator(".crumbs li").all_inner_texts() == ["The lighthouse", "History"]
    assert "western cape" in panel.locator(".beside").first.inner_text()
    assert page.evaluate("document.activeElement.id") == "panel-title"
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    assert page.evaluate("document.activeElement.className") == "cite"


@pytest.fixture
def sheet(window: Any, ask: Any) -> Any:
    """A window in which the PDF is open at what the pier costs."""
    page = window()
    ask(page, "Is the work paid half by the county and half by the harbour fund?").locator(
        ".answer .cite"
    ).first.click()
    expect(page.locator(".sheet .box.line").first).to_be_visible()
    return page


def test_a_pdf_opens_at_its_page_with_exactly_the_cited_words_marked(sheet: Any) -> None:
    panel = sheet.get_by_role("complementary")
    expect(panel.get_by_text("Page 1 of 2")).to_be_visible()
    paper = panel.locator(".sheet img").bounding_box()
    boxes = [box.bounding_box() for box in panel.locator(".sheet .box").all()]
    # The passage is four lines of the upper third, the last of them shorter.
    assert len(boxes) == 4 and all(0.15 < (b["y"] - paper["y"]) / paper["height"] < 0.32 for b in boxes)
    assert boxes[3]["width"] < boxes[0]["width"] - 20
    panel.get_by_role("button", name="Next page").click()
    expect(panel.get_by_text("Page 2 of 2")).to_be_visible()
    expect(panel.locator(".sheet .box")).to_have_count(0)
    panel.get_by_role("button", name="Back to the cited page").click()
    expect(panel.locator(".sheet .box")).to_have_count(4)


def test_words_are_searched_in_a_pdf_and_a_page_that_is_made_larger_cuts_no_line(sheet: Any) -> None:
    sheet.get_by_label("Find in this file").fill("the council")
    sheet.keyboard.press("Enter")
    expect(sheet.locator(".finder").get_by_role("status")).to_contain_text("1 of")
    expect(sheet.locator(".sheet .box.now")).to_be_visible()
    sheet.keyboard.press("Enter")
    expect(sheet.locator(".finder").get_by_role("status")).to_contain_text("2 of")
    small = sheet.locator(".sheet img").bounding_box()["width"]
    sheet.get_by_role("button", name="Larger").click()
    expect(sheet.get_by_role("button", name="Fit")).to_be_visible()
    assert sheet.locator(".sheet img").bounding_box()["width"] > 1.3 * small
    # In one go, and again until it holds: the page is drawn anew when its larger picture has come.
    inside = """() => {
      const frame = document.querySelector(".sheet-frame").getBoundingClientRect();
      const lines = [...document.querySelectorAll(".letters span:not(.last)")].map((e) => e.getBoundingClientRect());
      return lines.length > 0 && lines.every((at) => frame.left <= at.left && at.right <= frame.right);
    }"""
    sheet.wait_for_function(inside)


@pytest.fixture
def media(window: Any) -> Any:
    """A window on the library of the picture and the recording."""
    return window(keep={"library": '"media"'})


def test_a_picture_opens_with_the_box_around_its_words(media: Any, ask: Any) -> None:
    ask(media, "How many pumps does the pump house hold?").locator(".answer .cite").first.click()
    panel = media.get_by_role("complementary")
    expect(panel.locator(".sheet .box")).to_be_visible()
    sheet, box = (panel.locator(s).bounding_box() for s in (".sheet img", ".sheet .box"))
    left, top = ((box[at] - sheet[at]) / sheet[size] for at, size in (("x", "width"), ("y", "height")))
    assert left == pytest.approx(120 / 800, abs=0.02) and top == pytest.approx(300 / 600, abs=0.02)
    assert box["height"] / sheet["height"] < 0.12
    frame = panel.locator(".sheet-frame")
    assert (
        box["width"] > 0.7 * frame.bounding_box()["width"]
        and sheet["width"] > 1.3 * frame.bounding_box()["width"]
    )
    panel.get_by_role("button", name="Whole picture").click()
    assert panel.locator(".sheet img").bounding_box()["width"] <= frame.bounding_box()["width"]
    expect(panel.locator(".quoted")).to_contain_text("two pumps")


def test_a_recording_opens_at_its_second_and_stops_where_the_passage_ends(media: Any, ask: Any) -> None:
    ask(media, "Who replaced the crane?").locator(".answer .cite").first.click()
    panel = media.get_by_role("complementary")
    expect(panel.get_by_text("The passage stands at 0:21–0:26 of 0:40.")).to_be_visible()
    video = panel.locator("video")
    assert video.evaluate("v => v.currentTime") == pytest.approx(21, abs=0.05)
    left = panel.locator(".strip-part").evaluate("s => parseFloat(s.style.insetInlineStart)")
    assert left == pytest.approx(100 * 21 / 40, abs=1)
    video.evaluate("v => { v.playbackRate = 4 }")
    panel.get_by_role("button", name="Play 0:21–0:26").click()
    expect(panel.get_by_text("The passage ends here, at 0:26.")).to_be_visible()
    assert video.evaluate("v => v.paused")
    assert video.evaluate("v => v.currentTime") == pytest.approx(26, abs=2)


def test_a_web_page_is_an_address_that_only_the_reader_opens(kept: Any) -> None:
    kept.locator(".answer .cite").nth(0).click()
    panel = kept.get_by_role("complementary")
    expect(panel.locator(".host")).to_have_text("pumps.example")
    assert "2 Mar 2026" in panel.inner_text()
    link = panel.get_by_role("link", name="Open this address in a new tab")
    assert link.get_attribute("rel") == "noopener noreferrer"
    assert link.get_attribute("href") == "https://pumps.example/a?b=1#c"
    assert panel.locator("iframe, img").count() == 0


@pytest.mark.parametrize(
    ("title", "file", "place"),
    [
        ("Harbour rules · Dogs", "harbour-rules.md", "Leads"),
        ("notes.txt", "notes.txt", "Leads"),
        ("港口规则", "港口规则.md", "Leads"),
        ("The harbour", "harbour-rules.md", "harbour-rules.md, Leads"),
    ],
)
def test_a_file_that_is_called_as_its_title_is_named_once_on_a_card(
    window: Any, title: str, file: str, place: str
) -> None:
    heading = [*title.split(" · "), "Leads"]
    shown = window().evaluate(
        "async ([base, title, locator]) => (await import(base)).placeBeside(title, locator)",
        ["/static/js/words.js", title, {"file": file, "heading": heading, "line": 3}],
    )
    assert shown == place
