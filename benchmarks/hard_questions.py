"""RAG-Fusion in small: questions in few, vague or foreign words, alone and with rewrites that are kept.

    python benchmarks/hard_questions.py [--work FOLDER] [--each N] [--plot PICTURE] [--json OUT]

Sixty questions over five libraries (benchmarks/hard/questions.jsonl), a third of them in another language
than the file that answers. Their passages are those of each library with the lowest SHA-256 of
`library/file#paragraph`, one a file, so that no search has chosen them. No question holds the decisive word
of its passage. The rewrites (benchmarks/hard/rewrites.jsonl) were written by hand to the product's own
prompt; a scripted model gives them back, and `expand`, `retrieve` and `fuse` run as in the graph
`rag_fusion`. Counted is the passage that answers among the first 4 and the first 10.

The rewrites are blind: whoever wrote them was given the questions and the prompt of `expand`, and neither
libraries nor answers. Two arms leave rewrites out all the same: those that hold the decisive word, and those
that share any content word with the sentence that answers, so that what a lucky word brings can be told from
the rest.
"""

from __future__ import annotations

import asyncio
import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from printed import options, own_home

if TYPE_CHECKING:
    from ragweave.components.evidence import Evidence, RankedList
    from ragweave.nodes.state import State

HERE = Path(__file__).resolve().parent
KEPT = HERE / "hard"
LIBRARIES = ("fieldlab", "canalboat", "translator", "orchard", "campsite")
ALONE, TURNS = "question alone", "turns (the product)"
CLEAN, BARE = "turns, no decisive word", "turns, no word of the answer"
PUBLISHED = "ranks, k=60, as published"
Found = dict[str, list[str]]
"""Texts in their order, best first, by arm."""


def rows_of(name: str) -> list[dict[str, Any]]:
    """Return the rows of a kept file."""
    return [json.loads(line) for line in (KEPT / name).read_text(encoding="utf-8").splitlines()]


def asked(each: int) -> list[dict[str, Any]]:
    """Return the questions: all, or the first `each` of every library."""
    return [row for row in rows_of("questions.jsonl") if not each or int(row["id"][-2:]) <= each]


def scripted(rewrites: Mapping[str, list[str]]) -> Any:
    """Return a model that answers the prompt of `expand` for a question with the rewrites that were kept."""
    from ragweave.tests.support import ScriptedChat

    def reply(messages: list[Any]) -> dict[str, list[str]]:
        return {"queries": rewrites[str(messages[-1].text).strip()]}

    return ScriptedChat(react=reply)


def place(row: Mapping[str, Any], texts: Sequence[str]) -> int:
    """Return the place, from 1, of the passage that answers, or 0."""
    gold = " ".join(row["gold"].split())
    return next((n for n, text in enumerate(texts, 1) if gold in text), 0)


def telling(row: Mapping[str, Any], rewrite: str) -> bool:
    """Tell whether a rewrite holds the decisive word, which whoever wrote it knew."""
    return str(row["decisive"]).casefold() in rewrite.casefold()


def sharing(row: Mapping[str, Any], rewrite: str) -> bool:
    """Tell whether a rewrite shares a content word with the sentence that answers."""
    from ragweave.models.text import content_terms

    return telling(row, rewrite) or bool({*content_terms(rewrite)} & {*content_terms(row["gold"])})


@dataclass
class Search:
    """What `expand` and `retrieve` left of a question, which each fusion orders in its own way."""

    library: Any
    context: Any
    state: State
    file: str
    """Name of the file that answers; a passage of another one does not count."""

    @property
    def query(self) -> str:
        """The question as it was searched."""
        return self.state["query"]

    @property
    def found(self) -> list[RankedList]:
        """All lists."""
        return self.state["found"]

    async def by_node(self, found: list[RankedList], **knobs: Any) -> list[str]:
        """Let the product's own `fuse` order lists."""
        from langgraph.runtime import Runtime

        from ragweave.nodes.fuse import fuse

        context = self.context.model_validate({**self.context.model_dump(exclude_unset=True), **knobs})
        left = list(dict.fromkeys(row["query"] for row in found if row["query"] != self.query))
        phrased: Any = [{"hop": 1, "query": self.query, "also": [], "rewrites": left, "by": "llm"}]
        state: Any = {**self.state, "found": found, "queries": phrased}
        update = await fuse(state, Runtime(context=context, stream_writer=lambda _: None))
        return self.texts(update["evidence"])

    async def each(self) -> list[list[Evidence]]:
        """Return what each phrasing alone puts in order, the question's first."""
        return [
            await self.ordered(q, [row for row in self.found if row["query"] == q]) for q in self.phrasings()
        ]

    async def ordered(self, query: str, found: list[RankedList]) -> list[Evidence]:
        """Put lists in order by a query."""
        from ragweave.components.fusion import fused
        from ragweave.components.local.rank import score_pools

        rows, _ = await score_pools(self.library, query, [fused(found, query, self.context)], self.context, 1)
        return rows[0]

    def phrasings(self) -> list[str]:
        """Return the question and its rewrites."""
        return list(dict.fromkeys([self.query, *(row["query"] for row in self.found)]))

    def of_kind(self, kind: str) -> list[list[tuple[str, float]]]:
        """Return the lists of one kind, the question's first."""
        lists = {
            row["query"]: list(zip(row["ids"], row["scores"], strict=True))
            for row in self.found
            if row["kind"] == kind
        }
        return [lists.get(q, []) for q in self.phrasings()]

    async def items(self, ids: Sequence[str]) -> list[str]:
        """Return the texts of items."""
        held = await self.library.items(ids)
        return self.texts([held[i] for i in ids])

    def texts(self, rows: Sequence[Any]) -> list[str]:
        """Return what rows say, nothing of a file that does not answer."""
        given = [row if isinstance(row, dict) else {"text": row.text, "locator": row.locator} for row in rows]
        mine = [str(row["locator"].get("file", "")).endswith(self.file) for row in given]
        return [" ".join(row["text"].split()) if own else "" for row, own in zip(given, mine, strict=True)]


def ranked(lists: Sequence[list[tuple[str, float]]], k: int, first: float) -> list[str]:
    """Join lists by reciprocal ranks, the first one at its own weight."""
    from ragweave.components.fusion import fuse_ranks

    weights = [first, *[1.0] * (len(lists) - 1)]
    return [i for i, _ in fuse_ranks(list(zip(weights, lists, strict=True)), k)]


async def arms(row: Mapping[str, Any], search: Search) -> Found:
    """Return what each arm puts first."""
    mine = [each for each in search.found if each["query"] == search.query]
    out = {ALONE: await search.by_node(mine), TURNS: await search.by_node(search.found)}
    for name, tells in ((CLEAN, telling), (BARE, sharing)):
        kept = [
            each for each in search.found if each["query"] == search.query or not tells(row, each["query"])
        ]
        out[name] = await search.by_node(kept)
    each = [[(e["id"], 0.0) for e in rows] for rows in await search.each()]
    for name, k, first in (("k=60, question x 2", 60, 2.0), ("k=60, equal", 60, 1.0), ("k=2, equal", 2, 1.0)):
        out[f"ranks, {name}"] = await search.items(ranked(each, k, first))
    out["ordered anew by the question"] = search.texts(await search.ordered(search.query, search.found))
    preset = {"preset": "rag-fusion-paper", "mode": "llm", "top_k": 10, "library": row["library"]}
    out[PUBLISHED] = await search.by_node(search.found, **preset)
    for name, kind in (("words", "lexical"), ("vectors", "dense")):
        lists = search.of_kind(kind)
        out[f"{name}, question alone"] = await search.items([i for i, _ in lists[0]])
        out[f"{name}, ranks, k=60"] = await search.items(ranked(lists, 60, 1.0))
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
    model = scripted({row["question"]: row["queries"] for row in rows_of("rewrites.jsonl")})
    places: dict[str, list[int]] = {}
    for name in LIBRARIES:
        await index([HERE / name / "library"], name)
        library, context = (
            await open_library(name),
            Context(library=name, mode="llm", top_k=10, recency="off"),
        )
        for row in (row for row in questions if row["library"] == name):
            with override(writer=model):
                state: Any = await searching.ainvoke(
                    {"messages": [("human", row["question"])]}, context=context
                )
                search = Search(library, context, state, row["file"])
                found = await arms(row, search)
            for arm, texts in found.items():
                places.setdefault(arm, []).append(place(row, texts))
    return places


def within(places: Sequence[int], most: int) -> list[float]:
    """Return 1 for each question whose passage is among the first."""
    return [float(0 < at <= most) for at in places]


def report(places: Mapping[str, list[int]], questions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Print the table and the intervals; return the figures."""
    from ragweave.evals.bootstrap import paired

    foreign = [n for n, row in enumerate(questions) if row["foreign"]]
    figures: dict[str, Any] = {}
    kept = {row["question"]: row["queries"] for row in rows_of("rewrites.jsonl")}
    told = [[t(row, w) for row in questions for w in kept[row["question"]]] for t in (telling, sharing)]
    print(f"{len(questions)} hard questions, {len(foreign)} of them in another language than the file")
    held = f"{sum(told[0])} hold the decisive word, {sum(told[1])} a word of the answer"
    print(f"{len(told[0])} rewrites, written blind: {held}\n")
    print(f"{'passage that answers':30} first 4  first 10  foreign, first 4")
    for arm, at in places.items():
        four, ten = within(at, 4), within(at, 10)
        row = (sum(four) / len(at), sum(ten) / len(at), sum(four[n] for n in foreign) / max(1, len(foreign)))
        figures[arm] = row
        print(f"{arm:30} {row[0]:7.2f} {row[1]:9.2f} {row[2]:17.2f}")
    if ALONE in places:
        print("\ndifference among the first 4, with its 95 % interval (paired bootstrap)")
        for a, b in ((ALONE, TURNS), (ALONE, CLEAN), (ALONE, BARE), (ALONE, PUBLISHED), (PUBLISHED, TURNS)):
            d = paired(within(places[a], 4), within(places[b], 4))
            print(f"{b} - {a}: {d.mean:+.2f} [{d.low:+.2f}, {d.high:+.2f}]")
    return figures


def plot(figures: Mapping[str, Sequence[float]], path: Path) -> None:
    """Draw a pair of bars for each arm."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(9, 5), constrained_layout=True)
    names = [*figures][::-1]
    for shift, at, label in ((0.2, 0, "among the first 4"), (-0.2, 1, "among the first 10")):
        axis.barh([n + shift for n in range(len(names))], [figures[a][at] for a in names], 0.38, label=label)
    axis.set_yticks(range(len(names)), names)
    axis.set(xlim=(0, 1), xlabel="share of hard questions whose passage is found")
    axis.legend(loc="lower right")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


async def main(given: Namespace) -> None:
    """Measure, print, and write plot and JSON where they are asked for."""
    questions = asked(given.each)
    figures = report(await measure(questions), questions)
    print(
        "\nNFCorpus was not run here: `ragweave bench rag-fusion --table 1 --from nfcorpus=FOLDER` reads its"
        " files."
    )
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    if given.plot:
        plot(figures, given.plot)


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("--work", type=Path, help="keep the libraries here for the next run")
    parser.add_argument("--each", type=int, default=0, help="the first questions of each library alone")
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    with own_home(given.work):
        asyncio.run(main(given))
