"""Conversations that stay: over reloads, windows, lost connections and a server that ends."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from ragweave.tests.page.asked import LLM, QUESTION

expect = pytest.importorskip("playwright.sync_api").expect


def test_stopping_keeps_what_was_checked_also_after_a_reload(window: Any, ask: Any, site: Any) -> None:
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


def test_a_reload_in_the_middle_finds_the_answer_under_way(window: Any, ask: Any, site: Any) -> None:
    with site.slowly("The lamp was first lit ", "on 3 October ", "1874 [1].", pause=0.7):
        page = window(keep={"settings": LLM, "graph": json.dumps("crag")})
        ask(page, QUESTION, wait=False)
        page.wait_for_selector(".step", state="attached")
        page.reload()
        page.wait_for_selector("button[aria-label=Stop]")
        page.wait_for_selector(".turn.over")
    assert "1874" in page.locator(".answer").inner_text()
    assert page.locator(".turn").count() == 1


def test_a_conversation_is_renamed_and_deleted(window: Any, ask: Any) -> None:
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


def test_a_question_to_a_conversation_that_another_tab_deleted_can_be_asked_in_a_new_one(
    window: Any, ask: Any
) -> None:
    page = window(strict=False)
    ask(page, QUESTION)
    page.evaluate("fetch('/api/threads/' + location.hash.split('/')[2], {method: 'DELETE'})")
    page.fill("#question", "Who kept the lighthouse?")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Ask again").last.click()
    expect(page.locator(".turn.over").last).to_contain_text("Three families", timeout=60_000)


def test_a_library_that_got_another_name_elsewhere_is_asked_under_that(window: Any, ask: Any) -> None:
    page = window(keep={"library": json.dumps("media")})
    rename = """
    async (name) => {
      const { libraries } = await (await fetch("/api/libraries")).json();
      const { id } = libraries.find((l) => ["media", "studio"].includes(l.name));
      const headers = { "Content-Type": "application/json" };
      await fetch("/api/libraries/" + id, { method: "PATCH", headers, body: JSON.stringify({ name }) });
    }
    """
    page.evaluate(rename, "studio")
    try:
        turn = ask(page, "Who replaced the crane?")
        expect(page.locator("button.library .name")).to_have_text("studio")
        turn.get_by_role("button", name="Ask again").click()
        expect(page.locator(".turn.over").last).to_contain_text("Otto Brandt", timeout=60_000)
    finally:
        page.evaluate(rename, "media")


def cut(route: Any) -> None:
    """Break a connection in the middle of the second event."""
    reply = route.fetch()
    told = reply.text()
    route.fulfill(response=reply, body=told[: told.index("id: 2") + 40])


def test_a_connection_that_breaks_goes_on_behind_the_last_event(window: Any, ask: Any) -> None:
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
