"""Measure ranking and refusal with each source of questions left out in turn.

    python benchmarks/left_out.py [--each 150]

Every source has its own passages in one index; house_dev and the observatory are folders of files and have
an index each. Each source is ranked with the two weights that are best for the others: the weight of the
vectors against the words, and the weight of the fused order against the relevance head. HotpotQA takes no
part in this choice, and its rows of the head are in-domain, because the head was trained on it. Refusal is
the AUC of the best floor, with and without the answering passages among the candidates; next to it, that of
a logistic regression over the best three relevances and their mean, fitted on the other sources.
RAGWEAVE_EMBED names the encoder; `--work` keeps the libraries for the next run with it.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from printed import emit, options, own_home

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("RAGWEAVE_DATA", HERE.parent.parent / "shared" / "data"))
DENSE, BEFORE = (0.45, 1.0, 2.0, 3.0), (0.0, 0.25, 0.5, 1.0)
IN_DOMAIN = "HotpotQA"
POOL, BEST = 50, 10
PLAIN = (
    "single",
    "reworded",
    "keywords",
    "latest",
    "same-language",
    "two-hop",
    "three-hop",
    "comparison",
    "conflict",
)
"""Kinds that need no earlier question and have an answer."""


@dataclass
class Asked:
    """A question, and what answers it: ids of passages, or names of files."""

    text: str
    gold: tuple[str, ...]


@dataclass
class Source:
    """A set of questions with what was found for each."""

    asked: list[Asked]
    passages: list[dict[str, str]] = field(default_factory=list)
    folder: Path | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)


def drawn(rows: Sequence[Asked], each: int) -> list[Asked]:
    """Return at most so many questions by the order of their hashes, the same in every run."""
    return sorted(rows, key=lambda q: hashlib.sha256(q.text.encode()).hexdigest())[:each]


def sources(each: int) -> dict[str, Source]:
    """Return the sources by name, each with its passages."""
    from ragweave.evals.data import read_jsonl
    from ragweave.evals.sets import folder_of

    def text(queries: str, passages: str) -> Source:
        asked = [Asked(q["question"], tuple(map(str, q["gold"]))) for q in read_jsonl(DATA / queries)]
        return Source(drawn(asked, each), list(read_jsonl(DATA / passages)) if passages else [])

    found = {
        "XQuAD": text("squad_xquad_en/queries.jsonl", "squad_xquad_en/passages.jsonl"),
        IN_DOMAIN: text("multihop_hotpotqa/queries.jsonl", "multihop_hotpotqa/corpus.jsonl"),
        "multihop_own": text("multihop_own/queries.jsonl", ""),
        "captions": captions(each),
        "podcast": podcast(each),
    }
    for name, folder in (("house_dev", DATA / "house_dev"), ("observatory", folder_of("observatory"))):
        asked: list[Asked] = []
        for row in read_jsonl(folder / "questions.jsonl"):
            if row["kind"] in PLAIN and not row["previous"] and row["gold_files"]:
                asked.append(Asked(row["question"], tuple(row["gold_files"])))
        found[name] = Source(drawn(asked, each), folder=folder / "library")
    return found


def captions(each: int) -> Source:
    """Return captions of an astronomy book, with the alternative texts of their pictures as questions."""
    from ragweave.evals.data import read_jsonl

    passages: list[dict[str, str]] = []
    asked: list[Asked] = []
    for row in read_jsonl(DATA / "images_astronomy/captions.jsonl"):
        if row["caption"] and row["alt"]:
            title = row["title"] or row["id"]
            passages.append({"id": row["id"], "title": title, "text": row["caption"]})
            asked.append(Asked(row["alt"], (row["id"],)))
    return Source(drawn(asked, each), passages)


def podcast(each: int) -> Source:
    """Return long turns of a conversation; the question right before, of another speaker, asks for each."""
    from ragweave.evals.data import read_jsonl

    turns = list(read_jsonl(DATA / "transcripts_practicalai/segments.jsonl"))
    passages: list[dict[str, str]] = []
    asked: list[Asked] = []
    for n, turn in enumerate(turns):
        if len(turn["text"].split()) < 40:
            continue
        id = f"turn {n}"
        passages.append({"id": id, "title": turn["episode"], "text": turn["text"]})
        if n and _asks(turns[n - 1], turn):
            asked.append(Asked(turns[n - 1]["text"], (id,)))
    return Source(drawn(asked, each), passages)


def _asks(before: Mapping[str, Any], turn: Mapping[str, Any]) -> bool:
    """Return whether a turn is a question of another speaker in the same episode."""
    if before["episode"] != turn["episode"] or before["speaker"] == turn["speaker"]:
        return False
    return before["text"].endswith("?") and 8 <= len(before["text"].split()) <= 40


async def index_all(found: Mapping[str, Source], work: Path) -> dict[str, Any]:
    """Index the sources; return for each its library and a function from a file to its name in the gold."""
    from ragweave.corpora.ingest.run import index
    from ragweave.corpora.store.library import open_library
    from ragweave.evals.corpus import prepare

    rows: list[dict[str, str]] = []
    for source in found.values():
        for passage in source.passages:
            rows.append({**passage, "id": str(passage["id"])})
    together = await prepare(rows, "left-out", work)
    out: dict[str, Any] = {}
    for name, source in found.items():
        if source.folder is None:
            out[name] = (together.library, together.id_of)
        else:
            await index([source.folder], name)
            out[name] = (await open_library(name), partial(_below, source.folder.resolve()))
    return out


def _below(folder: Path, file: str) -> str:
    return Path(file).resolve().relative_to(folder).as_posix()


async def look(library: Any, named: Any, asked: Asked) -> dict[str, Any]:
    """Search once; return the rankings, and by weight of the vectors the head's scores and the fused ones."""
    from ragweave.components.context import Context
    from ragweave.components.fusion import fused
    from ragweave.components.local.rank import EMBEDDED_POOL, score_pools
    from ragweave.components.passages import passage_of, scores_of
    from ragweave.models.relevance import weights

    rows = await lists_of(library, asked.text)
    items = await library.items({*rows[0]["ids"], *rows[1]["ids"]})
    names = {id: named(item.locator["file"]) for id, item in items.items()}

    def pool(fusion: str, weight: float) -> list[tuple[str, float]]:
        context = Context.model_validate({"method": {"fusion": fusion, "dense_weight": weight}})
        return [(id, score) for id, score in fused(rows, asked.text, context) if id in items]

    async def scored(best: list[tuple[str, float]]) -> Any:
        passages = [passage_of(items[id], asked.text) for id, _ in best]
        return scores_of(library, asked.text, passages)

    out: dict[str, Any] = {"dense": named_once(rows[0]["ids"], names)}
    out["lexical"] = named_once(rows[1]["ids"], names)
    out["rrf"] = named_once([id for id, _ in pool("rrf", 1.0)], names)
    for weight in DENSE:
        order = pool("scores", weight)
        best = order[:EMBEDDED_POOL]
        began = time.process_time()
        scores = await scored(best)
        spent = time.process_time() - began
        out[f"hybrid {weight}"] = named_once([id for id, _ in order], names)
        out[weight] = ([names[id] for id, _ in best], scores.order.tolist(), [value for _, value in best])
        if weight == weights().dense:
            out["ms"] = 1e3 * spent
            shipped = Context.model_validate({"mode": "extractive", "top_k": EMBEDDED_POOL})
            (found,), _ = await score_pools(library, asked.text, [order], shipped, 1)
            out["names"] = named_once([row["id"] for row in found], names)
            out["with"] = sorted(scores.floor.tolist(), reverse=True)
            rest = [(id, value) for id, value in order if names[id] not in asked.gold][:EMBEDDED_POOL]
            out["without"] = sorted((await scored(rest)).floor.tolist(), reverse=True) if rest else []
    return out


async def lists_of(library: Any, question: str) -> list[Any]:
    """Return the ranked lists of the two searches: by vectors, then by words."""
    (lists,) = await library.search("paragraph", [question], POOL)
    rows: list[Any] = []
    for kind, hits in (("dense", lists.dense), ("lexical", lists.lexical)):
        ids, values = [hit.id for hit in hits], [hit.score for hit in hits]
        rows.append({"corpus": "paragraph", "query": question, "kind": kind, "ids": ids, "scores": values})
    return rows


def named_once(ids: Iterable[str], names: Mapping[str, str]) -> list[str]:
    """Return the names of items in their order, each once; items without a name are left out."""
    return list(dict.fromkeys([names[id] for id in ids if id in names]))


def headed(row: Mapping[str, Any], weight: float, before: float) -> list[str]:
    """Return the order of the relevance head with so much of the fused one."""
    from ragweave.components.fusion import standardise

    names, order, joined = row[weight]
    rated: list[tuple[float, str]] = []
    for score, fused, name in zip(order, standardise(joined), names, strict=True):
        rated.append((score + before * fused, name))
    rated.sort(key=lambda entry: -entry[0])
    return list(dict.fromkeys([name for _, name in rated]))


def figures(ranked: Sequence[tuple[list[str], tuple[str, ...]]]) -> list[float]:
    """Return recall at 1 and 5, nDCG at 10, and how often all gold is among the best 5."""
    from ragweave.evals.metrics import all_gold_at, ndcg_at, recall_at

    rows: list[tuple[float, ...]] = []
    for names, gold in ranked:
        recalls = recall_at(names, gold, 1), recall_at(names, gold, 5)
        rows.append((*recalls, ndcg_at(names, gold, 10), all_gold_at(names, gold, 5)))
    return list(map(float, np.mean(rows, axis=0)))


def by_head(source: Source, weight: float, before: float) -> list[float]:
    """Return the figures of a source ranked by the relevance head with two weights."""
    ranked = []
    for question, row in zip(source.asked, source.rows, strict=True):
        ranked.append((headed(row, weight, before), question.gold))
    return figures(ranked)


def by_key(source: Source, key: str) -> list[float]:
    """Return the figures of one of the rankings of a source."""
    ranked = []
    for question, row in zip(source.asked, source.rows, strict=True):
        ranked.append((row[key], question.gold))
    return figures(ranked)


def others(found: Mapping[str, Source], out: str) -> list[str]:
    """Return the sources that decide for the one that is left out."""
    return [name for name in found if name not in (out, IN_DOMAIN)]


def chosen(found: Mapping[str, Source], out: str) -> tuple[float, float]:
    """Return the two weights with the best mean nDCG over the other sources."""

    def mean(pair: tuple[float, float]) -> float:
        return float(np.mean([by_head(found[name], *pair)[2] for name in others(found, out)]))

    return max(itertools.product(DENSE, BEFORE), key=mean)


def signs(relevances: Sequence[float]) -> list[float]:
    """Return features of the candidates of one question: the best three relevances, the lead, the mean."""
    padded = [*relevances, -1.0, -1.0, -1.0]
    return [*padded[:3], padded[0] - padded[1], float(np.mean(padded[: max(len(relevances), 1)]))]


def refusal(found: Mapping[str, Source], out: str) -> tuple[float, float]:
    """Return the AUC of the best floor, and of a logistic regression fitted on the other sources."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    from ragweave.evals.metrics import auc

    def of(names: Sequence[str]) -> tuple[Any, Any]:
        features, labels = [], []
        for name in names:
            for row in found[name].rows:
                features += [signs(row["with"]), signs(row["without"])]
                labels += [True, False]
        return np.array(features), np.array(labels)

    x, y = of(others(found, out))
    here, truth = of([out])
    scale = StandardScaler().fit(x)
    fitted = LogisticRegression(max_iter=1000).fit(scale.transform(x), y)
    return auc(truth, here[:, 0]), auc(truth, fitted.decision_function(scale.transform(here)))


async def main(each: int, kept: Path | None) -> dict[str, Any]:
    """Print the table and return it."""
    with own_home(kept) as work:
        found = sources(each)
        opened = await index_all(found, work)
        for name, source in found.items():
            source.rows = [await look(*opened[name], question) for question in source.asked]
    table: dict[str, Any] = {}
    picks: dict[str, list[str]] = {}
    for name, source in found.items():
        pick = chosen(found, name)
        picks.setdefault(f"weights {pick[0]} / {pick[1]}", []).append(name)
        lines = rankings(source, pick)
        print(f"\n{name}: {len(source.asked)} questions   R@1   R@5  nDCG@10  all gold@5")
        for way, values in lines.items():
            print(f"{way:>26}  " + "  ".join([f"{value:.3f}" for value in values]))
        best, fitted = refusal(found, name)
        ms = float(np.mean([row["ms"] for row in source.rows]))
        print(
            f"{'refusal AUC':>26}  best floor {best:.3f}, fitted on the others {fitted:.3f}; head {ms:.0f} ms"
            " of CPU"
        )
        table[name] = {**lines, "auc": [best, fitted], "ms": ms, "questions": len(source.asked)}
    print()
    emit({weights: "chosen without " + ", ".join(names) for weights, names in picks.items()}, None)
    return table


def rankings(source: Source, pick: tuple[float, float]) -> dict[str, list[float]]:
    """Return the figures of each ranking of a source, the last with the weights that the others chose."""
    from ragweave.components.local.rank import BEFORE as SHIPPED
    from ragweave.models.relevance import weights

    dense = weights().dense
    lines: dict[str, list[float]] = {}
    for key in ("lexical", "dense", "rrf", f"hybrid {dense}"):
        lines[key] = by_key(source, key)
    lines["with documents' names"] = by_key(source, "names")
    lines["head as shipped"] = by_head(source, dense, SHIPPED)
    lines[f"head, {pick[0]} / {pick[1]}"] = by_head(source, *pick)
    return lines


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("--each", type=int, default=150, help="questions of a source, at most")
    parser.add_argument("--work", type=Path, help="keep the libraries here for the next run")
    given = parser.parse_args()
    table = asyncio.run(main(given.each, given.work))
    if given.json:
        given.json.write_text(json.dumps(table, indent=1), encoding="utf-8")
