"""A paper's table run again: arms, figures beside the paper's, cost first, and a run that goes on where it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ragweave.app import cli
from ragweave.components.method import knobs_of
from ragweave.evals.bench.forms import FormBundle
from ragweave.evals.bench.run import BenchSet, context_of
from ragweave.evals.bench.tables import PAPERS, paper
from ragweave.evals.judge import ASPECTS
from ragweave.models.chat import override
from ragweave.models.errors import InputError
from ragweave.models.settings import model_settings
from ragweave.tests.support import ScriptedChat

PASSAGES = [
    {"id": "rook", "title": "Rook", "text": "The Rook is a ship. The Rook was built in Tartu in 1801."},
    {"id": "daw", "title": "Daw", "text": "The Daw is a lighthouse on the island of Muhu, painted white."},
    {"id": "mill", "title": "Mill", "text": "The mill of Leigo was burnt down by lightning in 1932."},
]
QUERIES = [
    {"id": "1", "question": "Where was the Rook built?", "answers": ["Tartu"], "gold": ["rook"]},
    {"id": "2", "question": "What burnt down the mill of Leigo?", "answers": ["lightning"], "gold": ["mill"]},
]


@pytest.fixture
def ships(tmp_path: Path) -> Path:
    for name, rows in {"passages": PASSAGES, "queries": QUERIES}.items():
        (tmp_path / "ships").mkdir(exist_ok=True)
        (tmp_path / f"ships/{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return tmp_path / "ships"


def bench(folder: Path, *argv: str, mode: str = "extractive") -> Any:
    given = [*argv, "--mode", mode, "--work", str(folder / "w"), "--json", str(folder / "r.json")]
    return CliRunner().invoke(cli.app, ["bench", *given])


def test_ours_stands_beside_the_papers_and_a_set_that_is_not_here_is_named(
    ships: Path, tmp_path: Path
) -> None:
    done = bench(tmp_path, "auto-rag", "--from", f"nq={ships}", "--from", f"ships={ships}")
    assert done.exit_code == 0, done.output
    row = next(line for line in done.output.splitlines() if line.startswith("| Auto-RAG, paper"))
    assert (
        row.startswith("| Auto-RAG, paper | 37.9 | 60.9 |")
        and "| Auto-RAG, here without a chat model | " in done.output
    )
    assert (
        "Auto-RAG-Llama-3-8B-Instruct: none, passages are quoted; text encoder e5-base-v2: wordllama"
        in done.output
    )
    assert "hotpotqa: not here" in done.output and "3 arms, 12 questions to ask." in done.output
    flat = json.loads((tmp_path / "r.json").read_text())
    assert flat["naive RAG, ships acc"] == 1 and flat["naive RAG, recall@1 of all"] == 100
    assert flat["no retrieval, ships acc"] == 0 and flat["naive RAG, nq em, questions"] == 2
    assert (tmp_path / "w/home/libraries").is_dir()  # and not in the home of who asks


def test_the_cost_comes_before_a_chat_model_is_called(ships: Path, tmp_path: Path) -> None:
    argv = ("auto-rag", "--from", f"ships={ships}", "--arms", "Auto-RAG")
    with override(writer=ScriptedChat(replies=[])):
        told = bench(tmp_path, *argv, "--estimate", mode="llm")
        refused = bench(tmp_path, *argv, mode="llm")
    # A turn before five rounds and one after each, five recalls with a turn each, each turn twice, and a last
    # answer.
    assert told.exit_code == 0 and "At most 56 calls" in told.output
    assert refused.exit_code == 1 and "Go on?" in refused.output


def test_a_judge_prefers_answers_in_both_orders_and_those_of_other_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_ENTITIES", "llm")
    folder = tmp_path / "long"
    (folder / "0-mill").mkdir(parents=True)
    (folder / "0-mill/mill.vtt").write_text(
        "WEBVTT\n\n00:00:01.000 --> 00:00:09.000\nThe mill of Leigo was burnt down by lightning.\n",
        encoding="utf-8",
    )
    given = {"0": [{"type": "lecture", "questions": [{"id": 0, "question": "What burnt down the mill?"}]}]}
    (folder / "dataset.json").write_text(json.dumps(given), encoding="utf-8")
    theirs = folder / "all_answers/0-mill/answers-lightrag-hybrid"
    theirs.mkdir(parents=True)
    (theirs / "answer_0.md").write_text("Nobody knows.", encoding="utf-8")

    asked = []

    def say(messages: list[Any]) -> Any:
        text = "\n".join(str(m.content) for m in messages)
        asked.append(text.partition(".")[0] + ", LightRAG" * ("Nobody knows." in text))
        if "entities it speaks of" in text:
            return "entity | Leigo | place | A mill stood there."
        if "Nobody knows." in text or "density" in text:
            worse = "Nobody knows." in text and text.index("Nobody knows.") < text.index("Lightning")
            return {a: {"winner": "2" if worse else "1", "reason": ""} for a in ASPECTS}
        return "Lightning burnt it down [1]."

    with override(writer=ScriptedChat(react=say), judge=ScriptedChat(react=say)):
        done = bench(
            tmp_path, "video-rag", "--table", "2", "--from", f"longervideos={folder}", "--answers",
            str(folder / "all_answers"), "--yes", "--width", "1", mode="llm",
        )  # fmt: skip
    assert done.exit_code == 0, done.output
    against = done.output.split("over LightRAG")[1]
    assert (
        "| overall, here | 100.00 | – | – | 100.00 |" in against and "| overall, paper | 57.85 |" in against
    )
    # As published: a model reads the recordings for entities, and puts the question into several forms.
    assert sum("entities" in a for a in asked) == 1 and any("prepare the search" in a for a in asked)
    # In both orders, five times each.
    assert sum(a.startswith("You will evaluate") and a.endswith("LightRAG") for a in asked) == 10
    # The judge takes whichever of two alike answers stands first.
    assert "| overall, here | 50.00 |" in done.output.split("over NaiveRAG")[1]


def test_papers_tables_and_arms_that_are_not_there_are_refused() -> None:
    with pytest.raises(InputError, match="there is no paper"):
        paper("nobody")
    done = CliRunner().invoke(cli.app, ["bench", "crag", "--table", "9"])
    assert isinstance(done.exception, InputError) and "no table 9" in str(done.exception)


@pytest.mark.parametrize("reply", ["B", "B [1].", "B. Tartu [1]"])
def test_a_set_whose_questions_state_options_is_answered_by_a_letter(
    ships: Path, tmp_path: Path, reply: str
) -> None:
    rows = [
        {"id": "1", "question": "Where was the Rook built?", "choices": ["Narva", "Tartu"], "answer": "Tartu"}
    ]
    (ships / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    model = ScriptedChat(react=lambda messages: reply)
    with override(writer=model):
        argv = ("crag", "--from", f"arc={ships}", "--arms", "RAG", "--yes")
        done = bench(tmp_path, *argv, mode="llm")
    assert done.exit_code == 0, done.output
    assert any("letter of the one best option" in call.prompt for call in model.calls)
    assert json.loads((tmp_path / "r.json").read_text())["RAG, arc acc"] == 1


@pytest.mark.parametrize("name", PAPERS)
def test_every_arm_of_every_table_has_knobs_that_exist(name: str) -> None:
    for table in paper(name).tables.values():
        for one in (*table.sets, table.other):
            for arm in table.arms:
                assert context_of(paper(name).arms[arm], BenchSet(one, FormBundle("", [])), "llm", {})


def test_an_ablation_of_videorag_takes_one_retriever_away_and_nothing_else() -> None:
    arms = paper("video-rag").arms
    whole = knobs_of("video-rag-paper")["method.channels"]
    for arm, left_out in (("VideoRAG, -Graph", "entity"), ("VideoRAG, -Vision", "visual")):
        channels = [name for name in whole if name != left_out]
        assert arms[arm].preset == "video-rag-paper" and arms[arm].knobs == {"method": {"channels": channels}}


def test_the_thresholds_of_a_set_count_for_the_papers_evaluator_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crag = paper("crag")
    arc = next(one for one in crag.tables["1"].sets if one.name == "arc")
    asked = BenchSet(arc, FormBundle("", []))
    assert context_of(crag.arms["CRAG"], asked, "llm", {}).method.upper is None
    monkeypatch.setenv("RAGWEAVE_EVALUATOR", "somewhere")
    model_settings.cache_clear()
    found = context_of(crag.arms["CRAG"], asked, "llm", {}).method
    assert (found.upper, found.lower) == (0.5, -0.91)
    given = context_of(crag.arms["CRAG"], asked, "llm", {"method": {"upper": 0.7}}).method
    assert (given.upper, given.lower) == (0.7, -0.91)
