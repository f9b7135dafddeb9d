from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragweave.evals.corpus import prepare
from ragweave.evals.retrieval import METHODS, measure, ranker, read_passages, read_queries
from ragweave.models.errors import InputError

PASSAGES = [
    {"id": "a", "title": "Corvane Observatory", "text": "The Corvane Observatory was opened in 1931 on Mount Helder."},
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


def test_relevant_passages_may_come_from_a_qrels_file(tmp_path: Path) -> None:
    queries = written(tmp_path / "q.jsonl", [{"id": "1", "query": "x"}, {"id": "2", "query": "y"}])
    qrels = tmp_path / "qrels.tsv"
    qrels.write_text("query-id\tcorpus-id\tscore\n1\ta\t1\n1\tb\t0\n2\tc\t2\n", encoding="utf-8")
    assert [q.gold for q in read_queries(queries, qrels)] == [("a",), ("c",)]
    assert [q.gains for q in read_queries(queries, qrels)] == [{"a": 1.0}, {"c": 2.0}]
    qrels.write_text("1 0 a 1\n2 0 b 0\n", encoding="utf-8")
    assert [q.gold for q in read_queries(queries, qrels)] == [("a",)]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [([{"id": "1", "gold": ["a"]}], "has no question"), ([{"id": "1", "question": "x"}], "no query")],
)
def test_unusable_query_file_gets_a_sentence(tmp_path: Path, rows: list[Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_queries(written(tmp_path / "q.jsonl", rows))
