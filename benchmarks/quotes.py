"""What stands in the quotes of extractive mode: `python benchmarks/quotes.py [--set FOLDER ...] [-v]`.

A set is a folder with `library/` and `questions.jsonl` in the form of house_dev, whose judge decides whether an
accepted answer stands in a text. Without `--set` the unread sets are asked: `fieldlab`, `translator`, `campsite` and
`canalboat` were written by authors who saw neither the program nor other sets. Of every answerable question four texts
are judged in one run: the answer (titles and quotes, without the list of sources), the first three passages of `search`
and of plain BM25 over the paragraphs, each whole, and those of BM25 cut to the length of the answer. Follow-ups are
asked in their conversation; `search` and BM25 get the previous question in front.

Milliseconds are wall and processor time of one turn.
"""

from __future__ import annotations

import asyncio
import json
import os
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


def questions(folder: Path) -> list[dict[str, Any]]:
    """Return the questions of a set."""
    return [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines() if line]


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


async def measured(name: str, asked: list[dict[str, Any]], verbose: bool) -> tuple[dict[str, Any], Counter[str]]:
    """Return the figures of one set, and of its answerable questions how many each text answers."""
    look, right, kinds = judge_of(DATA), Counter[str](), dict[str, list[bool]]()
    lengths, took, used, refused = list[int](), list[float](), list[float](), 0

    def stands(q: dict[str, Any], text: str) -> bool:
        return bool(look.judge({"need": 1, **q}, text, False)[0] == "right")

    await answered(asked[0], name)  # what is loaded once is not timed
    for q in asked:
        wall, cpu = time.perf_counter(), time.process_time()
        answer = await answered(q, name)
        turns = 1 + len(q["previous"])
        took.append(1e3 * (time.perf_counter() - wall) / turns)
        used.append(1e3 * (time.process_time() - cpu) / turns)
        if not q["answerable"]:
            continue
        search, bm25 = await beside(q, name)
        held = stands(q, answer.text) and not answer.abstained
        right["quotes"] += held
        right["search"] += stands(q, search)
        right["bm25"] += stands(q, bm25)
        right["bm25 cut"] += stands(q, bm25[: len(answer.text)])
        right["of"] += 1
        kinds.setdefault(q["kind"], []).append(held)
        lengths.append(len(answer.text))
        refused += answer.abstained
        if verbose and not held:
            print(f"\n{q['id']} {q['kind']}: {' > '.join([*q['previous'], q['question']])}")
            print(f"   gold {q['answers']} in {q['gold_files']}\n{answer.text}")
    found: dict[str, Any] = {
        f"{name}: answer stands in {where}": f"{right[what]} of {right['of']} ({right[what] / right['of']:.2f})"
        for what, where in (
            ("quotes", "the quotes"),
            ("search", "the first three of search"),
            ("bm25", "the first three of BM25"),
            ("bm25 cut", "those, cut as long"),
        )
    }
    found |= {
        f"{name}: characters, median": median(lengths),
        f"{name}: nothing shown": refused,
        f"{name}: wall ms a turn": sum(took) / len(took),
        f"{name}: processor ms a turn": sum(used) / len(used),
        f"{name}: by kind": ", ".join(f"{k} {sum(v)}/{len(v)}" for k, v in kinds.items()),
    }
    return found, right


def main() -> None:
    """Index each library in a home of its own, ask, judge, print."""
    parser = options(__doc__)
    parser.add_argument("--set", type=Path, action="append", help="the folder of a set; may be given again")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what was not answered")
    given = parser.parse_args()
    figures: dict[str, Any] = {}
    total: Counter[str] = Counter()
    with own_home():
        from ragweave.app.api import index

        for folder in given.set or [HERE / name for name in UNREAD]:
            index([folder / "library"], folder.name)
            found, right = asyncio.run(measured(folder.name, questions(folder), given.verbose))
            figures |= found
            total += right
    for what in ("quotes", "search", "bm25", "bm25 cut"):
        figures[f"all: {what}"] = f"{total[what]} of {total['of']} ({total[what] / total['of']:.3f})"
    tell(figures, given.json)


if __name__ == "__main__":
    main()
