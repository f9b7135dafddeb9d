"""RAG-Fusion in small: short, vague or foreign questions, alone and with recorded rewrites.

There are sixty questions over five libraries (records/rag_fusion_questions.jsonl), a third of them in another
language than the file that answers. Their passages have the lowest SHA-256 of `library/file#paragraph` in
their library, one for each file, so that no search has chosen them. No question contains the decisive word of
its passage. The rewrites (records/rag_fusion_rewrites.jsonl) were written by hand to the product's own
prompt. A model returns them, and `expand`, `retrieve` and `fuse` run as in the graph `rag_fusion`. The
figures count the passage that answers among the first 4 and the first 10.

The rewrites are blind: their author had the questions and the prompt of `expand`, but neither libraries nor
answers. Two arms still leave rewrites out: those that contain the decisive word, and those that share any
content word with the sentence that answers. They separate the gain of a lucky word from the rest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragweave.evals.claims.common import ClaimReport, Given, KeptChat, bars, drawing, lookup, read_rows, save
from ragweave.evals.sets import folder_of

if TYPE_CHECKING:
    from ragweave.components.evidence import Evidence, RankedList
    from ragweave.nodes.state import State

QUESTIONS, REWRITES = "rag_fusion_questions", "rag_fusion_rewrites"
LIBRARIES = ("fieldlab", "canalboat", "translator", "orchard", "campsite")
ALONE, TURNS = "question alone", "turns (the product)"
CLEAN, BARE = "turns, no decisive word", "turns, no word of the answer"
PUBLISHED = "as published: vectors, k=60"
AGED, HYBRID = "as published, with age", "words and vectors, k=60"
FEWER = {1: "turns, 1 rewrite", 2: "turns, 2 rewrites", 3: "turns, 3 rewrites"}
"""Arms with the first rewrites only."""
_COMPARED = (
    (ALONE, TURNS),
    (ALONE, CLEAN),
    (ALONE, BARE),
    ("vectors, question alone", PUBLISHED),
    (ALONE, HYBRID),
    (HYBRID, TURNS),
    (FEWER[3], TURNS),
)
"""Pairs of arms whose difference is reported."""
LEFT_OUT = ("ranks, k=60, question", "ranks, k=2", "words, ", "vectors, ranks", "NFCorpus")
"""What the short report leaves out."""
Found = dict[str, list[str]]
"""Texts, best first, by arm."""


class Rewriting(KeptChat):
    """A model that answers the prompt of `expand` for a question with the recorded rewrites."""

    def _reply(self, messages: Sequence[Any]) -> str:
        return self.kept[str(messages[-1].text).strip()]


def rewriting() -> Rewriting:
    """Return the model that gives the recorded rewrites."""
    replies = {}
    for row in read_rows(REWRITES):
        replies[row["question"]] = json.dumps({"queries": row["queries"]})
    return Rewriting(kept=replies)


def place(row: Mapping[str, Any], texts: Sequence[str]) -> int:
    """Return the place, from 1, of the passage that answers, or 0."""
    gold = " ".join(row["gold"].split())
    for n, text in enumerate(texts, 1):
        if gold in text:
            return n
    return 0


def has_decisive_word(row: Mapping[str, Any], rewrite: str) -> bool:
    """Return whether a rewrite contains the decisive word."""
    return str(row["decisive"]).casefold() in rewrite.casefold()


def has_answer_word(row: Mapping[str, Any], rewrite: str) -> bool:
    """Return whether a rewrite shares a content word with the sentence that answers."""
    from ragweave.models.text import content_terms

    shared = set(content_terms(rewrite)) & set(content_terms(row["gold"]))
    return has_decisive_word(row, rewrite) or bool(shared)


@dataclass
class Search:
    """The state of a question after `expand` and `retrieve`, which each fusion orders in its own way."""

    library: Any
    context: Any
    state: State
    file: str
    """Name of the file that answers; passages of other files do not count."""

    @property
    def query(self) -> str:
        """The question as the search used it."""
        return self.state["query"]

    @property
    def found(self) -> list[RankedList]:
        """All lists."""
        return self.state["found"]

    async def by_node(self, found: list[RankedList], **knobs: Any) -> list[str]:
        """Order lists by the product's own `fuse`."""
        from langgraph.runtime import Runtime

        from ragweave.nodes.fuse import fuse

        context = self.context.model_validate({**self.context.model_dump(exclude_unset=True), **knobs})
        rewrites: list[str] = []
        for row in found:
            if row["query"] != self.query and row["query"] not in rewrites:
                rewrites.append(row["query"])
        phrased: Any = [{"hop": 1, "query": self.query, "also": [], "rewrites": rewrites, "by": "llm"}]
        state: Any = {**self.state, "found": found, "queries": phrased}
        update = await fuse(state, Runtime(context=context, stream_writer=lambda _: None))
        return self.texts(update["evidence"])

    async def each(self) -> list[list[Evidence]]:
        """Return the ranking of each phrasing alone, the question's first."""
        rankings = []
        for query in self.phrasings():
            rankings.append(await self.ordered(query, self.found_by(query)))
        return rankings

    def found_by(self, *queries: str) -> list[RankedList]:
        """Return the lists of some phrasings."""
        lists = []
        for row in self.found:
            if row["query"] in queries:
                lists.append(row)
        return lists

    async def ordered(self, query: str, found: list[RankedList]) -> list[Evidence]:
        """Fuse lists and rank the result by a query."""
        from ragweave.components.fusion import fused
        from ragweave.components.local.rank import score_pools

        rows, _ = await score_pools(self.library, query, [fused(found, query, self.context)], self.context, 1)
        return rows[0]

    def phrasings(self) -> list[str]:
        """Return the question and its rewrites."""
        queries = [self.query]
        for row in self.found:
            if row["query"] not in queries:
                queries.append(row["query"])
        return queries

    def of_kind(self, kind: str) -> list[list[tuple[str, float]]]:
        """Return the lists of one kind, the question's first."""
        lists = {}
        for row in self.found:
            if row["kind"] == kind:
                lists[row["query"]] = list(zip(row["ids"], row["scores"], strict=True))
        return [lists.get(query, []) for query in self.phrasings()]

    async def items(self, ids: Sequence[str]) -> list[str]:
        """Return the texts of items."""
        items = await self.library.items(ids)
        return self.texts([items[id] for id in ids])

    def texts(self, rows: Sequence[Any]) -> list[str]:
        """Return the texts of rows; "" for rows of files that do not answer."""
        out = []
        for row in rows:
            if isinstance(row, dict):
                text, locator = row["text"], row["locator"]
            else:
                text, locator = row.text, row.locator
            if str(locator.get("file", "")).endswith(self.file):
                out.append(" ".join(text.split()))
            else:
                out.append("")
        return out


def ranked(lists: Sequence[list[tuple[str, float]]], k: int, first: float) -> list[str]:
    """Fuse lists by reciprocal ranks; the first list has a weight of its own."""
    from ragweave.components.fusion import fuse_ranks

    weights = [first, *[1.0] * (len(lists) - 1)]
    return _ids(fuse_ranks(list(zip(weights, lists, strict=True)), k))


def _ids(scored: Sequence[tuple[str, float]]) -> list[str]:
    """Return the ids of scored items."""
    return [item for item, _ in scored]


async def arms(row: Mapping[str, Any], search: Search) -> Found:
    """Return the ranked texts of each arm."""
    out = {ALONE: await search.by_node(search.found_by(search.query))}
    out[TURNS] = await search.by_node(search.found)
    for name, excluded in ((CLEAN, has_decisive_word), (BARE, has_answer_word)):
        lists = []
        for found in search.found:
            if found["query"] == search.query or not excluded(row, found["query"]):
                lists.append(found)
        out[name] = await search.by_node(lists)
    for number, name in FEWER.items():
        out[name] = await search.by_node(search.found_by(*search.phrasings()[: 1 + number]))
    rankings = []
    for evidence in await search.each():
        rankings.append([(passage["id"], 0.0) for passage in evidence])
    for name, k, first in (("k=60, question x 2", 60, 2.0), ("k=60, equal", 60, 1.0), ("k=2, equal", 2, 1.0)):
        out[f"ranks, {name}"] = await search.items(ranked(rankings, k, first))
    out["reordered by the question"] = search.texts(await search.ordered(search.query, search.found))
    preset = {"preset": "rag-fusion-paper", "mode": "llm", "top_k": 10, "library": row["library"]}
    out[PUBLISHED] = await search.by_node(search.found, **preset)
    out[AGED] = await search.by_node(search.found, **preset, recency="on")
    both = {"fusion": "rrf", "dense_weight": 1.0}
    out[HYBRID] = await search.by_node(search.found, **preset, method=both)
    for name, kind in (("words", "lexical"), ("vectors", "dense")):
        of_kind = search.of_kind(kind)
        out[f"{name}, question alone"] = await search.items(_ids(of_kind[0]))
        out[f"{name}, ranks, k=60"] = await search.items(ranked(of_kind, 60, 1.0))
    return out


async def measure(questions: Sequence[dict[str, Any]]) -> dict[str, list[int]]:
    """Return the place of the passage that answers, by arm, for every question."""
    from langgraph.graph import END, START

    from ragweave.components.context import Context
    from ragweave.corpora.ingest.run import index
    from ragweave.corpora.store.library import open_library
    from ragweave.graphs.base import new_graph
    from ragweave.models.chat import override
    from ragweave.nodes.condense import condense
    from ragweave.nodes.expand import expand
    from ragweave.nodes.retrieve import retrieve

    builder = new_graph(condense, expand, retrieve)
    builder.path(START, "condense", "expand", "retrieve", END)
    searching = builder.compile()
    model = rewriting()
    places: dict[str, list[int]] = {}
    for name in LIBRARIES:
        await index([folder_of(name) / "library"], name)
        library = await open_library(name)
        context = Context(library=name, mode="llm", top_k=10, recency="off")
        for row in questions:
            if row["library"] != name:
                continue
            with override(writer=model):
                sent: Any = {"messages": [("human", row["question"])]}
                state: Any = await searching.ainvoke(sent, context=context)
                search = Search(library, context, state, row["file"])
                found = await arms(row, search)
            for arm, texts in found.items():
                places.setdefault(arm, []).append(place(row, texts))
    return places


def within(places: Sequence[int], most: int) -> list[float]:
    """Return 1 for each question whose passage is among the first."""
    return [float(0 < at <= most) for at in places]


def report(places: Mapping[str, list[int]], questions: Sequence[dict[str, Any]]) -> ClaimReport:
    """Return the table and the intervals."""
    from ragweave.evals.bootstrap import paired

    foreign = _foreign(questions)
    lines = [f"{len(questions)} hard questions, {len(foreign)} of them in another language than the file"]
    lines += [
        _rewrite_counts(questions),
        "",
        f"{'passage that answers':30} first 4  first 10  foreign, first 4",
    ]
    shares: dict[str, tuple[float, float]] = {}
    for arm, at in places.items():
        four, ten = within(at, 4), within(at, 10)
        shares[arm] = sum(four) / len(at), sum(ten) / len(at)
        other = _share_of(foreign, four)
        lines.append(f"{arm:30} {shares[arm][0]:7.2f} {shares[arm][1]:9.2f} {other:17.2f}")
    lines += ["", "difference among the first 4, with its 95 % interval (paired bootstrap)"]
    for a, b in _COMPARED:
        d = paired(within(places[a], 4), within(places[b], 4))
        lines.append(f"{b} - {a}: {d.mean:+.2f} [{d.low:+.2f}, {d.high:+.2f}]")
    lines += ["", "NFCorpus was not run here: `ragweave bench rag-fusion --table 1 --from nfcorpus=FOLDER`"]
    lines[-1] += " reads its files."
    figures: dict[str, float] = {}
    for arm, (four_of, ten_of) in shares.items():
        figures |= {f"{arm}, first 4": round(four_of, 4), f"{arm}, first 10": round(ten_of, 4)}
    return ClaimReport("\n".join(lines), figures, lambda path: draw(shares, path))


def _foreign(questions: Sequence[dict[str, Any]]) -> list[int]:
    """Return the indices of the questions in another language than their file."""
    out = []
    for n, row in enumerate(questions):
        if row["foreign"]:
            out.append(n)
    return out


def _share_of(indices: Sequence[int], values: Sequence[float]) -> float:
    """Return the mean of the values at some indices, 0 without any."""
    total = 0.0
    for n in indices:
        total += values[n]
    return total / max(1, len(indices))


def _rewrite_counts(questions: Sequence[dict[str, Any]]) -> str:
    """Return a line with the number of rewrites that contain a helpful word."""
    rewrites = lookup(read_rows(REWRITES), "question", "queries")
    count = decisive = shared = 0
    for row in questions:
        for rewrite in rewrites[row["question"]]:
            count += 1
            decisive += has_decisive_word(row, rewrite)
            shared += has_answer_word(row, rewrite)
    helpful = f"{decisive} hold the decisive word, {shared} a word of the answer"
    return f"{count} rewrites, written blind: {helpful}"


def draw(shares: Mapping[str, tuple[float, float]], path: Path) -> None:
    """Draw a pair of bars for each arm of the short report."""
    figure, (axis,) = drawing(1, (10, 4.6))
    drawn = {arm: both for arm, both in shares.items() if not arm.startswith(LEFT_OUT)}
    four, ten = zip(*drawn.values(), strict=True)
    bars(axis, {"among the first 4": four, "among the first 10": ten}, [*drawn])
    axis.set_title("Share of hard questions whose passage is found")
    save(figure, path)


async def claim(given: Given) -> ClaimReport:
    """Search all questions again with the recorded rewrites, and report."""
    questions = read_rows(QUESTIONS)
    return report(await measure(questions), questions)
