"""Measure what extractive mode shows: `python benchmarks/quotes.py [--set NAME ...] [-v]`.

A set is a folder with `library/` and `questions.jsonl` in the form of house_dev, whose judge decides whether
a text contains an accepted answer. Without `--set` the program takes the unread sets: the authors of
`fieldlab`, `translator`, `campsite` and `canalboat` saw neither the program nor other sets. For every
answerable question it judges five texts in one run: the answer (titles and quotes, without the list of
sources), the first three rows of evidence, whole and cut to the length of the answer, and the same of plain
BM25 over the paragraphs. Follow-ups come in their conversation; evidence and BM25 get the previous question
in front.

It also counts quotes with words of another place than the cited one, and how often a line above the quotes
warns that they share few words with the question, for questions of the set (answerable or not) and of the
next set (unrelated). Milliseconds are wall and CPU time of one turn.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections import Counter
from pathlib import Path
from statistics import fmean, median
from typing import Any

from printed import emit, judge_of, options, own_home

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("RAGWEAVE_DATA", HERE.parent.parent / "shared" / "data"))
UNREAD = ("fieldlab", "translator", "campsite", "canalboat")
TEXTS = {
    "quotes": "the quotes",
    "search": "the first three of search",
    "search cut": "those, cut as long",
    "bm25": "the first three of BM25",
    "bm25 cut": "those of BM25, cut as long",
}
"""The texts that may contain an answer, and their names in the figures."""
FIRST = 3
UNRELATED = 6
"""One of so many questions of the next set is an unrelated question here."""


def questions(folder: Path) -> list[dict[str, Any]]:
    """Return the questions of a set."""
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return list(map(json.loads, filter(None, lines)))


async def answered(q: dict[str, Any], library: str) -> Any:
    """Ask one question after the turns before it, in a thread of its own."""
    from langgraph.checkpoint.memory import InMemorySaver

    from ragweave import Context
    from ragweave.app.api import astate

    saver, context = InMemorySaver(), Context(library=library, mode="extractive")
    for text in [*q["previous"], q["question"]]:
        state: Any = await astate(text, context=context, thread=q["id"], checkpointer=saver)
    return state["answer"]


async def searched(q: dict[str, Any], library: str) -> tuple[str, str]:
    """Return the first passages of `search` and of BM25 as texts."""
    from ragweave import Context
    from ragweave.app.api import asearch
    from ragweave.corpora.store.library import open_library

    query = " ".join([*q["previous"][-1:], q["question"]])
    found = await asearch(query, context=Context(library=library, mode="extractive"))
    opened = await open_library(library)
    (lists,) = await opened.search("paragraph", [query], FIRST)
    items = await opened.items([hit.id for hit in lists.lexical[:FIRST]])
    by_search = [row["text"] for row in found[:FIRST]]
    by_words = [item.text for item in items.values()]
    return "\n\n".join(by_search), "\n\n".join(by_words)


def shown(answer: Any) -> str:
    """Return titles and quotes as a reader sees them."""
    titles = {citation.n: citation.title for citation in answer.citations}
    quotes: list[str] = []
    for sentence in answer.sentences:
        if sentence.support == "quoted":
            quotes.append(f"{titles[sentence.citations[0]]}\n{sentence.text}")
    return "\n\n".join(quotes)


def misplaced(answer: Any, items: dict[str, Any]) -> tuple[int, int]:
    """Return how many quotes hold words of another place than the cited one, and how many there are."""
    from ragweave.models.tables import heads_above

    wrong = seen = 0
    cited = {c.n: c for c in answer.citations}
    for sentence in answer.sentences:
        if sentence.support != "quoted":
            continue
        place, item = cited[sentence.citations[0]].locator, items[cited[sentence.citations[0]].id]
        start, end = place["chars"]
        rest = _bare(sentence.text).replace(_bare(item.text[start:end]), "", 1)
        pages: set[int] = set()
        for span in item.spans:
            if span.start < end and span.end > start and span.page:
                pages.add(span.page)
        seen += 1
        has_other_words = rest not in ("", _bare(heads_above(item.text, start)))
        wrong += has_other_words or not pages <= {place.get("page")}
    return wrong, seen


def _bare(text: str) -> str:
    return re.sub(r"[\W_]", "", text)


def says_few(answer: Any) -> bool:
    """Tell whether the reader learns that little matches, or that nothing does."""
    return answer.abstained or answer.sentences[0].support != "quoted"


async def measured(
    name: str, asked: list[dict[str, Any]], other: list[dict[str, Any]], verbose: bool
) -> tuple[dict[str, Any], Counter[str]]:
    """Return the figures of one set, and of its answerable questions how many each text answers."""
    made = Measured(name, verbose)
    await answered(asked[0], name)  # what is loaded once is not timed
    for q in asked:
        await made.add(q)
    for q in other:
        answer = await answered({**q, "previous": [], "id": f"other {q['id']}"}, name)
        made.right["few, unrelated"] += says_few(answer)
        made.right["unrelated"] += 1
    return made.figures(), made.right


class Measured:
    """What the questions of one set came to."""

    def __init__(self, name: str, verbose: bool) -> None:
        self.name = name
        self.verbose = verbose
        self.right: Counter[str] = Counter()
        self._judge = judge_of(DATA)
        self._kinds: dict[str, list[bool]] = {}
        """By kind of question: whether the quotes of each answer it."""
        self._lengths: list[int] = []
        self._took: list[float] = []
        self._used: list[float] = []

    async def add(self, q: dict[str, Any]) -> None:
        """Ask a question and judge the answer; with `verbose`, print the question if no quote answers it."""
        from ragweave.corpora.store.library import open_library

        right = self.right
        wall, cpu = time.perf_counter(), time.process_time()
        answer = await answered(q, self.name)
        turns = 1 + len(q["previous"])
        self._took.append(1e3 * (time.perf_counter() - wall) / turns)
        self._used.append(1e3 * (time.process_time() - cpu) / turns)
        library = await open_library(self.name)
        items = await library.items([citation.id for citation in answer.citations])
        wrong, seen = misplaced(answer, items)
        right["misplaced"] += wrong
        right["passages"] += seen
        right["few" if q["answerable"] else "few, no answer"] += says_few(answer)
        if not q["answerable"]:
            right["no answer"] += 1
            return
        search, bm25 = await searched(q, self.name)
        text = shown(answer)
        is_answered = self._answers(q, text)
        right["of"] += 1
        right["quotes"] += is_answered
        right["search"] += self._answers(q, search)
        right["search cut"] += self._answers(q, search[: len(text)])
        right["bm25"] += self._answers(q, bm25)
        right["bm25 cut"] += self._answers(q, bm25[: len(text)])
        self._kinds.setdefault(q["kind"], []).append(is_answered)
        self._lengths.append(len(text))
        if self.verbose and not is_answered:
            print(f"\n{q['id']} {q['kind']}: {' > '.join([*q['previous'], q['question']])}")
            print(f"   gold {q['answers']} in {q['gold_files']}\n{text}")

    def _answers(self, q: dict[str, Any], text: str) -> bool:
        return bool(self._judge.judge({"need": 1, **q}, text, False)[0] == "right")

    def figures(self) -> dict[str, Any]:
        """Return the figures with their names."""
        found: dict[str, Any] = {}
        count = self.right["of"]
        for what, where in TEXTS.items():
            n = self.right[what]
            found[f"{self.name}: answer stands in {where}"] = f"{n} of {count} ({n / count:.2f})"
        kinds = [f"{kind} {sum(found)}/{len(found)}" for kind, found in self._kinds.items()]
        return found | {
            f"{self.name}: characters, median": median(self._lengths),
            f"{self.name}: wall ms a turn": fmean(self._took),
            f"{self.name}: processor ms a turn": fmean(self._used),
            f"{self.name}: by kind": ", ".join(kinds),
        }


def main() -> None:
    """Index each library in a home of its own, ask, judge, print."""
    parser = options(__doc__)
    parser.add_argument("--set", action="append", help="the name or folder of a set; may be given again")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what was not answered")
    given = parser.parse_args()
    figures: dict[str, Any] = {}
    total: Counter[str] = Counter()
    with own_home():
        from ragweave.app.api import index
        from ragweave.evals.sets import folder_of

        folders = [folder_of(name) for name in given.set or UNREAD]
        for folder, after in zip(folders, [*folders[1:], folders[0]], strict=True):
            index([folder / "library"], folder.name)
            other = questions(after)[::UNRELATED] if after != folder else []
            found, right = asyncio.run(measured(folder.name, questions(folder), other, given.verbose))
            figures |= found
            total += right
    for what in TEXTS:
        figures[f"all: {what}"] = f"{total[what]} of {total['of']} ({total[what] / total['of']:.3f})"
    figures["all: quotes with words of another place"] = f"{total['misplaced']} of {total['passages']}"
    for what, of in (("few", "of"), ("few, no answer", "no answer"), ("few, unrelated", "unrelated")):
        figures[f"all: {what}"] = f"{total[what]} of {total[of]}"
    emit(figures, given.json)


if __name__ == "__main__":
    main()
