"""Asking and reading: answers, refusals, pictures, consent to a web search."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

expect = pytest.importorskip("playwright.sync_api").expect


QUESTION = "When was the lamp of the lighthouse first lit?"
LLM = json.dumps({"mode": "llm", "route_by": "local", "grade_by": "local", "expand_when": "never", "max_hops": 1})


def test_without_a_model_quotes_stand_as_cards_that_open_their_place_under_one_line_that_says_so(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window()
    turn = ask(page, QUESTION)
    for _ in range(2):
        quotes = turn.get_by_role("list", name="Quoted passages").get_by_role("listitem")
        assert 0 < quotes.count() <= 4 and turn.locator(".sentence").count() == 0
        said = "The lamp of the lighthouse was first lit on 3 October 1874."
        assert quotes.first.locator("mark").inner_text() == said
        assert quotes.first.get_by_role("heading").inner_text().startswith("The lighthouse")
        assert turn.inner_text().count("No language model read these passages") == 1
        page.reload()
        page.wait_for_selector(".turn.over")
        turn = page.locator(".turn")
    quotes.first.get_by_role("heading").get_by_role("button").click()
    expect(page.get_by_role("complementary").locator("mark")).to_have_text(said)
    page.keyboard.press("Escape")
    turn.get_by_role("button", name="Models").click()
    expect(page.get_by_role("dialog", name="Models")).to_be_visible()


def test_an_answer_comes_with_its_steps_and_what_it_took(window: Callable[..., Any], ask: Callable[..., Any]) -> None:
    page = window()
    turn = ask(page, QUESTION)
    assert "no model call" in turn.locator(".usage").inner_text()
    turn.locator(".trail summary").click()
    steps = turn.locator(".step .title").all_inner_texts()
    assert steps[0] == "Understood the question" and steps[-1] == "Checked the answer"
    chosen = turn.locator(".bars .chosen").inner_text()
    assert "passages" in chosen and "%" in chosen
    assert turn.locator(".verdict .word").first.inner_text() == "correct"
    assert "1874" in page.locator("#live").inner_text()
    assert page.locator(".thread.here").inner_text().strip() == QUESTION


def test_the_trace_of_an_answer_is_shown_where_there_is_one_and_can_be_copied(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page, trace = window(), "0af7651916cd43dd8448eb211c80319c"
    assert ask(page, QUESTION).locator(".trace").count() == 0

    def traced(route: Any) -> None:
        kept = (sent := route.fetch()).json()
        kept["turns"][0]["answer"]["trace"] = trace
        route.fulfill(response=sent, json=kept)

    page.route("**/api/threads/*", traced)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.reload()
    turn = page.locator(".turn")
    turn.locator(".usage summary", has_text="no model call").click()
    expect(turn.locator(".trace code")).to_have_text(trace)
    turn.get_by_role("button", name="Copy the id of the trace").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == trace


def test_an_abstention_says_why_and_claims_nothing(
    window: Callable[..., Any], ask: Callable[..., Any], site: Any
) -> None:
    site.script.answer = ["UNKNOWN"]
    turn = ask(window(keep={"settings": LLM}), "How tall is the cathedral of Ulm in Bavaria?")
    assert "Not sure" in turn.locator(".abstained .head").inner_text()
    assert turn.locator(".sentence").count() == 0
    assert turn.locator(".cite").count() <= 2  # the nearest places


def test_an_abstention_is_no_dead_end(window: Callable[..., Any], ask: Callable[..., Any], site: Any) -> None:
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
    assert sent.value.post_data_json["context"] | {"top_k": 20, "sources": []} == sent.value.post_data_json["context"]
    expect(page.locator(".turn.over")).to_have_count(2, timeout=30_000)
    page.reload()
    page.wait_for_selector(".turn.over")
    assert page.locator(".turn").first.locator(".places .words").count() == 3


def test_the_web_is_asked_for_one_question_alone_after_consent(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window()
    ask(page, "How much does the kraken of Bergen weigh?").get_by_role("button", name="Search the web for this").click()
    asked = page.get_by_role("group", name="Search the web?")
    asked.wait_for()
    assert page.evaluate("document.activeElement.textContent") == "Stay offline"
    asked.get_by_role("button", name="Search the web").click()
    expect(page.locator(".turn.over")).to_have_count(2, timeout=30_000)
    assert "900 tonnes" in page.locator(".turn").nth(1).inner_text()
    assert page.get_by_role("button", name="Web off").count() == 1


def test_lists_and_tables_of_a_model_are_drawn_each_item_with_its_mark(
    window: Callable[..., Any], ask: Callable[..., Any], site: Any
) -> None:
    site.script.answer = [
        "The lamp was first lit on 3 October 1874 [1].\n\n",
        "1. The tower was ordered after two boats were lost [1].\n",
        "2. Three families shared the watch [1].\n\n",
        "| Lamp | first lit on 3 October 1874 [1] |\n",
    ]
    page = window(keep={"settings": LLM})
    turn = ask(page, QUESTION)
    for _ in range(2):
        assert turn.locator(".answer ol > li").count() == turn.locator(".answer ol > li .cite").count() == 2
        assert turn.locator(".answer td").all_inner_texts()[0] == "Lamp"
        assert turn.locator(".answer tr .cite").count() == 1
        assert "1." not in turn.locator(".answer li").first.inner_text()
        page.reload()
        page.wait_for_selector(".turn.over")
        turn = page.locator(".turn")


def test_formulas_are_drawn_and_nothing_is_loaded_for_prices(
    window: Callable[..., Any], ask: Callable[..., Any], site: Any
) -> None:
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


def test_a_search_over_several_places_is_one_step_and_what_found_nothing_is_left_out(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window(keep={"library": json.dumps("media")})
    turn = ask(page, "When was the crane replaced by Otto Brandt?")
    turn.locator(".trail summary").click()
    titles = turn.locator(".hop").first.locator(".step .title").all_inner_texts()
    assert len(titles) == len(set(titles)) and "Searched the recordings" in titles
    assert "0 clips" not in turn.locator(".hop").first.inner_text()


def test_the_cited_moments_of_an_answer_are_saved_as_a_film(
    window: Callable[..., Any], ask: Callable[..., Any], tmp_path: Path
) -> None:
    page = window(keep={"library": json.dumps("media")})
    turn = ask(page, "When was the crane replaced by Otto Brandt?")
    with page.expect_download(timeout=120_000) as download:
        turn.get_by_role("button", name="Save the cited moments as a film").click()
    assert download.value.suggested_filename.endswith(".mp4")
    download.value.save_as(tmp_path / "film.mp4")
    assert (tmp_path / "film.mp4").read_bytes()[4:8] == b"ftyp"


def test_the_model_writes_and_what_nothing_supports_is_marked(
    window: Callable[..., Any], ask: Callable[..., Any], site: Any
) -> None:
    site.script.answer = ["The lamp was first lit on 3 October 1874 [1]. ", "It was lit by king Gustav of Sweden [1]. "]
    turn = ask(window(keep={"settings": LLM}), QUESTION)
    assert "1874" in turn.locator(".answer").inner_text()
    assert "unverified" in turn.locator(".answer").inner_text().partition("Gustav")[2]
    assert "model call" in turn.locator(".usage").inner_text()


def test_a_run_shows_what_it_spends_beside_what_it_may_while_it_goes_on(
    window: Callable[..., Any], ask: Callable[..., Any], site: Any
) -> None:
    limits = json.dumps({**json.loads(LLM), "grade_by": "llm", "max_tokens": 90_000, "max_seconds": 600})
    with site.slowly("The lamp was first lit on 3 October 1874 [1]. ", "Three ", *["more "] * 60, pause=0.2):
        turn = ask(window(keep={"settings": limits}), QUESTION, wait=False)
        meter = turn.locator(".trail summary .number")
        spent = re.compile(r"^[1-9]\d* of 40 model calls · [\d,]+ of 90,000 tokens · \d+ s of 600$")
        expect(meter).to_have_text(spent, timeout=30_000)
    expect(turn.locator(".trail summary .now")).to_have_text("How this was answered", timeout=30_000)


def test_a_pasted_picture_goes_with_the_question_and_stays_with_it(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window()
    page.evaluate(
        """async () => {
          const canvas = Object.assign(document.createElement("canvas"), { width: 900, height: 160 });
          const pen = canvas.getContext("2d");
          pen.font = "56px sans-serif";
          pen.fillText("lamp of the lighthouse", 30, 90);
          const blob = await new Promise((done) => canvas.toBlob(done));
          const data = new DataTransfer();
          data.items.add(new File([blob], "lamp.png", { type: "image/png" }));
          document.getElementById("question").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data }));
        }"""
    )
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


@pytest.mark.parametrize(("button", "words"), [("Search the web", "900 tonnes"), ("Stay offline", "declined")])
def test_nothing_is_searched_on_the_web_before_consent(
    window: Callable[..., Any], ask: Callable[..., Any], button: str, words: str
) -> None:
    page = window(keep={"settings": json.dumps({"web": "ask"})})
    turn = ask(page, "How much does the kraken of Bergen weigh?", wait=False)
    asked = page.get_by_role("group", name="Search the web?")
    asked.wait_for()
    assert "kraken" in asked.locator(".sent").inner_text()
    asked.get_by_role("button", name=button).click()
    page.wait_for_selector(".turn.over")
    assert words in turn.inner_text()


def test_the_question_for_consent_waits_through_a_reload_and_takes_nobody_from_writing(
    window: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    page = window(keep={"settings": json.dumps({"web": "ask"})})
    ask(page, "How much does the kraken of Bergen weigh?", wait=False)
    stay = page.get_by_role("button", name="Stay offline")
    stay.wait_for(timeout=30_000)
    stay.focus()  # as it is for whoever has not begun to write
    page.keyboard.type("And then")
    assert page.evaluate("document.activeElement.id") == "question"
    assert page.locator("#question").input_value() == "And then"
    page.reload()
    stay.click()
    page.wait_for_selector(".turn.over")
    assert "declined" in page.locator(".turn").inner_text()


def test_the_playground_of_langserve_asks_for_the_question_before_the_knobs(browser: Any, site: Any) -> None:
    page = browser.new_page()
    page.goto(f"{site.url}/langserve/agent/playground/")
    question, knobs = page.get_by_role("heading", name="Try it"), page.get_by_role("heading", name="Configure")
    expect(question).to_be_visible()
    assert question.bounding_box()["y"] < knobs.bounding_box()["y"]
    page.close()


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
