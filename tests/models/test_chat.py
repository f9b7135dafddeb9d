"""The chat model of a role: what it returns, records, keeps and refuses."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata
from langgraph.graph import START, StateGraph
from pydantic import BaseModel
from typing_extensions import TypedDict

from ragweave.models.chat import Chat, chat, override
from ragweave.models.chat_cache import reply_cache
from ragweave.models.errors import BudgetSpent, InputError, ModelError
from ragweave.models.meter import Limits, Meter
from ragweave.tests.support import ScriptedChat

ASK = [("system", "Be brief."), ("user", "Capital of France?")]
LABELS = ["correct", "incorrect"]


class Grade(BaseModel):
    verdict: str


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("ragweave.models.failures.BACKOFF", 0.0)
    yield
    reply_cache.cache_clear()


def injected(model: Any, role: str = "writer", *, cached: bool = False) -> Chat:
    with override(writer=model, cached=cached):
        made = chat(role)  # type: ignore[arg-type]
    assert made is not None
    return made


async def stream(model: Chat, meter: Meter) -> list[str]:
    return [part async for part in model.stream(ASK, node="n", meter=meter)]


async def test_tokens_that_a_server_does_not_tell_are_estimated() -> None:
    for told in (None, -5, 0):
        usage = (
            told
            if told is None
            else UsageMetadata(input_tokens=told, output_tokens=told, total_tokens=2 * told)
        )
        model, meter = ScriptedChat(replies=[AIMessage("x" * 40, usage_metadata=usage)]), Meter()
        await injected(model).text(ASK, node="n", meter=meter)
        assert (meter.spent.input_tokens, meter.spent.output_tokens) == (7, 10)


async def test_only_the_text_of_a_reply_is_returned() -> None:
    block = AIMessage([{"type": "text", "text": "Paris."}])
    model = ScriptedChat(
        replies=["<think>Hm.</think>\n\nParis.", block, "half \ud83d of it", "<think>endless"]
    )
    texts = [await injected(model).text(ASK, node="n", meter=Meter()) for _ in range(4)]
    assert texts == ["Paris.", "Paris.", "half ? of it", ""]


@pytest.mark.parametrize(
    ("replies", "label"),
    [
        (["Correct."], "correct"),
        (["Hard to say.", "incorrect"], "incorrect"),
        (["garbage " * 5000, "who knows"], None),
    ],
)
async def test_a_label_gets_one_repair_within_the_last_message(replies: list[str], label: str | None) -> None:
    model = ScriptedChat(replies=replies)
    assert await injected(model).label(ASK, LABELS, node="n", meter=Meter()) == label
    model.assert_consumed()
    assert [m.type for m in model.calls[-1].messages] == ["system", "human"]
    assert ("correct, incorrect" in model.calls[-1].prompt) == (len(replies) == 2)


async def test_a_model_that_ignores_the_schema_is_asked_in_words_and_that_is_remembered() -> None:
    model = ScriptedChat(replies=["Paris, I think.", 'Well: {"verdict": "yes"}', '{"verdict": "no"}'])
    writer = injected(model)
    for verdict in ("yes", "no"):
        assert await writer.json(ASK, Grade, node="n", meter=Meter()) == Grade(verdict=verdict)
    assert [c.method for c in model.calls] == ["json_schema", "stream", "stream"]
    assert ["JSON schema" in c.prompt for c in model.calls] == [False, True, True]


@pytest.mark.parametrize(
    "first", ['{"wrong": 1}', '{"verdict": "ye', "", "{" * 40_000, '```json\n{"verdict"\n```']
)
async def test_unreadable_json_gets_one_repair_under_the_schema(first: str) -> None:
    model = ScriptedChat(replies=[first, {"verdict": "yes"}, "{", "{"])
    writer = injected(model)
    assert await writer.json(ASK, Grade, node="n", meter=Meter()) == Grade(verdict="yes")
    assert await writer.json(ASK, Grade, node="n", meter=Meter()) is None
    assert [c.method for c in model.calls] == ["json_schema"] * 4


async def test_a_client_without_structured_output_is_asked_in_words() -> None:
    model = FakeListChatModel(responses=['{"verdict": "yes"}'])
    assert await injected(model).json(ASK, Grade, node="n", meter=Meter()) == Grade(verdict="yes")


async def test_a_stream_begins_with_a_whole_sentence_and_goes_on_in_its_parts_without_thoughts() -> None:
    model = ScriptedChat(replies=[["<th", "ink>a</think>", "\nIt ", "is. ", "Par", "is."]])
    meter = Meter()
    assert await stream(injected(model), meter) == ["It is. ", "Par", "is."]
    assert (meter.spent.calls, meter.spent.output_tokens) == (1, 4), "thoughts are paid for"


async def test_a_spent_budget_stops_a_call_before_it_is_made() -> None:
    model = ScriptedChat(replies=["one", "two"])
    meter = Meter(Limits(calls=1))
    await injected(model).text(ASK, node="n", meter=meter)
    for call in (injected(model).text(ASK, node="n", meter=meter), stream(injected(model), meter)):
        with pytest.raises(BudgetSpent, match="1 model calls"):
            await call
    assert len(model.calls) == 1


async def test_calls_wait_for_a_free_slot_until_the_time_of_the_run_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT_WIDTH", "1")
    slow = asyncio.create_task(
        injected(ScriptedChat(replies=["x"], delay=30)).text(ASK, node="n", meter=Meter())
    )
    await asyncio.sleep(0.01)
    meter = Meter(Limits(calls=1, seconds=0.05))
    with pytest.raises(BudgetSpent, match=r"m was cut off by the run's limit of 0\.05 seconds"):
        await injected(ScriptedChat(replies=["y"])).text(ASK, node="m", meter=meter)
    assert meter.refused == "0.05 seconds" and meter.spent.calls == 0
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow
    assert await injected(ScriptedChat(replies=["z"])).text(ASK, node="n", meter=Meter()) == "z"


async def test_a_stream_left_early_frees_its_slot_and_what_came_is_counted_and_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT_WIDTH", "1")
    writer, meter = injected(ScriptedChat(replies=[["Paris. ", "Or not."], "Rome."]), cached=True), Meter()
    parts = writer.stream(ASK, node="n", meter=meter)
    assert await anext(parts) == "Paris. "
    await parts.aclose()
    async with asyncio.timeout(5):
        assert await writer.text(ASK, node="n", meter=meter) == "Rome."
    assert (meter.spent.calls, meter.spent.output_tokens) == (2, 3)


async def test_replies_are_kept_and_reused_for_the_same_request(home: Path) -> None:
    model = ScriptedChat(replies=[["Par", "is."], "correct", {"verdict": "yes"}, "A picture of Paris."])
    for _ in range(2):
        meter = Meter(Limits(calls=4))
        writer = injected(model, cached=True)
        assert "".join(await stream(writer, meter)) == "Paris."
        assert await writer.text(ASK, node="n", meter=meter) == "Paris."
        assert await writer.label(ASK, LABELS, node="n", meter=meter) == "correct"
        assert await writer.json(ASK, Grade, node="n", meter=meter) == Grade(verdict="yes")
        assert await writer.text(ASK, node="n", meter=meter, images=[b"1"]) == "A picture of Paris."
    (row,) = meter.take("n")
    assert (row.calls, row.cached, row.output_tokens) == (0, 5, 0)
    assert len(model.calls) == 4
    assert (home / "cache" / "replies.db").stat().st_mode & 0o777 == 0o600


async def test_unreadable_empty_and_failed_replies_are_not_kept() -> None:
    model = ScriptedChat(replies=["", "Paris.", "?", "?", "correct", RuntimeError(), "again"])
    writer, other = injected(model, cached=True), [("user", "other")]
    assert [await writer.text(ASK, node="n", meter=Meter()) for _ in range(2)] == ["", "Paris."]
    assert [await writer.label(ASK, ["correct"], node="n", meter=Meter()) for _ in range(2)] == [
        None,
        "correct",
    ]
    with pytest.raises(ModelError):
        await writer.text(other, node="n", meter=Meter())
    assert await writer.text(other, node="n", meter=Meter()) == "again"


@pytest.mark.parametrize("ended", [{"finish_reason": "length"}, {"stop_reason": "max_tokens"}])
async def test_a_reply_that_was_cut_off_is_taken_as_far_as_it_goes_and_not_kept(
    ended: dict[str, str],
) -> None:
    half = [AIMessage(t, response_metadata=ended) for t in ("It is Pa", '{"verdict": "no"} and')]
    writer = injected(ScriptedChat(replies=[*half, "It is Paris.", {"verdict": "yes"}]), cached=True)
    for text, verdict in (("It is Pa", "no"), ("It is Paris.", "yes")):
        assert await writer.text(ASK, node="n", meter=Meter()) == text
        assert await writer.json(ASK, Grade, node="n", meter=Meter()) == Grade(verdict=verdict)


def test_without_a_setting_there_is_no_chat_model_whatever_keys_lie_around(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "RAGWEAVE_CHAT_KEY", "RAGWEAVE_JUDGE"):
        monkeypatch.setenv(name, "sk-something")
    monkeypatch.setenv("RAGWEAVE_CHAT_URL", "http://127.0.0.1:1/v1")
    assert chat() is None and chat("judge") is None


def test_the_writer_stands_in_for_roles_of_their_own_and_overrides_nest() -> None:
    with override(writer=ScriptedChat(model_name="first")):
        with override(judge=ScriptedChat(model_name="second")):
            assert [chat(r).name for r in ("writer", "judge", "vision")] == ["first", "second", "first"]  # type: ignore
        assert chat("judge").name == "first"  # type: ignore[union-attr]
        with override(judge=ScriptedChat(model_name="third")):
            assert chat("check").name == "third"  # type: ignore[union-attr]
    assert chat() is None
    with pytest.raises(InputError, match="no role 'painter'"), override(painter=ScriptedChat()):
        pass


async def test_no_token_of_an_inner_call_leaks_into_the_messages_stream() -> None:
    class State(TypedDict):
        said: list[str]

    writer, meter = injected(ScriptedChat(replies=["Paris.", {"verdict": "Paris."}, "Paris."])), Meter()

    async def node(state: State) -> State:
        told = [await writer.text(ASK, node="n", meter=meter)]
        return {
            "said": [
                *told,
                str(await writer.json(ASK, Grade, node="n", meter=meter)),
                *await stream(writer, meter),
            ]
        }

    graph = StateGraph(State).add_node("node", node).add_edge(START, "node").compile()
    seen = [e async for e in graph.astream({"said": []}, stream_mode=["messages", "values"])]
    assert [kind for kind, _ in seen] == ["values", "values"]
    assert len(seen[-1][1]["said"]) == 3
