"""Each node left out in turn, on one small library."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from typer.testing import CliRunner

from ragweave.app import cli
from ragweave.components.context import Context
from ragweave.components.evidence import Sentence
from ragweave.components.method import Method
from ragweave.evals.ablate import FULL, AblationBench, ablate, difference, flat, public_set, rows_of
from ragweave.evals.answers import AnswerVerdict, Question
from ragweave.evals.off import NODES, Off, without
from ragweave.evals.runner import Runner
from ragweave.graphs import agent, crag
from ragweave.models.chat import override
from ragweave.models.errors import InputError, ModelError
from ragweave.nodes.answer import Answer
from ragweave.tests.support import ScriptedChat, build_library

TEXTS = {
    "pump.md": "# Pump\n\nThe pump stands in the cellar. It was built by the Orlow company in 1987.",
    "orlow.md": "# Orlow\n\nThe Orlow company was founded in Tartu by Mart Saar. It makes pumps and valves.",
    "garden.md": "# Garden\n\nThe roses need water twice a week in summer. The hedge is cut in March.",
}
QUESTIONS = [
    Question("1", "Where does the pump stand?", ("cellar",), gold=("pump.md",), kind="one"),
    Question("2", "Who founded the company that built the pump?", ("Mart Saar",), gold=("orlow.md",), kind="two"),
    Question("3", "What is the capital of Peru?", (), answerable=False, kind="absent"),
]


def reader(messages: list[BaseMessage]) -> str:
    """Answer what the documents say, ask for the founder where the firm alone is known, and decline the rest."""
    asked, read = str(messages[1].text).rsplit("Question: ", 1)[-1], "\n".join(m.text for m in messages)
    searches = "Final Answer" in messages[0].text
    if "Peru" in asked:
        return "Final Answer: UNKNOWN." if searches else "UNKNOWN"
    if "cellar" in read and "stand?" in asked:
        return f"{'Final Answer: ' * searches}The pump stands in the cellar [1]."
    if "Mart Saar" in read:
        return f"{'Final Answer: ' * searches}Mart Saar founded the Orlow company [1]."
    return "Query: Orlow company founded" if searches else "UNKNOWN"


def outcome(question: Question, text: str, confidence: float = 0.5) -> AnswerVerdict:
    sentences = (Sentence(text=text, support="verified"),) if text else ()
    return AnswerVerdict(
        question, Answer(text=text, sentences=sentences, confidence=confidence, abstained=not text), 0.1
    )


@pytest.fixture
async def bench(home: Path, tmp_path: Path) -> AsyncIterator[AblationBench]:
    await build_library(tmp_path / "files", TEXTS)
    context = Context(mode="llm", top_k=1, check_by="off")
    with override(writer=ScriptedChat(react=reader)):
        yield AblationBench(QUESTIONS, context, lambda f: Path(f).name, Runner(tmp_path / "runs", 2))


async def test_every_node_is_left_out_in_turn_and_compared_with_the_whole(bench: AblationBench) -> None:
    found = await ablate(bench, agent.build, NODES)
    assert list(found) == [FULL, *(f"without {node}" for node in NODES)]
    assert [o.verdict for o in found[FULL]] == ["correct", "correct", "abstained"]
    assert found["without reason"][1].verdict != "correct", "the second fact needs a second round"
    rows = rows_of(found)
    assert rows[0][-2:] == ["-", "-"] and str(rows[-1][-2]).startswith("-0.333 [")
    figures = flat(found)
    assert figures["answered_correct"] == pytest.approx(0.6667)
    assert figures["difference_without_reason"] == pytest.approx(-0.3333)
    assert figures["difference_without_reason_low"] <= figures["difference_without_reason_high"]


async def test_graphs_built_afterwards_are_whole_again(bench: AblationBench) -> None:
    before = await bench.ask("a", agent.build, ["reason"])
    after = await bench.ask("b", agent.build)
    assert (before[1].verdict, after[1].verdict) != ("correct", "wrong") and after[1].verdict == "correct"


async def test_a_stopped_comparison_keeps_the_runs_that_were_finished(bench: AblationBench, tmp_path: Path) -> None:
    class Stop(Exception): ...

    def stop(name: str, done: int, total: int) -> None:
        if (name, done) == ("without reason", 2):
            raise Stop

    def on(runner: Runner) -> AblationBench:
        return AblationBench(bench.questions, bench.context, bench.name_of, runner)

    with pytest.raises(Stop):
        await ablate(on(Runner(tmp_path / "runs", 1, stop)), agent.build, ["reason"])
    held = sorted(len(path.read_text().split()) > 0 for path in (tmp_path / "runs").iterdir())
    assert held == [True, True], "one file for the whole graph, one for the run that was stopped"
    again = Runner(tmp_path / "runs")
    found = await ablate(on(again), agent.build, ["reason"])
    assert [o.verdict for o in found[FULL]] == ["correct", "correct", "abstained"]
    again.close()
    assert not list((tmp_path / "runs").iterdir())


def test_the_difference_is_paired() -> None:
    q = QUESTIONS[0]
    good, bad = outcome(q, "cellar"), outcome(q, "attic")
    assert difference([good, bad], [good, bad], "correct") == "+0.000 [+0.000, +0.000]"
    assert difference([bad] * 4, [good] * 4, "correct") == "+1.000 [+1.000, +1.000]"


def questions_file(folder: Path) -> Path:
    rows: list[dict[str, Any]] = [
        {"id": q.id, "question": q.text, "answers": list(q.answers), "gold_files": list(q.gold), "kind": q.kind}
        | ({} if q.answerable else {"answerable": False})
        for q in QUESTIONS
    ]
    path = folder / "qa.jsonl"
    path.write_text("\n".join(json.dumps(r) for r in rows), encoding="utf-8")
    return path


def command(*words: object) -> Any:
    return CliRunner().invoke(cli.app, ["eval", *map(str, words)])


def test_the_commands_work_on_a_folder_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "files" / name).write_text(text)
    given = ["--folder", tmp_path / "files", "--questions", questions_file(tmp_path), "--work", tmp_path / "work"]
    done = command("ablate", *given, "--off", "reason", "--json", tmp_path / "a.json")
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "a.json").read_text())["difference_without_reason"] <= 0
    assert "without reason: one round" in done.stdout
    done = command("answers", *given, "--json", tmp_path / "b.json")
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "b.json").read_text())
    assert {"answered_correct", "answered_wrong", "abstained", "citation_precision"} <= set(found)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["ablate"], "give one of --folder"),
        (["ablate", "--folder", "x", "--data", "y"], "give one of"),
        (["ablate", "--library", "x"], "need --questions"),
        (["ablate", "--data", "x", "--off", "check"], "cannot be left out"),
        (["ablate", "--data", "x", "--graph", "none"], "no graph"),
    ],
)
def test_options_that_do_not_fit_get_a_sentence(words: list[str], why: str) -> None:
    done = command(*words)
    assert isinstance(done.exception, InputError) and why in str(done.exception)


@pytest.mark.data
def test_the_absent_questions_have_no_passage_and_the_others_keep_theirs(data_dir: Path) -> None:
    passages, asked = public_set(data_dir, 40)
    held = {str(p["id"]) for p in passages}
    kinds = [q.kind for q in asked]
    assert (kinds.count("one fact"), kinds.count("two facts"), kinds.count("absent")) == (40, 40, 20)
    assert all(set(q.gold) <= held for q in asked if q.answerable)


@pytest.mark.parametrize(
    ("verdict", "off", "web", "mended"),
    [
        ("relevant", "correct", True, True),
        ("irrelevant", "incorrect", True, True),
        ("partly", "ambiguous", False, True),
        ("irrelevant", "correct", True, False),
    ],
)
async def test_an_action_that_is_left_out_becomes_another(
    bench: AblationBench, verdict: str, off: Off, web: bool, mended: bool
) -> None:
    model = ScriptedChat(react=lambda messages: {"verdicts": [{"n": 1, "verdict": verdict}]})
    with override(judge=model, writer=ScriptedChat(react=lambda messages: "UNKNOWN")):
        context = Context(grade_by="llm", web="auto", top_k=1)
        left = without(crag.build(), [off]).compile()
        state = await left.ainvoke({"question": QUESTIONS[0].text}, context=context)
    acted = {"relevant": "correct", "partly": "ambiguous", "irrelevant": "incorrect"}[verdict]
    assert (state["grade"]["action"] != acted) == mended
    assert ("search_web" in {u.node for u in state["usage"]}) == web


async def test_without_the_rewrite_the_web_is_asked_the_question_itself(
    bench: AblationBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def fetched(provider: Any, query: str, most: int) -> Any:
        asked.append(query)
        raise ModelError("no page", "")

    monkeypatch.setattr("ragweave.nodes.search_web._provider", lambda: ("scripted", ""))
    monkeypatch.setattr("ragweave.nodes.search_web.make", object)
    monkeypatch.setattr("ragweave.nodes.search_web.search", fetched)
    knobs: Any = {"mode": "extractive", "web": "auto", "method": Method(upper=1.0, lower=1.0)}
    question = {"question": QUESTIONS[0].text}
    await crag.build().compile().ainvoke(question, context=Context(**knobs))
    await without(crag.build(), ["rewrite"]).compile().ainvoke(question, context=Context(**knobs))
    assert asked[1] == QUESTIONS[0].text != asked[0]
