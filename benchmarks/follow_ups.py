"""Measure conversations without a model: `python benchmarks/follow_ups.py [--data DIR]`.

A question is asked after another one in several ways: alone, with the previous question always in front,
and with the previous question in front unless it says enough that is new, at three thresholds. The one of
NEW_TOPIC in components/condense.py ships. The libraries are XQuAD, house_dev and sets of this folder. There
are these kinds of questions:

- written, first half and second half: 60 follow-ups (`sets/follow_ups.jsonl`), ten of them in German. The
  first half chose the threshold.
- of the sets: follow-ups whose authors did not know the program.
- another subject: a question after one about another file, or another article of XQuAD.
- same subject: a question after one about the same file or article.
- unanswered: a question that its library does not answer, after one that it does.
- unrelated: a question of XQuAD to another library.

A cell has four counts: the first passage is from the right file and has the answer, one of the first three
is, the reader sees that little or nothing was found, and no passage is shown because nothing was found.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from printed import judge_of, options, own_home
from question_sets import DATA, Question, read

FOLLOW_UPS = Path(__file__).parent / "sets" / "follow_ups.jsonl"
SETS = ("campsite", "orchard", "fieldlab", "harbour", "observatory", "translator", "household")
PAIRED = ("house", "fieldlab", "campsite")
"""Libraries in which unrelated turns follow each other; XQuAD is one, too."""
WHOLE = ("single", "table", "reworded", "keywords", "wrapped", "same-language")
"""Kinds of questions that stand alone and have one answer."""
SEED = 1
OF_XQUAD, OF_SET, UNRELATED = 100, 35, 30
"""Drawn questions: of XQuAD, of each paired set, and of XQuAD to each paired set."""

Way = Callable[[Any, str, Any], Awaitable[str]]


def xquad(data: Path) -> list[Question]:
    """Return the questions of XQuAD; the file of a passage is named by its id."""
    rows: list[Question] = []
    for row in read(data / "squad_xquad_en" / "queries.jsonl"):
        common = {"set": "xquad", "kind": "single", "answerable": True, "previous": []}
        rows.append({**row, **common, "gold_files": row["gold"]})
    return rows


def after(rows: Sequence[Question], asked: Question, same: bool, draw: random.Random) -> Question | None:
    """Return a question with one of the others before it, about the same or about another subject."""
    fitting = []
    for row in rows:
        is_same = not subjects(row).isdisjoint(subjects(asked))
        if row["id"] != asked["id"] and is_same == same:
            fitting.append(row["question"])
    return {**asked, "previous": [draw.choice(fitting)]} if fitting else None


def subjects(row: Question) -> set[str]:
    """Return the files of a question, or the article of one of XQuAD."""
    return {file.partition("#")[0] for file in row["gold_files"]}


def kinds(data: Path, sets: dict[str, list[Question]]) -> dict[str, list[Question]]:
    """Return the questions of each kind, with the turn before."""
    draw = random.Random(SEED)
    found: dict[str, list[Question]] = {}
    for row in read(FOLLOW_UPS):
        half = "first half" if row["part"] == "chosen by" else "second half"
        found.setdefault(f"written, {half}", []).append({"kind": "follow-up", "answerable": True, **row})
    pairs: dict[str, list[Question]] = {"another subject": [], "same subject": []}
    unanswered: list[Question] = []
    unrelated: list[Question] = []
    of_xquad = xquad(data)
    _pair(pairs, of_xquad, draw.sample(of_xquad, OF_XQUAD), draw)
    for name in PAIRED:
        whole = [row for row in sets[name] if row["kind"] in WHOLE and row["answerable"]]
        _pair(pairs, whole, draw.sample(whole, OF_SET), draw)
        for row in draw.sample(of_xquad, UNRELATED):
            unrelated.append({**row, "set": name, "previous": [draw.choice(whole)["question"]]})
        for row in sets[name]:
            if not row["answerable"] and not row["previous"]:
                unanswered.append({**row, "previous": [draw.choice(whole)["question"]]})
    of_sets = []
    for rows in sets.values():
        of_sets += [row for row in rows if row["kind"] == "follow-up" and row["answerable"]]
    return found | {"of the sets": of_sets, **pairs, "unanswered": unanswered, "unrelated": unrelated}


def _pair(
    pairs: dict[str, list[Question]], rows: Sequence[Question], asked: Sequence[Question], draw: random.Random
) -> None:
    """Add each question to both kinds, after a turn about another and about the same subject."""
    for row in asked:
        for kind, same in (("another subject", False), ("same subject", True)):
            paired = after(rows, row, same, draw)
            if paired is not None:
                pairs[kind].append(paired)


async def alone(run: Any, question: str, talk: Any) -> str:
    """Return the question without the previous one."""
    return question


async def in_front(run: Any, question: str, talk: Any) -> str:
    """Return the question with the previous one in front."""
    return f"{talk.previous} {question}" if talk.previous else question


def ways() -> dict[str, tuple[Way, float]]:
    """Return each way to read a question, with its threshold."""
    from ragweave.components import condense

    shipped = condense.NEW_TOPIC
    found: dict[str, tuple[Way, float]] = {"alone": (alone, shipped), "in front": (in_front, shipped)}
    for threshold in sorted({1.5, shipped, 3.0}):
        name = f"{threshold:g}, shipped" if threshold == shipped else f"{threshold:g}"
        found[name] = (condense.locally, threshold)
    return found


async def answer_of(asked: Question) -> Any:
    """Return the answer to the last question of a conversation."""
    from langchain_core.messages import AIMessage, HumanMessage

    from ragweave import Context
    from ragweave.app.api import astate

    said: list[Any] = []
    for text in asked["previous"]:
        said += [HumanMessage(text), AIMessage("Noted.")]
    context = Context(library=asked["set"], mode="extractive")
    state: Any = await astate([*said, HumanMessage(asked["question"])], context=context)
    return state["answer"]


def rank(asked: Question, answer: Any, judge: Any) -> int:
    """Return the rank of the first passage of a right file that has the answer; 0 if there is none."""
    cited = {citation.n: citation for citation in answer.citations}
    quotes = [sentence for sentence in answer.sentences if sentence.support == "quoted"]
    for n, quote in enumerate(quotes, 1):
        citation = cited[quote.citations[0]]
        file = str(citation.locator.get("file", "")).removesuffix(".md")
        in_file = any(file.endswith(gold.removesuffix(".md")) for gold in asked["gold_files"])
        text = f"{citation.title}\n{quote.text}"
        if in_file and judge.judge({"need": 1, **asked}, text, False)[0] == "right":
            return n
    return 0


async def cell(rows: Sequence[Question], judge: Any) -> str:
    """Return the four counts of a cell."""
    first = three = little = nothing = 0
    for row in rows:
        answer = await answer_of(row)
        place = rank(row, answer, judge) if row["answerable"] else 0
        first += place == 1
        three += 1 <= place <= 3
        little += answer.abstained or answer.sentences[0].support != "quoted"
        nothing += answer.abstained
    return f"{first} / {three} / {little} / {nothing}"


def prepared(data: Path, folder: Path) -> dict[str, list[Question]]:
    """Index the libraries; return the questions of all but XQuAD by the name of their library."""
    from ragweave.app.api import index
    from ragweave.evals.sets import folder_of

    passages = folder / "xquad"
    passages.mkdir(exist_ok=True)
    for row in read(data / "squad_xquad_en" / "passages.jsonl"):
        text = f"# {row['title']}\n\n{row['text']}\n"
        (passages / f"{row['id']}.md").write_text(text, encoding="utf-8")
    index([passages], "xquad")
    sets: dict[str, list[Question]] = {}
    for name in ("house", *SETS):
        of_set = data / "house_dev" if name == "house" else folder_of(name)
        index([of_set / "library"], name)
        sets[name] = [{**row, "set": name} for row in read(of_set / "questions.jsonl")]
    return sets


def main() -> None:
    """Index the libraries in a home of their own, ask in each way, and print a table."""
    parser = options(__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the public data sets")
    given = parser.parse_args()
    with own_home() as folder:
        sets = prepared(given.data, folder)
        rows = asyncio.run(measured(kinds(given.data, sets), judge_of(given.data)))
    for row in rows:
        print(f"| {' | '.join(row)} |")
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


async def measured(asked: dict[str, list[Question]], judge: Any) -> list[list[str]]:
    """Return the rows of the table: its heads, then a row for each kind."""
    from ragweave.components import condense

    shipped = condense.locally, condense.NEW_TOPIC
    all_ways = ways()
    table = [["questions", "number", *all_ways], ["---"] * (2 + len(all_ways))]
    for kind, rows in asked.items():
        cells = []
        for way, threshold in all_ways.values():
            condense.locally, condense.NEW_TOPIC = way, threshold
            cells.append(await cell(rows, judge))
        table.append([kind, str(len(rows)), *cells])
    condense.locally, condense.NEW_TOPIC = shipped
    return table


if __name__ == "__main__":
    main()
