"""The chat model of a role: what it returns, records, retries, keeps and refuses."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata
from pydantic import BaseModel

from ragweave.models.chat import Chat, chat, override
from ragweave.models.chat_cache import reply_cache
from ragweave.models.errors import BudgetSpent, InputError, ModelError, ModelTransient
from ragweave.models.meter import Limits, Meter
from ragweave.tests.support import ScriptedChat, UnexpectedModelCall

ASK = [("system", "Be brief."), ("user", "Capital of France?")]


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


async def test_text_is_returned_and_its_spending_recorded() -> None:
    model = ScriptedChat(replies=["It is Paris."])
    meter = Meter(rates={"scripted": (1e6, 1e6)})
    assert await injected(model, "judge").text(ASK, node="grade", meter=meter) == "It is Paris."
    (row,) = meter.take("grade")
    assert (row.role, row.model, row.calls, row.input_tokens, row.output_tokens) == ("judge", "scripted", 1, 5, 3)
    assert row.cost == pytest.approx(8)
    assert [(m.type, m.text) for m in model.calls[0].messages] == [
        ("system", "Be brief."),
        ("human", "Capital of France?"),
    ]


async def test_tokens_are_estimated_where_the_server_reports_none() -> None:
    meter = Meter()
    await injected(ScriptedChat(replies=[AIMessage("x" * 40)])).text(ASK, node="n", meter=meter)
    assert (meter.spent.input_tokens, meter.spent.output_tokens) == (7, 10)


@pytest.mark.parametrize("told", [-5, 0])
async def test_a_reported_number_of_tokens_that_cannot_be_lowers_no_budget(told: int) -> None:
    usage = UsageMetadata(input_tokens=told, output_tokens=told, total_tokens=2 * told)
    writer, meter = injected(ScriptedChat(replies=[AIMessage("x" * 40, usage_metadata=usage)] * 2)), Meter()
    await writer.text(ASK, node="n", meter=meter)
    assert (meter.spent.input_tokens, meter.spent.output_tokens) == (7, 10)
    await stream(writer, meter)
    assert (meter.spent.input_tokens, meter.spent.output_tokens) == (14, 20)


@pytest.mark.parametrize("reply", ["<think>Hm.</think>\n\nParis.", AIMessage([{"type": "text", "text": "Paris."}])])
async def test_only_the_text_of_a_reply_is_returned(reply: Any) -> None:
    assert await injected(ScriptedChat(replies=[reply])).text(ASK, node="n", meter=Meter()) == "Paris."


@pytest.mark.parametrize("reply", ["", "   ", "<think>endless"])
async def test_an_empty_reply_is_an_empty_text(reply: str) -> None:
    assert await injected(ScriptedChat(replies=[reply])).text(ASK, node="n", meter=Meter()) == ""


@pytest.mark.parametrize(
    ("replies", "label", "calls"),
    [
        (["Correct."], "correct", 1),
        (["Hard to say.", "incorrect"], "incorrect", 2),
        (["", "correct"], "correct", 2),
        (["maybe", "who knows"], None, 2),
        (["garbage " * 5000, "correct"], "correct", 2),
    ],
)
async def test_a_label_gets_one_repair(replies: list[str], label: str | None, calls: int) -> None:
    model = ScriptedChat(replies=replies)
    assert await injected(model).label(ASK, ["correct", "incorrect"], node="n", meter=Meter()) == label
    assert len(model.calls) == calls
    model.assert_consumed()


async def test_a_repair_is_asked_within_the_last_message() -> None:
    model = ScriptedChat(replies=["?", "correct"])
    await injected(model).label(ASK, ["correct", "incorrect"], node="n", meter=Meter())
    assert [m.type for m in model.calls[1].messages] == ["system", "human"]
    assert "correct, incorrect" in str(model.calls[1].messages[-1].text)


async def test_json_asks_for_the_schema_first() -> None:
    model = ScriptedChat(replies=[{"verdict": "yes"}])
    assert await injected(model).json(ASK, Grade, node="n", meter=Meter()) == Grade(verdict="yes")
    assert [c.method for c in model.calls] == ["json_schema"]


async def test_json_falls_to_the_schema_in_the_prompt_and_remembers() -> None:
    model = ScriptedChat(replies=["Paris, I think.", 'Well: {"verdict": "yes"}', '{"verdict": "no"}'])
    writer = injected(model)
    assert await writer.json(ASK, Grade, node="n", meter=Meter()) == Grade(verdict="yes")
    assert await writer.json(ASK, Grade, node="n", meter=Meter()) == Grade(verdict="no")
    assert [c.method for c in model.calls] == ["json_schema", "text", "text"]
    assert "JSON schema" in model.calls[1].prompt
    assert "JSON schema" not in model.calls[0].prompt


@pytest.mark.parametrize("first", ['{"wrong": 1}', '{"verdict": "ye', "", "{" * 40_000, '```json\n{"verdict"\n```'])
async def test_unreadable_json_gets_one_repair_with_the_same_method(first: str) -> None:
    model = ScriptedChat(replies=[first, {"verdict": "yes"}])
    assert await injected(model).json(ASK, Grade, node="n", meter=Meter()) == Grade(verdict="yes")
    assert [c.method for c in model.calls] == ["json_schema", "json_schema"]


async def test_json_that_stays_unreadable_is_none() -> None:
    model = ScriptedChat(replies=["{", "{"])
    assert await injected(model).json(ASK, Grade, node="n", meter=Meter()) is None
    model.assert_consumed()


async def test_a_client_without_structured_output_is_asked_in_words() -> None:
    model = FakeListChatModel(responses=['{"verdict": "yes"}'])
    meter = Meter()
    assert await injected(model).json(ASK, Grade, node="n", meter=meter) == Grade(verdict="yes")
    assert meter.spent.calls == 1


async def test_a_stream_comes_in_its_parts_without_thoughts() -> None:
    model = ScriptedChat(replies=[["<th", "ink>a</think>", "\nIt ", "is ", "Paris."]])
    meter = Meter()
    assert await stream(injected(model), meter) == ["It ", "is ", "Paris."]
    assert (meter.spent.calls, meter.spent.output_tokens) == (1, 4), "thoughts are paid for"


async def test_a_failure_that_may_pass_is_tried_three_times_and_every_try_counts() -> None:
    model = ScriptedChat(replies=[TimeoutError(), ConnectionResetError(), "Paris."])
    meter = Meter()
    assert await injected(model).text(ASK, node="n", meter=meter) == "Paris."
    assert meter.spent.calls == 3
    model.queue(TimeoutError(), TimeoutError(), TimeoutError())
    with pytest.raises(ModelTransient, match="gave no answer within 60 s"):
        await injected(model).text(ASK, node="n", meter=meter)
    model.assert_consumed()


async def test_a_failure_for_good_is_not_tried_again() -> None:
    model = ScriptedChat(replies=[RuntimeError("bug in the client")])
    with pytest.raises(ModelError, match="scripted at this process failed: RuntimeError: bug in the client"):
        await injected(model).text(ASK, node="n", meter=Meter())
    model.assert_consumed()


async def test_a_stream_is_tried_again_only_before_its_first_part() -> None:
    model = ScriptedChat(replies=[ConnectionResetError(), ["Par", "is."]])
    assert await stream(injected(model), Meter()) == ["Par", "is."]


async def test_a_spent_budget_stops_a_call_before_it_is_made() -> None:
    model = ScriptedChat(replies=["one", "two"])
    meter = Meter(Limits(calls=1))
    await injected(model).text(ASK, node="n", meter=meter)
    with pytest.raises(BudgetSpent, match="1 model calls"):
        await injected(model).text(ASK, node="n", meter=meter)
    with pytest.raises(BudgetSpent):
        await stream(injected(model), meter)
    assert len(model.calls) == 1


async def test_a_time_limit_cuts_a_slow_call_short() -> None:
    model = ScriptedChat(replies=["late", "late"], delay=30)
    with pytest.raises(BudgetSpent, match=r"0\.05 seconds"):
        await injected(model).text(ASK, node="n", meter=Meter(Limits(calls=-1, seconds=0.05)))


async def test_a_call_that_the_time_limit_cuts_off_says_so_though_another_limit_refused_one_before() -> None:
    meter = Meter(Limits(calls=1, seconds=0.5))
    slow = asyncio.create_task(injected(ScriptedChat(replies=["late"], delay=30)).text(ASK, node="n", meter=meter))
    await asyncio.sleep(0.01)
    with pytest.raises(BudgetSpent, match="1 model calls"):
        await injected(ScriptedChat(replies=["x"])).text(ASK, node="m", meter=meter)
    with pytest.raises(BudgetSpent, match=r"n was cut off by the run's limit of 0\.5 seconds"):
        await slow


async def test_calls_wait_for_a_free_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT_WIDTH", "2")
    running, most = 0, 0

    class Counting(ScriptedChat):
        async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.01)
            running -= 1
            return await super()._agenerate(*args, **kwargs)

    model = injected(Counting(replies=["x"] * 6))
    meter = Meter(Limits(calls=6))
    await asyncio.gather(*(model.text(ASK, node="n", meter=meter) for _ in range(6)))
    assert most == 2


async def test_the_wait_for_a_slot_ends_with_the_time_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT_WIDTH", "1")
    slow = asyncio.create_task(injected(ScriptedChat(replies=["x"], delay=30)).text(ASK, node="n", meter=Meter()))
    await asyncio.sleep(0.01)
    meter = Meter(Limits(calls=-1, seconds=0.05))
    async with asyncio.timeout(10):
        with pytest.raises(BudgetSpent, match=r"m was cut off by the run's limit of 0\.05 seconds"):
            await injected(ScriptedChat(replies=["y"])).text(ASK, node="m", meter=meter)
    assert meter.refused == "0.05 seconds" and meter.spent.calls == 0
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow
    assert await injected(ScriptedChat(replies=["z"])).text(ASK, node="n", meter=Meter()) == "z"


async def test_a_cancelled_call_frees_its_slot_and_its_reservation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT_WIDTH", "1")
    meter = Meter(Limits(calls=2))
    slow = asyncio.create_task(injected(ScriptedChat(replies=["x"], delay=30)).text(ASK, node="n", meter=meter))
    await asyncio.sleep(0.01)
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow
    assert await injected(ScriptedChat(replies=["y"])).text(ASK, node="n", meter=meter) == "y"


async def test_replies_are_kept_and_reused_for_the_same_messages(home: Path) -> None:
    model = ScriptedChat(replies=["Paris.", "correct", {"verdict": "yes"}])
    for _ in range(2):
        meter = Meter(Limits(calls=3))
        writer = injected(model, cached=True)
        assert await writer.text(ASK, node="n", meter=meter) == "Paris."
        assert await writer.label(ASK, ["correct", "incorrect"], node="n", meter=meter) == "correct"
        assert await writer.json(ASK, Grade, node="n", meter=meter) == Grade(verdict="yes")
        assert await stream(writer, meter) == ["Paris."]
    (row,) = meter.take("n")
    assert (row.calls, row.cached, row.output_tokens) == (0, 4, 0)
    assert len(model.calls) == 3
    assert (home / "cache" / "replies.db").stat().st_mode & 0o777 == 0o600


async def test_a_streamed_reply_is_kept_too() -> None:
    model = ScriptedChat(replies=[["Par", "is."]])
    writer = injected(model, cached=True)
    assert await stream(writer, Meter()) == ["Par", "is."]
    assert await stream(writer, Meter()) == ["Paris."]
    assert await writer.text(ASK, node="n", meter=Meter()) == "Paris."


async def test_unreadable_empty_and_failed_replies_are_not_kept() -> None:
    model = ScriptedChat(replies=["", "Paris.", "?", "?", "correct", RuntimeError(), "again"])
    writer = injected(model, cached=True)
    assert await writer.text(ASK, node="n", meter=Meter()) == ""
    assert await writer.text(ASK, node="n", meter=Meter()) == "Paris."
    assert await writer.label(ASK, ["correct"], node="n", meter=Meter()) is None
    assert await writer.label(ASK, ["correct"], node="n", meter=Meter()) == "correct"
    other = [("user", "other")]
    with pytest.raises(ModelError):
        await writer.text(other, node="n", meter=Meter())
    assert await writer.text(other, node="n", meter=Meter()) == "again"


@pytest.mark.parametrize(
    "ended", [{"finish_reason": "length"}, {"stop_reason": "max_tokens"}, {"done_reason": "length"}], ids=str
)
async def test_a_reply_that_was_cut_off_is_not_kept(ended: dict[str, str]) -> None:
    def cut(text: str) -> AIMessage:
        return AIMessage(text, response_metadata=ended)

    half = [cut("It is Pa"), cut("It is Pa"), cut("correct, for it"), cut('{"verdict": "no"} and')]
    writer = injected(ScriptedChat(replies=[*half, "It is Paris.", "incorrect", {"verdict": "yes"}]), cached=True)
    assert await writer.text(ASK, node="n", meter=Meter()) == "It is Pa"
    assert "".join(await stream(writer, Meter())) == "It is Pa"
    labels = ["correct", "incorrect"]
    assert await writer.label(ASK, labels, node="n", meter=Meter()) == "correct"
    assert await writer.json(ASK, Grade, node="n", meter=Meter()) == Grade(verdict="no")
    for _ in range(2):
        assert await writer.text(ASK, node="n", meter=Meter()) == "It is Paris."
        assert await writer.label(ASK, labels, node="n", meter=Meter()) == "incorrect"
        assert await writer.json(ASK, Grade, node="n", meter=Meter()) == Grade(verdict="yes")


async def test_a_stream_left_early_is_not_kept() -> None:
    writer = injected(ScriptedChat(replies=[["Par", "is."], ["Rome", "."]]), cached=True)
    parts = writer.stream(ASK, node="n", meter=Meter())
    assert await anext(parts) == "Par"
    await parts.aclose()
    assert await stream(writer, Meter()) == ["Rome", "."]


async def test_a_stream_left_early_frees_its_slot_and_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT_WIDTH", "1")
    writer = injected(ScriptedChat(replies=[["Par", "is."], "next"]))
    meter = Meter()
    parts = writer.stream(ASK, node="n", meter=meter)
    await anext(parts)
    await parts.aclose()
    async with asyncio.timeout(5):
        assert await writer.text(ASK, node="n", meter=meter) == "next"
    assert (meter.spent.calls, meter.spent.output_tokens) == (2, 2), "the part that came counts"


async def test_injected_models_are_not_cached_unless_asked(home: Path) -> None:
    model = ScriptedChat(replies=["one", "two"])
    assert [await injected(model).text(ASK, node="n", meter=Meter()) for _ in range(2)] == ["one", "two"]
    assert not (home / "cache").exists()


def test_without_a_setting_there_is_no_chat_model_whatever_keys_lie_around(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "RAGWEAVE_CHAT_KEY", "RAGWEAVE_JUDGE"):
        monkeypatch.setenv(name, "sk-something")
    monkeypatch.setenv("RAGWEAVE_CHAT_URL", "http://127.0.0.1:1/v1")
    assert chat() is None
    assert chat("judge") is None


def test_the_writer_stands_in_for_roles_of_their_own_and_overrides_nest() -> None:
    first, second = ScriptedChat(model_name="first"), ScriptedChat(model_name="second")
    with override(writer=first):
        with override(judge=second):
            assert [chat(r).name for r in ("writer", "judge", "vision")] == ["first", "second", "first"]  # type: ignore
        assert chat("judge").name == "first"  # type: ignore[union-attr]
    assert chat() is None


def test_an_unknown_role_is_refused() -> None:
    with pytest.raises(InputError, match="no role 'painter'"), override(painter=ScriptedChat()):
        pass


async def test_a_call_that_no_script_expects_reaches_the_test() -> None:
    with pytest.raises(UnexpectedModelCall):
        await injected(ScriptedChat()).text(ASK, node="n", meter=Meter())


@pytest.mark.parametrize("way", ["text", "json", "stream"])
async def test_no_token_of_an_inner_call_leaks_into_the_messages_stream(way: str) -> None:
    from langgraph.graph import START, StateGraph
    from typing_extensions import TypedDict

    class State(TypedDict):
        said: str

    writer = injected(ScriptedChat(replies=[{"verdict": "It is Paris."}]))

    async def node(state: State) -> State:
        meter = Meter()
        if way == "stream":
            return {"said": "".join(await stream(writer, meter))}
        if way == "json":
            return {"said": str(await writer.json(ASK, Grade, node="n", meter=meter))}
        return {"said": await writer.text(ASK, node="n", meter=meter)}

    graph = StateGraph(State).add_node("node", node).add_edge(START, "node").compile()
    seen = [e async for e in graph.astream({"said": ""}, stream_mode=["messages", "values"])]
    assert [kind for kind, _ in seen] == ["values", "values"]
    assert "Paris" in seen[-1][1]["said"]


def test_nothing_heavy_is_imported_before_the_first_call() -> None:
    import subprocess

    code = (
        "import sys, ragweave.models.chat, ragweave.models.embed;"
        "heavy = {'langchain_openai', 'langchain', 'langchain_core', 'openai', 'wordllama'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
