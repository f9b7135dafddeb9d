"""The page's API: asking, what a step and a problem tell, numbers and methods that are none."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.ingest.run import index
from ragweave.models.settings import model_settings
from ragweave.serve import draw
from ragweave.serve.page_lines import Letter, flat, quoted, stretches
from ragweave.tests.serve.conftest import QUESTION
from ragweave.tests.support.server import ScriptedServer
from ragweave.tests.support.serving import ask_over_http, bearer, on_loopback, until


async def test_a_question_is_answered_with_steps_sentences_and_a_citation_that_opens(
    client: httpx.AsyncClient,
) -> None:
    told = await ask_over_http(client, QUESTION)
    kinds = [e["type"] for e in told]
    assert kinds[0] == "start" and kinds[-2:] == ["answer", "end"]
    assert [e["id"] for e in told] == list(range(1, len(told) + 1))
    steps = [e for e in told if e["type"] == "step"]
    assert {e["node"] for e in steps} >= {"condense", "route", "retrieve", "generate", "check"}
    spent = [e["spent"] for e in steps if "spent" in e]
    assert len(spent) > 5 and all(s["calls"] == s["tokens"] == 0 for s in spent)
    assert [s["seconds"] for s in spent] == sorted(s["seconds"] for s in spent)
    assert told[0]["budget"].keys() == {"model_calls", "tokens", "seconds"}
    quote, *_ = [e for e in told if e["type"] == "sentence"]
    assert quote["support"] == "quoted" and "1874" in quote["text"] and quote["marked"]
    citation = told[-2]["answer"]["citations"][0]
    assert quote["citations"] == [citation] and told[-2]["answer"]["kind"] == "quotes"
    assert citation["open"]["view"] == "text" and citation["locator"]["file"] == "lighthouse.md"
    assert "1874" in (await client.get(citation["open"]["media"])).text
    (library,) = [
        r for r in (await client.get("/api/libraries")).json()["libraries"] if r["name"] == "default"
    ]
    assert (
        await client.patch(f"/api/libraries/{library['id']}", json={"name": "harbour"})
    ).status_code == 200
    item = (await client.get(citation["open"]["item"])).json()
    assert item["library"] == "harbour" and "1874" in item["text"][slice(*citation["open"]["chars"])]


async def test_who_accepts_a_stream_of_events_is_answered_with_it_in_one_request_and_told_where_to_go_on(
    client: httpx.AsyncClient,
) -> None:
    accept = {"Accept": "text/event-stream"}
    asked = await client.post("/api/ask", json={"question": QUESTION}, headers=accept)
    assert asked.headers["content-type"].startswith("text/event-stream")
    again = await client.get(asked.headers["content-location"], headers={"Last-Event-ID": "1"})
    assert asked.text.startswith("id: 1") and "1874" in again.text and asked.text.endswith(again.text)
    refused = await client.post("/api/ask", json={"question": ""}, headers=accept)
    assert refused.status_code == 400 and refused.json()["remedy"]


async def test_what_is_malformed_or_beyond_a_number_of_the_database_is_refused_as_input(
    client: httpx.AsyncClient,
) -> None:
    thread = f"/api/threads/{(await ask_over_http(client, QUESTION))[0]['thread']}"
    for n in (9_999_999_999_999_999_999, 2**31, 0, -1):
        for answer in (
            await client.put(f"{thread}/turns/{n}/verdict", json={"good": True}),
            await client.get(f"{thread}/turns/{n}/pictures/1"),
            await client.post("/api/ask", json={"question": "x", "thread": thread[13:], "replaces": n}),
        ):
            assert answer.status_code == 422 and answer.json()["code"] == "input", answer.text
    assert (await client.put(f"{thread}/turns/{2**31 - 1}/verdict", json={"good": True})).status_code == 404
    wrongs = [{}, {"question": "When?", "messages": [["human", "x"]]}, {"messages": [{"role": "?"}]}]
    wrongs += [{"messages": [[[], None]]}, {"messages": [None]}]
    for wrong in (*wrongs, {"question": "x", "context": {"max_cost": "1e999"}}):
        assert (await client.post("/api/ask", json=wrong)).status_code in (400, 422), wrong
    form = {"content-type": "multipart/form-data; boundary=x"}
    refused = await client.post("/api/upload", content=b"--x\r\nno form", headers=form)
    assert (refused.status_code, refused.json()["code"]) == (400, "input")


async def test_the_library_that_the_context_names_is_the_one_that_is_asked(client: httpx.AsyncClient) -> None:
    sent = {"question": QUESTION, "context": {"library": "nowhere"}}
    for path, body in (
        ("/api/ask", sent),
        ("/search", {"query": QUESTION, "context": {"library": "nowhere"}}),
    ):
        reply = await client.post(path, json=body)
        assert reply.status_code == 404 and "nowhere" in reply.text
    chat = {
        "model": "agent",
        "messages": [{"role": "user", "content": QUESTION}],
        "ragweave": {"context": {"library": "nowhere"}},
    }
    assert (await client.post("/v1/chat/completions", json=chat)).status_code == 404


SECRET = "sk-never-told"


async def test_a_writer_is_offered_tried_and_answers_no_other_is_and_its_key_is_never_told(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(["ready"] * 2) as served:
        for name, value in {
            "CHAT": "usual",
            "CHATS": "other",
            "CHAT_URL": served.base_url,
            "CHAT_KEY": SECRET,
        }.items():
            monkeypatch.setenv(f"RAGWEAVE_{name}", value)
        model_settings.cache_clear()
        listed, form = await client.get("/api/models"), await client.get("/api/context")
        tried = [
            await client.post("/api/models/writer/test", json={"model": m}) for m in ("", "other", "stranger")
        ]
        asked = [request.model for request in served.requests]
    model_settings.cache_clear()
    roles = {row["role"]: row for row in listed.json()["roles"]}
    writer = roles["writer"]
    told = {
        "model": "usual",
        "host": "127.0.0.1",
        "own": True,
        "variable": "RAGWEAVE_CHAT",
        "key": True,
        "absent": False,
    }
    assert [(roles[r]["host"], roles[r]["key"]) for r in ("embed", "rerank")] == [("", False)] * 2
    assert writer == {"role": "writer", "test": True, **told} and listed.json()["writers"] == [
        "usual",
        "other",
    ]
    assert form.json()["schema"]["properties"]["model"]["enum"] == ["", "other"]
    assert ([t.status_code for t in tried], asked) == ([200, 200, 409], ["usual", "other"])
    assert SECRET not in listed.text + "".join(t.text for t in tried)


async def test_without_a_chat_model_the_encoder_alone_can_be_tried_and_by_no_bound_key(
    client: httpx.AsyncClient, app: FastAPI
) -> None:
    listed = (await client.get("/api/models")).json()
    rows = {row["role"]: row["test"] for row in listed["roles"]}
    assert {offer["part"] for offer in listed["offers"]} == {part["part"] for part in listed["parts"]}
    assert listed["parts"][0]["command"] == "ragweave setup chat"
    assert rows["embed"] and not rows["writer"] and not rows["asr"]
    assert [row["role"] for row in listed["roles"] if row["absent"]] == ["asr"], "its model does not ship"
    assert int((await client.post("/api/models/embed/test", json={})).json()["said"]) > 0
    for role, status in (("writer", 409), ("asr", 422)):
        assert (await client.post(f"/api/models/{role}/test", json={})).status_code == status
    asked = await client.post("/api/overview", json={"library": "default"})
    assert asked.status_code == 409 and "ragweave setup" in asked.json()["remedy"]
    (mine, *_) = (await client.get("/api/libraries")).json()["libraries"]
    _, guest = app.state.keys.create("guest", (mine["id"],))
    assert (await client.get("/api/models", headers=bearer(guest))).status_code == 403
    assert (await client.post("/api/models/embed/test", json={}, headers=bearer(guest))).status_code == 403


async def test_an_overview_is_written_to_its_end_whoever_leaves_and_stopped_for_all_who_wait(
    notes: Path, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = threading.Event()
    react = lambda _: (held.wait(60), {"summary": "It holds two notes."})[1]  # noqa: E731
    asked = {"json": {"library": "default"}}
    with ScriptedServer(react=react) as served:
        for name, value in {"CHAT": "usual", "CHAT_URL": served.base_url, "CHAT_KEY": SECRET}.items():
            monkeypatch.setenv(f"RAGWEAVE_{name}", value)
        model_settings.cache_clear()
        async with on_loopback(app) as address, httpx.AsyncClient(base_url=address, timeout=60) as client:
            front = "/api/overview?library=default"
            waiting = [asyncio.create_task(client.post("/api/overview", **asked)) for _ in range(2)]
            await until(lambda: served.requests)
            assert (await client.delete(front)).status_code == 204
            assert [reply.status_code for reply in await asyncio.gather(*waiting)] == [409, 409]
            assert (await client.get(front)).json()["writing"] is False

            with pytest.raises(httpx.ReadTimeout):
                await client.post("/api/overview", **asked, timeout=0.3)
            assert (await client.get(front)).json()["writing"] is True
            held.set()
            told = (await client.post("/api/overview", **asked)).json()
        assert (told["summary"], told["by"], told["writing"]) == ("It holds two notes.", "usual", False)
        assert len(served.requests) == 2
    model_settings.cache_clear()


COUNCIL = Path(__file__).resolve().parents[2] / "examples" / "library" / "council-2024.pdf"
COST = "The work costs 2.6 million crowns and is paid half by the county and half by the harbour fund."


async def _source(client: httpx.AsyncClient, name: str) -> str:
    rows = (await client.get("/api/sources", params={"library": "default"})).json()["sources"]
    return next(str(row["media"]) for row in rows if row["name"] == name)


@pytest.fixture
async def pdf(client: httpx.AsyncClient) -> str:
    """Address of an indexed PDF of two pages."""
    await index([COUNCIL], "default")
    return await _source(client, COUNCIL.name)


def _overlaps(a: list[float], b: list[float]) -> bool:
    return a[1] < b[1] + b[3] / 2 < a[1] + a[3]


async def test_a_quote_is_marked_where_it_begins_and_ends_and_nowhere_else(
    client: httpx.AsyncClient, pdf: str
) -> None:
    told = (await client.get(f"{pdf}/page/1/text", params={"quote": COST})).json()
    assert told["count"] == 2
    marked = [line["text"] for line in told["lines"] if any(_overlaps(line["box"], m) for m in told["marks"])]
    assert marked == [
        "with a concrete one. The work costs 2.6 million crowns and is paid half by",
        "the county and half by the harbour fund. It begins in May 2025, after the",
    ]
    first, second = told["marks"]
    whole = {line["text"]: line["box"] for line in told["lines"]}
    assert first[0] > whole[marked[0]][0] + 0.05 and second[2] < 0.7 * whole[marked[1]][2]


async def test_what_cannot_be_opened_gets_a_sentence(client: httpx.AsyncClient, pdf: str) -> None:
    for asked, status, words in (
        ("page/3", 422, "it has 2 pages"),
        ("page/0/text", 422, "it has 2 pages"),
        ("page/1/text?box=1,2,3", 400, "four numbers"),
        ("page/1/text?box=1,2,3,nan", 400, "four numbers"),
        ("page/1?width=99999", 422, "less than or equal"),
        ("page/one", 422, "integer"),
        ("find", 422, "missing"),
    ):
        response = await client.get(f"{pdf}/{asked}")
        assert response.status_code == status and words in response.json()["detail"], asked


async def test_a_file_that_is_damaged_after_indexing_does_not_end_the_server(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    copy = tmp_path / "minutes.pdf"
    copy.write_bytes(COUNCIL.read_bytes())
    await index([copy], "default")
    media = await _source(client, "minutes.pdf")
    copy.write_bytes(b"%PDF-1.4\n" + bytes(2000))
    for asked in ("page/1", "page/1/text", "find?words=a"):
        told = await client.get(f"{media}/{asked}")
        assert told.status_code == 422 and "cannot be drawn" in told.text and str(tmp_path) not in told.text
    assert (await client.get("/healthz")).status_code == 200


def test_boxes_on_a_turned_page_turn_with_it(tmp_path: Path) -> None:
    import pypdfium2 as pdfium

    with pdfium.PdfDocument(COUNCIL) as document:
        document[0].set_rotation(90)
        document.save(tmp_path / "turned.pdf")
    told, _ = draw.text(str(tmp_path / "turned.pdf"), 1, quote="Meetings of the Island Council, 2024")
    ((left, top, width, height),) = told["marks"]
    # Turned to the right, what stood at the upper left stands at the upper right, and lies on its side.
    assert left > 0.8 and top < 0.2
    assert width * 842 < height * 595


def _row(text: str) -> list[Letter]:
    return [Letter(c, (n * 5.0, 0.0, n * 5.0 + 5, 10.0) if c.strip() else None) for n, c in enumerate(text)]


@given(st.text(alphabet="ab ﬁÄß-\n", max_size=30), st.data())
def test_every_part_of_a_page_is_found_on_it(text: str, data: Any) -> None:
    start = data.draw(st.integers(0, len(text)))
    part = text[start : data.draw(st.integers(start, len(text)))]
    boxes = quoted(_row(text), part, None)
    assert bool(boxes) == bool(flat(part)[0])
    assert "".join(t for t, _ in stretches(_row(text))).replace(" ", "") == "".join(text.split())


async def test_a_source_tells_where_reading_it_begins_and_a_passage_comes_with_its_neighbours(
    client: httpx.AsyncClient, pdf: str
) -> None:
    source = pdf.rsplit("/", 1)[1]
    told = (await client.get(f"/api/sources/{source}", params={"library": "default"})).json()
    assert (told["name"], told["open"]["view"], told["open"]["page"]) == (COUNCIL.name, "page", 1)
    around = f"/api{told['open']['href'].split('?')[0]}/around"
    whole = (await client.get(around, params={"most": 1000})).json()["around"]
    assert whole[0]["here"] and len(whole) > 2 and not any(row["here"] for row in whole[1:])
    assert (await client.get(around, params={"most": 1})).json()["around"] == whole[:2]
    assert (await client.get(around, params={"most": 9999})).status_code == 422
    assert (await client.get("/api/sources/nothing", params={"library": "default"})).status_code == 404
    assert (await client.get(around.replace(whole[0]["id"], "nothing"))).status_code == 404
