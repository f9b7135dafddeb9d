"""The lane of a run: its graph drawn, a step switched off or a setting changed, both answers side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

expect = pytest.importorskip("playwright.sync_api").expect

QUESTION = "When was the lamp of the lighthouse first lit?"


def test_the_graph_of_a_run_lights_up_and_is_there_after_a_reload(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window()
    turn = ask(page, QUESTION)
    turn.locator(".trail summary").click()
    for _ in range(2):
        done = turn.locator(".graph .node.done .name")
        expect(done.first).to_be_visible()
        names = done.all_inner_texts()
        assert {"Question", "Order", "Write", "Check"} <= set(names) and "Memory" not in names
        assert turn.locator(".graph path.taken").count() >= 8
        page.reload()
        turn = page.locator(".turn.over")
        turn.locator(".trail summary").click()


def test_a_step_is_done_without_and_both_answers_stand_side_by_side(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window()
    turn = ask(page, QUESTION)
    turn.locator(".trail > summary").click()
    turn.locator(".node[data-node=fuse]").click()
    form = turn.get_by_role("form", name="From “Order” on")
    with page.expect_request("**/again") as sent:
        form.get_by_label("Do without this step").check()
        form.get_by_role("button", name="Go on from here").click()
    asked = sent.value.post_data_json
    assert asked["step"] == "fuse" and asked["context"]["rerank"] is False
    sides = turn.locator(".side-answer")
    expect(sides.nth(1).locator(".difference")).to_be_visible(timeout=30_000)
    assert "1874" in sides.nth(0).locator(".answer").inner_text()
    for side in (sides.nth(0), sides.nth(1)):
        assert {"Model calls", "Tokens in and out", "Steps"} <= set(side.locator("dt").all_inner_texts())
    assert sides.nth(1).locator(".step[data-name=route]").count() == 0  # what came before was not done anew
    turn.locator(".again-head").get_by_role("button", name="Close").click()
    expect(sides).to_have_count(0)
    page.reload()
    expect(page.locator(".turn")).to_have_count(1)


def test_another_question_is_compared_and_the_conversation_stays(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window()
    turn = ask(page, QUESTION)
    turn.get_by_role("button", name="Answer once more with other settings").click()
    form = turn.get_by_role("form", name="Once more")
    form.get_by_label("Question").fill("Which families kept the watch at the lighthouse?")
    form.get_by_label("Longest answer, in sentences").fill("99")
    form.get_by_role("button", name="Answer once more").click()
    expect(form.get_by_label("Longest answer, in sentences")).to_have_attribute("aria-invalid", "true")
    form.get_by_label("Longest answer, in sentences").fill("1")
    form.get_by_role("button", name="Answer once more").click()
    expect(turn.locator(".difference")).to_contain_text("new", timeout=30_000)
    assert "Three families" in turn.locator(".side-answer").nth(1).inner_text()
    assert "1874" in turn.locator(".reply > .answer").inner_text()
