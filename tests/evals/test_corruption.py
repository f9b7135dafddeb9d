from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from ragweave.evals.corruption import SHARES, WAYS, measure


def data_set(
    folder: Path, name: str, passages: str, rows: list[dict[str, Any]], questions: list[dict[str, Any]]
) -> None:
    (folder / name).mkdir(parents=True)
    for file, content in ((passages, rows), ("queries.jsonl", questions)):
        (folder / name / file).write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")


def test_what_is_lost_costs_the_answer_and_the_web_brings_it_back(tmp_path: Path) -> None:
    towns = ("Vellmouth", "Pell", "Helder", "Ostra", "Corvane", "Marten", "Skerry", "Brandt", "Jonna", "Tolly")
    passages = [
        {"id": f"p{n}", "title": town, "text": f"The harbour crane of {town} was built in {1900 + n} by a local firm."}
        for n, town in enumerate(towns)
    ]
    questions = [
        {"id": "q", "question": "When was the harbour crane of Pell built?", "answers": ["1901"], "gold": ["p1"]}
    ]
    data_set(tmp_path / "data", "squad_xquad_en", "passages.jsonl", passages, questions)
    data_set(
        tmp_path / "data", "multihop_hotpotqa", "corpus.jsonl", [{"id": "x", "title": "X", "text": "Y."}], questions
    )
    found = asyncio.run(measure(tmp_path / "data", tmp_path / "work", 5))["xquad"]
    assert set(found) == {f"{share:.0%} wrong, {way}" for share in SHARES for way in WAYS}
    assert found["0% wrong, graded"]["answer_shown"] == 1.0
    assert found["100% wrong, plain"]["answer_shown"] == 0.0
    assert found["100% wrong, web"]["answer_shown"] == 1.0
    assert found["100% wrong, web"]["repaired"] == 1.0
