"""LangServe, used with its own client over a real socket."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from langchain_core.messages import HumanMessage
from langserve import RemoteRunnable

from ragweave.components.attachments import Attachment, asked_with
from ragweave.components.context import Context
from ragweave.corpora.store.stores import stores
from ragweave.graphs import run as graphs
from ragweave.graphs.settings import run_settings
from ragweave.nodes.answer import Answer
from ragweave.serve.app import create_app
from ragweave.serve.settings import ServeSettings
from ragweave.tests.serve.test_pictures import ASKED, SIGN
from ragweave.tests.support.serving import BASE, bearer, in_process, on_loopback

QUESTION = {"question": "When was the lamp of the lighthouse first lit?"}


@pytest.fixture
async def address(notes: Path, app: FastAPI) -> AsyncIterator[str]:
    async with on_loopback(app) as found:
        yield found


async def test_the_remote_runnable_invokes_batches_and_streams(address: str) -> None:
    remote: RemoteRunnable[Any, Any] = RemoteRunnable(f"{address}/langserve/agent/")
    answer = await remote.ainvoke(QUESTION)
    assert "1874" in answer["text"] and answer["citations"][0]["open"]["view"] == "text"
    both = await remote.abatch([QUESTION, {"question": "When does the ferry sail?"}])
    assert "1874" in both[0]["text"] and "ferry" in both[1]["text"]
    events = [event async for event in remote.astream(QUESTION)]
    kinds = [e["type"] for e in events]
    assert kinds[-1] == "answer" and "sentence" in kinds and kinds.count("step") >= 8


async def test_stream_events_carries_the_typed_events_and_nothing_from_inside(address: str) -> None:
    remote: RemoteRunnable[Any, Any] = RemoteRunnable(f"{address}/langserve/agent/")
    events = [event async for event in remote.astream_events(QUESTION)]
    chunks = [e["data"]["chunk"] for e in events if e["event"] == "on_chain_stream"]
    assert len({e["name"] for e in events}) == 1
    assert [c["type"] for c in chunks][-1] == "answer"


async def test_the_context_of_a_request_is_used_and_its_bounds_hold(address: str) -> None:
    remote: RemoteRunnable[Any, Any] = RemoteRunnable(f"{address}/langserve/crag/")
    told = [e async for e in remote.astream(QUESTION, config={"configurable": {"top_k": 1}})]
    assert any(e["type"] == "step" and e["node"] == "fuse" and len(e["data"]["items"]) == 1 for e in told)
    with pytest.raises(httpx.HTTPStatusError, match="422"):
        await remote.ainvoke(QUESTION, config={"configurable": {"top_k": 99}})
    with pytest.raises(httpx.HTTPStatusError, match="404"):
        await remote.ainvoke(QUESTION, config={"configurable": {"library": "nobody's"}})


async def test_it_works_from_synchronous_code(address: str) -> None:
    remote: RemoteRunnable[Any, Any] = RemoteRunnable(f"{address}/langserve/rag_fusion/")
    answer = await asyncio.to_thread(remote.invoke, QUESTION)
    assert "1874" in answer["text"]


async def test_a_follow_up_is_understood_from_its_history(client: httpx.AsyncClient) -> None:
    history = [{"role": "user", "content": "Tell me about the ferry."}, {"role": "assistant", "content": "It sails."}]
    body = {"input": {"question": "How often does it sail?", "history": history}}
    answer = (await client.post("/langserve/agent/invoke", json=body)).json()["output"]
    assert answer["question"] != body["input"]["question"] and "four times" in answer["text"]


async def test_a_run_that_fails_says_why_in_the_stream(address: str) -> None:
    remote: RemoteRunnable[Any, Any] = RemoteRunnable(f"{address}/langserve/agent/")
    (event,) = [e async for e in remote.astream({"question": "?!"})]
    assert event["type"] == "error" and event["problem"]["status"] == 400


async def test_stream_log_sends_no_inner_state_and_the_playground_can_use_it(client: httpx.AsyncClient) -> None:
    told = (await client.post("/langserve/agent/stream_log", json={"input": QUESTION})).text
    assert "/streamed_output/-" in told and "1874" in told and "lc_" not in told and "messages" not in told
    page = await client.get("/langserve/agent/playground/")
    assert page.status_code == 200 and "script-src 'self' 'unsafe-inline'" in page.headers["content-security-policy"]
    script = page.text.split('src="', 1)[1].split('"', 1)[0]
    assert (await client.get(script)).status_code == 200


@pytest.mark.parametrize(
    "said",
    [
        [{"role": "user", "content": QUESTION["question"]}],
        [["human", "Tell me about the ferry."], ["ai", "It sails."], ["human", QUESTION["question"]]],
        [{"type": "system", "content": "Be brief."}, {"type": "human", "content": QUESTION["question"]}],
    ],
)
async def test_messages_are_taken_where_the_graphs_take_them(client: httpx.AsyncClient, said: list[Any]) -> None:
    answer = await client.post("/langserve/agent/invoke", json={"input": {"messages": said}})
    assert "1874" in answer.json()["output"]["text"]


@pytest.mark.parametrize("pictures", [[["a"]], ["another's"]])
async def test_what_a_client_sends_beside_the_words_of_a_message_reaches_no_graph(
    client: httpx.AsyncClient, pictures: list[Any]
) -> None:
    asked_with("", [Attachment("another's", b"", "THE FERRY OF ROOK")])
    before = {"role": "user", "content": "What is this?", "additional_kwargs": {"ragweave_pictures": pictures}}
    said = [before, ["ai", "A sign."], {"role": "user", "content": "How often does it sail?"}]
    told = (await client.post("/langserve/agent/stream", json={"input": {"messages": said}})).text
    assert '"answer"' in told and "unexpected" not in told and "ROOK" not in told


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "tool", "content": "x"},
        {"role": "assistant", "content": "x", "tool_calls": [{"function": {"name": "a", "arguments": "{}"}}]},
        {"role": "assistant", "content": "x", "tool_calls": {"a": "function"}},
        {"role": "user", "content": [{"type": "image", "source_type": "base64"}]},
        {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image", "url": 5}]},
    ],
)
async def test_a_message_that_cannot_be_read_is_refused_with_a_remedy(
    client: httpx.AsyncClient, wrong: dict[str, Any]
) -> None:
    said = [wrong] if wrong["role"] == "user" else [wrong, {"role": "user", "content": QUESTION["question"]}]
    for path, body in (("/langserve/agent/invoke", {"input": {"messages": said}}), ("/api/ask", {"messages": said})):
        refused = await client.post(path, json=body)
        assert (refused.status_code, refused.json()["code"]) == (400, "input"), refused.text
        assert refused.json()["remedy"]


@pytest.mark.parametrize("form", ["pictures", "openai", "langchain"])
async def test_the_words_in_a_picture_go_with_the_question(address: str, form: str) -> None:
    head, _, data = SIGN.partition(",")
    parts = {
        "openai": {"type": "image_url", "image_url": {"url": SIGN}},
        "langchain": {"type": "image", "base64": data, "mime_type": head[5:].partition(";")[0]},
    }
    message = {"role": "user", "content": [{"type": "text", "text": ASKED}, parts.get(form)]}
    sent = {"question": ASKED, "pictures": [SIGN]} if form == "pictures" else {"messages": [message]}
    remote: RemoteRunnable[Any, Any] = RemoteRunnable(f"{address}/langserve/agent/")
    assert "four times" in (await remote.ainvoke(sent))["text"]


async def test_messages_of_langchain_go_through_its_own_client(address: str) -> None:
    remote: RemoteRunnable[Any, Any] = RemoteRunnable(f"{address}/langserve/agent/")
    assert "1874" in (await remote.ainvoke({"messages": [HumanMessage(QUESTION["question"])]}))["text"]


@pytest.mark.parametrize("endpoint", ["invoke", "batch", "stream"])
async def test_a_setting_that_is_none_is_refused_with_the_nearest_one(client: httpx.AsyncClient, endpoint: str) -> None:
    config = {"configurable": {"topk": 3, "thread_id": "1"}}
    body = {"inputs": [QUESTION], "config": [config]} if endpoint == "batch" else {"input": QUESTION, "config": config}
    answer = await client.post(f"/langserve/agent/{endpoint}", json=body)
    assert answer.status_code == 400 and "write top_k" in answer.json()["remedy"]


async def test_a_body_of_another_form_is_a_problem(client: httpx.AsyncClient) -> None:
    bodies: list[dict[str, Any]] = [{}, {"input": {}}, {"input": {"question": 5}}, {"input": {"question": "x", "y": 1}}]
    bodies += [{"input": {"question": "x", "messages": [["human", "y"]]}}]
    for body, endpoint in itertools.product(bodies, ("invoke", "stream", "stream_log")):
        answer = await client.post(f"/langserve/agent/{endpoint}", json=body)
        assert answer.status_code == 422 and answer.json()["code"] == "input"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("invoke", b""),
        ("invoke", b"\0\0\0\0\0"),
        ("batch", b'{"inputs": null}'),
        ("batch", b'{"inputs": {}}'),
        ("batch", b'{"inputs": [3]}'),
        ("batch", b'{"inputs": [{"question": 3}]}'),
        ("stream", b"{"),
        ("invoke", b'{"input": {"question": "x"}, "config": null}'),
    ],
)
async def test_a_body_that_cannot_be_used_is_refused_with_a_remedy(
    client: httpx.AsyncClient, path: str, body: bytes
) -> None:
    headers = {"content-type": "application/json"}
    answer = await client.post(f"/langserve/agent/{path}", content=body, headers=headers)
    assert answer.status_code in (400, 422) and answer.json()["remedy"], answer.text


@pytest.fixture
def contexts(monkeypatch: pytest.MonkeyPatch) -> list[Context]:
    """The contexts with which the graphs were asked; they answer at once."""
    found: list[Context] = []

    async def astream(messages: Any, *, context: Context, **options: Any) -> AsyncIterator[dict[str, Any]]:
        found.append(context)
        yield {"type": "state", "state": {"answer": Answer(text=messages[-1].text)}}

    monkeypatch.setattr(graphs, "astream", astream)
    return found


@pytest.fixture
async def otherwise(notes: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a server whose own defaults are not those of a run."""
    for name, value in {"LIBRARY": "tea room", "WEB": "auto", "MODE": "extractive"}.items():
        monkeypatch.setenv(f"RAGWEAVE_{name}", value)
    run_settings.cache_clear()
    async with in_process(create_app(ServeSettings())) as client:
        yield client


async def test_a_knob_that_is_set_to_its_default_holds_where_the_server_has_another(
    otherwise: httpx.AsyncClient, contexts: list[Context]
) -> None:
    plain: dict[str, Any] = {"library": "default", "web": "off", "mode": "auto"}
    usual, of_each = ("tea room", "auto", "extractive"), [{"configurable": {"web": "off"}}, {}, {"configurable": plain}]
    for config in ({}, {"configurable": plain}, {"configurable": {**plain, "library": "", "top_k": None}}):
        await otherwise.post("/langserve/agent/invoke", json={"input": QUESTION, "config": config})
    assert _told(contexts) == [usual, ("default", "off", "auto"), ("tea room", "off", "auto")]
    await otherwise.post("/langserve/agent/batch", json={"inputs": [QUESTION] * 3, "config": of_each})
    assert sorted(_told(contexts)) == [("default", "off", "auto"), usual, ("tea room", "off", "extractive")]
    both = {"inputs": [QUESTION] * 2, "config": {"configurable": {"library": "default"}}}
    await otherwise.post("/langserve/agent/batch", json=both)
    assert _told(contexts) == [("default", "auto", "extractive")] * 2


@pytest.mark.parametrize("empty", [None, ""])
async def test_a_knob_that_is_null_or_empty_is_as_the_servers_settings_say_whatever_its_kind(
    otherwise: httpx.AsyncClient, contexts: list[Context], empty: str | None
) -> None:
    config = {"configurable": {name: empty for name in Context.model_fields if name != "method"}}
    for endpoint, body in (
        ("invoke", {"input": QUESTION}),
        ("stream", {"input": QUESTION}),
        ("batch", {"inputs": [QUESTION]}),
    ):
        answer = await otherwise.post(f"/langserve/agent/{endpoint}", json={**body, "config": config})
        assert answer.status_code == 200, answer.text
    assert [c.model_fields_set - {"method"} for c in contexts] == [{"library", "web", "mode"}] * 3
    assert _told(contexts) == [("tea room", "auto", "extractive")] * 3
    wrong = {"input": QUESTION, "config": {"configurable": {"sentences": "many"}}}
    refused = await otherwise.post("/langserve/agent/invoke", json=wrong)
    assert refused.status_code == 422 and ".sentences: input should be a valid integer" in refused.json()["title"]


def _told(contexts: list[Context]) -> list[tuple[str, str, str]]:
    found = [(c.library, c.web, c.mode) for c in contexts]
    contexts.clear()
    return found


async def test_a_knob_that_is_set_to_its_default_wins_over_a_preset(
    client: httpx.AsyncClient, contexts: list[Context]
) -> None:
    for set_besides in ({}, {"max_hops": 3}):
        config = {"configurable": {"preset": "auto-rag-paper", **set_besides}}
        await client.post("/langserve/agent/invoke", json={"input": QUESTION, "config": config})
    assert contexts[0].max_hops != 3 and contexts[1].max_hops == 3


@pytest.mark.parametrize("several", [False, True])
async def test_a_key_that_is_bound_to_one_library_finds_no_other_under_the_usual_name(
    client: httpx.AsyncClient, app: FastAPI, contexts: list[Context], several: bool
) -> None:
    _, key = app.state.keys.create("tenant", (stores().catalog.library("tea room").id,))
    config: Any = {"configurable": {"library": "default"}}
    body = {"inputs": [QUESTION], "config": [config]} if several else {"input": QUESTION, "config": config}
    at = f"/langserve/agent/{'batch' if several else 'invoke'}"
    assert (await client.post(at, json=body, headers=bearer(key))).status_code == 404
    assert contexts == []


async def test_the_form_of_the_playground_shows_what_holds_here_and_sets_what_is_changed_alone(
    otherwise: httpx.AsyncClient, contexts: list[Context]
) -> None:
    schema = (await otherwise.get("/langserve/agent/config_schema")).json()
    (fields,) = [s["properties"] for s in schema["$defs"].values() if "web" in s.get("properties", {})]
    shown = {name: field["default"] for name, field in fields.items()}
    assert (fields["sentences"]["type"], fields["corpora"]["type"]) == ("integer", "array")
    assert fields["web"]["enum"] == ["off", "ask", "auto"]
    # What the usual library is called is not told to keys that do not open it.
    assert (shown["library"], shown["web"], shown["mode"]) == ("", "auto", "extractive")
    for changed in ({}, {"web": "off", "preset": "auto-rag-paper"}):
        body = {"input": QUESTION, "config": {"configurable": {**shown, **changed}}}
        await otherwise.post("/langserve/agent/stream_log", json=body, headers={"origin": BASE})
    assert [c.web for c in contexts] == ["auto", "off"]
    assert contexts[0].model_fields_set <= {"library", "web", "mode", "method"}
    assert contexts[1].max_hops != shown["max_hops"]
