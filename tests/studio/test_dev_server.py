"""`langgraph dev` serves every graph to the real SDK client: threads, streams, history, interrupts, reloading."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from ragweave.app.api import GRAPHS

pytestmark = pytest.mark.studio

LIT = "When was the lamp of the lighthouse first lit?"


async def test_studios_server_serves_threads_streams_history_and_consent(server: str) -> None:
    from langgraph_sdk import get_client

    client = get_client(url=server)
    await _serves_the_graphs_with_a_form(client)
    await _answers_a_thread(client)
    await _asks_for_consent_and_goes_on(client)
    await _answers_every_graph(client)
    await _opens_what_a_citation_rests_on(client, server)


async def _serves_the_graphs_with_a_form(client: Any) -> None:
    assert {a["graph_id"] for a in await client.assistants.search()} == set(GRAPHS)
    assistant = (await client.assistants.search(graph_id="agent"))[0]["assistant_id"]
    schemas = await client.assistants.get_schemas(assistant)
    hops = schemas["context_schema"]["properties"]["max_hops"]
    assert hops["minimum"] == 0 and hops["maximum"] == 10 and hops["description"]
    assert set(schemas["input_schema"]["properties"]) == {"messages", "question"}
    drawn = await client.assistants.get_graph(assistant)
    assert {"condense", "route", "search_web", "check"} <= {n["id"] for n in drawn["nodes"]}


async def _opens_what_a_citation_rests_on(client: Any, server: str) -> None:
    cited = (await client.runs.wait(None, "agent", input=_asked(LIT)))["answer"]["citations"][0]
    async with httpx.AsyncClient(base_url=server, follow_redirects=True) as browser:
        opened = await browser.get(f"/ragweave/open/default/{cited['id']}")
        assert "first lit on 3 October 1874" in opened.text and opened.headers["content-security-policy"]
        foreign = await browser.get("/ragweave/api/libraries", headers={"origin": "https://pages.example"})
        assert foreign.status_code == 403 and "default" not in foreign.text
        assert (await browser.get("/ok", headers={"origin": "https://pages.example"})).status_code == 200


async def _answers_a_thread(client: Any) -> None:
    thread = (await client.threads.create())["thread_id"]
    first = await _ask(client, thread, LIT)
    assert "1874" in first["answer"]["text"] and "1874" in first["sentences"] and "1874" in first["messages"]
    assert first["answer"]["citations"][0]["locator"]["file"].endswith("lighthouse.md")
    assert {"condense", "route", "retrieve", "generate", "check"} <= set(first["nodes"])
    second = await _ask(client, thread, "How often does the ferry sail from April to October?")
    assert "four times" in second["answer"]["text"]
    # An earlier state can be gone back to and asked on from there.
    history = await client.threads.get_history(thread, limit=100)
    earlier = next(
        s for s in history if (s["values"].get("answer") or {}).get("question") == LIT and not s["next"]
    )
    given: Any = {
        "input": _asked(LIT),
        "context": {"mode": "extractive"},
        "checkpoint": earlier["checkpoint"],
    }
    again = await client.runs.wait(thread, "agent", **given)
    assert "1874" in again["answer"]["text"] and "How often" not in str(again["messages"])
    assert [m["type"] for m in again["messages"]] == ["human", "ai", "human", "ai"]


async def _asks_for_consent_and_goes_on(client: Any) -> None:
    for consent in (False, True):
        thread = (await client.threads.create())["thread_id"]
        told = await _ask(client, thread, "Who won the chess tournament of Zanzibar in 1911?", web="ask")
        assert "answer" not in told
        state = await client.threads.get_state(thread)
        (asked,) = [i for task in state["tasks"] for i in task["interrupts"]]
        assert asked["value"]["action"] == "search_web" and state["next"] == ["search_web"]
        assert (await client.threads.get(thread))["status"] == "interrupted"
        end = await client.runs.wait(thread, "agent", command={"resume": consent})
        assert ("Ada Brandt" in end["answer"]["text"]) is consent, end["answer"]
        assert any("you declined it" in note for note in end["answer"]["notes"]) is not consent
        kept = (await client.threads.get_state(thread))["values"]
        assert kept["turn"]["knobs"] == {
            "mode": "extractive",
            "web": "ask",
            "method": {},
        }, "as the turn was asked"


async def _answers_every_graph(client: Any) -> None:
    for graph in set(GRAPHS) - {"agent", "video_rag"}:
        end = await client.runs.wait(
            None, graph, input=_asked(LIT), context={"mode": "extractive", "top_k": 3}
        )
        assert "1874" in end["answer"]["text"], graph
    refused = await client.runs.wait(
        None, "agent", input=_asked(LIT), context={"top_k": 99}, raise_error=False
    )
    assert "less than or equal to 50" in json.dumps(refused)
    for wrong in (
        {"context": {"top_kk": 1}},
        {"context": {"colour": 1}},
        {"config": {"configurable": {"top_kk": 1}}},
    ):
        with pytest.raises(httpx.HTTPStatusError, match="422"):
            await client.runs.wait(None, "agent", input=_asked(LIT), **wrong)
    end = await client.runs.wait(None, "agent", input={"question": LIT})
    assert "1874" in end["answer"]["text"]
    for nothing in ({"question": ""}, {"messages": []}, {}):
        refused = await client.runs.wait(None, "agent", input=nothing, raise_error=False)
        assert "question" in refused["__error__"]["message"]


def _asked(question: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": question}]}


async def _ask(client: Any, thread: str, question: str, **context: Any) -> dict[str, Any]:
    """Stream one run; returns its last answer, the nodes that told of themselves and the sentences as they came."""
    told: dict[str, Any] = {"nodes": [], "sentences": "", "messages": ""}
    modes = ["custom", "values", "messages-tuple"]
    given: Any = {
        "input": _asked(question),
        "context": {"mode": "extractive", **context},
        "stream_mode": modes,
    }
    async for part in client.runs.stream(thread, "agent", **given):
        assert part.event != "error", part.data
        if part.event == "custom" and part.data["type"] == "step":
            told["nodes"].append(part.data["node"])
        elif part.event == "custom" and part.data["type"] == "sentence":
            told["sentences"] += part.data["text"]
        elif part.event == "messages":
            told["messages"] += str(part.data[0].get("content", ""))
        elif part.event == "values" and part.data.get("answer"):
            told["answer"] = part.data["answer"]
    return told
