from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragweave.corpora.web.plain import inert
from ragweave.corpora.web.types import WebPage, WebResult
from ragweave.models.chat import override
from ragweave.nodes.search_web import WEB_RESULTS, search_web
from ragweave.nodes.state import State
from ragweave.tests.support import ScriptedChat

pytestmark = pytest.mark.usefixtures("shelf")
QUESTION = "Who repaired the harbour crane of Vellmouth in 1967?"
FACT = "The harbour crane of Vellmouth was repaired in 1967 by the engineer Tolly Brandt, who replaced the jib."


def asking() -> State:
    """Return the state of a turn of its own: turns share a budget."""
    return {"turn": uuid.uuid4().hex, "hop": 1, "question": QUESTION, "query": QUESTION}


def page(n: int = 1, text: str = FACT, title: str = "Vellmouth harbour") -> WebPage:
    return WebPage(f"https://host{n}.example/p", title, text, "", "2026-01-02T03:04:05+00:00")


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., list[Any]]:
    """Let the search bring these pages; return what it was asked."""

    def bring(*pages: WebPage, notes: tuple[str, ...] = ()) -> list[Any]:
        asked: list[Any] = []

        async def search(provider: Any, query: str, k: int) -> WebResult:
            asked.append((query, k))
            return WebResult(list(pages), "folder", list(notes))

        monkeypatch.setenv("RAGWEAVE_WEB_FOLDER", str(tmp_path))
        monkeypatch.setattr("ragweave.nodes.search_web.search", search)
        return asked

    return bring


async def test_a_page_becomes_strips_with_address_and_time(runtime: Any, found: Any) -> None:
    text = f"Preamble about boats and their owners in the north. {FACT} The harbour is dredged every second year."
    found(page(text=text))
    update = await search_web(asking(), runtime(web="auto"))
    (strip,), (row,) = update["knowledge"], update["evidence"]
    assert strip["origin"] == row["origin"] == "web"
    assert strip["evidence"] == row["id"]
    assert strip["locator"] == {
        "kind": "url",
        "url": "https://host1.example/p",
        "fetched": "2026-01-02T03:04:05+00:00",
        "chars": [0, len(text)],
    }
    assert row["relevance"] == strip["score"] > 0


@pytest.mark.parametrize("mode", ["sentences", "fixed", "whole"])
async def test_chars_of_a_strip_count_in_the_text_as_it_was_cut(runtime: Any, found: Any, mode: str) -> None:
    text = " ".join([FACT, *[f"Sentence {n} is about the dredging of the harbour of Vellmouth." for n in range(30)]])
    found(page(text=text))
    update = await search_web(asking(), runtime(web="auto", strip_mode=mode))
    assert update["knowledge"]
    for strip in update["knowledge"]:
        a, b = strip["locator"]["chars"]
        assert strip["text"] == text[a:b]


async def test_pages_that_bear_on_nothing_are_left_out(runtime: Any, found: Any) -> None:
    found(page(1), page(2, "Knead the dough, and let it rest for sixteen hours.", "Rye bread"), page(3, ""))
    update = await search_web(asking(), runtime(web="auto"))
    assert [e["title"] for e in update["evidence"]] == ["Vellmouth harbour"]


async def test_names_lead_the_query_of_the_small_mind(runtime: Any, found: Any) -> None:
    asked = found()
    await search_web(asking(), runtime(web="auto"))
    ((query, k),) = asked
    assert query.startswith("Vellmouth")
    assert "1967" in query and "crane" in query and "Who" not in query
    assert k == WEB_RESULTS


@pytest.mark.parametrize(
    ("reply", "query"),
    [
        ("Vellmouth crane repair 1967", "Vellmouth crane repair 1967"),
        ('Query: "Vellmouth crane repair 1967"\n', "Vellmouth crane repair 1967"),
        ("I think you should search for:\n- one\n- two", "Vellmouth repaired harbour crane 1967"),
        ("", "Vellmouth repaired harbour crane 1967"),
        ("word " * 100, "Vellmouth repaired harbour crane 1967"),
    ],
)
async def test_the_model_is_shown_the_question_and_writes_the_query(
    runtime: Any, found: Any, reply: str, query: str
) -> None:
    asked = found()
    model = ScriptedChat(react=lambda messages: reply)
    with override(writer=model):
        await search_web(asking(), runtime(web="auto"))
    assert QUESTION in model.calls[0].messages[-1].text
    assert asked[0][0] == query


@pytest.mark.parametrize(
    ("environment", "remedy"),
    [
        ({}, "RAGWEAVE_WEB_SEARX_URL"),
        ({"TAVILY_API_KEY": "somebody-elses"}, "RAGWEAVE_WEB_SEARX_URL"),
        ({"RAGWEAVE_WEB_SEARX_URL": "http://127.0.0.1:9/", "RAGWEAVE_OFFLINE": "true"}, "RAGWEAVE_OFFLINE"),
        ({"RAGWEAVE_WEB_SEARX_URL": "nowhere"}, "RAGWEAVE_WEB_SEARX_URL"),
    ],
)
@pytest.mark.parametrize("web", ["ask", "auto"])
async def test_without_a_provider_nothing_is_asked_and_the_note_says_what_to_set(
    runtime: Any, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], remedy: str, web: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    update = await search_web(asking(), runtime(web=web))
    (note,) = update["notes"]
    assert note.startswith("The web was not searched: ")
    assert remedy in note
    assert "knowledge" not in update


def answer(status: str, body: bytes = b"", *headers: str) -> Callable[[Any], None]:
    head = "\r\n".join([f"HTTP/1.1 {status}", "Connection: close", *headers])
    return lambda out: out.write(head.encode() + b"\r\n\r\n" + body)


HTML = "Content-Type: text/html; charset=utf-8"


@pytest.mark.parametrize(
    ("reply", "note"),
    [
        (answer("401 Unauthorized"), r"refused the request (401)"),
        (answer("403 Forbidden"), "json format"),
        (answer("429 Too Many Requests"), "no requests left (429)"),
        (answer("503 Service Unavailable"), "is down (503)"),
        (answer("200 OK", b"<!doctype html><title>Oops</title>", HTML), "something else than JSON"),
        (answer("200 OK", b'{"results": []}', "Content-Type: application/json"), "found nothing"),
        (lambda out: None, "The web search failed"),
    ],
    ids=["401", "403", "429", "503", "HTML", "empty", "hangs up"],
)
async def test_a_failing_provider_costs_a_note(
    runtime: Any, serve: Any, monkeypatch: pytest.MonkeyPatch, reply: Any, note: str
) -> None:
    with serve({"/search": reply}) as url:
        monkeypatch.setenv("RAGWEAVE_WEB_SEARX_URL", url)
        update = await search_web(asking(), runtime(web="auto"))
    assert note in " ".join(update["notes"])
    assert not update.get("knowledge")


@pytest.mark.parametrize(
    ("reply", "times"),
    [
        (answer("503 Service Unavailable"), 1),
        (answer("429 Too Many Requests"), 1),
        (None, 1),
        (answer("400 Bad Request"), 2),
        (answer("200 OK", b'{"results": []}', "Content-Type: application/json"), 2),
    ],
    ids=["503", "429", "hangs", "400", "empty"],
)
async def test_a_provider_that_is_down_or_too_slow_is_asked_once_in_a_turn_and_noted_once(
    runtime: Any, serve: Any, monkeypatch: pytest.MonkeyPatch, reply: Any, times: int
) -> None:
    asked: list[int] = []
    limits: list[asyncio.Timeout] = []
    over, loop = threading.Event(), asyncio.get_running_loop()

    def counted(out: Any) -> None:
        asked.append(1)
        if reply:
            reply(out)
        else:  # the time is up once the question is there
            loop.call_soon_threadsafe(limits[-1].reschedule, 0)
            over.wait(60)

    def limited(seconds: float) -> asyncio.Timeout:
        limits.append(asyncio.timeout(seconds))
        return limits[-1]

    monkeypatch.setattr("ragweave.corpora.web.search.asyncio", SimpleNamespace(timeout=limited))
    first, given = asking(), runtime(web="auto")
    second: State = {**first, "hop": 2, "query": "Tolly Brandt engineer Vellmouth"}
    with serve({"/search": counted}) as url:
        monkeypatch.setenv("RAGWEAVE_WEB_SEARX_URL", url)
        updates = [await search_web(first, given), await search_web(second, given)]
        assert len(asked) == times
        assert len([note for update in updates for note in update.get("notes", [])]) == times
        await search_web(asking(), runtime(web="auto"))
        over.set()
    assert len(asked) == times + 1


async def test_the_web_is_searched_within_what_is_left_of_the_seconds_of_the_run(
    runtime: Any, serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    with serve({"/search": lambda out: over.wait(10)}) as url:
        monkeypatch.setenv("RAGWEAVE_WEB_SEARX_URL", url)
        update = await search_web(asking(), runtime(web="auto", max_seconds=0.2))
        over.set()
    assert update["usage"][-1].seconds < 8
    (note,) = update["notes"]
    assert "cut off by the run's limit of 0.2 seconds" in note


async def test_a_provider_that_is_not_there_costs_a_note(runtime: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_WEB_SEARX_URL", "http://127.0.0.1:9")
    update = await search_web(asking(), runtime(web="auto"))
    assert "The web search failed" in update["notes"][0]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See https://evil.example/?q=secret now.", "See now."),
        ("See www.evil.example/?q=secret now.", "See now."),
        ("Load data:text/html;base64,PHNjcmlwdD4= here", "Load here"),
        ("It opened in 1931.[1][2] Later [3, 4] it closed [5–7].", "It opened in 1931. Later it closed."),
        ("A【12】B", "AB"),
        ("In [brackets] and [2024 edition] words stay.", "In [brackets] and [2024 edition] words stay."),
        ("At 10:30 the ratio was 3:1.", "At 10:30 the ratio was 3:1."),
    ],
)
def test_addresses_and_foreign_footnotes_are_taken_out(text: str, shown: str) -> None:
    assert " ".join(inert(text).split()) == shown
