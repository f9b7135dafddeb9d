"""What LangServe's door adds to the contract of all doors: its own client, its forms, and the knobs of a request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, TypedDict

import httpx
import pytest
from fastapi import FastAPI
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langserve import RemoteRunnable

from ragweave.components.answer import Answer
from ragweave.components.attachments import Attachment, asked_with
from ragweave.components.context import Context
from ragweave.components.run_settings import run_settings
from ragweave.graphs import run as graphs
from ragweave.serve.app import create_app
from ragweave.serve.langserve_wire import answer_on_wire
from ragweave.serve.remembered import THREADS, TURNS, RememberedThreads
from ragweave.serve.settings import ServeSettings
from ragweave.tests.support.serving import in_process, on_loopback

QUESTION = {"question": "When was the lamp of the lighthouse first lit?"}
AT = "/langserve/agent"


async def test_the_remote_runnable_invokes_batches_streams_and_takes_messages(
    notes: Any, app: FastAPI
) -> None:
    async with on_loopback(app) as address:
        remote: RemoteRunnable[Any, Any] = RemoteRunnable(f"{address}{AT}/")
        both = await remote.abatch([QUESTION, {"question": "When does the ferry sail?"}])
        assert "1874" in both[0]["content"] and "ferry" in both[1]["content"]
        assert both[0]["citations"][0]["open"]["view"] == "text"
        kinds = [
            event["type"] async for event in remote.astream(QUESTION, config={"configurable": {"top_k": 1}})
        ]
        assert kinds[-1] == "answer" and "sentence" in kinds and kinds.count("step") >= 8
        events = [event async for event in remote.astream_events(QUESTION)]
        chunks = [e["data"]["chunk"] for e in events if e["event"] == "on_chain_stream"]
        assert chunks[-1]["type"] == "answer"
        inner = [e["data"]["node"] for e in events if e["event"] == "on_custom_event" and e["name"] == "step"]
        assert inner[0] == "condense" and inner[-1] == "check"
        assert "1874" in (await remote.ainvoke({"messages": [HumanMessage(QUESTION["question"])]}))["content"]


async def test_stream_log_sends_no_inner_state_and_the_playground_can_use_it(
    client: httpx.AsyncClient,
) -> None:
    told = (await client.post(f"{AT}/stream_log", json={"input": QUESTION})).text
    assert "/streamed_output/-" in told and "1874" in told and "lc_" not in told and "messages" not in told
    page = await client.get(f"{AT}/playground/")
    assert (
        page.status_code == 200
        and "script-src 'self' 'unsafe-inline'" in page.headers["content-security-policy"]
    )
    assert (await client.get(page.text.split('src="', 1)[1].split('"', 1)[0])).status_code == 200


@pytest.mark.parametrize("pictures", [[["a"]], ["another's"]])
async def test_what_a_client_sends_beside_the_words_of_a_message_reaches_no_graph(
    client: httpx.AsyncClient, pictures: list[Any]
) -> None:
    asked_with("", [Attachment("another's", b"", "THE FERRY OF ROOK")])
    before = {
        "role": "user",
        "content": "What is this?",
        "additional_kwargs": {"ragweave_pictures": pictures},
    }
    said = [before, ["ai", "A sign."], {"role": "user", "content": "How often does it sail?"}]
    told = (await client.post(f"{AT}/stream", json={"input": {"messages": said}})).text
    assert '"answer"' in told and "unexpected" not in told and "ROOK" not in told


UNREADABLE: tuple[dict[str, Any], ...] = (
    {"role": "user", "content": [{"type": "image", "source_type": "base64"}]},
    {"role": "user", "content": [{"type": "image", "url": 5}]},
)
BODIES = (
    *(
        "{}",
        '{"input": {}}',
        '{"input": {"question": 5}}',
        '{"input": {"question": "x", "y": 1}}',
        "",
        "\0\0",
        "{",
    ),
    *(
        '{"input": {"question": "x", "messages": [["human", "y"]]}}',
        '{"input": {"question": "x"}, "config": null}',
    ),
)
BATCHES = ('{"inputs": null}', '{"inputs": {}}', '{"inputs": [3]}', '{"inputs": [{"question": 3}]}')


async def test_what_cannot_be_read_is_refused_with_a_remedy(client: httpx.AsyncClient) -> None:
    for wrong in UNREADABLE:
        said = {"messages": [wrong]}
        for path, body in ((f"{AT}/invoke", {"input": said}), ("/api/ask", said)):
            refused = await client.post(path, json=body)
            assert (refused.status_code, refused.json()["code"]) == (400, "input"), refused.text
            assert refused.json()["remedy"]
    paths = [(path, body) for path in ("invoke", "stream", "stream_log") for body in BODIES]
    for path, text in (*paths, *(("batch", body) for body in BATCHES)):
        told = await client.post(f"{AT}/{path}", content=text, headers={"content-type": "application/json"})
        assert told.status_code in (400, 422) and told.json()["remedy"], (path, text, told.text)


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
async def otherwise(notes: Any, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a server whose own defaults are not those of a run."""
    for name, value in {"LIBRARY": "tea room", "KNOBS": "web=auto mode=extractive"}.items():
        monkeypatch.setenv(f"RAGWEAVE_{name}", value)
    run_settings.cache_clear()
    async with in_process(create_app(ServeSettings())) as client:
        yield client


def _taken(contexts: list[Context]) -> list[tuple[str, str, str]]:
    found = [(c.library, c.web, c.mode) for c in contexts]
    contexts.clear()
    return found


async def test_a_knob_that_is_set_holds_over_the_servers_default_and_an_empty_one_does_not(
    otherwise: httpx.AsyncClient, contexts: list[Context]
) -> None:
    plain: dict[str, Any] = {"library": "default", "web": "off", "mode": "auto"}
    usual, of_each = (
        ("tea room", "auto", "extractive"),
        [{"configurable": {"web": "off"}}, {}, {"configurable": plain}],
    )
    for config in ({}, {"configurable": plain}, {"configurable": {**plain, "library": "", "top_k": None}}):
        await otherwise.post(f"{AT}/invoke", json={"input": QUESTION, "config": config})
    assert _taken(contexts) == [usual, ("default", "off", "auto"), ("tea room", "off", "auto")]
    await otherwise.post(f"{AT}/batch", json={"inputs": [QUESTION] * 3, "config": of_each})
    assert sorted(_taken(contexts)) == [("default", "off", "auto"), usual, ("tea room", "off", "extractive")]
    for empty in (None, ""):
        config = {"configurable": {name: empty for name in Context.model_fields if name != "method"}}
        await otherwise.post(f"{AT}/stream", json={"input": QUESTION, "config": config})
        assert contexts[0].model_fields_set - {"method"} == {"library", "web", "mode"}
        assert _taken(contexts) == [usual]
    for set_besides in ({}, {"max_hops": 3}):
        config = {"configurable": {"preset": "auto-rag-paper", **set_besides}}
        await otherwise.post(f"{AT}/invoke", json={"input": QUESTION, "config": config})
    assert contexts[0].max_hops != 3 and contexts[1].max_hops == 3


async def test_a_remote_runnable_is_a_node_of_a_graph_and_a_link_of_a_chain(notes: Any, app: FastAPI) -> None:
    async with on_loopback(app) as address:
        remote: RemoteRunnable[Any, Any] = RemoteRunnable(f"{address}{AT}/")

        class Outer(TypedDict):
            text: str

        async def node(state: Outer, config: RunnableConfig) -> Outer:
            return {"text": (await remote.ainvoke(QUESTION, config))["content"]}

        builder = StateGraph(Outer).add_node("node", node).add_edge(START, "node")
        graph = builder.compile(checkpointer=InMemorySaver())
        config: RunnableConfig = {"configurable": {"thread_id": "1", "user_id": "ann"}}
        assert "1874" in (await graph.ainvoke({"text": ""}, config))["text"]
        chain = RunnableLambda(lambda words: {"question": words}) | remote
        assert (
            "1874"
            in (await chain.ainvoke(QUESTION["question"], {"configurable": {"user_id": "ann"}}))["content"]
        )


async def test_the_parts_of_a_stream_add_up_to_what_invoke_gives(notes: Any, app: FastAPI) -> None:
    async with on_loopback(app) as address:
        remote: RemoteRunnable[Any, Any] = RemoteRunnable(f"{address}{AT}/")
        whole, parts = await remote.ainvoke(QUESTION), [part async for part in remote.astream(QUESTION)]
        assert {**parts[-1], "usage": ()} == {**whole, "usage": ()}
        chain = remote | RunnableLambda(lambda answer: answer["content"])
        assert "".join([part async for part in chain.astream(QUESTION)]) == whole["content"]
        log = [patch async for patch in remote.astream_log(QUESTION)]
        ends = [
            op["value"] for patch in log for op in patch.ops if op["path"] == "/final_output" and op["value"]
        ]
        assert ends[-1]["content"] == whole["content"]


def test_no_object_has_a_member_that_the_client_in_javascript_takes_for_a_prompt() -> None:
    sent = answer_on_wire(
        {"text": "a", "sentences": ({"text": "b", "citations": [1]},), "data": {"messages": ()}}
    )
    assert sent == {
        "type": "answer",
        "content": "a",
        "sentences": [{"content": "b", "citations": [1]}],
        "data": {"said": []},
    }


async def test_a_slip_in_the_name_of_a_knob_is_refused(client: httpx.AsyncClient) -> None:
    told = await client.post(
        f"{AT}/invoke", json={"input": QUESTION, "config": {"configurable": {"top_kk": 1}}}
    )
    assert told.status_code == 400 and "top_kk" in told.text.lower()


async def test_a_thread_is_gone_on_with_by_its_caller_in_its_library_alone(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    async def astream(messages: Any, **options: Any) -> AsyncIterator[dict[str, Any]]:
        asked.append([m.text for m in messages])
        yield {"type": "state", "state": {"answer": Answer(text=f"told {len(asked)}")}}

    monkeypatch.setattr(graphs, "astream", astream)
    for thread in ("a", "a", "b", None):
        config = {"configurable": {"thread_id": thread}}
        await client.post(f"{AT}/invoke", json={"input": {"question": "Q"}, "config": config})
    history = [{"role": "user", "content": "before"}]
    sent = {"question": "Q", "history": history}
    await client.post(f"{AT}/invoke", json={"input": sent, "config": {"configurable": {"thread_id": "a"}}})
    assert asked == [["Q"], ["Q", "told 1", "Q"], ["Q"], ["Q"], ["before", "Q"]]
    long = {"configurable": {"thread_id": "x" * 300}}
    assert (await client.post(f"{AT}/invoke", json={"input": QUESTION, "config": long})).status_code == 422


def test_threads_are_kept_within_bounds() -> None:
    threads = RememberedThreads()
    for n in range(THREADS + 5):
        threads.add(n, "q", "a")
    assert not threads.earlier(0) and threads.earlier(THREADS)
    for n in range(TURNS + 5):
        threads.add("long", str(n), "a")
    assert len(threads.earlier("long")) == 2 * TURNS and threads.earlier("long")[-2].text == str(TURNS + 4)


async def test_without_its_extra_the_door_says_what_to_install_and_the_others_answer(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragweave.serve.app.find_spec", lambda name: None)
    told = await client.post("/langserve/agent/invoke", json={"input": {"question": "When?"}})
    assert told.status_code == 501 and "[langserve]" in told.text
    assert (await client.get("/v1/models")).status_code == 200
