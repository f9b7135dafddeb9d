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
from collections.abc import Iterable, Mapping, Sequence
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
    lookup,
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
LEFT_OUT = (
    "R@5 by",
    "random",
    *(f"{name} alone" for name in CORPORA),
    "head - ",
    "ensemble",
    "on the ",
    "text, en",
)
LEFT_OUT += ("recordings, en",)
"""What the short report leaves out."""
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
    model = Labelling(kept=lookup(read_rows(f"{NAME}_replies"), "question", "reply"))
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
    head = rows[0]
    lists, products = _in_order(questions, rows[1:])
    gold = _gold(questions)
    found = _rankings(questions, lists, labels)
    found[PRODUCT] = products
    right = {}
    for name in ROUTERS:
        right[name] = _agreement(labels[name], gold)
    shares = gap(questions, lists)
    finer = granularity(questions, lists, {**labels, ORACLE: gold})
    parts = [
        _heading(questions, head),
        _gap_table(shares, head["items"]) + "\n",
        _routed_table(questions, found, right) + "\n",
        _by_corpus_table(questions, found) + "\n",
        _intervals(questions, found),
        *_where_right(questions, found, right),
        "\n" + _finer_table(finer),
    ]
    figures: dict[str, float] = {}
    for name, ranked in found.items():
        figures[f"{name}, R@1"] = mean_hits(ranked, questions, 1)
        figures[f"{name}, R@5"] = mean_hits(ranked, questions, 5)
    return ClaimReport("\n".join(parts), figures, lambda path: draw(shares, questions, found, finer, path))


def _in_order(
    questions: Questions, rows: Sequence[Mapping[str, Any]]
) -> tuple[list[Lists], list[Sequence[str]]]:
    """Return the recorded lists and the items of the agent's search, in the order of the questions."""
    lists_of = lookup(rows, "id", "lists")
    product_of = lookup(rows, "id", "product")
    lists = []
    products = []
    for q in questions:
        lists.append(lists_of[q["id"]])
        products.append(product_of[q["id"]])
    return lists, products


def _gold(questions: Questions) -> list[str]:
    """Return the corpus that each question belongs to."""
    return [q["corpus"] for q in questions]


def _heading(questions: Questions, head: Mapping[str, Any]) -> str:
    """Return the first line of the report: the questions, the library and its encoder."""
    counts = []
    for name in CORPORA:
        counts.append(f"{head['items'][name]} {name}")
    library = ", ".join(counts)
    return f"{len(questions)} questions over a library of {library}; encoder {head['encoder']}\n"


def _rankings(
    questions: Questions, lists: Sequence[Lists], labels: Labels
) -> dict[str, Sequence[Sequence[str]]]:
    """Return the items that each search finds for each question."""
    found: dict[str, Sequence[Sequence[str]]] = {}
    at_once = []
    chosen = []
    for question, of_question in zip(questions, lists, strict=True):
        at_once.append(nearest(of_question, CORPORA))
        chosen.append(at_random(question["id"]))
    found[ONE] = at_once
    found["random corpus"] = _of_one_corpus(lists, chosen)
    for corpus in CORPORA:
        found[f"{corpus} alone"] = _of_one_corpus(lists, [corpus] * len(questions))
    for name, predicted in labels.items():
        found[name] = _of_one_corpus(lists, predicted)
    found[ORACLE] = _of_one_corpus(lists, _gold(questions))
    return found


def _of_one_corpus(lists: Sequence[Lists], chosen: Sequence[str]) -> list[Sequence[str]]:
    """Return the nearest items of the corpus chosen for each question."""
    out: list[Sequence[str]] = []
    for of_question, corpus in zip(lists, chosen, strict=True):
        out.append(nearest(of_question, [corpus]))
    return out


def _agreement(predicted: Sequence[str], gold: Sequence[str]) -> list[float]:
    """Return 1 for each question with the right label, else 0."""
    out = []
    for label, right in zip(predicted, gold, strict=True):
        out.append(float(label == right))
    return out


def _gap_table(shares: Mapping[str, Mapping[str, float]], items: Mapping[str, int]) -> str:
    rows: list[list[Any]] = []
    for name, row in shares.items():
        rows.append([f"asks for {name}", *row.values()])
    total = _count(items, CORPORA)
    library: list[Any] = ["(share of the library)"]
    columns = ["first ten of one joint space"]
    for name, group in MODALITIES.items():
        library.append(_count(items, group) / total)
        columns.append(f"are {name}")
    rows.append(library)
    return table(columns, rows)


def _count(items: Mapping[str, int], corpora: Iterable[str]) -> int:
    """Return the number of items in some corpora."""
    total = 0
    for corpus in corpora:
        total += items[corpus]
    return total


def _routed_table(questions: Questions, found: Rankings, right: Mapping[str, Sequence[float]]) -> str:
    rows: list[list[Any]] = []
    for name, ranked in found.items():
        first, fifth = share(hits(ranked, questions, 1)), share(hits(ranked, questions, 5))
        accuracy = f"{np.mean(right[name]):.2f}" if name in right else "-"
        rows.append([name, first, fifth, accuracy])
    return table(["search", "R@1", "R@5", "right corpus"], rows)


def _by_corpus_table(questions: Questions, found: Rankings) -> str:
    rows: list[list[Any]] = []
    for name, ranked in found.items():
        at_five = hits(ranked, questions, 5)
        row: list[Any] = [name]
        for corpus in CORPORA:
            row.append(_mean_of_corpus(at_five, questions, corpus))
        rows.append(row)
    return table(["R@5 by corpus", *CORPORA], rows)


def _mean_of_corpus(scores: Sequence[float], questions: Questions, corpus: str) -> float:
    mine = []
    for score, q in zip(scores, questions, strict=True):
        if q["corpus"] == corpus:
            mine.append(score)
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
    columns = ["granularity, R@1", "item", "with it", "gain", "source", "with it", "gain"]
    return table(columns, rows)


def draw(
    shares: Mapping[str, Mapping[str, float]], questions: Questions, found: Rankings, finer: Finer, path: Path
) -> None:
    """Draw the gap, the routers and granularity side by side."""
    figure, axes = drawing(3, (15, 4.6))
    columns: dict[str, list[float]] = {}
    groups = []
    for name in shares:
        columns[f"are {name}"] = [row[name] for row in shares.values()]
        groups.append(f"asks for\n{name}")
    bars(axes[0], columns, groups)
    axes[0].set_title("The first ten of one joint space")
    arms = [ONE, "random corpus", *ROUTERS, ORACLE, PRODUCT]
    recalls: dict[str, list[float]] = {"R@1": [], "R@5": []}
    for arm in arms:
        recalls["R@1"].append(mean_hits(found[arm], questions, 1))
        recalls["R@5"].append(mean_hits(found[arm], questions, 5))
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
    counts = {}
    for name in CORPORA:
        counts[name] = kinds.count(name)
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
