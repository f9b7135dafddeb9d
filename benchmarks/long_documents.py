r"""Write six long documents with 40 questions of the kinds of LaRA.

    python benchmarks/long_documents.py FOLDER [--parts]

A register, a log, minutes, a handbook, a chronicle and a bundle of letters, 15,000 to 30,000 characters each,
come from lists of words with a fixed seed. Questions are of four kinds: one fact in one place (location), a
conclusion from many places (reasoning), two places against each other (comparison), and a fact that is not
there. The program computes the answers from the facts.

    RAGWEAVE_CHAT=openai:NAME RAGWEAVE_CHAT_URL=http://127.0.0.1:PORT/v1 RAGWEAVE_CHAT_KEY=KEY \
      python benchmarks/against_plain_rag.py ask agent --set FOLDER --each 40 --out OUT.jsonl
    python benchmarks/against_plain_rag.py report --set FOLDER --each 40 --out OUT.jsonl

`records/long_documents.jsonl` has the answers of a played model, for a FOLDER with the name `longdocs`.
`--parts` prints how much of the document with the answer a first prompt of the agent shows, without a model.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
from pathlib import Path
from statistics import fmean

from long_documents_data import WRITERS, Row
from long_documents_questions import asked
from printed import options


def bare(answer: str) -> str:
    """Return an answer without its article, which a sentence may say otherwise."""
    return re.sub(r"^(?:an?|the) ", "", answer)


def write(folder: Path) -> list[Row]:
    """Write the library and its questions; return the questions."""
    (folder / "library").mkdir(parents=True, exist_ok=True)
    facts: dict[str, list[Row]] = {}
    for n, (stem, make) in enumerate(WRITERS.items()):
        text, facts[stem] = make(random.Random(n))
        (folder / "library" / f"{stem}.md").write_text(text, encoding="utf-8")
    rows: list[Row] = []
    for n, (kind, stem, question, answers) in enumerate(asked(facts), 1):
        row: Row = {"id": f"q{n:02}", "question": question, "kind": kind, "answers": list(map(bare, answers))}
        row |= {"gold_files": [f"{stem}.md"], "hops": 1, "answerable": bool(answers), "previous": []}
        rows.append(row)
    lines = "".join([json.dumps(row, ensure_ascii=False) + "\n" for row in rows])
    (folder / "questions.jsonl").write_text(lines, encoding="utf-8")
    return rows


async def parts(folder: Path, rows: list[Row]) -> None:
    """Print by kind how much of its document the first prompt shows, and how long that prompt is."""
    from ragweave.app.api import aindex

    os.environ["RAGWEAVE_HOME"] = str(folder / "home")
    await aindex(folder / "library", "long")
    print(f"{'':12}  questions  share shown  answer shown  prompt, characters")
    by_kind: dict[str, list[Row]] = {}
    for row in rows:
        by_kind.setdefault(row["kind"], []).append(row)
    for kind, of_kind in by_kind.items():
        shares, shown, lengths = list[float](), list[bool](), list[int]()
        for row in of_kind:
            prompt = await first_prompt(row["question"])
            text = (folder / "library" / row["gold_files"][0]).read_text("utf-8")
            lines = [line.strip() for line in text.split("\n\n") if line and not line.startswith("#")]
            shares.append(fmean([line in prompt for line in lines]))
            shown.append(all(holds(prompt, answer) for answer in row["answers"]))
            lengths.append(len(prompt))
        n = len(of_kind)
        print(f"{kind:12}  {n:9}  {fmean(shares):11.2f}  {fmean(shown):12.2f}  {fmean(lengths):18.0f}")


async def first_prompt(question: str) -> str:
    """Return the first prompt of the agent for a question."""
    from ragweave import Context
    from ragweave.app.api import astate
    from ragweave.models.chat import override
    from ragweave.tests.support import ScriptedChat

    model = ScriptedChat(react=lambda _: "Final Answer: UNKNOWN.")
    with override(writer=model):
        await astate(question, context=Context(library="long"))
    return str(model.calls[0].prompt)


def holds(prompt: str, answer: str) -> bool:
    """Return whether a prompt contains one of the forms of an answer."""
    return any(form in prompt for form in answer.split("|"))


def main() -> None:
    """Read the command line."""
    parser = options(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parts", action="store_true")
    given = parser.parse_args()
    rows = write(given.folder)
    if given.parts:
        asyncio.run(parts(given.folder, rows))


if __name__ == "__main__":
    main()
