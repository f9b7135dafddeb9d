"""UniversalRAG in small: one joint space against corpora that a router chooses, and what granularity brings.

Two hundred questions (records/universal_rag_questions.jsonl), forty for each corpus, over the library of
`universal_library`. For each the record universal_rag_lists.jsonl keeps the ten nearest items of every corpus
with their cosines, by the encoder of the library, and what the agent's own search puts first. All arms are
computed from these lists: one space takes the nearest items of all corpora together, a router those of its
corpus. The head routes live; the labels of a chat model are kept (universal_rag_replies.jsonl), and the
product's own reader of labels reads them. With a folder of public data the lists are measured again.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ragweave.corpora.types import CORPORA, LABELS, Corpus
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
from ragweave.evals.claims.universal_library import rows_of, source_of
from ragweave.evals.report import table
from ragweave.models.errors import InputError

NAME = "universal_rag"
KEPT = 10
"""Items of a list that are kept, and those that the gap is counted among."""
MODALITIES: dict[str, tuple[Corpus, ...]] = {
    "text": ("paragraph", "document"),
    "pictures": ("image",),
    "recordings": ("clip", "video"),
}
ONE, PRODUCT, ORACLE = "one joint space", "the agent's search", "oracle"
ROUTERS = ("head", "chat model", "ensemble")
Lists = Mapping[str, Sequence[tuple[str, float]]]
"""Items and cosines by corpus, nearest first."""
Labels = dict[str, list[str]]
"""The label of each question, by router."""


class Labelling(KeptChat):
    """A chat model whose reply to the route prompt is kept by question."""

    def _reply(self, messages: Sequence[Any]) -> str:
        question = str(messages[-1].text).strip()
        if question not in self.kept:
            raise InputError(f"no label is kept for “{question}”", "restore the records of this claim")
        return self.kept[question]


async def labels_of(questions: Sequence[Mapping[str, Any]]) -> Labels:
    """Return what each router says, as the product reads and joins them."""
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
    decisions = dict(zip(ROUTERS, (small, large, joined), strict=True))
    return {name: [decision.label for decision in rows] for name, rows in decisions.items()}


def at_random(id: str) -> str:
    """Return a corpus that depends on the id of a question alone."""
    return CORPORA[int(hashlib.sha256(id.encode()).hexdigest(), 16) % len(CORPORA)]


def nearest(lists: Lists, corpora: Sequence[str]) -> list[str]:
    """Return the nearest items of some corpora together."""
    rows = [(-cosine, key) for corpus in corpora for key, cosine in lists.get(corpus, ())]
    return [key for _, key in sorted(rows)][:KEPT]


def widened(label: str) -> tuple[str, ...]:
    """Return all corpora of a label's modality: the search without granularity."""
    return next((group for group in MODALITIES.values() if label in group), ())


def hits(found: Sequence[Sequence[str]], questions: Sequence[Mapping[str, Any]], k: int) -> list[float]:
    """Return 1 for each question with a gold item among the first k."""
    return [float(bool({*row[:k]} & {*q["gold"]})) for row, q in zip(found, questions, strict=True)]


def sources(found: Sequence[Sequence[str]], questions: Sequence[Mapping[str, Any]], k: int) -> list[float]:
    """Return 1 for each question with an item of a gold source, of whatever size, among the first k."""
    golds = [{source_of(key) for key in q["gold"]} for q in questions]
    return [float(bool({*map(source_of, row[:k])} & gold)) for row, gold in zip(found, golds, strict=True)]


def modality_of(corpus: str) -> str:
    """Return the modality of a corpus."""
    return next(name for name, group in MODALITIES.items() if corpus in group)


def gap(questions: Sequence[Mapping[str, Any]], lists: Sequence[Lists]) -> dict[str, dict[str, float]]:
    """Return by modality of the question how the first ten of one space divide among modalities."""
    out: dict[str, dict[str, float]] = {}
    for mine in MODALITIES:
        shares = []
        for q, of in zip(questions, lists, strict=True):
            if modality_of(q["corpus"]) == mine:
                rows = [(-cosine, corpus) for corpus, items in of.items() for _, cosine in items]
                first = [modality_of(corpus) for _, corpus in sorted(rows)[:KEPT]]
                shares.append([first.count(name) / len(first) for name in MODALITIES])
        out[mine] = dict(zip(MODALITIES, np.mean(shares, axis=0).tolist(), strict=True))
    return out


async def claim(given: Given) -> ClaimReport:
    """ClaimReport from the kept lists, measured again first if public data are given."""
    questions = read_rows(f"{NAME}_questions")
    if given.data is not None:
        write_rows(f"{NAME}_lists", await measure(questions, given.data, given.work))
    return report(questions, read_rows(f"{NAME}_lists"), await labels_of(questions))


def report(
    questions: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], labels: Labels
) -> ClaimReport:
    """Return the tables of gap, routers and granularity, and what draws them."""
    head, kept = rows[0], {row["id"]: row for row in rows[1:]}
    lists = [kept[q["id"]]["lists"] for q in questions]
    corpora = {name: [[label] for label in said] for name, said in labels.items()}
    gold = [[q["corpus"]] for q in questions]
    by: dict[str, list[list[str]]] = {
        ONE: [list(CORPORA)] * len(questions),
        "random corpus": [[at_random(q["id"])] for q in questions],
        **{f"{name} alone": [[name]] * len(questions) for name in CORPORA},
        **corpora,
        ORACLE: gold,
    }
    found = {name: [nearest(*pair) for pair in zip(lists, of, strict=True)] for name, of in by.items()}
    found[PRODUCT] = [kept[q["id"]]["product"] for q in questions]
    chosen = {name: [float(of == g) for of, g in zip(by[name], gold, strict=True)] for name in ROUTERS}
    of_gap = gap(questions, lists)
    finer = granularity(questions, lists, {**labels, ORACLE: [q["corpus"] for q in questions]})
    counts = ", ".join(f"{head['items'][name]} {name}" for name in CORPORA)
    text = [f"{len(questions)} questions over a library of {counts}; encoder {head['encoder']}", ""]
    text += [_gap_table(of_gap, head["items"]), "", _routed_table(questions, found, chosen)]
    text += [
        "",
        _intervals(questions, found),
        *_where_right(questions, found, chosen),
        "",
        _finer_table(finer),
    ]
    figures = {
        f"{name}, R@{k}": float(np.mean(hits(found[name], questions, k))) for name in found for k in (1, 5)
    }
    return ClaimReport("\n".join(text), figures, lambda path: draw(of_gap, questions, found, finer, path))


def _gap_table(of_gap: Mapping[str, Mapping[str, float]], items: Mapping[str, int]) -> str:
    total = sum(items[name] for name in CORPORA)
    held = {name: sum(items[c] for c in group) / total for name, group in MODALITIES.items()}
    rows: list[list[Any]] = [[f"asks for {name}", *of.values()] for name, of in of_gap.items()]
    rows.append(["(share of the library)", *held.values()])
    return table(["first ten of one joint space", *(f"are {name}" for name in MODALITIES)], rows)


def _routed_table(
    questions: Sequence[Mapping[str, Any]],
    found: Mapping[str, Sequence[Sequence[str]]],
    chosen: Mapping[str, Sequence[float]],
) -> str:
    rows: list[list[Any]] = []
    for name, of in found.items():
        by_kind = [
            float(
                np.mean(
                    [h for h, q in zip(hits(of, questions, 5), questions, strict=True) if q["corpus"] == c]
                )
            )
            for c in CORPORA
        ]
        right = f"{np.mean(chosen[name]):.2f}" if name in chosen else "-"
        rows.append([name, share(hits(of, questions, 1)), share(hits(of, questions, 5)), right, *by_kind])
    columns = ["search", "R@1", "R@5", "right corpus", *(f"R@5 {c}" for c in CORPORA)]
    return table(columns, rows)


def _intervals(questions: Sequence[Mapping[str, Any]], found: Mapping[str, Sequence[Sequence[str]]]) -> str:
    lines = ["difference with its 95 % interval (paired bootstrap), R@1 and R@5"]
    for name in (*ROUTERS, ORACLE, PRODUCT):
        pairs = [gain(hits(found[ONE], questions, k), hits(found[name], questions, k)) for k in (1, 5)]
        lines.append(f"{name} - {ONE}: {pairs[0]}, {pairs[1]}")
    even = np.mean(hits(found[ONE], questions, 5)) / np.mean(hits(found[ORACLE], questions, 5))
    lines.append(f"one corpus breaks even with {ONE} if {even:.2f} of the questions are routed right (R@5)")
    return "\n".join(lines)


def _where_right(
    questions: Sequence[Mapping[str, Any]],
    found: Mapping[str, Sequence[Sequence[str]]],
    chosen: Mapping[str, Sequence[float]],
) -> list[str]:
    """Say what a router gains on the questions that it routes right, which only the gold corpus can tell."""
    lines = []
    for name in ROUTERS:
        mine = [n for n, right in enumerate(chosen[name]) if right]
        asked = [questions[n] for n in mine]
        one, routed = (hits([found[arm][n] for n in mine], asked, 5) for arm in (ONE, name))
        lines.append(f"on the {len(mine)} that the {name} routes right, R@5: {gain(one, routed)}")
    return lines


Finer = dict[str, dict[str, dict[str, list[float]]]]
"""Marks by modality, router and measure, each with and without granularity."""


def granularity(
    questions: Sequence[Mapping[str, Any]], lists: Sequence[Lists], labels: Mapping[str, Sequence[str]]
) -> Finer:
    """Return marks of one corpus against all of its modality, for texts and for recordings."""
    out: Finer = {}
    for modality in ("text", "recordings"):
        mine = [n for n, q in enumerate(questions) if modality_of(q["corpus"]) == modality]
        asked = [questions[n] for n in mine]
        for router, said in labels.items():
            on = [nearest(lists[n], [said[n]]) for n in mine]
            off = [nearest(lists[n], widened(said[n])) for n in mine]
            marks = out.setdefault(modality, {}).setdefault(router, {})
            for measure_, count in (("item", hits), ("source", sources)):
                marks[f"{measure_}, on"] = count(on, asked, 1)
                marks[f"{measure_}, off"] = count(off, asked, 1)
    return out


def _finer_table(finer: Finer) -> str:
    rows: list[list[Any]] = []
    for modality, routers in finer.items():
        for router, marks in routers.items():
            row: list[Any] = [f"{modality}, {router}"]
            for name in ("item", "source"):
                on, off = marks[f"{name}, on"], marks[f"{name}, off"]
                row += [float(np.mean(off)), float(np.mean(on)), gain(off, on)]
            rows.append(row)
    columns = ["granularity, R@1", "item, off", "on", "on - off", "source, off", "on", "on - off"]
    return table(columns, rows)


def draw(
    of_gap: Mapping[str, Mapping[str, float]],
    questions: Sequence[Mapping[str, Any]],
    found: Mapping[str, Sequence[Sequence[str]]],
    finer: Finer,
    path: Path,
) -> None:
    """Draw the gap, the routers and granularity side by side."""
    figure, axes = drawing(3, (15, 4.6))
    names = [*of_gap]
    shares = {f"are {name}": [of_gap[mine][name] for mine in names] for name in names}
    bars(axes[0], shares, [f"asks for\n{name}" for name in names])
    axes[0].set_title("The first ten of one joint space")
    arms = [ONE, "random corpus", *ROUTERS, ORACLE, PRODUCT]
    recalls = {f"R@{k}": [float(np.mean(hits(found[a], questions, k))) for a in arms] for k in (1, 5)}
    bars(axes[1], recalls, arms)
    axes[1].set_title("The item that answers")
    rows = [(m, r) for m in finer for r in finer[m]]
    marks = {
        f"granularity {way}": [float(np.mean(finer[m][r][f"item, {way}"])) for m, r in rows]
        for way in ("off", "on")
    }
    bars(axes[2], marks, [f"{m}, {r}" for m, r in rows])
    axes[2].set_title("The item that answers comes first")
    save(figure, path)


async def measure(questions: Sequence[Mapping[str, Any]], data: Path, work: Path) -> list[dict[str, Any]]:
    """Index the library and return a row of what it holds, then one a question: its lists, and the agent's search."""
    from ragweave.components.context import Context
    from ragweave.evals import mixed
    from ragweave.models.embed import encoder

    rows = await rows_of(data, work)
    library = await mixed.prepare(rows, work)
    bench = mixed.MixedBench(library, Context.model_validate({"mode": "extractive"}))
    counted = {name: sum(row["kind"] == name for row in rows) for name in CORPORA}
    named = await asyncio.to_thread(encoder)
    out: list[dict[str, Any]] = [{"items": counted, "encoder": named.name}]
    for q in questions:
        lists = {}
        for corpus in CORPORA:
            (found,) = await library.search(corpus, [q["question"]], KEPT, only="dense")
            held = await library.items([hit.id for hit in found.dense])
            pairs = [(str(held[hit.id].meta.get("key", "")), round(hit.score, 4)) for hit in found.dense]
            lists[corpus] = pairs
        product, _, _ = await bench.routed(q["question"])
        out.append({"id": q["id"], "lists": lists, "product": product})
    return out
