"""Asking and reading: answers, refusals, pictures, consent to a web search."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ragweave.tests.page.asked import LLM, QUESTION

expect = pytest.importorskip("playwright.sync_api").expect


def test_without_a_model_quotes_stand_as_cards_that_open_their_place_under_one_line_that_says_so(
    window: Any, ask: Any
) -> None:
    page = window()
    turn = ask(page, QUESTION)
    for _ in range(2):
        quotes = turn.get_by_role("list", name="Quoted passages").get_by_role("listitem")
        assert 0 < quotes.count() <= 4 and turn.locator(".sentence").count() == 0
        said = "The lamp of the lighthouse was first lit on 3 October 1874."
        assert said in quotes.first.locator("blockquote").inner_text()
        assert {"lamp", "lighthouse"} <= {*" ".join(quotes.first.locator("mark").all_inner_texts()).split()}
        assert quotes.first.get_by_role("heading").inner_text().startswith("The lighthouse")
        assert turn.inner_text().count("No language model read these passages") == 1
        page.reload()
        page.wait_for_selector(".turn.over")
        turn = page.locator(".turn")
    quotes.first.get_by_role("heading").get_by_role("button").click()
    expect(page.get_by_role("complementary").locator("mark")).to_contain_text(said)
    page.keyboard.press("Escape")
    turn.get_by_role("button", name="Models").click()
    expect(page.get_by_role("dialog", name="Models")).to_be_visible()


def test_a_line_above_says_that_the_quotes_share_few_words_with_the_question(window: Any, ask: Any) -> None:
    page = window()
    turn = ask(page, "Which zebra of the travelling circus plays the accordion at the lighthouse?")
    for _ in range(2):
        expect(turn.locator(".few")).to_have_text("These passages share few words with your question.")
        assert turn.locator(".sentence").count() == 0 and turn.locator(".quotation").count() > 0
        page.reload()
        page.wait_for_selector(".turn.over")
        turn = page.locator(".turn")


@pytest.mark.parametrize("width", [390, 1280])
def test_a_wide_table_of_a_quote_scrolls_in_its_card(window: Any, ask: Any, width: int) -> None:
    page = window(viewport={"width": width, "height": 800})
    turn = ask(page, QUESTION)
    heads = " | ".join(f"Outstanding{letter}" for letter in "abcdefghijklmn")
    text = f"{heads}\n" + " | ".join(["2025-03-12"] + ["1,400"] * 13)
    turn.locator(".answer").evaluate(
        """async (answer, text) => {
          const { layQuote } = await import("/static/js/quotes.js");
          const citation = { n: 1, title: "Tolls", locator: { kind: "heading", file: "tolls.csv" }, quote: "" };
          answer.replaceChildren();
          layQuote(answer, { text, marked: [[0, 12]] }, [citation]);
        }""",
        text,
    )
    table = turn.locator(".quotation .wide").first
    room, needed = table.evaluate("(box) => [box.clientWidth, box.scrollWidth]")
    assert needed > room, "as wide as its columns need"
    assert table.locator("td").first.bounding_box()["height"] < 40, "a date is not broken at its hyphens"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    table.evaluate("(box) => { box.scrollLeft = box.scrollWidth; }")
    last = table.locator("th").last.bounding_box()
    card = turn.locator(".quotation").first.bounding_box()
    assert last["x"] + last["width"] <= card["x"] + card["width"]


def test_an_answer_comes_with_its_steps_and_what_it_took(window: Any, ask: Any) -> None:
    page = window()
    turn = ask(page, QUESTION)
    assert "1874" in page.locator("#live").inner_text()
    for _ in range(2):
        assert "no model call" in turn.locator(".usage").inner_text()
        turn.locator(".trail summary").click()
        steps = turn.locator(".step .title").all_inner_texts()
        assert steps[0] == "Understood the question" and steps[-1] == "Checked the answer"
        chosen = turn.locator(".bars .chosen").inner_text()
        assert "passages" in chosen and "%" in chosen
        assert turn.locator(".verdict .word").first.inner_text() == "correct"
        page.reload()
        turn = page.locator(".turn.over")
    assert page.locator(".thread.here").inner_text().strip() == QUESTION


def test_an_abstention_is_no_dead_end(window: Any, ask: Any, site: Any) -> None:
    site.script.answer = ["UNKNOWN"]
    page = window(keep={"settings": LLM})
    turn = ask(page, "How tall is the cathedral of Ulm in Bavaria?")
    assert "text" in turn.locator(".abstained dd").first.inner_text()
    places = turn.locator(".places .words")
    assert places.count() == 3
    assert len(set(places.locator(".title").all_inner_texts())) == 3
    places.nth(1).click()
    page.locator("#panel .quoted, #panel mark").first.wait_for()
    assert places.nth(1).locator(".said").inner_text()[:30] in page.locator("#panel").inner_text()
    page.keyboard.press("Escape")
    turn.get_by_role("button", name="Rephrase", exact=True).click()
    assert page.input_value("#question") == "How tall is the cathedral of Ulm in Bavaria?"
    assert page.evaluate("document.activeElement.id") == "question"
    with page.expect_file_chooser():
        turn.get_by_role("button", name="Add a file").click()
    with page.expect_request("**/api/ask") as sent:
        turn.get_by_role("button", name="Search wider").click()
    assert (
        sent.value.post_data_json["context"] | {"top_k": 20, "sources": []}
        == sent.value.post_data_json["context"]
    )
    expect(page.locator(".turn.over")).to_have_count(2, timeout=30_000)
    page.reload()
    page.wait_for_selector(".turn.over")
    assert page.locator(".turn").first.locator(".places .words").count() == 3


def test_formulas_are_drawn_and_nothing_is_loaded_for_prices(window: Any, ask: Any, site: Any) -> None:
    page = window(keep={"settings": LLM})
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    site.script.answer = ["The lamp cost $5 in 1874 and $10 later [1]."]
    assert "$5 in 1874 and $10" in ask(page, QUESTION).locator(".answer").inner_text()
    assert not any("temml" in url for url in loaded)
    site.script.answer = [
        r"The lamp was first lit on 3 October 1874, $\frac{a_1}{b_2}$ and $$x^2$$ and $\unknown$ [1]."
    ]
    answer = ask(page, QUESTION).locator(".answer")
    expect(answer.locator("math mfrac msub")).to_have_count(2)
    expect(answer.locator("math[display=block]")).to_be_visible()
    expect(answer.locator("code.tex")).to_have_text([r"\unknown"])
    assert answer.locator("[style]").count() == 0


def test_a_pasted_picture_goes_with_the_question_and_stays_with_it(window: Any, ask: Any) -> None:
    page = window()
    page.evaluate("""async () => {
          const canvas = Object.assign(document.createElement("canvas"), { width: 900, height: 160 });
          const pen = canvas.getContext("2d");
          pen.font = "56px sans-serif";
          pen.fillText("lamp of the lighthouse", 30, 90);
          const blob = await new Promise((done) => canvas.toBlob(done));
          const data = new DataTransfer();
          data.items.add(new File([blob], "lamp.png", { type: "image/png" }));
          document.getElementById("question").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data }));
        }""")
    expect(page.locator(".composer .thumb img")).to_be_visible()
    turn = ask(page, "When was this first lit?")
    assert "1874" in turn.locator(".answer").inner_text()
    assert "lamp of the lighthouse" in turn.locator(".notes").inner_text()
    assert page.locator(".composer .thumb").count() == 0
    page.reload()
    shown = page.locator(".question .thumbs img")
    expect(shown).to_be_visible()
    assert shown.evaluate("i => i.decode().then(() => i.naturalWidth)") == 900
    page.get_by_role("button", name="Ask again").first.click()
    expect(page.locator(".turn.over")).to_have_count(2, timeout=30_000)
    assert "1874" in page.locator(".answer").nth(1).inner_text()


def test_a_file_is_asked_in_its_conversation_until_it_is_removed(
    window: Any, ask: Any, tmp_path: Path
) -> None:
    file = tmp_path / "kiln.md"
    file.write_text("# The kiln\n\nThe kiln of Rook was fired in 1911 by Rosa.\n", encoding="utf-8")
    page = window()
    page.set_input_files("#asked-files", str(file))
    page.get_by_text("kiln.md").first.wait_for()
    ask(page, "Who fired the kiln of Rook?")
    page.get_by_text("in 1911 by").first.wait_for()
    page.reload()
    chip = page.locator(".composer .chosen")
    chip.wait_for()
    chip.get_by_role("button").click()
    chip.wait_for(state="detached")
    page.reload()
    page.get_by_text("in 1911 by").first.wait_for()
    assert page.locator(".composer .chosen").count() == 0


@pytest.mark.parametrize(
    ("button", "words"), [("Search the web", "900 tonnes"), ("Stay offline", "declined")]
)
def test_nothing_is_searched_on_the_web_before_consent_which_waits_through_a_reload(
    window: Any, ask: Any, button: str, words: str
) -> None:
    page = window(keep={"settings": json.dumps({"web": "ask"})})
    ask(page, "How much does the kraken of Bergen weigh?", wait=False)
    asked = page.get_by_role("group", name="Search the web?")
    asked.wait_for()
    assert "kraken" in asked.locator(".sent").inner_text()
    page.reload()
    asked.get_by_role("button", name=button).click()
    page.wait_for_selector(".turn.over")
    assert words in page.locator(".turn").inner_text()


def test_while_a_model_writes_what_was_found_is_shown_and_then_what_its_sentences_rest_on(
    window: Any, ask: Any, site: Any
) -> None:
    site.script.answer = [
        "The lamp of the lighthouse was first lit on 3 October 1874 [1]. ",
        "The tower was ordered after two boats were lost on the reef [1].",
    ]
    page = window(keep={"settings": LLM})
    with site.slowly(*site.script.answer, pause=0.3):
        turn = ask(page, QUESTION, wait=False)
        found, now = turn.get_by_role("region", name="Found so far"), turn.locator(".trail summary .now")
        expect(found.get_by_role("button").first).to_contain_text("The lighthouse")
        expect(now).to_have_text("Reading what was found")
        expect(turn.locator(".sentence")).to_have_count(1)
        assert now.inner_text() == "Writing the answer" and found.count() == 0
        expect(turn.locator(".sources .source")).to_have_count(1)
        page.locator(".turn.over").wait_for()
    assert turn.locator(".answer .cite").all_inner_texts() == [
        "1",
        "1",
    ], "two quotes of one place have its number"
    assert turn.locator(".sources .cite").all_inner_texts() == ["1"]


def test_what_an_empty_library_cannot_answer_leads_to_adding_a_file_alone(
    window: Any, ask: Any, new_library: Any
) -> None:
    page = window()
    new_library(page, "bare")
    page.keyboard.press("Escape")
    expect(ask(page, "What is a mill?").locator(".abstained button")).to_have_text("Add a file")


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
