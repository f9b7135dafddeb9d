"""Every program of benchmarks/ starts and explains itself."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer
from sklearn import metrics as sk

from ragweave.evals import metrics as m
from ragweave.evals.corpus import prepare
from ragweave.evals.retrieval import METHODS, measure, ranker, read_passages, read_queries
from ragweave.models.errors import InputError

LABELS = ["none", "paragraph", "image", "clip"]
labelled = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=60)


@given(labelled)
def test_accuracy_agrees_with_scikit_learn(pairs):
    gold, said = [g for g, _ in pairs], [s for _, s in pairs]
    found = m.accuracy(gold, said)
    present = sorted(set(gold))
    recalls = sk.recall_score(gold, said, labels=present, average=None, zero_division=0)
    assert found.micro == pytest.approx(sk.accuracy_score(gold, said))
    assert found.macro == pytest.approx(float(np.mean(recalls)))
    assert found.per_label == pytest.approx(dict(zip(present, recalls, strict=True)))
    table = sk.confusion_matrix(gold, said, labels=LABELS)
    ours = [[found.confusion.get(g, {}).get(p, 0) for p in LABELS] for g in LABELS]
    assert table.tolist() == ours


def test_ranking_metrics_agree_with_pytrec_eval():
    rng = random.Random(3)
    qrels, runs, ours = {}, {}, {}
    for q in range(40):
        ids = [f"d{i}" for i in range(30)]
        gold = {i: rng.choice([1, 2, 3]) for i in rng.sample(ids, rng.randint(1, 6))}
        ranked = rng.sample(ids, 20)
        qrels[str(q)] = gold
        runs[str(q)] = {d: float(100 - r) for r, d in enumerate(ranked)}
        ours[str(q)] = {
            "ndcg_cut_10": m.ndcg_at(ranked, gold, 10),
            "recall_5": m.recall_at(ranked, list(gold), 5),
            "recip_rank": m.mrr(ranked, list(gold)),
        }
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "recall.5", "recip_rank"}).evaluate(runs)
    for q, values in ours.items():
        for name, value in values.items():
            assert value == pytest.approx(theirs[q][name]), (q, name)


words = st.lists(st.sampled_from("river bank flows under the old stone bridge quickly".split()), max_size=12)


@given(words, words)
def test_rouge_l_agrees_with_rouge_score(a, b):
    scorer = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=False)
    expected = scorer.score(" ".join(b), " ".join(a))["rougeL"].fmeasure
    assert m.rouge_l(" ".join(a), [" ".join(b)]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("answer", "golds", "exact", "f1"),
    [
        ("The Eiffel Tower!", ["eiffel tower"], 1, 1),
        ("in 1889", ["1889"], 0, 2 / 3),
        ("", ["x"], 0, 0),
        ("blue and red", ["green", "red and blue"], 0, 1),
        ("北京市", ["北京"], 0, 0.8),
        ("a", ["the"], 1, 1),
        ("x", [], 0, 0),
    ],
)
def test_exact_match_and_token_f1(answer, golds, exact, f1):
    assert m.exact_match(answer, golds) == exact
    assert m.token_f1(answer, golds) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("B", "B"),
        ("(c)", "C"),
        ("b.", "B"),
        ("The answer is D.", "D"),
        ("answer: a", "A"),
        ("C) because the bridge was closed", "C"),
        ("I think it is (B).", "B"),
        ("A or B", ""),
        ("None of them", ""),
        ("", ""),
    ],
)
def test_letters_are_read_whatever_stands_around_them(answer, letter):
    assert m.letter(answer) == letter
    assert m.letter_score(answer, "B") == float(letter == "B")


@pytest.mark.parametrize(
    ("answer", "golds", "held"),
    [
        ("It was built in 1889.", ["1889"], True),
        ("It was built in 1889.", ["188"], False),
        ("She sailed the Marten's last trip.", ["the Marten"], True),
        ("Ouvert en L’ÉTÉ.", ["l'ete"], True),
        ("It cost 3,000 pounds.", ["3000"], True),
        ("", ["x"], False),
        ("something", [], False),
        ("他住在北京市。", ["北京"], True),
        ("Yes, both are Norwegian.", ["yes"], True),
        ("No: yesterday was wet.", ["yes"], False),
        ("Both are Norwegian.", ["yes"], False),
        ("He lives at No. 7.", ["No. 7"], True),
    ],
)
def test_an_answer_says_what_stands_in_it_as_whole_words(answer, golds, held):
    assert m.says(answer, golds) == held


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


FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


def programs() -> list[Path]:
    """Return the programs that read options; `printed.py` reads them for others and is none itself."""
    found: list[Path] = []
    for path in sorted(FOLDER.rglob("*.py")):
        text = path.read_text("utf-8")
        if "__main__" in text and ("parse_args" in text or "run(__doc__" in text):
            found.append(path)
    return found


@pytest.mark.parametrize("program", programs(), ids=lambda path: path.stem)
def test_a_benchmark_explains_itself(program: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(program), "--help"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "usage:" in done.stdout
