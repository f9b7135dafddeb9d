"""Ranking and refusal with each source of questions left out in turn: `python benchmarks/left_out.py [--each 150]`.

Every source has its own passages in one index (house_dev and the observatory, whose files lie in folders, in
one each). A source is ranked with the two weights that serve the others best: that of the vectors beside the
words, and that of the fused order beside the relevance head. HotpotQA has no say in it and its head rows are
in-domain, because the head was trained on it. Refusal: the best floor with what answers among the candidates,
and without it (AUC), beside a logistic regression over the best three relevances and their mean that is
fitted on the other sources. The encoder is that of RAGWEAVE_EMBED; `--work` keeps the libraries for the next
run with it.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from printed import options, own_home, tell

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
"""Kinds that stand by themselves and have an answer."""


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
    """Return at most so many questions, by the order of their hashes: the same ones every time, of the whole list."""
    return sorted(rows, key=lambda q: hashlib.sha256(q.text.encode()).hexdigest())[:each]


def sources(each: int) -> dict[str, Source]:
    """Return the sources by name, each with its passages."""
    from ragweave.evals.data import read_jsonl
    from ragweave.evals.sets import folder_of

    def text(name: str, queries: str, passages: str) -> Source:
        asked = [Asked(q["question"], tuple(map(str, q["gold"]))) for q in read_jsonl(DATA / queries)]
        return Source(drawn(asked, each), list(read_jsonl(DATA / passages)) if passages else [])

    found = {
        "XQuAD": text("x", "squad_xquad_en/queries.jsonl", "squad_xquad_en/passages.jsonl"),
        IN_DOMAIN: text("h", "multihop_hotpotqa/queries.jsonl", "multihop_hotpotqa/corpus.jsonl"),
        "multihop_own": text("o", "multihop_own/queries.jsonl", ""),
        "captions": captions(each),
        "podcast": podcast(each),
    }
    for name, folder in (("house_dev", DATA / "house_dev"), ("observatory", folder_of("observatory"))):
        rows = [q for q in read_jsonl(folder / "questions.jsonl") if q["kind"] in PLAIN and not q["previous"]]
        asked = [Asked(q["question"], tuple(q["gold_files"])) for q in rows if q["gold_files"]]
        found[name] = Source(drawn(asked, each), folder=folder / "library")
    return found


def captions(each: int) -> Source:
    """Captions of an astronomy book, asked for by what is written for those who do not see the picture."""
    from ragweave.evals.data import read_jsonl

    rows = [r for r in read_jsonl(DATA / "images_astronomy/captions.jsonl") if r["caption"] and r["alt"]]
    passages = [{"id": r["id"], "title": r["title"] or r["id"], "text": r["caption"]} for r in rows]
    return Source(drawn([Asked(r["alt"], (r["id"],)) for r in rows], each), passages)


def podcast(each: int) -> Source:
    """Long turns of a conversation, asked for by the question that another speaker put right before."""
    from ragweave.evals.data import read_jsonl

    turns = list(read_jsonl(DATA / "transcripts_practicalai/segments.jsonl"))
    long = {n: t for n, t in enumerate(turns) if len(t["text"].split()) >= 40}
    passages = [{"id": f"turn {n}", "title": t["episode"], "text": t["text"]} for n, t in long.items()]
    asked = [
        Asked(a["text"], (f"turn {n + 1}",))
        for n, (a, b) in enumerate(itertools.pairwise(turns))
        if n + 1 in long and a["text"].endswith("?") and 8 <= len(a["text"].split()) <= 40
        if a["episode"] == b["episode"] and a["speaker"] != b["speaker"]
    ]
    return Source(drawn(asked, each), passages)


async def index_all(found: Mapping[str, Source], work: Path) -> dict[str, Any]:
    """Index what the sources hold; return what tells an item's library and the name that gold knows it by."""
    from ragweave.corpora.ingest.run import index
    from ragweave.corpora.store.library import open_library
    from ragweave.evals.corpus import prepare

    rows = [{**p, "id": str(p["id"])} for s in found.values() for p in s.passages]
    together = await prepare(rows, "left-out", work)
    out: dict[str, Any] = {}
    for name, s in found.items():
        if s.folder is None:
            out[name] = (together.library, together.id_of)
            continue
        await index([s.folder], name)
        top = s.folder.resolve()
        out[name] = (
            await open_library(name),
            lambda f, top=top: Path(f).resolve().relative_to(top).as_posix(),
        )
    return out


async def look(library: Any, named: Any, asked: Asked) -> dict[str, Any]:
    """Search once; return the rankings, and by weight of the vectors the head's order, the fused one, the relevance."""
    from ragweave.components.context import Context
    from ragweave.components.fusion import fused
    from ragweave.components.local.rank import EMBEDDED_POOL, score_pools
    from ragweave.components.passages import passage_of, scores_of
    from ragweave.models.relevance import weights

    (lists,) = await library.search("paragraph", [asked.text], POOL)
    sides = {"dense": lists.dense, "lexical": lists.lexical}
    rows: list[Any] = [
        {"corpus": "paragraph", "query": asked.text, "kind": k, "ids": [h.id for h in hits],
         "scores": [h.score for h in hits]}
        for k, hits in sides.items()
    ]  # fmt: skip
    items = await library.items({h.id for hits in sides.values() for h in hits})
    names = {i: named(item.locator["file"]) for i, item in items.items()}

    def pool(fusion: str, weight: float) -> list[tuple[str, float]]:
        context = Context.model_validate({"method": {"fusion": fusion, "dense_weight": weight}})
        return [(i, s) for i, s in fused(rows, asked.text, context) if i in items]

    async def scored(best: list[tuple[str, float]]) -> Any:
        passages = [passage_of(items[i], asked.text) for i, _ in best]
        return scores_of(library, asked.text, passages)

    plain = {k: [i for i in row["ids"] if i in items] for k, row in zip(sides, rows, strict=True)}
    plain["rrf"] = [i for i, _ in pool("rrf", 1.0)]
    out: dict[str, Any] = {k: once(names[i] for i in ids) for k, ids in plain.items()}
    for weight in DENSE:
        best = pool("scores", weight)[:EMBEDDED_POOL]
        began = time.process_time()
        scores = await scored(best)
        out[f"hybrid {weight}"] = once(names[i] for i, _ in pool("scores", weight))
        out[weight] = ([names[i] for i, _ in best], scores.order.tolist(), [s for _, s in best])
        if weight == weights().dense:
            out["ms"] = 1e3 * (time.process_time() - began)
            shipped = Context.model_validate({"mode": "extractive", "top_k": EMBEDDED_POOL})
            (rows_of,), _ = await score_pools(library, asked.text, [pool("scores", weight)], shipped, 1)
            out["names"] = once(names[e["id"]] for e in rows_of if e["id"] in names)
            out["with"] = sorted(scores.floor.tolist(), reverse=True)
            rest = [(i, s) for i, s in pool("scores", weight) if names[i] not in asked.gold][:EMBEDDED_POOL]
            out["without"] = sorted((await scored(rest)).floor.tolist(), reverse=True) if rest else []
    return out


def once(names: Iterator[str]) -> list[str]:
    """Return names in their order, each once."""
    return list(dict.fromkeys(names))


def headed(row: Mapping[str, Any], weight: float, before: float) -> list[str]:
    """Return the order of the relevance head with so much of the fused one."""
    from ragweave.components.fusion import standardise

    names, order, joined = row[weight]
    values = [a + before * b for a, b in zip(order, standardise(joined), strict=True)]
    return once(n for _, n in sorted(zip(values, names, strict=True), key=lambda r: -r[0]))


def figures(ranked: Sequence[tuple[list[str], tuple[str, ...]]]) -> list[float]:
    """Return recall at 1 and 5, nDCG at 10, and how often all gold is among the best 5."""
    from ragweave.evals.metrics import all_gold_at, ndcg_at, recall_at

    rows = [
        (recall_at(r, g, 1), recall_at(r, g, 5), ndcg_at(r, g, 10), all_gold_at(r, g, 5)) for r, g in ranked
    ]
    return [float(v) for v in np.mean(rows, axis=0)]


def chosen(found: Mapping[str, Source], out: str) -> tuple[float, float]:
    """Return the two weights with the best mean nDCG over the sources that may choose, without one."""
    others = [s for n, s in found.items() if n not in (out, IN_DOMAIN)]

    def mean(weight: float, before: float) -> float:
        each = [figures([(headed(r, weight, before), q.gold) for q, r in zip(s.asked, s.rows, strict=True)])[2]
                for s in others]  # fmt: skip
        return float(np.mean(each))

    return max(((w, b) for w in DENSE for b in BEFORE), key=lambda p: mean(*p))


def signs(relevances: Sequence[float]) -> list[float]:
    """Return what is told of the candidates of one question: the best three relevances, the lead, the mean."""
    padded = [*relevances, -1.0, -1.0, -1.0]
    return [*padded[:3], padded[0] - padded[1], float(np.mean(padded[: max(len(relevances), 1)]))]


def refusal(found: Mapping[str, Source], out: str) -> tuple[float, float]:
    """Return the AUC of the best floor, and of a logistic regression fitted on the other sources."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    from ragweave.evals.metrics import auc

    def of(names: Sequence[str]) -> tuple[Any, Any]:
        rows = [(signs(r[k]), k == "with") for n in names for r in found[n].rows for k in ("with", "without")]
        return np.array([x for x, _ in rows]), np.array([y for _, y in rows])

    x, y = of([n for n in found if n not in (out, IN_DOMAIN)])
    here, truth = of([out])
    scale = StandardScaler().fit(x)
    told = (
        LogisticRegression(max_iter=1000).fit(scale.transform(x), y).decision_function(scale.transform(here))
    )
    return auc(truth, here[:, 0]), auc(truth, told)


async def main(each: int, kept: Path | None) -> dict[str, Any]:
    """Print the table and return it."""
    from ragweave.components.local.rank import BEFORE as SHIPPED
    from ragweave.models.relevance import weights

    with own_home(kept) as work:
        found = sources(each)
        held = await index_all(found, work)
        for name, s in found.items():
            s.rows = [await look(*held[name], q) for q in s.asked]
    table: dict[str, Any] = {}
    picks: dict[tuple[float, float], list[str]] = defaultdict(list)
    for name, s in found.items():

        def ranked(key: str, s: Source = s) -> list[tuple[list[str], tuple[str, ...]]]:
            return [(r[key], q.gold) for q, r in zip(s.asked, s.rows, strict=True)]

        pick = chosen(found, name)
        picks[pick].append(name)
        shipped = weights().dense, SHIPPED
        lines = {k: figures(ranked(k)) for k in ("lexical", "dense", "rrf", f"hybrid {weights().dense}")}
        lines["with documents' names"] = figures(ranked("names"))
        for told, (w, b) in {"head as shipped": shipped, f"head, {pick[0]} / {pick[1]}": pick}.items():
            lines[told] = figures([(headed(r, w, b), q.gold) for q, r in zip(s.asked, s.rows, strict=True)])
        print(f"\n{name}: {len(s.asked)} questions   R@1   R@5  nDCG@10  all gold@5")
        for way, values in lines.items():
            print(f"{way:>26}  " + "  ".join(f"{v:.3f}" for v in values))
        best, fitted = refusal(found, name)
        ms = float(np.mean([r["ms"] for r in s.rows]))
        print(
            f"{'refusal AUC':>26}  best floor {best:.3f}, fitted on the others {fitted:.3f}; head {ms:.0f} ms"
            " of CPU"
        )
        table[name] = {**lines, "auc": [best, fitted], "ms": ms, "questions": len(s.asked)}
    print()
    tell(
        {f"weights {w} / {b}": "chosen without " + ", ".join(names) for (w, b), names in picks.items()}, None
    )
    return table


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("--each", type=int, default=150, help="questions of a source, at most")
    parser.add_argument("--work", type=Path, help="keep the libraries here for the next run")
    given = parser.parse_args()
    table = asyncio.run(main(given.each, given.work))
    if given.json:
        given.json.write_text(json.dumps(table, indent=1), encoding="utf-8")
