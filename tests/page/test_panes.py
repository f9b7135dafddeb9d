"""Three panes: the sources, the conversation, and beside each sentence what it rests on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragweave.tests.page.asked import LLM, QUESTION, drawn

expect = pytest.importorskip("playwright.sync_api").expect


WIDE = {"width": 1440, "height": 900}


def test_only_ticked_sources_are_searched(window: Any, ask: Any) -> None:
    page = window(viewport=WIDE)
    pane = page.locator(".sources-pane")
    pane.get_by_label("Search council-2024.pdf").check()
    expect(pane.get_by_role("status")).to_contain_text("Only 1 of")
    assert "1874" not in ask(page, QUESTION).locator(".answer").inner_text()
    page.reload()
    expect(page.get_by_role("button", name="only 1 source")).to_be_visible()
    expect(pane.get_by_label("Search council-2024.pdf")).to_be_checked()
    pane.get_by_role("button", name="Search all", exact=True).click()
    assert "1874" in ask(page, QUESTION).locator(".answer").inner_text()


def test_what_a_sentence_rests_on_stands_beside_it_and_each_marks_the_other(
    window: Any, ask: Any, site: Any
) -> None:
    site.script.answer = ["The lamp of the lighthouse was first lit on 3 October 1874 [1]."]
    page = window(keep={"settings": LLM}, viewport=WIDE)
    turn = ask(page, QUESTION)
    sentence, card = turn.locator(".sentence").first, turn.locator(".sources .source").first
    expect(turn.locator(".sources.beside")).to_be_visible()
    left, right = sentence.bounding_box(), card.bounding_box()
    assert right["x"] > left["x"] + 500 and abs(right["y"] - left["y"]) < 30
    assert "1874" in card.locator(".quote").inner_text()
    line = turn.locator(".ties path").first
    expect(line).to_have_class("verified")
    sentence.hover()
    expect(card).to_have_class("source tied")
    expect(line).to_have_class("verified tied")
    ends = line.bounding_box()
    assert left["x"] + left["width"] < ends["x"] and abs(ends["x"] + ends["width"] - right["x"]) < 12
    page.mouse.move(5, 5)
    expect(line).to_have_class("verified")
    expect(card).to_have_class("source")
    card.locator(".words").focus()
    assert "tied" in sentence.get_attribute("class")
    sentence.locator(".cite").focus()
    assert "tied" in card.get_attribute("class")
    before = right["y"] - left["y"]
    ask(page, "Who shared the watch?")
    page.locator("#main").evaluate("main => { main.scrollTop = 40 }")
    assert card.bounding_box()["y"] - sentence.bounding_box()["y"] == pytest.approx(before, abs=1)


_LAID = """
() => {
  const box = (e) => e.getBoundingClientRect();
  const cards = [...document.querySelectorAll(".turn .sources .source")].sort((a, b) => box(a).top - box(b).top);
  const over = cards.slice(1).filter((card, n) => box(card).top < box(cards[n]).bottom).length;
  const first = document.querySelector(".turn .sentence");
  return { over, off: Math.round(box(cards[0]).top - first.getClientRects()[0].top),
    inside: box(cards.at(-1)).bottom <= box(document.querySelector(".turn")).bottom };
}
"""


def test_cards_are_laid_out_anew_when_anything_changes_its_height_and_fold_below_where_there_is_no_room(
    window: Any, ask: Any, site: Any
) -> None:
    site.script.answer = ["The council decided [1]. ", "The council met again [2]. ", "The ferry sails [3]."]
    page = window(keep={"settings": LLM}, viewport=WIDE)
    turn = ask(page, "What did the council decide about the pier, the school and the ferry?")
    expect(turn.locator(".sources.beside")).to_be_visible()
    changes = {
        "the drawing unfolds": "turn.querySelector('.trail').open = true",
        "a picture comes": (
            "turn.querySelector('.source .words').append(Object.assign(new Image(), {height: 300}))"
        ),
        "a strip comes late": "turn.querySelector('.answer').prepend(document.createElement('hr'))",
        "the drawing folds": "turn.querySelector('.trail').open = false",
    }
    for what, change in {"at first": "0", **changes}.items():
        page.evaluate(f"() => {{ const turn = document.querySelector('.turn'); {change}; }}")
        drawn(page, 6)
        laid = page.evaluate(_LAID)
        assert (laid["over"], laid["inside"]) == (0, True) and abs(laid["off"]) < 30, (what, laid)
    page.set_viewport_size({"width": 900, "height": 800})
    expect(turn.locator(".sources.beside")).to_have_count(0)
    answer, card = turn.locator(".answer").bounding_box(), turn.locator(".source").first.bounding_box()
    assert card["y"] > answer["y"] + answer["height"] - 1


STATES = {"unverified": "underline dashed", "contradicted": "line-through solid", "model": "underline dotted"}


def test_the_three_states_of_a_sentence_are_seen_and_read(window: Any) -> None:
    page = window(keep={"library": json.dumps("media")}, viewport=WIDE)
    page.get_by_role("link", name="What about the pump?").click()
    turn = page.locator(".turn.over")
    turn.wait_for()
    assert turn.get_by_role("list", name="Check of the sentences").get_by_role(
        "listitem"
    ).all_inner_texts() == [
        "1 stands in the source",
        "1 sentence contradicted",
        "1 not found in the sources",
        "1 from the model itself",
    ]
    assert turn.locator(".sentence.unverified .flag").inner_text().strip() == "not found in the sources"
    assert turn.locator(".sentence.contradicted .flag").inner_text().strip() == "contradicted"
    labels = [chip.get_attribute("aria-label").split(":")[0] for chip in turn.locator(".answer .cite").all()]
    assert labels == ["It stands in source 1", "Contradicted by source 1"]
    style = (
        "e => (({ textDecorationLine: line, textDecorationStyle: how }) => `${line}"
        " ${how}`)(getComputedStyle(e))"
    )
    shown = {state: turn.locator(f".sentence.{state} .said").evaluate(style) for state in STATES}
    assert shown == STATES
