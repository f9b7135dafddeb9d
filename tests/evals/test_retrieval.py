from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragweave.evals.corpus import prepare
from ragweave.evals.retrieval import METHODS, measure, ranker, read_passages, read_queries
from ragweave.models.errors import InputError

PASSAGES = [
    {
        "id": "a",
        "title": "Corvane Observatory",
        "text": "The Corvane Observatory was opened in 1931 on Mount Helder.",
    },
    {"id": "b", "title": "Rye bread", "text": "Rye bread is baked at 250 degrees for ten minutes."},
    {"_id": "c", "text": "The Ostrander Works were founded by Ada Ostrander in 1889."},
]
QUERIES = [
    {"id": "1", "question": "When was the Corvane Observatory opened?", "gold": ["a"]},
    {"_id": "2", "text": "Who founded the Ostrander Works?", "gold": ["c"]},
]


def written(path: Path, rows: list[Any]) -> Path:
    path.write_text("\n".join(json.dumps(r) for r in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("method", METHODS)
async def test_every_method_ranks_the_gold_passages(tmp_path: Path, method: Any) -> None:
    passages = read_passages(written(tmp_path / "corpus.jsonl", PASSAGES))
    queries = read_queries(written(tmp_path / "queries.jsonl", QUERIES))
    prepared = await prepare(passages, "tiny", tmp_path / "work")
    found = (await measure(prepared, queries, ranker(prepared, method))).mean()
    assert found["recall@5"] == 1.0
    assert found["mrr"] == 1.0


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [([{"id": "1", "gold": ["a"]}], "has no question"), ([{"id": "1", "question": "x"}], "no query")],
)
def test_unusable_query_file_gets_a_sentence(tmp_path: Path, rows: list[Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_queries(written(tmp_path / "q.jsonl", rows))
