from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from ragweave.models.chat import chat
from ragweave.models.errors import BudgetSpent, ModelError, ModelTransient, ReplyCut
from ragweave.models.meter import Limits, Meter, Spend
from ragweave.models.settings import model_settings
from ragweave.tests.support.bad_models import (
    BadServer,
    Send,
    Way,
    bad_server,
    complete,
    event,
    huge,
    repeated,
    silent,
    stalling,
    trickling,
)
from ragweave.tests.support.serving import until


def spend(
    node: str = "n", calls: int = 1, tokens: tuple[int, int] = (10, 5), model: str = "m", role: str = "writer"
) -> Spend:
    return Spend(node, role, model, calls, int(not calls), *tokens, 0.5, 0.0)


def refuses(meter: Meter, *reserved: object, match: str | None = None) -> None:
    with pytest.raises(BudgetSpent, match=match):
        meter.reserve(*reserved)  # type: ignore[arg-type]


def test_the_call_that_would_pass_a_limit_is_refused_and_the_limit_named() -> None:
    for limits, named in (
        (Limits(calls=2), "2 model calls"),
        (Limits(calls=-1, tokens=30), "30 tokens"),
        (Limits(calls=-1, cost=0.00002), "a cost of 2e-05"),
    ):
        meter = Meter(limits, rates={"m": (1.0, 1.0)})
        for _ in range(2):
            assert meter.exhausted == ""
            meter.reserve("grade", 1, "m")
            meter.record(spend("grade"))
        assert (meter.exhausted, meter.refused) == (named, "")
        refuses(meter, "grade", 1, "m", match=f"grade would pass the run's limit of {named}")
        assert meter.refused == named


def test_the_time_limit_counts_from_the_meters_birth_and_is_remembered_once_it_held_work_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [100.0]
    monkeypatch.setattr("ragweave.models.meter.time.monotonic", lambda: now[0])
    meter, late = Meter(Limits(calls=-1, seconds=5)), Meter(Limits(calls=-1, seconds=5))
    assert meter.seconds_left == 5 and not meter.out_of_time() and not Meter().out_of_time()
    now[0] = 105.5
    assert meter.seconds_left == 0 and meter.refused == ""
    assert meter.out_of_time() and meter.refused == "5 seconds"
    refuses(late, "n", match="5 seconds")


def test_calls_in_flight_and_their_prompts_count_until_recorded_and_cached_replies_end_none() -> None:
    meter = Meter(Limits(calls=2))
    meter.reserve("a")
    meter.reserve("b")
    meter.record(spend("a", calls=0))
    refuses(meter, "c")
    meter.record(spend("a"))
    refuses(meter, "c")
    assert (meter.spent.calls, meter.spent.cached) == (1, 1)
    meter = Meter(Limits(calls=-1, tokens=100))
    meter.reserve("a", 80)
    refuses(meter, "b", 30)
    meter.record(spend("a", tokens=(20, 10)))
    meter.reserve("b", 30)


def test_other_nodes_leave_one_call_and_half_of_the_tokens_to_those_that_come_first() -> None:
    meter = Meter(Limits(calls=2, tokens=100, first=("generate",)))
    refuses(meter, "grade", 60)
    meter.reserve("grade", 40)
    refuses(meter, "grade", 1)
    meter.reserve("generate", 60)


def test_cost_follows_the_rates_and_a_limit_refuses_what_has_no_price_or_costs_more_than_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAGWEAVE_RATES", '{"m": [1, 0]}')
    for meter, cost in ((Meter(rates={"m": (2.0, 10.0)}), 3.0), (Meter(), 1.0)):
        meter.record(spend(tokens=(1_000_000, 100_000)))
        meter.record(spend(model="unpriced", tokens=(1_000_000, 100_000)))
        assert meter.spent.cost == pytest.approx(cost)
    meter = Meter(Limits(calls=-1, cost=1.0), rates={"m": (1_000_000, 0)})
    refuses(meter, "n", 1, "other", match="other has no price")
    refuses(meter, "n", 2, "m", match="cost of 1")
    meter.reserve("n", 1, "m")
    refuses(meter, "n", 1, "m", match="cost of 1")


def test_threads_never_pass_the_limit_together() -> None:
    meter = Meter(Limits(calls=50))
    refused = []

    def work(_: int) -> None:
        try:
            meter.reserve("n")
        except BudgetSpent:
            refused.append(1)
        else:
            meter.record(spend())

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(160)))
    assert (meter.spent.calls, len(refused)) == (50, 110)


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 60)), max_size=30),
    st.integers(0, 12),
    st.integers(0, 200),
)
def test_reserved_prompts_never_pass_the_limits(calls: list[tuple[int, int]], most: int, tokens: int) -> None:
    meter = Meter(Limits(calls=most, tokens=tokens))
    prompts = 0
    for prompt, reply in calls:
        try:
            meter.reserve("n", prompt)
        except BudgetSpent:
            assert meter.refused
            continue
        prompts += 1
        assert meter.spent.input_tokens + meter.spent.output_tokens + prompt <= tokens or not tokens
        meter.record(spend(tokens=(prompt, reply)))
    assert meter.spent.calls == prompts <= most


class Grade(BaseModel):
    verdict: str


comments = repeated(b": still here\n\n", 0.02)
dripping = repeated(event("It is Paris. "), 0.02)
endless = repeated(event("built of stone and ") * 100, 0.0)
bytewise = trickling(0.05)
WAITED = r"gave no answer within (0\.[4-9]|\d+) s"


@asynccontextmanager
async def serving(way: Way, monkeypatch: pytest.MonkeyPatch, **settings: str) -> AsyncIterator[BadServer]:
    async with bad_server(way) as server:
        named = {
            "chat": "m",
            "chat_url": server.url,
            "chat_cache": "false",
            "chat_timeout": "0.4",
            **settings,
        }
        for name, value in named.items():
            monkeypatch.setenv(f"RAGWEAVE_{name.upper()}", value)
        yield server


@pytest.fixture(scope="module")
def imported() -> None:
    """Have the first call not be the one that imports a client: that takes longer than anything here is waited for."""

    async def once() -> None:
        with pytest.MonkeyPatch.context() as patch:
            async with serving(complete('{"verdict": "so"}'), patch, chat_timeout="60"):
                model_settings.cache_clear()
                await ask("json", [])
        model_settings.cache_clear()

    asyncio.run(once())


async def ask(way: str, seen: list[str]) -> None:
    model, asked, given = chat(), [("user", "Capital of France?")], {"node": "n", "meter": Meter()}
    assert model is not None
    if way == "stream":
        async for part in model.stream(asked, **given):
            seen.append(part)
    elif way == "json":
        await model.json(asked, Grade, **given)
    else:
        seen.append(await model.text(asked, **given))


@pytest.mark.usefixtures("imported")
@pytest.mark.parametrize("call", ["text", "json", "stream"])
@pytest.mark.parametrize("way", [silent, bytewise, comments])
async def test_a_server_without_a_word_is_waited_for_once_and_the_seconds_are_told(
    monkeypatch: pytest.MonkeyPatch, way: Way, call: str
) -> None:
    async with serving(way, monkeypatch) as server:
        began = time.monotonic()
        with pytest.raises(ModelTransient, match=rf"{WAITED}\. Raise RAGWEAVE_CHAT_TIMEOUT"):
            await ask(call, [])
        assert time.monotonic() - began < 10, "imports included"
        assert server.begun == 1
        await until(lambda: server.gone == 1)


@pytest.mark.usefixtures("imported")
async def test_a_silence_within_a_reply_ends_it_and_what_came_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    async with serving(stalling, monkeypatch) as server:
        with pytest.raises(ModelTransient, match=WAITED):
            await ask("stream", seen)
        assert seen == ["It is Paris. "] and server.begun == 1


@pytest.mark.usefixtures("imported")
async def test_a_reply_that_drips_is_left_after_a_bound_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(dripping, monkeypatch) as server:
        with pytest.raises(ModelTransient, match="did not end"):
            await ask("text", [])
        await until(lambda: server.gone == 1)


@pytest.mark.usefixtures("imported")
@pytest.mark.parametrize(
    ("way", "kind", "why"),
    [(endless, ReplyCut, "was cut off after"), (huge, ModelError, "a line of more than 1 MiB")],
)
async def test_a_reply_without_end_is_read_as_far_as_an_answer_goes(
    monkeypatch: pytest.MonkeyPatch, way: Way, kind: type[Exception], why: str
) -> None:
    seen: list[str] = []
    async with serving(way, monkeypatch, chat_tokens="200", chat_timeout="20") as server:
        with pytest.raises(kind, match=why):
            await ask("stream", seen)
        assert len("".join(seen)) < 2_100
        await until(lambda: server.gone == 1)
        assert server.begun == 1


@pytest.mark.usefixtures("imported")
@pytest.mark.parametrize("call", ["text", "json", "stream"])
@pytest.mark.parametrize("way", [silent, bytewise, dripping, endless])
async def test_whoever_leaves_closes_the_call_within_a_second_and_none_begins_after_it(
    monkeypatch: pytest.MonkeyPatch, way: Way, call: str
) -> None:
    async with serving(way, monkeypatch, chat_timeout="30", chat_tokens="1000000") as server:
        asking = asyncio.create_task(ask(call, []))
        await server.asked.wait()
        await asyncio.sleep(0.1)
        left = time.monotonic()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await until(lambda: server.gone == 1)
        assert time.monotonic() - left < 1
        await asyncio.sleep(0.2)
        assert server.begun == 1


@pytest.mark.usefixtures("imported")
async def test_leaving_while_a_client_pauses_before_its_next_try_ends_the_tries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def busy(send: Send) -> None:
        await send(b"HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n")

    async with serving(busy, monkeypatch, chat_timeout="30") as server:
        asking = asyncio.create_task(ask("text", []))
        await server.asked.wait()
        await asyncio.sleep(0.1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.sleep(1.2)
        assert server.begun == 1
