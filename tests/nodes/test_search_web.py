from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragweave.components.context import Context
from ragweave.components.evidence import Hop
from ragweave.corpora.web.types import WebPage, WebResult
from ragweave.models.chat import override
from ragweave.nodes.consent import agreed
from ragweave.nodes.recall import TITLE, recall
from ragweave.nodes.search_web import search_web
from ragweave.nodes.state import State, ended
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.states import a_turn

QUESTION = "Who repaired the harbour crane of Vellmouth in 1967?"
FACT = (
    "The harbour crane of Vellmouth was repaired in 1967 by the engineer Tolly Brandt, who replaced the jib."
)


def asking() -> State:
    """Return the state of a turn of its own: turns share a budget."""
    return {"turn": a_turn(), "hop": 1, "question": QUESTION, "query": QUESTION}


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


@pytest.mark.usefixtures("shelf")
async def test_a_page_becomes_strips_with_address_and_time(runtime: Any, found: Any) -> None:
    text = (
        f"Preamble about boats and their owners in the north. {FACT} The harbour is dredged every second"
        " year."
    )
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


@pytest.mark.usefixtures("shelf")
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


@pytest.mark.usefixtures("shelf")
async def test_as_crag_asks_for_keywords_and_reads_wikipedia_first(runtime: Any, found: Any) -> None:
    wiki = WebPage(
        "https://en.wikipedia.org/wiki/Vellmouth", "Vellmouth", FACT, "", "2026-01-02T03:04:05+00:00"
    )
    asked = found(*(page(n) for n in range(6)), wiki)
    model = ScriptedChat(react=lambda messages: "Vellmouth, harbour crane, repair 1967")
    with override(writer=model):
        update = await search_web(asking(), runtime(preset="crag-paper", web="auto", grade_by="local"))
    assert asked == [("Vellmouth, harbour crane, repair 1967", 10)]
    assert "at most three keywords" in model.calls[0].messages[0].text
    assert update["evidence"][0]["locator"]["url"] == wiki.url and len(update["evidence"]) <= 5


@pytest.mark.usefixtures("shelf")
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


@pytest.mark.usefixtures("shelf")
@pytest.mark.parametrize(
    ("reply", "times"),
    [((503, b""), 1), ((429, b""), 1), (None, 1), ((400, b""), 2), ((200, b'{"results": []}'), 2)],
    ids=["503", "429", "hangs", "400", "empty"],
)
async def test_a_provider_that_is_down_or_too_slow_is_asked_once_in_a_turn_and_noted_once(
    runtime: Any, monkeypatch: pytest.MonkeyPatch, reply: tuple[int, bytes] | None, times: int
) -> None:
    asked: list[str] = []
    limits: list[asyncio.Timeout] = []
    over, loop = threading.Event(), asyncio.get_running_loop()

    class Searx(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            asked.append(self.path)
            if reply is None:  # the time is up once the question is there
                loop.call_soon_threadsafe(limits[-1].reschedule, 0)
                over.wait(60)
                return
            self.send_response(reply[0])
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(reply[1])

    def limited(seconds: float) -> asyncio.Timeout:
        limits.append(asyncio.timeout(seconds))
        return limits[-1]

    monkeypatch.setattr("ragweave.corpora.web.search.asyncio", SimpleNamespace(timeout=limited))
    first, given = asking(), runtime(web="auto")
    second: State = {**first, "hop": 2, "query": "Tolly Brandt engineer Vellmouth"}
    with ThreadingHTTPServer(("127.0.0.1", 0), Searx) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        monkeypatch.setenv("RAGWEAVE_WEB_SEARX_URL", f"http://127.0.0.1:{server.server_address[1]}")
        updates = [await search_web(first, given), await search_web(second, given)]
        assert len(asked) == times
        assert len([note for update in updates for note in update.get("notes", [])]) == times
        await search_web(asking(), runtime(web="auto"))
        over.set()
        server.shutdown()
    assert len(asked) == times + 1


YES: list[Any] = [
    True,
    "yes",
    "Yes.",
    "approve",
    "ja",
    "oui",
    "да",
    "好的",
    "はい",
    1,
    {"granted": True},
    {"approved": "yes"},
    {"type": "accept"},
    [{"type": "accept", "args": None}],
    {"decisions": [{"type": "approve"}]},
    {"consent": True},
]
NO: list[Any] = [
    False,
    None,
    "no",
    "nein",
    "Deny",
    "нет",
    {"granted": False},
    [{"type": "ignore"}],
    0,
    {"decisions": [{"type": "approve"}, {"type": "reject"}]},
]
NEITHER: list[Any] = ["perhaps", "", {}, [], {"type": "edit"}, "yes, but not today"]


@pytest.mark.parametrize(
    ("reply", "said"), [*((r, True) for r in YES), *((r, False) for r in NO), *((r, None) for r in NEITHER)]
)
def test_a_reply_says_yes_or_no_or_neither(reply: Any, said: bool | None) -> None:
    assert agreed(reply) is said


ONE: Hop = {**ended(State(hop=1, query="q", then="recall")), "corpora": ["model"]}
STATE: State = {"question": "Who founded it?", "query": "founder", "hop": 2, "hops": [ONE]}
STATE["turn"] = a_turn("0123456789ab")


async def recalled(reply: Any, context: Context | None = None) -> dict[str, Any]:
    runtime: Any = SimpleNamespace(context=context or Context(), stream_writer=lambda event: None)
    with override(writer=ScriptedChat(react=lambda messages: reply)):
        return await recall(STATE, runtime)


async def test_passage_is_flagged_as_the_models_own_and_numbered() -> None:
    update = await recalled("Ada Ostrander founded the works.")
    (row,) = update["evidence"]
    assert (row["origin"], row["corpus"], row["title"], row["locator"]) == (
        "model",
        "model",
        TITLE,
        {"kind": "model"},
    )
    assert row["id"].endswith("-2")
    assert row["score"] == row["relevance"] == 0.0
    assert update["knowledge"][0]["origin"] == "model"


@pytest.mark.parametrize("reply", ["", "UNKNOWN", "Unknown.", ConnectionError("gone"), ValueError("broken")])
async def test_nothing_known_leaves_no_passage(reply: Any) -> None:
    update = await recalled(reply)
    assert "evidence" not in update
