"""UniversalRAG in small: one joint space against routed corpora, and the effect of granularity.

There are two hundred questions (records/universal_rag_questions.jsonl), forty for each corpus, over the
library of `universal_library`. For each question the record universal_rag_lists.jsonl has the ten nearest
items of every corpus with their cosines, by the encoder of the library, and the first items of the agent's
own search. All arms are computed from these lists: one space takes the nearest items of all corpora together,
a router takes those of its corpus. The head routes live. The labels of a chat model are recorded
(universal_rag_replies.jsonl), and the product's own label reader reads them. With a folder of public data the
lists are measured again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ragweave.corpora.types import CORPORA, LABELS
from ragweave.evals.claims.common import (
    ClaimReport,
    Given,
    KeptChat,
    bars,
    drawing,
    gain,
    read_rows,
    save,
    share,
    write_rows,
)
from ragweave.evals.claims.universal_library import rows_of
from ragweave.evals.claims.universal_rag_scores import (
    KEPT,
    MODALITIES,
    Finer,
    Lists,
    Questions,
    at_random,
    gap,
    granularity,
    hits,
    mean_hits,
    nearest,
)
from ragweave.evals.report import table
from ragweave.models.errors import InputError

NAME = "universal_rag"
ONE, PRODUCT, ORACLE = "one joint space", "the agent's search", "oracle"
ROUTERS = ("head", "chat model", "ensemble")
Labels = dict[str, list[str]]
"""The label of each question, by router."""
Rankings = Mapping[str, Sequence[Sequence[str]]]
"""Items for each question, best first, by search."""


class Labelling(KeptChat):
    """A chat model whose reply to the route prompt is recorded by question."""

    def _reply(self, messages: Sequence[Any]) -> str:
        question = str(messages[-1].text).strip()
        if question not in self.kept:
            raise InputError(f"no label is kept for “{question}”", "restore the records of this claim")
        return self.kept[question]


async def labels_of(questions: Questions) -> Labels:
    """Return the labels of each router, as the product reads and joins them."""
    from ragweave.components.route import ENSEMBLE_AT
    from ragweave.evals import router
    from ragweave.models.chat import override

    texts = [row["question"] for row in questions]
    model = Labelling(kept={row["question"]: row["reply"] for row in read_rows(f"{NAME}_replies")})
    small = await router.decide(texts, router.by_head())
    with override(judge=model):
        classify = router.chat_classifier(LABELS)
        large = await router.decide(texts, router.by_model(classify, LABELS))
    joined = router.ensemble(small, large, ENSEMBLE_AT)
    out: Labels = {}
    for name, decisions in zip(ROUTERS, (small, large, joined), strict=True):
        out[name] = [decision.label for decision in decisions]
    return out


async def claim(given: Given) -> ClaimReport:
    """Return the report from the recorded lists; measure them again first if public data are given."""
    questions = read_rows(f"{NAME}_questions")
    if given.data is not None:
        write_rows(f"{NAME}_lists", await measure(questions, given.data, given.work))
    return report(questions, read_rows(f"{NAME}_lists"), await labels_of(questions))


def report(questions: Questions, rows: Sequence[Mapping[str, Any]], labels: Labels) -> ClaimReport:
    """Return the tables of gap, routers and granularity, and the function that draws them."""
    head, recorded = rows[0], {row["id"]: row for row in rows[1:]}
    lists = [recorded[q["id"]]["lists"] for q in questions]
    gold = [q["corpus"] for q in questions]
    found = _rankings(questions, lists, labels)
    found[PRODUCT] = [recorded[q["id"]]["product"] for q in questions]
    right = {name: _agreement(labels[name], gold) for name in ROUTERS}
    shares = gap(questions, lists)
    finer = granularity(questions, lists, {**labels, ORACLE: gold})
    counts = ", ".join(f"{head['items'][name]} {name}" for name in CORPORA)
    parts = [
        f"{len(questions)} questions over a library of {counts}; encoder {head['encoder']}\n",
        _gap_table(shares, head["items"]) + "\n",
        _routed_table(questions, found, right) + "\n",
        _intervals(questions, found),
        *_where_right(questions, found, right),
        "\n" + _finer_table(finer),
    ]
    figures: dict[str, float] = {}
    for name, ranked in found.items():
        figures[f"{name}, R@1"] = mean_hits(ranked, questions, 1)
        figures[f"{name}, R@5"] = mean_hits(ranked, questions, 5)
    return ClaimReport("\n".join(parts), figures, lambda path: draw(shares, questions, found, finer, path))


def _rankings(
    questions: Questions, lists: Sequence[Lists], labels: Labels
) -> dict[str, Sequence[Sequence[str]]]:
    """Return the items that each search finds for each question."""
    corpora: dict[str, list[list[str]]] = {}
    corpora[ONE] = [list(CORPORA)] * len(questions)
    corpora["random corpus"] = [[at_random(q["id"])] for q in questions]
    for corpus in CORPORA:
        corpora[f"{corpus} alone"] = [[corpus]] * len(questions)
    for name, predicted in labels.items():
        corpora[name] = [[label] for label in predicted]
    corpora[ORACLE] = [[q["corpus"]] for q in questions]
    return {name: list(map(nearest, lists, chosen)) for name, chosen in corpora.items()}


def _agreement(predicted: Sequence[str], gold: Sequence[str]) -> list[float]:
    return [float(label == right) for label, right in zip(predicted, gold, strict=True)]


def _gap_table(shares: Mapping[str, Mapping[str, float]], items: Mapping[str, int]) -> str:
    rows: list[list[Any]] = [[f"asks for {name}", *row.values()] for name, row in shares.items()]
    total = sum(items[name] for name in CORPORA)
    library: list[Any] = ["(share of the library)"]
    for group in MODALITIES.values():
        library.append(sum(items[corpus] for corpus in group) / total)
    rows.append(library)
    return table(["first ten of one joint space", *(f"are {name}" for name in MODALITIES)], rows)


def _routed_table(questions: Questions, found: Rankings, right: Mapping[str, Sequence[float]]) -> str:
    rows: list[list[Any]] = []
    for name, ranked in found.items():
        at_five = hits(ranked, questions, 5)
        accuracy = f"{np.mean(right[name]):.2f}" if name in right else "-"
        row: list[Any] = [name, share(hits(ranked, questions, 1)), share(at_five), accuracy]
        for corpus in CORPORA:
            row.append(_mean_of_corpus(at_five, questions, corpus))
        rows.append(row)
    columns = ["search", "R@1", "R@5", "right corpus", *(f"R@5 {c}" for c in CORPORA)]
    return table(columns, rows)


def _mean_of_corpus(scores: Sequence[float], questions: Questions, corpus: str) -> float:
    mine = [score for score, q in zip(scores, questions, strict=True) if q["corpus"] == corpus]
    return float(np.mean(mine))


def _intervals(questions: Questions, found: Rankings) -> str:
    lines = ["difference with its 95 % interval (paired bootstrap), R@1 and R@5"]
    for name in (*ROUTERS, ORACLE, PRODUCT):
        first = gain(hits(found[ONE], questions, 1), hits(found[name], questions, 1))
        fifth = gain(hits(found[ONE], questions, 5), hits(found[name], questions, 5))
        lines.append(f"{name} - {ONE}: {first}, {fifth}")
    even = mean_hits(found[ONE], questions, 5) / mean_hits(found[ORACLE], questions, 5)
    lines.append(f"one corpus breaks even with {ONE} if {even:.2f} of the questions are routed right (R@5)")
    return "\n".join(lines)


def _where_right(questions: Questions, found: Rankings, right: Mapping[str, Sequence[float]]) -> list[str]:
    """Return what each router gains on the questions that it routes right, which needs the gold corpus."""
    lines = []
    for name in ROUTERS:
        mine = np.flatnonzero(right[name])
        one = np.array(hits(found[ONE], questions, 5))[mine].tolist()
        routed = np.array(hits(found[name], questions, 5))[mine].tolist()
        lines.append(f"on the {len(mine)} that the {name} routes right, R@5: {gain(one, routed)}")
    return lines


def _finer_table(finer: Finer) -> str:
    rows: list[list[Any]] = []
    for modality, routers in finer.items():
        for router, scores in routers.items():
            row: list[Any] = [f"{modality}, {router}"]
            for name in ("item", "source"):
                on, off = scores[f"{name}, on"], scores[f"{name}, off"]
                row += [float(np.mean(off)), float(np.mean(on)), gain(off, on)]
            rows.append(row)
    columns = ["granularity, R@1", "item, off", "on", "on - off", "source, off", "on", "on - off"]
    return table(columns, rows)


def draw(
    shares: Mapping[str, Mapping[str, float]], questions: Questions, found: Rankings, finer: Finer, path: Path
) -> None:
    """Draw the gap, the routers and granularity side by side."""
    figure, axes = drawing(3, (15, 4.6))
    columns: dict[str, list[float]] = {}
    for name in shares:
        columns[f"are {name}"] = [row[name] for row in shares.values()]
    bars(axes[0], columns, [f"asks for\n{name}" for name in shares])
    axes[0].set_title("The first ten of one joint space")
    arms = [ONE, "random corpus", *ROUTERS, ORACLE, PRODUCT]
    recalls = {}
    for k in (1, 5):
        recalls[f"R@{k}"] = [mean_hits(found[arm], questions, k) for arm in arms]
    bars(axes[1], recalls, arms)
    axes[1].set_title("The item that answers")
    names: list[str] = []
    means: dict[str, list[float]] = {"granularity off": [], "granularity on": []}
    for modality, routers in finer.items():
        for router, scores in routers.items():
            names.append(f"{modality}, {router}")
            means["granularity off"].append(float(np.mean(scores["item, off"])))
            means["granularity on"].append(float(np.mean(scores["item, on"])))
    bars(axes[2], means, names)
    axes[2].set_title("The item that answers comes first")
    save(figure, path)


async def measure(questions: Questions, data: Path, work: Path) -> list[dict[str, Any]]:
    """Index the library and search it with each question.

    The first row has the library's counts and its encoder. Then each question has a row with its lists and
    the agent's search.
    """
    from ragweave.components.context import Context
    from ragweave.evals import mixed
    from ragweave.models.embed import encoder

    rows = await rows_of(data, work)
    library = await mixed.prepare(rows, work)
    bench = mixed.MixedBench(library, Context.model_validate({"mode": "extractive"}))
    kinds = [row["kind"] for row in rows]
    counts = {name: kinds.count(name) for name in CORPORA}
    named = await asyncio.to_thread(encoder)
    out: list[dict[str, Any]] = [{"items": counts, "encoder": named.name}]
    for q in questions:
        lists = {}
        for corpus in CORPORA:
            (found,) = await library.search(corpus, [q["question"]], KEPT, only="dense")
            items = await library.items([hit.id for hit in found.dense])
            pairs = []
            for hit in found.dense:
                pairs.append((str(items[hit.id].meta.get("key", "")), round(hit.score, 4)))
            lists[corpus] = pairs
        product, _, _ = await bench.routed(q["question"])
        out.append({"id": q["id"], "lists": lists, "product": product})
    return out
