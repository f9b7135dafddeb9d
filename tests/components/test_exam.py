"""The exam that a model sits before its verdicts count."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from ragweave.components import exam
from ragweave.components.context import Context
from ragweave.components.exam import PASS, Ask, ExamResult, Rows, cases, is_right, known, passed, sit
from ragweave.components.run_context import RunContext, TurnState
from ragweave.components.verdicts import Verdict
from ragweave.models.chat import override
from ragweave.models.errors import ModelTransient
from ragweave.models.meter import Limits, Meter
from ragweave.tests.support import ScriptedChat, checkers

pytestmark = pytest.mark.exam

KEY = checkers.key_of(cases())
KINDS = (
    "value|unit|roles exchanged|direction|denied|hedge dropped|reported claim|question as statement|neighbour"
    " row|neighbour column|heading value|condition dropped|myth|order of events|common"
    " noun|addition|sum|converted unit|other language|two passages|pronoun|copied|paraphrase"
).split("|")


def test_forty_sentences_half_of_them_false_in_all_kinds_with_words_that_stand_there() -> None:
    items = [(case, item) for case in cases() for item in case.sentences]
    assert len(items) == 40 and [len(case.sentences) for case in cases()] == [5] * 8
    assert Counter(item.true for _, item in items) == {True: 20, False: 20}
    assert set(KINDS) <= {item.kind for _, item in items}
    for case, item in items:
        assert all(words in case.passages[n - 1].text for n, words in item.rests)
        assert all(1 <= n <= len(case.passages) for n in item.cites)


@pytest.mark.parametrize(
    ("ask", "right"),
    [
        (checkers.honest(KEY), 40),
        (checkers.not_stated(), 20),
        (checkers.garbage, 0),
        (checkers.first_only(KEY), 8),
    ],
)
async def test_each_sentence_counts_and_one_without_a_verdict_is_wrong(ask: Ask, right: int) -> None:
    result = await sit(ask)
    assert (result.right, result.passed) == (right, right >= PASS)


@pytest.mark.parametrize(
    "make", [checkers.nearest, checkers.whole_passage, checkers.values_only, checkers.empty_words]
)
async def test_a_checker_that_copies_or_shows_nothing_fails(make: Callable[[], Ask]) -> None:
    assert not (await sit(make())).passed


@pytest.mark.parametrize(("share", "most"), [(0.7, 0.0), (0.8, 0.05)])
async def test_a_checker_that_is_right_on_most_sentences_only_fails(share: float, most: float) -> None:
    results = [await sit(checkers.right_on(share, KEY, seed)) for seed in range(100)]
    assert sum(r.passed for r in results) / len(results) <= most


async def test_a_checker_that_hardly_errs_passes() -> None:
    results = [await sit(checkers.right_on(0.99, KEY, seed)) for seed in range(100)]
    assert sum(r.passed for r in results) >= 95


async def test_the_kinds_that_were_missed_are_named_once() -> None:
    wrong = {
        item.text: ("supported", item.rests) for case in cases() for item in case.sentences if not item.true
    }
    result = await sit(checkers.honest({**KEY, **wrong}))  # type: ignore[dict-item]
    assert result.missed.count("condition dropped") == 1 and "roles exchanged" in result.missed
    words = result.model_copy(update={"model": "small"}).words
    assert "this model cannot check" in words and "small judged" in words and "roles exchanged" in words


def test_a_sentence_with_a_true_and_a_false_verdict_is_judged_wrong() -> None:
    case = cases()[0]
    rows = [Verdict(n=1, verdict="supported", passage=1, words=case.sentences[0].rests[0][1])]
    assert is_right(case, case.sentences[0], rows)
    assert not is_right(case, case.sentences[0], [*rows, Verdict(n=1, verdict="contradicted")])
    assert not is_right(case, case.sentences[1], [Verdict(n=1, verdict="about sources")])


async def test_a_call_that_fails_gives_no_result() -> None:
    async def ask(*given: object) -> Rows:
        raise ModelTransient("it is down", "ask again")

    with pytest.raises(ModelTransient):
        await sit(ask)


def run_of(calls: int = -1) -> RunContext:
    return RunContext("check", Context(mode="llm"), TurnState(Meter(Limits(calls=calls))))


@pytest.fixture
def sat(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The questions that the model was asked; it reads honestly."""
    asked: list[str] = []

    async def ask(run: RunContext, question: str, *given: object) -> Rows:
        asked.append(question)
        await asyncio.sleep(0)
        return await checkers.honest(KEY)(question, *given)  # type: ignore[arg-type, return-value]

    monkeypatch.setattr("ragweave.components.verdicts.ask", ask)
    monkeypatch.setattr(exam, "_known_here", {})
    return asked


async def test_runs_side_by_side_sit_it_once_and_the_reader_is_told(sat: list[str]) -> None:
    run, events = run_of(), []
    run.event = events.append
    with override(writer=ScriptedChat(model_name="m")):
        results = await asyncio.gather(*(passed(run) for _ in range(5)))
        assert {r.right for r in results} == {40} and len(sat) == 8
        assert events == [{"type": "note", "text": exam.SITS}]
        await passed(run_of())
    assert len(sat) == 8


async def test_it_is_read_back_by_another_process_and_sat_by_another_model_or_prompt(
    sat: list[str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def sit_as(name: str) -> int:
        monkeypatch.setattr(exam, "_known_here", {})
        with override(writer=ScriptedChat(model_name=name)):
            assert (await passed(run_of())).passed
        return len(sat)

    assert [await sit_as("m"), await sit_as("m"), await sit_as("n"), await sit_as("m")] == [8, 8, 16, 16]
    assert len(list((home / "exams").iterdir())) == 2
    monkeypatch.setattr(exam, "fingerprint", lambda name: "another wording")
    assert await sit_as("m") == 24


@pytest.mark.parametrize(
    "kept", ["", "{", '{"right": 40}', '{"right": 41, "of": 40}', '{"right": 40, "of": 60}']
)
async def test_a_corrupt_file_counts_as_none(
    sat: list[str], home: Path, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    with override(writer=ScriptedChat(model_name="m")):
        await passed(run_of())
        next((home / "exams").iterdir()).write_text(kept)
        monkeypatch.setattr(exam, "_known_here", {})
        await passed(run_of())
    assert len(sat) == 16


@pytest.fixture
def blocked(home: Path) -> None:
    home.write_text("a file where the home should be")


@pytest.mark.usefixtures("blocked")
async def test_a_home_that_cannot_be_written_costs_one_exam_a_process(sat: list[str]) -> None:
    with override(writer=ScriptedChat(model_name="m")):
        assert (await passed(run_of())).passed and (await passed(run_of())).passed
    assert len(sat) == 8


async def test_it_counts_against_no_limit_of_the_run(sat: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(1)
    with override(writer=ScriptedChat(model_name="m")):
        await passed(run)
        assert run.meter.spent.calls == 0 and not run.meter.refused
        assert (await known(run.asked("check"))) is not None


async def test_an_honest_model_passes_by_the_very_call_of_the_product(home: Path) -> None:
    model = ScriptedChat(
        react=lambda messages: checkers.reply(str(messages[-1].text)), model_name="m", checker=None
    )
    run = run_of()
    with override(writer=model):
        result = await passed(run)
    assert (result.model, result.right, result.missed) == ("m", 40, ()) and len(model.calls) == 8
    assert not run.notes


async def test_the_very_call_of_the_product_is_asked_and_a_reply_that_cannot_be_read_fails() -> None:
    model = ScriptedChat(react=lambda messages: "I like it.", model_name="m", checker=None)
    from ragweave.components import verdicts

    with override(writer=model):
        result = await sit(partial(verdicts.ask, run_of()))
    assert result == ExamResult(right=0, of=40, missed=result.missed) and not result.passed
    assert any("Harrow Lane" in call.prompt for call in model.calls)
