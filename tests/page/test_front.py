"""The front page of a library, and what may come after an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragweave.tests.page.test_axe import findings

expect = pytest.importorskip("playwright.sync_api").expect


_CONTROLS = """
() => [...document.querySelectorAll("button, a[href], input, select, textarea, summary")]
  .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest("li, .group-head, .skip"))
  .map((e) => e.ariaLabel || e.textContent.trim())
"""


@pytest.mark.parametrize("width", [390, 1280])
def test_the_first_screen_has_eight_controls_at_most_and_the_composer_is_as_wide_as_what_stands_above(
    window: Any, ask: Any, width: int
) -> None:
    page = window(viewport={"width": width, "height": 844})
    page.route("**/api/threads", lambda route: route.fulfill(json={"threads": []}))  # as at a first visit
    page.reload()
    page.get_by_role("region", name="Newest in it").wait_for()
    controls = page.evaluate(_CONTROLS)
    assert len(controls) <= 8 and "Web off · Search with quotes" in controls, controls
    for above in (".column.welcome", ".column:has(.turn.over)"):
        edges = [page.locator(at).bounding_box() for at in (above, ".composer")]
        assert edges[0]["x"] == pytest.approx(edges[1]["x"], abs=1)
        assert edges[0]["width"] == pytest.approx(edges[1]["width"], abs=1)
        if above == ".column.welcome":
            turn = ask(page, "When was the lamp of the lighthouse first lit?")
    card = turn.locator(".quotation").first.bounding_box()
    assert [card["x"], card["width"]] == pytest.approx([edges[1]["x"], edges[1]["width"]], abs=1)


def test_the_chat_model_introduces_a_library_when_it_is_asked_to(window: Any, site: Any) -> None:
    page = window(viewport={"width": 1440, "height": 900})
    expect(page.get_by_role("list", name="This library holds").get_by_role("listitem")).to_have_text(
        ["Text2", "PDF1"]
    )
    asked = page.get_by_role("region", name="It answers, for instance")
    rows, introduce = asked.locator(".suggested"), page.get_by_role("button", name="Have scripted introduce")
    site.script.questions = "I would rather not."
    introduce.click()
    expect(page.locator("#toasts")).to_contain_text(
        "Nothing that scripted wrote could be used.", timeout=30_000
    )
    expect(rows).to_have_count(0)
    said = "Three families shared the watch, each taking four hours of the night in turn."
    made = [
        {"passage": n, "question": "How was the watch of the night shared?", "answer": said}
        for n in range(1, 11)
    ]
    summary = "It holds notes. They tell of a lighthouse. They tell of a council. This is one too many."
    site.script.questions = json.dumps({"summary": summary, "questions": made})
    with site.slowly(pause=1.0):
        introduce.click()
        page.get_by_role("button", name="Stop").click()
        introduce.click()
        page.get_by_role("button", name="Stop").wait_for()
        page.reload()
        page.get_by_role("button", name="Stop").wait_for()
    expect(rows).to_have_text("How was the watch of the night shared?", timeout=30_000)
    expect(page.locator(".about")).to_contain_text("They tell of a council.Written by scripted")
    assert findings(page) == []
    asked.get_by_role("button", name="Open the passage that answers: How was").click()
    expect(page.get_by_role("complementary").locator("mark")).to_have_text(said)
    page.reload()
    asked.get_by_role("button", name="How was the watch of the night shared?", exact=True).press("Enter")
    expect(page.locator("#question")).to_be_focused()
    expect(page.locator(".turn.over")).to_have_count(1, timeout=30_000)
    assert said in page.locator(".answer").inner_text()
    page.get_by_role("link", name="New conversation").click()
    expect(rows.first).to_have_text("How was the watch of the night shared?")
    expect(introduce).to_have_count(0)


def test_an_entity_is_drawn_with_its_neighbours_each_leads_on_and_its_places_open(window: Any) -> None:
    page = window(keep={"library": json.dumps("media")})
    page.get_by_role("region", name="Spoken of in the recordings").get_by_role("button", name="Crane").click()
    dialog = page.get_by_role("dialog", name="Spoken of in the recordings")
    drawn = dialog.get_by_role("group", name="Around Crane")
    expect(drawn.get_by_role("button")).to_have_count(3)
    assert drawn.get_by_role("button").all_inner_texts() == ["Crane", "Otto Brandt", "Harbour"]
    assert drawn.locator("path").count() == 2
    expect(dialog.get_by_text("Otto Brandt replaced the crane.")).to_be_visible()
    assert findings(page) == []
    drawn.get_by_role("button", name="Otto Brandt").click()
    expect(dialog.get_by_role("heading", name="Otto Brandt")).to_be_focused()
    dialog.get_by_role("list", name="Where it is spoken of").get_by_role("button").first.click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("complementary").locator("video")).to_be_visible()


def test_the_models_that_are_set_up_can_be_tried(window: Any) -> None:
    page = window()
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("button", name="Models").click()
    dialog = page.get_by_role("dialog", name="Models")
    dialog.get_by_role("button", name="Try it: Encodes text").click()
    expect(dialog.get_by_text("It encodes in")).to_be_visible(timeout=30_000)
    expect(dialog.get_by_text("scripted").first).to_be_visible()
    expect(dialog.get_by_text("The one that writes, because RAGWEAVE_JUDGE is not set.")).to_be_visible()
    expect(dialog.get_by_text("recordings without subtitles are not heard")).to_be_visible()
    dialog.get_by_role("button", name="Try it: understudy").click()
    expect(dialog.get_by_text("It answers “")).to_be_visible(timeout=30_000)
    assert findings(page) == []
