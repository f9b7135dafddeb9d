"""What is shown in extractive mode: `python benchmarks/quotes.py [--set NAME ...] [-v]`.

A set is a folder with `library/` and `questions.jsonl` in the form of house_dev, whose judge decides whether
an accepted answer stands in a text. Without `--set` the unread sets are asked: `fieldlab`, `translator`,
`campsite` and `canalboat` were written by authors who saw neither the program nor other sets. Of every
answerable question five texts
are judged in one run: the answer (titles and quotes, without the list of sources), the first three rows of
evidence, whole and cut to the length of the answer, and the same of plain BM25 over the paragraphs.
Follow-ups are asked in their conversation; evidence and BM25 get the previous question in front.

Counted too: quotes that hold words of another place than the cited one, and how often the line stands above
them that they share few words with the question, for questions of the set (answerable or not) and of the next
set (unrelated). Milliseconds are wall and processor time of one turn.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

from printed import judge_of, options, own_home, tell

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("RAGWEAVE_DATA", HERE.parent.parent / "shared" / "data"))
UNREAD = ("fieldlab", "translator", "campsite", "canalboat")
FIRST = 3
UNRELATED = 6
"""Of the questions of the next set each so many-th is asked here."""


def questions(folder: Path) -> list[dict[str, Any]]:
    """Return the questions of a set."""
    return [
        json.loads(line)
        for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
        if line
    ]


async def answered(q: dict[str, Any], library: str) -> Any:
    """Ask one question after the turns before it, in a thread of its own."""
    from langgraph.checkpoint.memory import InMemorySaver

    from ragweave import Context
    from ragweave.app.api import astate

    saver, context = InMemorySaver(), Context(library=library, mode="extractive")
    for text in [*q["previous"], q["question"]]:
        state: Any = await astate(text, context=context, thread=q["id"], checkpointer=saver)
    return state["answer"]


async def beside(q: dict[str, Any], library: str) -> tuple[str, str]:
    """Return the first passages of `search` and of BM25 as texts."""
    from ragweave import Context
    from ragweave.app.api import asearch
    from ragweave.corpora.store.library import open_library

    asked = " ".join([*q["previous"][-1:], q["question"]])
    found = await asearch(asked, context=Context(library=library, mode="extractive"))
    held = await open_library(library)
    (lists,) = await held.search("paragraph", [asked], FIRST)
    items = await held.items([h.id for h in lists.lexical[:FIRST]])
    return "\n\n".join(e["text"] for e in found[:FIRST]), "\n\n".join(i.text for i in items.values())


def shown(answer: Any) -> str:
    """Return titles and quotes as a reader sees them."""
    titles = {c.n: c.title for c in answer.citations}
    quoted = [s for s in answer.sentences if s.support == "quoted"]
    return "\n\n".join(f"{titles[s.citations[0]]}\n{s.text}" for s in quoted)


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
        pages = {s.page for s in item.spans if s.start < end and s.end > start and s.page}
        seen += 1
        wrong += rest not in ("", _bare(heads_above(item.text, start))) or not pages <= {place.get("page")}
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
    from ragweave.corpora.store.library import open_library

    look, right, kinds = judge_of(DATA), Counter[str](), dict[str, list[bool]]()
    lengths, took, used = list[int](), list[float](), list[float]()
    held_by = await open_library(name)

    def stands(q: dict[str, Any], text: str) -> bool:
        return bool(look.judge({"need": 1, **q}, text, False)[0] == "right")

    await answered(asked[0], name)  # what is loaded once is not timed
    for q in asked:
        wall, cpu = time.perf_counter(), time.process_time()
        answer = await answered(q, name)
        turns = 1 + len(q["previous"])
        took.append(1e3 * (time.perf_counter() - wall) / turns)
        used.append(1e3 * (time.process_time() - cpu) / turns)
        wrong, seen = misplaced(answer, await held_by.items([c.id for c in answer.citations]))
        right["misplaced"] += wrong
        right["passages"] += seen
        right["few" if q["answerable"] else "few, no answer"] += says_few(answer)
        right["no answer"] += not q["answerable"]
        if not q["answerable"]:
            continue
        search, bm25 = await beside(q, name)
        text = shown(answer)
        held = stands(q, text)
        right["quotes"] += held
        right["search"] += stands(q, search)
        right["search cut"] += stands(q, search[: len(text)])
        right["bm25"] += stands(q, bm25)
        right["bm25 cut"] += stands(q, bm25[: len(text)])
        right["of"] += 1
        kinds.setdefault(q["kind"], []).append(held)
        lengths.append(len(text))
        if verbose and not held:
            print(f"\n{q['id']} {q['kind']}: {' > '.join([*q['previous'], q['question']])}")
            print(f"   gold {q['answers']} in {q['gold_files']}\n{text}")
    for q in other:
        right["few, unrelated"] += says_few(
            await answered({**q, "previous": [], "id": f"other {q['id']}"}, name)
        )
        right["unrelated"] += 1
    found: dict[str, Any] = {
        f"{name}: answer stands in {where}": (
            f"{right[what]} of {right['of']} ({right[what] / right['of']:.2f})"
        )
        for what, where in (
            ("quotes", "the quotes"),
            ("search", "the first three of search"),
            ("search cut", "those, cut as long"),
            ("bm25", "the first three of BM25"),
            ("bm25 cut", "those of BM25, cut as long"),
        )
    }
    found |= {
        f"{name}: characters, median": median(lengths),
        f"{name}: wall ms a turn": sum(took) / len(took),
        f"{name}: processor ms a turn": sum(used) / len(used),
        f"{name}: by kind": ", ".join(f"{k} {sum(v)}/{len(v)}" for k, v in kinds.items()),
    }
    return found, right


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
    for what in ("quotes", "search", "search cut", "bm25", "bm25 cut"):
        figures[f"all: {what}"] = f"{total[what]} of {total['of']} ({total[what] / total['of']:.3f})"
    figures["all: quotes with words of another place"] = f"{total['misplaced']} of {total['passages']}"
    for what, of in (("few", "of"), ("few, no answer", "no answer"), ("few, unrelated", "unrelated")):
        figures[f"all: {what}"] = f"{total[what]} of {total[of]}"
    tell(figures, given.json)


if __name__ == "__main__":
    main()
