from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ragweave.evals.pairs import measure, read_pairs, scorer
from ragweave.models.chat import override
from ragweave.models.relevance import Passage
from ragweave.tests.support import ScriptedChat

ROWS = [
    {
        "qid": "1",
        "question": "When was the tower built?",
        "title": "Tower",
        "passage": "It was built in 1874.",
        "label": 1,
    },
    {"qid": "1", "question": "When was it built?", "title": "Bread", "passage": "Rye is milled.", "label": 0},
    {
        "qid": "2",
        "question": "Who baked the bread?",
        "title": "Bread",
        "passage": "Jon baked the bread.",
        "label": 1,
    },
    {
        "qid": "2",
        "question": "Who baked the bread?",
        "title": "Tower",
        "passage": "It has steps.",
        "label": -1,
    },
]


def written(path: Path, rows: list[Any]) -> Path:
    path.write_text("\n".join(json.dumps(r) for r in rows), encoding="utf-8")
    return path


async def test_language_model_grades_through_the_graphs_own_prompt(tmp_path: Path) -> None:
    reply = {"verdicts": [{"n": 1, "verdict": "relevant"}, {"n": 2, "verdict": "irrelevant"}]}
    with override(judge=ScriptedChat(react=lambda messages: reply), writer=ScriptedChat()):
        found = (await measure(read_pairs(written(tmp_path / "p.jsonl", ROWS)), scorer("llm"))).figures()
    assert found["auc"] == 1.0


def test_popqa_in_its_published_form_becomes_pairs_by_the_title_of_the_subject(tmp_path: Path) -> None:
    texts = [("Pell", "Pell is\na town."), ("Bread", "Rye is milled."), ("Pell", "It has a harbour.")]
    ctxs = [{"title": title, "text": text, "id": "7"} for title, text in texts]
    row = {"id": 3, "question": "Where is Pell?", "s_wiki_title": "Pell", "ctxs": [*ctxs, *ctxs * 4]}
    (asked,) = read_pairs(written(tmp_path / "p.jsonl", [row]))
    assert (len(asked.passages), asked.labels.tolist()[:3]) == (10, [1, 0, 1])
    assert asked.passages[0] == Passage("", "Pell is a town."), "the title would give the label away"
