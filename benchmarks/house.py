"""House_dev with the small mind: right, wrong and refused by kind, where the answer stands, and what a question costs.

    python benchmarks/house.py [--set FOLDER] [--kind wrapped] [--keep answers.jsonl] [--quoting] [-v]

`-v` prints each question that was not right with its answer. The judge is that of house_dev. Another set is a folder
with `library/` and `questions.jsonl` of the same form: `benchmarks/observatory` is one of our own, 81 questions over
the notes of an astronomy club; `benchmarks/harbour` is another, 94 dialogues, versions, comparisons, languages, other
words; `benchmarks/playhouse` (50) asks in everyday words, `benchmarks/household` (51) and `benchmarks/ledgers` (38)
ask tables above all; `benchmarks/alpine` (30) asks in two steps, follows up, and asks what nothing answers;
`benchmarks/bindery` (60) asks in two and three steps, in dialogues, of versions and of sources that differ, in words
that are not those of the files; `benchmarks/roastery` (60) asks for single facts in the files of a small
firm; `benchmarks/lido` (110), `makerspace` (110), `orchard` (100), `brigade` (110) and `campsite` (110) ask all kinds
over those of a pool, a makerspace, a cider orchard, a fire brigade and a campsite; `benchmarks/beeclub`, `stable`,
`wedding` and `tanzschule` (45 each, twenty of them without an answer) those of clubs and households; `courier`,
`translator` and `fieldlab` (107 each) ask all kinds over those of a firm, a household and a laboratory. Campsite,
wedding, tanzschule, translator and fieldlab have never been read by who mends the rules: leave it so, and look at their
totals alone.

With `--quoting` a scripted chat model answers instead, which takes no time and repeats a sentence of the first passage
that it is shown: of that only the milliseconds say something.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from printed import judge_of, options, own_home, tell

DATA = Path(os.environ.get("RAGWEAVE_DATA", Path(__file__).resolve().parent.parent.parent / "shared" / "data"))


def questions(folder: Path, kinds: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the questions of a set, of some kinds or of all."""
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [q for q in map(json.loads, lines) if not kinds or q["kind"] in kinds]


def quote(messages: Sequence[Any]) -> str:
    """Reply as a chat model would that repeats the first sentence of the first passage."""
    said = re.search(r"^\[1\].*\n(?:<<<\n)?(.+)", "\n".join(m.text for m in messages[1:]), re.M)
    return f"Final Answer: {re.split(r'(?<=[.!?]) ', said[1])[0].rstrip('.') if said else 'Nothing'} [1]."


async def answered(q: dict[str, Any], quoting: bool = False) -> Any:
    """Ask one question after the turns before it, in a thread of its own."""
    from langgraph.checkpoint.memory import InMemorySaver

    from ragweave import Context
    from ragweave.app.api import astate
    from ragweave.models.chat import override
    from ragweave.tests.support import ScriptedChat

    saver = InMemorySaver()
    context = Context(library=q.get("library", "house"), mind="llm" if quoting else "small")
    with override(writer=ScriptedChat(react=quote)) if quoting else nullcontext():
        for text in [*q["previous"], q["question"]]:
            state: Any = await astate(text, context=context, thread=q["id"], checkpointer=saver)
    return state["answer"]


async def run(
    asked: list[dict[str, Any]], verbose: bool, quoting: bool = False
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Ask all questions one after the other and return the figures and the answers."""
    look, rows, turns, began = judge_of(DATA), [], 0, time.process_time()
    for q in asked:
        answer = await answered(q, quoting)
        turns += 1 + len(q["previous"])
        verdict, remarks = look.judge({"need": 1, **q}, answer.text, answer.abstained)
        first = bool(answer.sentences) and look.judge({"need": 1, **q}, answer.sentences[0].text, False)[0] == "right"
        rows.append({"id": q["id"], "kind": q["kind"], "verdict": verdict, "first": first, "answer": answer.text})
        rows[-1] |= {"abstained": answer.abstained, "why": answer.why, "remarks": list(remarks)}
        if verbose and verdict != "right":
            said = answer.text if not answer.abstained else f"(refused) {answer.why} {answer.text}"
            print(f"\n{q['id']} {q['kind']} {verdict}: {' > '.join([*q['previous'], q['question']])}")
            print(f"   gold {q['answers']} in {q['gold_files']}\n   said {said[:600]!r} {remarks or ''}")
    found: dict[str, Any] = {"milliseconds of CPU a turn": 1e3 * (time.process_time() - began) / (turns or 1)}
    right = [r for r in rows if r["verdict"] == "right" and not r["abstained"]]
    found["first sentence answers, of right"] = sum(r["first"] for r in right) / (len(right) or 1)
    found["characters of a right answer"] = sum(len(r["answer"]) for r in right) / (len(right) or 1)
    for kind in [*dict.fromkeys(r["kind"] for r in rows), "all"]:
        of = [r["verdict"] for r in rows if kind in (r["kind"], "all")]
        n = {v: of.count(v) for v in ("right", "wrong", "abstained")}
        found[kind] = f"{n['right'] / len(of):.2f}  right {n['right']}, wrong {n['wrong']}, refused {n['abstained']}"
    return found, rows


def main() -> None:
    """Index the library in a home of its own, ask, judge, print."""
    parser = options(__doc__)
    parser.add_argument("--kind", action="append", help="only these kinds")
    parser.add_argument("--keep", type=Path, help="write the answers there")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what was not right")
    parser.add_argument("--set", type=Path, default=DATA / "house_dev", help="the folder of the set")
    parser.add_argument("--quoting", action="store_true", help="let a scripted chat model answer")
    given = parser.parse_args()
    asked = questions(given.set, given.kind or ())
    with own_home():
        from ragweave.app.api import index

        index([given.set / "library"], "house")
        found, rows = asyncio.run(run(asked, given.verbose, given.quoting))
    if given.keep:
        given.keep.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), encoding="utf-8")
    tell(found, given.json)


if __name__ == "__main__":
    main()
