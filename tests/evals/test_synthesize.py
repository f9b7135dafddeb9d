"""Errors of meaning that are planted by rule."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from ragweave.components.context import Context
from ragweave.components.evidence import Strip
from ragweave.corpora.store.library import open_library
from ragweave.evals.planting import RIGHT, CheckedSentence, planted
from ragweave.evals.planting_meanings import MEANINGS
from ragweave.evals.synthesis_job import SynthesisJob, read_tasks, synthesize
from ragweave.evals.synthesize import SynthesisSettings, searched
from ragweave.graphs.auto_rag import graph as auto_rag
from ragweave.models.chat import override
from ragweave.models.errors import InputError
from ragweave.tests.support import ScriptedChat

TEXTS = {
    "mill.md": "# Tarn Mill\n\nThe Tarn Mill made paper. It was set up by Ilse Marwen in 1871.\n",
    "ilse.md": "# Ilse Marwen\n\nIlse Marwen was born in Norway and went to sea early.\n",
    "bread.md": "# Rye bread\n\nMix rye flour, water, salt and sourdough and let it rest.\n",
}
NUMBERS = count()
ROW = {
    "id": "q1",
    "question": "Where was the person who set up the Tarn Mill born?",
    "answers": ["Norway"],
    "links": ["Ilse Marwen"],
}


def teacher(**parts: Any) -> ScriptedChat:
    """A model that reasons, writes queries and answers as told, by how much the prompt holds so far."""
    script: dict[str, Any] = {
        "reason": lambda n: [
            "I have to find who set it up.",
            "It was Ilse Marwen. However, find her birthplace.",
            "Norway.",
        ][min(n, 2)],
        "queries": lambda n: [
            "1. rye bread recipe\n2. who set up the Tarn Mill",
            "Ilse Marwen birthplace",
        ][min(n, 1)],
        "answer": lambda n: "Norway",
        **parts,
    }

    def react(messages: list[BaseMessage]) -> Any:
        text, system = messages[-1].text, messages[0].text
        found = text.count("Query: ")
        if "search queries" in system:
            return script["queries"](0 if "(none)" in text else 1)
        return script["answer" if "few words" in system else "reason"](found)

    return ScriptedChat(react=react)


@pytest.fixture
def library(stock: Any) -> None:
    stock(TEXTS)


def job(folder: Path, rows: list[dict[str, Any]], **options: Any) -> SynthesisJob:
    questions = folder / "questions.jsonl"
    questions.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return SynthesisJob(
        questions, folder / "out" / "data.jsonl", settings=SynthesisSettings(passages=1), **options
    )


async def run(made: SynthesisJob, model: ScriptedChat) -> Any:
    with override(writer=model):
        return await synthesize(made)


@pytest.mark.usefixtures("library")
async def test_walk_keeps_the_first_query_whose_documents_hold_a_part_of_the_answer(tmp_path: Path) -> None:
    made = job(tmp_path, [ROW])
    report = await run(made, teacher())
    assert (report["kept"], report["hops_of_kept"], report["missed_rounds"]) == (1, {2: 1}, 0)
    (row,) = [json.loads(line) for line in made.out.read_text(encoding="utf-8").splitlines()]
    roles = [m["role"] for m in row["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user", "assistant"]
    said = [m["content"] for m in row["messages"] if m["role"] == "assistant"]
    assert said == [
        "I have to find who set it up.\nQuery: who set up the Tarn Mill",
        "It was Ilse Marwen. However, find her birthplace.\nQuery: Ilse Marwen birthplace",
        "Norway.\nFinal Answer: Norway",
    ]
    assert "Ilse Marwen in 1871" in row["messages"][3]["content"]
    assert json.loads(made.report.read_text(encoding="utf-8"))["kept"] == 1
    # A model that was taught so is shown the same when it is asked.
    with override(writer=(model := ScriptedChat(replies=[*said]))):
        context = Context(preset="auto-rag-paper", method={"turn_passages": 1})
        await auto_rag.ainvoke({"messages": [("human", ROW["question"])]}, context=context)
    shown = [[(m.type, m.text) for m in c.messages] for c in model.calls]
    kinds = {"human": "user", "ai": "assistant", "system": "system"}
    for asked in shown:
        taught = row["messages"][: len(asked)]
        assert [kinds[kind] for kind, _ in asked] == [m["role"] for m in taught]
        assert [text for _, text in asked] == [m["content"] for m in taught]
    assert shown[-1][3][1].startswith("Retrieved Document_1:\n<<<") and len(shown) == 3


@pytest.mark.usefixtures("library")
async def test_one_model_reasons_and_another_writes_the_queries(tmp_path: Path) -> None:
    reasons, rewrites = teacher(), teacher()
    with override(writer=reasons, judge=rewrites):
        report = await synthesize(job(tmp_path, [ROW]))
    assert report["kept"] == 1
    written = ["You write search queries" in call.messages[0].text for call in rewrites.calls]
    reasoned = ["You write search queries" in call.messages[0].text for call in reasons.calls]
    assert written == [True] * 2 and reasoned == [False] * 4


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"answer": lambda n: "Sweden"}, "the final answer differs from the gold answer"),
        (
            {
                "reason": lambda n: "However, I must find more.",
                "queries": lambda n: f"Norway {next(NUMBERS)}",
            },
            "still asking after the last round",
        ),
        ({"reason": lambda n: ""}, "the teacher said nothing"),
        ({"queries": lambda n: "Here are the queries:"}, "no new query could be read"),
    ],
)
async def test_walk_is_dropped_with_its_reason(
    tmp_path: Path, parts: dict[str, Callable[[int], str]], reason: str
) -> None:
    made = job(tmp_path, [ROW])
    report = await run(made, teacher(**parts))
    assert report["kept"] == 0
    assert report["dropped"] == {reason: 1}
    assert made.out.read_text(encoding="utf-8") == ""


@pytest.mark.usefixtures("library")
async def test_a_round_finds_what_the_graph_finds_in_its_order_and_number() -> None:
    said = ["Think.\nQuery: who set up the Tarn Mill", "Final Answer: Ilse Marwen"]
    with override(writer=ScriptedChat(replies=said)):
        context = Context(preset="auto-rag-paper")
        state = await auto_rag.ainvoke({"messages": [("human", ROW["question"])]}, context=context)
        found = await searched(await open_library(), "who set up the Tarn Mill")
    first = [row["id"] for row in found][: SynthesisSettings().passages]
    assert state["hops"][-1]["shown"] == first and len(first) == 3
    assert SynthesisSettings() == SynthesisSettings(rounds=5, passages=3)


@pytest.mark.usefixtures("library")
async def test_second_run_asks_no_model_about_what_is_finished(tmp_path: Path) -> None:
    rows = [{**ROW, "id": f"q{n}"} for n in range(3)]
    first = job(tmp_path, rows, limit=2)
    await run(first, teacher())
    made = job(tmp_path, rows)
    report = await run(made, teacher())
    assert report["kept"] == 3
    assert report["model_calls"] > 0
    again = teacher()
    before = made.out.read_text(encoding="utf-8")
    assert (await run(made, again))["kept"] == 3
    assert again.calls == []
    assert made.out.read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '"x"',
        "[1]",
        '{"id": "a"}',
        '{"id": "a", "question": "q"}',
        '{"question": "q", "answers": ["a"]}',
    ],
)
def test_unusable_question_files_are_refused_with_a_sentence(tmp_path: Path, text: str) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(text, encoding="utf-8")
    if not text:
        assert read_tasks(file) == []
        return
    with pytest.raises(InputError):
        read_tasks(file)


def strip(name: str, text: str) -> Strip:
    made: Any = {
        "id": f"{name}#0",
        "evidence": name,
        "text": text,
        "title": name,
        "locator": {"file": f"/{name}.md"},
    }
    return {**made, "origin": "library", "query": "", "hop": 1, "score": 1.0}


TABLE = (
    "Ship | Tons | Masts\nKestrel | 85 | 3\nThe ferry ran from Ostby to the pier. The keeper hired Ada Quill."
)


def said(text: str) -> CheckedSentence:
    ships = strip("ships", TABLE)
    return CheckedSentence("q:0", RIGHT, text, "What?", (ships,), (ships,), ("/ships.md",))


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("unit", "The hose is 25 m long.", "The hose is 25 km long."),
        ("unit", "It costs €90.", "It costs $90."),
        ("unit", "Es dauert 3 Tage.", "Es dauert 3 Wochen."),
        ("unit", "The hose is long.", None),
        ("opposite", "It opened before noon.", "It closed before noon."),
        ("direction", "It ran from Ostby to Carrow daily.", "It ran from Carrow to Ostby daily."),
        ("common noun", "The lamp was lit.", "The ferry was lit."),
        ("roles exchanged", "Ada Quill lent her boat to Jo Reef.", "Jo Reef lent her boat to Ada Quill."),
        ("roles exchanged", "The keepers were Ada Quill and Jo Reef.", None),
        ("neighbour column", "The Kestrel carried 85 tons.", "The Kestrel carried 3 tons."),
        ("addition", "The lamp was lit", None),
    ],
)
def test_each_kind_changes_what_a_sentence_says(kind: str, right: str, wrong: str | None) -> None:
    made = MEANINGS[kind](said(right))
    if kind == "common noun":
        assert made is not None and made.text in ("The ferry was lit.", "The keeper was lit.")
    else:
        assert (made.text if made else None) == wrong


def test_a_year_of_a_heading_an_order_and_a_newer_document_change_what_is_shown() -> None:
    right = said("The Kestrel carried 85 tons.")
    dated, ordered, older = (MEANINGS[kind](right) for kind in ("heading value", "order", "older document"))
    assert dated and ordered and older
    year = dated.text[-5:-1]
    assert year in dated.named[0]["title"] and year not in dated.named[0]["text"]
    assert ordered.text in ordered.named[0]["text"] and ordered.text != right.text
    assert older.text == right.text and older.named == right.named and len(older.known) == 2
    assert "tons" in older.known[1]["text"] and "85" not in older.known[1]["text"]


def test_what_cannot_be_changed_is_left_out_and_kinds_come_in_turn() -> None:
    right = [
        CheckedSentence(f"q{n}:0", *s)
        for n in range(30)
        for s in [tuple(vars(said("It opened at 85 m.")).values())[1:]]
    ]
    wrong = planted(right, 12, MEANINGS)
    assert {s.kind for s in wrong} <= set(MEANINGS) - {"direction", "roles exchanged", "common noun"}
    assert len({s.id for s in wrong}) == 12
