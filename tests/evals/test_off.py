"""Runs without a node or a part of one, on one small library."""

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
from ragweave.corpora.settings import corpora_settings
from ragweave.evals.answers import Question
from ragweave.evals.off import NODE_OF, OFF, Off, check_off, without
from ragweave.graphs import agent, crag
from ragweave.models.chat import override
from ragweave.tests.support import ScriptedChat, build_library

TEXTS = {
    "pump.md": "# Pump\n\nThe pump stands in the cellar. It was built by the Orlow company in 1987.",
    "orlow.md": "# Orlow\n\nThe Orlow company was founded in Tartu by Mart Saar. It makes pumps and valves.",
    "garden.md": "# Garden\n\nThe roses need water twice a week in summer. The hedge is cut in March.",
}
QUESTIONS = [
    Question("1", "Where does the pump stand?", ("cellar",), gold=("pump.md",), kind="one"),
    Question(
        "2", "Who founded the company that built the pump?", ("Mart Saar",), gold=("orlow.md",), kind="two"
    ),
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


@pytest.fixture
async def read(home: Path, tmp_path: Path) -> AsyncIterator[None]:
    """A library of the texts, and a model that reads what it is shown."""
    await build_library(tmp_path / "files", TEXTS)
    with override(writer=ScriptedChat(react=reader)):
        yield


@pytest.mark.parametrize("off", ["", *(name for name in OFF if name not in NODE_OF)])
async def test_every_node_can_be_left_out_and_the_second_fact_needs_a_second_round(
    read: None, off: Off | str
) -> None:
    context = Context(mode="llm", top_k=1, check_by="off")
    left = without(agent.build(), check_off([off] if off else [])).compile()
    answer = (await left.ainvoke({"question": QUESTIONS[1].text}, context=context))["answer"]
    assert ("Mart Saar" in answer.text) == (off not in ("reason",))


async def test_without_other_words_a_search_that_found_nothing_sure_still_ends(read: None) -> None:
    context = Context(mode="llm", top_k=1, check_by="off")
    left = without(agent.build(), check_off(["expand"])).compile()
    state = await left.ainvoke({"question": QUESTIONS[2].text}, context=context)
    grade = state["grade"]
    assert grade["action"] == "incorrect" and state["answer"].abstained


def questions_file(folder: Path) -> Path:
    rows: list[dict[str, Any]] = [
        {
            "id": q.id,
            "question": q.text,
            "answers": list(q.answers),
            "gold_files": list(q.gold),
            "kind": q.kind,
        }
        | ({} if q.answerable else {"answerable": False})
        for q in QUESTIONS
    ]
    path = folder / "qa.jsonl"
    path.write_text("\n".join(json.dumps(r) for r in rows), encoding="utf-8")
    return path


def command(*words: object) -> Any:
    return CliRunner().invoke(cli.app, ["eval", *map(str, words)])


def test_answers_are_counted_on_a_folder_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "files" / name).write_text(text)
    given = [
        "--folder",
        tmp_path / "files",
        "--questions",
        questions_file(tmp_path),
        "--work",
        tmp_path / "work",
    ]
    done = command("answers", *given, "--json", tmp_path / "b.json")
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "b.json").read_text())
    assert {"answered_correct", "answered_wrong", "abstained", "citation_precision"} <= set(found)


async def test_without_selection_every_part_of_a_page_is_kept(
    read: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "web/pump.md").write_text("# Pump\n\nThe pump stands in the cellar.", encoding="utf-8")
    monkeypatch.setenv("RAGWEAVE_WEB_FOLDER", str(tmp_path / "web"))
    corpora_settings.cache_clear()
    kept = {}
    for off in ([], ["select"]):
        judge = ScriptedChat(
            react=lambda m: {"verdicts": [{"n": n, "verdict": "irrelevant"} for n in range(1, 9)]}
        )
        with override(judge=judge, writer=ScriptedChat(react=lambda messages: "UNKNOWN")):
            context = Context(preset="crag-paper", grade_by="llm", web="auto", top_k=1)
            built = without(crag.build(), off)  # type: ignore[arg-type]
            state = await built.compile().ainvoke({"question": QUESTIONS[0].text}, context=context)
        kept[bool(off)] = [s for s in state.get("knowledge", []) if s["origin"] == "web"]
    assert not kept[False] and kept[True]


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
    read: None, verdict: str, off: Off, web: bool, mended: bool
) -> None:
    model = ScriptedChat(react=lambda messages: {"verdicts": [{"n": 1, "verdict": verdict}]})
    with override(judge=model, writer=ScriptedChat(react=lambda messages: "UNKNOWN")):
        context = Context(grade_by="llm", web="auto", top_k=1)
        left = without(crag.build(), [off]).compile()
        state = await left.ainvoke({"question": QUESTIONS[0].text}, context=context)
    acted = {"relevant": "correct", "partly": "ambiguous", "irrelevant": "incorrect"}[verdict]
    assert (state["grade"]["action"] != acted) == mended
    assert ("search_web" in {u.node for u in state["usage"]}) == web
