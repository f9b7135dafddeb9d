from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk

from ragweave.models.chat import chat, override
from ragweave.models.errors import BudgetSpent
from ragweave.models.meter import Limits, Meter, Spend
from ragweave.tests.support import ScriptedChat


def spend(
    node: str = "n", calls: int = 1, tokens: tuple[int, int] = (10, 5), model: str = "m", role: str = "writer"
) -> Spend:
    return Spend(node, role, model, calls, 0, *tokens, 0.5, 0.0)


def test_the_default_meter_has_no_limit() -> None:
    meter = Meter()
    for _ in range(100):
        meter.reserve("n", 10_000)
        meter.record(spend())
    assert meter.exhausted == ""
    assert meter.spent.calls == 100


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        (Limits(calls=2), "2 model calls"),
        (Limits(calls=-1, tokens=30), "30 tokens"),
        (Limits(calls=-1, cost=0.00002), "a cost of 2e-05"),
    ],
)
def test_the_call_that_would_pass_a_limit_is_refused_and_the_limit_named(limits: Limits, named: str) -> None:
    meter = Meter(limits, rates={"m": (1.0, 1.0)})
    for _ in range(2):
        assert meter.exhausted == ""
        meter.reserve("grade", 1, "m")
        meter.record(spend("grade"))
    assert meter.exhausted == named
    with pytest.raises(BudgetSpent, match=f"grade would pass the run's limit of {named}"):
        meter.reserve("grade", 1, "m")


def test_no_calls_at_all_can_be_allowed() -> None:
    with pytest.raises(BudgetSpent):
        Meter(Limits(calls=0)).reserve("n")


def test_the_time_limit_counts_from_the_meters_birth(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("ragweave.models.meter.time.monotonic", lambda: now[0])
    meter = Meter(Limits(calls=-1, seconds=5))
    assert meter.seconds_left == 5
    now[0] = 105.5
    assert meter.seconds_left == 0
    with pytest.raises(BudgetSpent, match="5 seconds"):
        meter.reserve("n")


def test_calls_in_flight_count_until_recorded() -> None:
    meter = Meter(Limits(calls=2))
    meter.reserve("a")
    meter.reserve("b")
    with pytest.raises(BudgetSpent):
        meter.reserve("c")
    meter.record(spend("a"))
    with pytest.raises(BudgetSpent):
        meter.reserve("c")


def test_the_prompt_of_a_call_in_flight_counts_against_the_tokens() -> None:
    meter = Meter(Limits(calls=-1, tokens=100))
    meter.reserve("a", 80)
    with pytest.raises(BudgetSpent):
        meter.reserve("b", 30)
    meter.record(spend("a", tokens=(20, 10)))
    meter.reserve("b", 30)


def test_a_cached_reply_ends_no_reservation() -> None:
    meter = Meter(Limits(calls=1))
    meter.reserve("a")
    meter.record(Spend("a", "writer", "m", 0, 1, 0, 0, 0.0, 0.0))
    with pytest.raises(BudgetSpent):
        meter.reserve("a")
    assert (meter.spent.calls, meter.spent.cached) == (0, 1)


def test_cost_follows_the_rates_per_million_tokens() -> None:
    meter = Meter(rates={"m": (2.0, 10.0)})
    meter.record(spend(tokens=(1_000_000, 100_000)))
    meter.record(spend(model="unpriced", tokens=(1_000_000, 100_000)))
    assert meter.spent.cost == pytest.approx(3.0)


def test_rates_come_from_the_settings_when_none_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_RATES", '{"m": [1, 0]}')
    meter = Meter()
    meter.record(spend(tokens=(500_000, 3)))
    assert meter.spent.cost == pytest.approx(0.5)


def test_a_cost_limit_refuses_a_model_without_a_price() -> None:
    meter = Meter(Limits(calls=-1, cost=1.0), rates={"m": (1, 1)})
    meter.reserve("n", 5, "m")
    with pytest.raises(BudgetSpent, match="other has no price"):
        meter.reserve("n", 5, "other")


def test_a_prompt_that_would_cost_more_than_is_left_is_refused_before_the_call() -> None:
    meter = Meter(Limits(calls=-1, cost=1.0), rates={"m": (1_000_000, 0)})
    with pytest.raises(BudgetSpent, match="cost of 1"):
        meter.reserve("n", 2, "m")
    meter.reserve("n", 1, "m")
    with pytest.raises(BudgetSpent, match="cost of 1"):
        meter.reserve("n", 1, "m")


def test_take_gives_each_row_once_summed_by_role_and_model() -> None:
    meter = Meter()
    meter.record(spend("grade"))
    meter.record(spend("grade"))
    meter.record(spend("grade", role="judge"))
    meter.record(spend("route"))
    rows = meter.take("grade")
    assert [(r.role, r.calls, r.input_tokens, r.output_tokens, r.seconds) for r in rows] == [
        ("writer", 2, 20, 10, 1.0),
        ("judge", 1, 10, 5, 0.5),
    ]
    assert meter.take("grade") == []
    assert meter.spent.calls == 4
    assert len(meter.take("route")) == 1


def test_threads_never_pass_the_limit_together() -> None:
    meter = Meter(Limits(calls=50))
    refused = []

    def work() -> None:
        for _ in range(20):
            try:
                meter.reserve("n")
            except BudgetSpent:
                refused.append(1)
            else:
                meter.record(spend())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert meter.spent.calls == 50
    assert len(refused) == 8 * 20 - 50


def test_nothing_is_refused_before_a_limit_held_something_back() -> None:
    meter = Meter(Limits(calls=1))
    meter.reserve("n")
    meter.record(spend())
    assert meter.exhausted == "1 model calls"
    assert meter.refused == ""
    with pytest.raises(BudgetSpent):
        meter.reserve("n")
    assert meter.refused == "1 model calls"


def test_time_that_is_up_is_remembered_once_work_was_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("ragweave.models.meter.time.monotonic", lambda: now[0])
    meter = Meter(Limits(calls=-1, seconds=5))
    assert not meter.out_of_time()
    now[0] = 6.0
    assert meter.refused == ""
    assert meter.out_of_time()
    assert meter.refused == "5 seconds"


def test_without_a_time_limit_it_is_never_late() -> None:
    assert not Meter(Limits(calls=-1)).out_of_time()


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 60)), max_size=30), st.integers(0, 12), st.integers(0, 200)
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


class Hangs(ScriptedChat):
    """Sends a first part and then nothing more."""

    async def _astream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        yield ChatGenerationChunk(message=AIMessageChunk(content="The first sentence. "))
        await asyncio.Event().wait()


async def test_the_time_limit_reaches_into_a_stream_and_is_named() -> None:
    meter = Meter(Limits(calls=-1, seconds=0.2))
    seen = []
    with override(writer=Hangs()):
        model = chat("writer")
        assert model is not None
        with pytest.raises(BudgetSpent, match=r"0\.2 seconds"):
            async for part in model.stream([("user", "go on")], node="generate", meter=meter):
                seen.append(part)
    assert seen == ["The first sentence. "]
    assert meter.refused == "0.2 seconds"
    assert meter.spent.calls == 1
