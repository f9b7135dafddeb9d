"""Labelled candidates for the relevance evaluator, from the public data sets.

HotpotQA (`evaluator_pairs`, `multihop_hotpotqa`) is for training, XQuAD (`squad_xquad_en`) for tests only.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragweave.corpora.store.nearness import SAMPLE
from ragweave.evals.data import read_jsonl
from ragweave.models import text
from ragweave.models.embed import encoder
from ragweave.models.relevance import Passage
from ragweave.models.relevance_features import Looked, deviations, look
from ragweave.models.relevance_reading import Idf, Matrix

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class LabelledQuestion:
    """One question with its labelled candidates.

    `labels`, shape (n,), are 1 for relevant candidates; `second` is the index of the second-hop gold, or -1.
    """

    question: str
    passages: tuple[Passage, ...]
    labels: Labels
    second: int = -1

    def take(self, rows: Sequence[int]) -> LabelledQuestion:
        """Return the question with some of its candidates and without `second`."""
        passages = [self.passages[i] for i in rows]
        return LabelledQuestion(self.question, tuple(passages), self.labels[list(rows)])


class Nearness:
    """Computes how near passages are to a question, with the set encoder and as a library of them would."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        known = list(dict.fromkeys(passages))
        self._rows: dict[Passage, int] = {}
        for n, passage in enumerate(known):
            self._rows[passage] = n
        texts = [f"{p.title}\n{p.text}" for p in known]
        self._vectors = encoder().texts(texts)
        step = max(1, len(known) // SAMPLE)
        self._sample = self._vectors[::step][:SAMPLE]

    def __call__(self, question: str, passages: Sequence[Passage]) -> Matrix:
        """Return the nearness of each passage, (n,), in standard deviations above the others."""
        asked = encoder().queries([question])[0]
        rows = [self._rows[p] for p in passages]
        cosines = self._vectors[rows] @ asked
        return deviations(cosines.astype(np.float64), (self._sample @ asked).astype(np.float64))


def idf_of(passages: Sequence[Passage]) -> Idf:
    """Return the inverse document frequency of a stemmed term over passages, as a library gives it."""
    frequency: Counter[str] = Counter()
    for p in passages:
        frequency.update(set(text.terms(f"{p.title} {p.text}")))
    return lambda term: max(0.0, math.log((len(passages) + 1) / (frequency[term] + 0.5)))


def hotpot(data: Path) -> list[LabelledQuestion]:
    """Return the questions of `evaluator_pairs`: two gold passages and up to eight distractors each."""
    facts = {}
    for query in read_jsonl(data / "multihop_hotpotqa" / "queries.jsonl"):
        facts[query["id"]] = query
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in read_jsonl(data / "evaluator_pairs" / "hotpot_pairs.jsonl"):
        groups[row["qid"]].append(row)
    out = []
    for qid, group in groups.items():
        passages, labels = list[Passage](), list[int]()
        for row in group:
            passages.append(Passage(row["title"], row["passage"]))
            labels.append(row["label"])
        second = _second_hop(group, facts[qid]) if qid in facts else -1
        out.append(LabelledQuestion(group[0]["question"], tuple(passages), np.array(labels), second))
    return out


def _second_hop(group: list[dict[str, Any]], fact: dict[str, Any]) -> int:
    """Return the index of the second gold passage of a bridge question, or -1.

    It is the one that holds an answer, or the one whose title the other passage names.
    """
    gold, flat, titles = list[int](), list[str](), list[str]()
    for i, row in enumerate(group):
        if row["label"]:
            gold.append(i)
            flat.append(_flat(row["passage"]))
            titles.append(_flat(row["title"].split(" (")[0]))
    if fact["type"] != "bridge" or len(gold) != 2:
        return -1
    holds = [False, False]
    for answer in map(_flat, fact["answers"]):
        holds[0] |= answer in flat[0]
        holds[1] |= answer in flat[1]
    named = [titles[0] in flat[1], titles[1] in flat[0]]
    for signs in (holds, named):
        if signs[0] != signs[1]:
            return gold[signs.index(True)]
    return -1


def _flat(of: str) -> str:
    """Return the words of a text between single spaces, so that whole words can be looked up."""
    return f" {' '.join(text.words(of))} "


def untitled(asked: LabelledQuestion) -> LabelledQuestion:
    """Return the question with passages that have no title."""
    return replace(asked, passages=tuple(_without_titles(asked.passages)))


def with_untitled(passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages, then each without its title."""
    return [*passages, *_without_titles(passages)]


def _without_titles(passages: Sequence[Passage]) -> list[Passage]:
    return [Passage("", p.text) for p in passages]


def ranked(
    data: Path, folder: str, passages: str, k: int = 11
) -> tuple[list[LabelledQuestion], list[Passage]]:
    """Return each question of a set with its first k passages by BM25, and all its passages."""
    corpus = read_jsonl(data / folder / passages)
    texts = []
    for row in corpus:
        texts.append(Passage(row["title"], row["text"]))
    search = bm25(texts)
    found = []
    for q in read_jsonl(data / folder / "queries.jsonl"):
        best = np.argsort(-search(q["question"]), kind="stable")[:k]
        chosen, labels = list[Passage](), list[int]()
        for i in best:
            chosen.append(texts[i])
            labels.append(int(corpus[i]["id"] in q["gold"]))
        found.append(LabelledQuestion(q["question"], tuple(chosen), np.array(labels)))
    return found, texts


def bm25(passages: Sequence[Passage]) -> Callable[[str], NDArray[np.float64]]:
    """Return a function from a question to the BM25 score of every passage."""
    lengths = np.zeros(len(passages))
    postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for i, p in enumerate(passages):
        terms = text.terms(f"{p.title} {p.text}")
        lengths[i] = len(terms)
        for term, n in Counter(terms).items():
            postings[term].append((i, n))
    norm = 1.2 * (0.25 + 0.75 * lengths / lengths.mean())

    def search(question: str) -> NDArray[np.float64]:
        scores = np.zeros(len(passages))
        for term in set(text.terms(question)):
            found = postings.get(term, [])
            idf = math.log(1 + (len(passages) - len(found) + 0.5) / (len(found) + 0.5))
            for i, n in found:
                scores[i] += idf * n * 2.2 / (n + norm[i])
        return scores

    return search


def looked(asked: LabelledQuestion, idf: Idf, near: Nearness) -> Looked:
    """Return the features of a question's candidates."""
    return look(asked.question, asked.passages, idf, near(asked.question, asked.passages).tolist())
