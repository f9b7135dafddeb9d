"""What is done with a question and an answer afterwards: edited, judged, found again."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import pytest

from ragweave.tests.page.asked import QUESTION

expect = pytest.importorskip("playwright.sync_api").expect

OTHER = "Which families kept the watch at the lighthouse?"


def test_an_edited_question_replaces_its_answer_and_all_below(window: Any, ask: Any) -> None:
    page = window()
    ask(page, QUESTION)
    ask(page, "What does the new pier cost?")
    turn = page.locator(".turn").first
    turn.locator(".asked-box").hover()
    turn.get_by_role("button", name="Edit this question").click()
    form = turn.get_by_role("form", name="Edit the question")
    form.get_by_role("textbox").fill(OTHER)
    form.get_by_role("button", name="Replace").click()
    page.get_by_role("dialog").get_by_role("button", name="Replace").click()
    expect(page.locator(".turn")).to_have_count(1)
    expect(page.locator(".turn.over .answer")).to_contain_text("Three families", timeout=30_000)
    page.reload()
    expect(page.locator(".turn.over h2")).to_have_text([OTHER])


def test_an_answer_is_judged_with_a_reason_that_stays(window: Any, ask: Any, site: Any) -> None:
    page = window()
    turn = ask(page, QUESTION)
    turn.get_by_role("button", name="A good answer", exact=True).click()
    expect(turn.get_by_role("button", name="A good answer", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    turn.get_by_role("button", name="Not a good answer").click()
    turn.get_by_role("button", name="Something is missing").click()
    expect(turn.get_by_text("Not good: Something is missing")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Not good: Something is missing")).to_be_visible()
    kept = page.request.get(f"{site.url}/api/verdicts?library=default").text().splitlines()
    last = json.loads(kept[-1])
    assert last["question"] == QUESTION and "1874" in last["must_not_contain"][0]


def test_conversations_are_searched_pinned_and_grouped_by_day(window: Any, ask: Any, site: Any) -> None:
    page = window()
    ask(page, "What does the new pier cost?")
    here = page.url.rpartition("/")[2]
    with sqlite3.connect(site.home / "serve.sqlite") as db:
        for n in range(8):
            row = (
                f"old-{n}",
                "owner",
                library(db, here),
                f"Old question {n}",
                "2020-02-03T10:00:00.000+00:00",
            )
            db.execute("INSERT OR REPLACE INTO threads VALUES (?, ?, ?, ?, ?, ?5, 0)", row)
    try:
        page.reload()
        expect(page.get_by_role("list", name="February 2020").locator(".thread")).to_have_count(8)
        expect(page.get_by_role("list", name="Today").locator(".thread.here")).to_have_count(1)
        page.get_by_role("searchbox", name="Search conversations").fill("2.6 million")
        expect(page.locator(".thread", has_text="Old question")).to_have_count(0)
        expect(page.locator(".thread.here")).to_have_count(1)
        page.get_by_role("searchbox", name="Search conversations").fill("")
        page.locator(".thread", has_text="Old question 3").hover()
        page.get_by_role("button", name="Pin Old question 3").click()
        pinned = page.get_by_role("list", name="Pinned").locator("a")
        expect(pinned).to_have_text("Old question 3")
        page.reload()
        expect(pinned).to_have_text("Old question 3")
        assert page.locator(".thread a").first.inner_text() == "Old question 3"
    finally:
        with sqlite3.connect(site.home / "serve.sqlite") as db:
            db.execute("DELETE FROM threads WHERE id LIKE 'old-%'")


def library(db: sqlite3.Connection, thread: str) -> str:
    return str(db.execute("SELECT library FROM threads WHERE id = ?", (thread,)).fetchone()[0])
