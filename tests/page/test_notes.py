"""What a reader keeps: an answer, selected words, and words of her own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragweave.tests.page.test_axe import findings

expect = pytest.importorskip("playwright.sync_api").expect

LLM = json.dumps({"mode": "llm", "route_by": "local", "grade_by": "local", "expand_when": "never", "max_hops": 1})


def test_an_answer_and_selected_words_are_kept_open_again_are_written_to_and_deleted(
    window: Callable[..., Any], ask: Callable[..., Any], tmp_path: Path
) -> None:
    page = window()
    turn = ask(page, "What does the new pier cost?")
    turn.get_by_role("button", name="Keep this answer in the notes").click()
    turn.locator(".answer .cite").first.click()
    panel = page.get_by_role("complementary")
    panel.locator(".letters span", has_text="spring tides").evaluate("""
      (line) => getSelection().setBaseAndExtent(line.firstChild, 0, document.querySelector(".letters .last"), 0)
    """)
    panel.get_by_role("button", name="Keep", exact=True).click()
    page.locator("#toasts").get_by_role("link", name="Notes").last.click()
    notes = page.get_by_role("list", name="Notes").locator(".note")
    expect(notes).to_have_count(2)
    expect(page.locator("#where")).to_have_text("Notes")
    passage, answer = notes.first, notes.last
    expect(passage).to_contain_text("within sixteen months. 2. School")  # the end of a line parts two words
    expect(answer.get_by_role("heading", name="What does the new pier cost?")).to_be_visible()
    assert findings(page) == []
    answer.locator(".cite").first.click()
    expect(panel.locator(".sheet .box").first).to_be_visible()
    page.keyboard.press("Escape")
    passage.locator("button.words").click()
    expect(panel.locator(".sheet .box").first).to_be_visible()
    page.keyboard.press("Escape")
    answer.get_by_role("button", name="Write to").click()
    answer.get_by_label("Words of your own").fill("Ask Mara about it.")
    answer.get_by_role("button", name="Keep").click()
    expect(answer.locator(".own")).to_have_text("Ask Mara about it.")
    page.get_by_role("button", name="Save all as a proof").click()
    with page.expect_download() as saved:
        page.get_by_role("dialog").get_by_role("button", name="HTML").click()
    saved.value.save_as(tmp_path / "notes.html")
    assert "Ask Mara about it." in (tmp_path / "notes.html").read_text(encoding="utf-8")
    page.reload()
    expect(answer.locator(".own")).to_have_text("Ask Mara about it.")
    for left in (1, 0):
        notes.last.get_by_role("button", name="Delete").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).press("Enter")
        expect(notes).to_have_count(left)
    expect(page.get_by_text("Nothing is kept yet.")).to_be_visible()


def test_a_refusal_that_is_kept_opens_what_came_closest(
    window: Callable[..., Any], ask: Callable[..., Any], site: Any
) -> None:
    site.script.answer = ["UNKNOWN"]
    page = window(keep={"settings": LLM})
    turn = ask(page, "How tall is the cathedral of Ulm in Bavaria?")
    turn.get_by_role("button", name="Keep this answer in the notes").click()
    page.locator("#toasts").get_by_role("link", name="Notes").click()
    expect(page.locator("#toasts .toast")).to_have_count(0)
    note = page.get_by_role("list", name="Notes").locator(".note")
    note.locator("button.words").last.click()
    expect(page.get_by_role("complementary").locator("mark").first).to_be_visible()
    page.keyboard.press("Escape")
    note.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).press("Enter")
    expect(note).to_have_count(0)


def test_words_of_ones_own_are_searched_and_become_a_source_with_their_formulas(
    window: Callable[..., Any], ask: Callable[..., Any], site: Any, tmp_path: Path
) -> None:
    page = window()
    kept = page.request.post(f"{site.url}/api/libraries", data={"name": "kept"}).json()
    try:
        page = window("/#/notes", keep={"library": json.dumps("kept")})
        field, notes = page.get_by_label("Write a note"), page.get_by_role("list", name="Notes").locator(".note")
        for n in range(8):
            lit = f"The lamp of the pump house was first lit on {n + 1} May 1901, using $\\frac{{V_{n}}}{{t}}$."
            field.fill(f"Pump house {n}\n\n{lit}")
            page.get_by_role("button", name="Keep").click()
            expect(notes).to_have_count(n + 1)
            expect(field).to_have_value("")
        page.get_by_label("Search notes").fill("HOUSE 5")
        expect(notes).to_have_count(1)
        notes.get_by_role("button", name="Make Pump house 5").click()
        expect(page.locator(".sources-pane").get_by_text("Pump house 5").first).to_be_visible(timeout=30_000)
        turn = ask(page, "When was the lamp of the pump house first lit?")
        expect(turn.locator(".answer math mfrac").first).to_be_visible()
        turn.get_by_role("button", name="Save as a proof").click()
        with page.expect_download() as saved:
            page.get_by_role("dialog").get_by_role("button", name="HTML").click()
        saved.value.save_as(tmp_path / "rate.html")
        assert (tmp_path / "rate.html").read_text(encoding="utf-8").count("<mfrac>") == 2
    finally:
        page.request.delete(f"{site.url}/api/libraries/{kept['id']}")


def test_what_is_being_written_stays_while_the_libraries_are_looked_at_and_another_note_is_kept(
    window: Callable[..., Any], site: Any
) -> None:
    page = window()
    kept = page.request.post(f"{site.url}/api/libraries", data={"name": "drafts"}).json()
    try:
        page = window("/#/notes", keep={"library": json.dumps("drafts")})
        field, notes = page.get_by_label("Write a note"), page.get_by_role("list", name="Notes").locator(".note")
        field.fill("The first note.")
        page.get_by_role("button", name="Keep").click()
        expect(notes).to_have_count(1)
        notes.get_by_role("button", name="Write to").click()
        own = page.get_by_label("Words of your own")
        own.fill("The first note, and more.")
        field.fill("The second note.")
        page.locator(".note-writer").first.get_by_role("button", name="Keep").click()
        expect(notes).to_have_count(2)
        expect(field).to_have_value("")
        expect(own).to_have_value("The first note, and more.")
        field.fill("The third n")
        with page.expect_response("**/api/notes?*"):
            page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        field.press_sequentially("o")  # the field was not left
        with page.expect_response("**/api/notes?*"):
            page.locator("button.library").click()
        page.keyboard.press("Escape")
        file = {"name": "later.md", "mimeType": "text/markdown", "buffer": b"# Later\n\nThe later file says five.\n"}
        page.set_input_files("#picker", files=[file])
        expect(page.locator(".board h2")).to_have_text("1 file indexed", timeout=60_000)
        expect(page.locator(".sources-pane").get_by_text("Later").first).to_be_visible()
        expect(field).to_have_value("The third no")
        expect(own).to_have_value("The first note, and more.")
        own.focus()
        with page.expect_response("**/api/notes?*"):
            page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        own.press("End")
        page.keyboard.type(" And more.")
        expect(own).to_have_value("The first note, and more. And more.")
        page.get_by_role("link", name="New conversation").first.click()
        page.go_back()
        expect(field).to_have_value("The third no")
        for name, written in (("default", ""), ("drafts", "The third no")):  # a note is of one library
            page.locator("button.library").click()
            page.get_by_role("dialog").locator("button.choose", has_text=name).click()
            expect(field).to_have_value(written)
        page.locator(".note .note-writer").get_by_role("button", name="Keep").click()
        expect(own).to_have_count(0)
        expect(page.locator(".note .own").last).to_have_text("The first note, and more. And more.")
        page.get_by_role("list", name="Notes").get_by_role("button", name="Write to").first.click()
        own.fill("To be forgotten")
        page.locator(".note .note-writer").get_by_role("button", name="Cancel").click()
        expect(page.locator(".note .own").first).to_have_text("The second note.")
    finally:
        page.request.delete(f"{site.url}/api/libraries/{kept['id']}")
