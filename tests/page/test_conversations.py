"""Conversations that stay: over reloads, windows, lost connections and a server that ends."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

expect = pytest.importorskip("playwright.sync_api").expect


QUESTION = "When was the lamp of the lighthouse first lit?"
LLM = json.dumps({"mode": "llm", "route_by": "local", "grade_by": "local", "expand_when": "never", "max_hops": 1})


def test_conversations_of_other_libraries_stay_out_of_the_way(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window()
    ask(page, QUESTION)
    assert not page.locator(".thread", has_text="What about the pump?").count()
    page.locator("button.library").click()
    page.get_by_role("button", name="media").first.click()
    expect(page.locator(".thread", has_text="What about the pump?")).to_have_count(1)
    assert not page.locator(".thread", has_text=QUESTION).count()


def test_a_conversation_is_whole_after_a_reload_and_goes_on(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window()
    ask(page, QUESTION)
    said = page.locator(".answer").inner_text()
    steps = page.locator(".step").count()
    page.reload()
    page.wait_for_selector(".turn.over")
    assert page.locator(".answer").inner_text() == said
    assert page.locator(".step").count() == steps
    second = ask(page, "Which families kept the watch there?")
    assert "Three families" in second.inner_text()
    assert page.locator(".turn").count() == 2


def test_a_long_conversation_opens_at_its_last_question(window: Callable[..., Any], ask: Callable[..., Any]) -> None:
    page = window(viewport={"width": 900, "height": 420})
    for _ in range(3):
        ask(page, QUESTION)
    page.reload()
    expect(page.locator(".turn.over")).to_have_count(3)
    expect(page.locator(".turn").last.locator("h1, h2").first).to_be_in_viewport()
    expect(page.locator(".turn").first.locator("h1, h2").first).not_to_be_in_viewport()


def test_stopping_keeps_what_was_checked_also_after_a_reload(
    window: Callable[..., Any], ask: Callable[..., Any], site: Any
) -> None:
    with site.slowly("The lamp was first lit on 3 October 1874 [1]. ", "Three ", *["more "] * 200, pause=0.5):
        # A graph that does not reason: there the writer streams.
        page = window(keep={"settings": LLM, "graph": json.dumps("crag")})
        turn = ask(page, QUESTION, wait=False)
        turn.locator(".sentence").first.wait_for()
        page.click("button[aria-label=Stop]")
        page.wait_for_selector(".turn.over .stopped")
    page.reload()
    page.wait_for_selector(".turn.over .stopped")
    assert "1874" in page.locator(".sentence").inner_text()
    assert page.get_by_role("button", name="Ask", exact=True).is_visible()


def test_a_reload_in_the_middle_finds_the_answer_under_way(
    window: Callable[..., Any], ask: Callable[..., Any], site: Any
) -> None:
    with site.slowly("The lamp was first lit ", "on 3 October ", "1874 [1].", pause=0.7):
        page = window(keep={"settings": LLM, "graph": json.dumps("crag")})
        ask(page, QUESTION, wait=False)
        page.wait_for_selector(".step", state="attached")
        page.reload()
        page.wait_for_selector("button[aria-label=Stop]")
        page.wait_for_selector(".turn.over")
    assert "1874" in page.locator(".answer").inner_text()
    assert page.locator(".turn").count() == 1


def test_two_windows_do_not_mix(window: Callable[..., Any], ask: Callable[..., Any]) -> None:
    one, other = window(), window()
    ask(one, QUESTION)
    ask(other, "What does the new pier cost?")
    assert one.locator(".turn").count() == other.locator(".turn").count() == 1
    assert "1874" in one.locator(".answer").inner_text()
    assert "2.6 million" in other.locator(".answer").inner_text()
    assert one.url != other.url


def test_a_conversation_is_renamed_and_deleted(window: Callable[..., Any], ask: Callable[..., Any]) -> None:
    page = window()
    ask(page, QUESTION)
    page.locator(".thread.here").hover()
    page.locator(".thread.here").get_by_role("button", name="Rename").click()
    page.keyboard.type("The first lamp")
    page.keyboard.press("Enter")
    expect(page).to_have_title(re.compile("^The first lamp"))
    page.reload()
    page.wait_for_selector(".turn.over")
    here = page.locator(".thread.here")
    assert here.inner_text().strip() == "The first lamp"
    before = page.locator(".thread").count()
    here.hover()
    here.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator(".thread")).to_have_count(before - 1)
    assert page.locator(".turn").count() == 0


def test_a_question_that_is_refused_says_why_and_can_be_asked_again(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window(keep={"settings": json.dumps({"top_k": 9999})})
    turn = ask(page, QUESTION)
    assert "top_k" in turn.get_by_role("alert").inner_text()
    assert turn.get_by_role("button", name="Ask again").is_visible()
    assert page.locator(".thread.here").count() == 0
    assert page.input_value("#question") == QUESTION
    page.get_by_role("link", name="New conversation").first.click()
    expect(page.locator(".turn")).to_have_count(0)


def test_a_server_that_is_gone_is_named_and_the_page_goes_on_when_it_is_back(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window()
    page.context.set_offline(True)
    turn = ask(page, QUESTION)
    assert "cannot be reached" in turn.get_by_role("alert").inner_text()
    page.context.set_offline(False)
    turn.get_by_role("button", name="Ask again").click()
    page.locator(".turn .answer").nth(1).get_by_text("1874").wait_for()


def test_whoever_leaves_before_the_server_has_taken_a_question_finds_it_in_the_list(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window()
    held: list[Any] = []
    page.route("**/api/ask", lambda route: held.append(route))
    ask(page, "Who lit the lamp of the lighthouse before the pump was built?", wait=False)
    page.locator("a.row", has_text="New conversation").click()
    expect(page.locator(".turn")).to_have_count(0)
    assert not page.locator(".thread", has_text="Who lit the lamp").count()
    held[0].continue_()
    expect(page.locator(".thread", has_text="Who lit the lamp")).to_have_count(1)
    assert not page.locator(".turn").count()


def test_whoever_leaves_an_answer_under_way_is_not_told_that_the_server_is_gone(
    window: Callable[..., Any], ask: Callable[..., Any], site: Any
) -> None:
    with site.slowly("The lamp was first lit on 3 October 1874 [1]. ", "Three ", *["more "] * 30, pause=0.2):
        page = window(keep={"settings": LLM, "graph": json.dumps("crag")})
        ask(page, QUESTION, wait=False).locator(".sentence").first.wait_for()
        page.evaluate(
            "() => { window.gone = 0; new MutationObserver(() => window.gone += document.querySelectorAll('#offline')"
            ".length).observe(document.body, { childList: true, subtree: true }); }"
        )
        page.locator("a.row", has_text="New conversation").click()
        expect(page.locator(".turn")).to_have_count(0)
        page.wait_for_timeout(1_000)
    assert page.evaluate("window.gone") == 0


def cut(route: Any) -> None:
    """Break a connection in the middle of the second event."""
    reply = route.fetch()
    told = reply.text()
    route.fulfill(response=reply, body=told[: told.index("id: 2") + 40])


def test_a_connection_that_breaks_goes_on_behind_the_last_event(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window(strict=False)
    resumed: list[str | None] = []

    def broken(route: Any) -> None:
        resumed.append(route.request.headers.get("last-event-id"))
        if len(resumed) == 1:
            cut(route)
        elif len(resumed) == 2:
            route.abort()
        else:
            route.continue_()

    page.route("**/api/ask", broken)
    page.route("**/api/runs/*/events", broken)
    turn = ask(page, QUESTION)
    assert resumed == [None, "1", "1"]
    assert "1874" in turn.locator(".answer").inner_text()
    assert turn.locator(".step .title").all_text_contents().count("Understood the question") == 1
    assert page.locator("#offline").count() == 0


def test_a_run_that_the_server_forgot_ends_in_words(window: Callable[..., Any], ask: Callable[..., Any]) -> None:
    page = window(strict=False)
    gone = {"title": "There is no such run", "status": 404, "code": "not_found", "remedy": ""}
    page.route("**/api/ask", cut)
    page.route("**/api/runs/*/events", lambda route: route.fulfill(status=404, json=gone))
    turn = ask(page, QUESTION)
    assert "Stopped" in turn.locator(".stopped").inner_text()
    assert turn.get_by_role("button", name="Ask again").is_visible()
