"""Questions over whole tables: `python benchmarks/whole_tables.py`.

Six tables of 200 to 20,000 rows are made and indexed, and 40 questions asked about them: sums, counts,
extremes, “all that” and none. A model is played: it reads which tables the prompt offers, sends the statement
that was written for the question from the prompt alone (`sets/whole_tables.jsonl`), or first a query if
the table is not shown, and then copies the result. It is compared with a model that answers from the rows
that its prompt shows. A silent partial prompt shows rows of a table, not all of them, and does not say so.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from printed import run

QUESTIONS = Path(__file__).parent / "sets" / "whole_tables.jsonl"
_DOCUMENT = re.compile(r"^\[(\d+)\]\n<<<\n([^\n]*)\n(.*?)\n>>>", re.S | re.M)
_OF = re.compile(r"rows [\d, -]+ of [\d,]+")


class Played:
    """A model that knows a question's statement, and otherwise what its prompts say."""

    def __init__(self, row: Mapping[str, str], total: int) -> None:
        self.row, self.total = row, total
        self.prompts: list[str] = []
        self._asked = False

    def reply(self, messages: Sequence[Any]) -> str:
        """Return the next turn."""
        prompt = "\n\n".join(str(m.text) for m in messages)
        if "from numbered documents" not in prompt:
            return "{}"  # it checks nothing
        self.prompts.append(prompt)
        documents = _DOCUMENT.findall(prompt)
        results = [(n, text) for n, _, text in documents if text.startswith("Result of: ")]
        if results:
            n, text = results[-1]
            body = text.split("\n")[
                next(i for i, s in enumerate(text.split("\n")) if s.startswith("Counted")) + 1 :
            ]
            values = [s for s in body if not s.startswith(("Note: ", "No row"))][1:]
            return "Final Answer: " + "\n".join(f"- {value} [{n}]" for value in values)
        stem = self.row["table"].split(".")[0]
        numbers = [n for n, title, _ in documents if stem in title and f"Table {n} has " in prompt]
        if numbers:
            return f"Table {numbers[0]}: {self.row['statement']}"
        if "query" in self.row and not self._asked:
            self._asked = True
            return f"Query: {self.row['query']}"
        return "Final Answer: UNKNOWN."

    def silent(self) -> int:
        """Return how many prompts show a part of the table and do not say so."""
        stem = self.row["table"].split(".")[0]
        return sum(
            any(
                stem in title
                and not _OF.search(title)
                and 0 < text.count(" | ")
                and text.count("\n") < self.total
                for _, title, text in _DOCUMENT.findall(prompt)
                if not text.startswith("Result of: ")
            )
            for prompt in self.prompts
        )


def is_right(truth: Any, answer: str) -> bool:
    """Tell whether an answer says what a question comes to: a number to the cent, all of a list and no more."""
    lines = [line for line in answer.split("\n") if line.strip()]
    if isinstance(truth, set):
        return len(lines) == len(truth) and all(any(str(t) in line for line in lines) for t in truth)
    if isinstance(truth, str):
        return truth in answer
    said = [
        float(n.replace(",", "")) for n in re.findall(r"-?\d[\d,]*(?:\.\d+)?", re.sub(r"\[\d+\]", "", answer))
    ]
    return any(abs(n - truth) < 0.006 for n in said)


async def ask(row: Mapping[str, str], total: int) -> tuple[Played, Any]:
    """Ask one question; return the model that was played, and the state at the end."""
    from ragweave.components.context import Context
    from ragweave.graphs.agent import graph
    from ragweave.models.chat import override
    from ragweave.tests.support import ScriptedChat

    played = Played(row, total)
    with override(writer=ScriptedChat(react=played.reply)):
        state = await graph.ainvoke({"messages": [("human", row["question"])]}, context=Context())
    return played, state


def altered(state: Mapping[str, Any]) -> list[bool]:
    """Return for each sentence with a figure whether its mark would be `computed` with another last digit."""
    from ragweave.components.computed import holds

    out = []
    results = [e["computed"] for e in state["evidence"] if "computed" in e]
    for sentence in state["answer"].sentences:
        digits = [*re.finditer(r"\d", sentence.text)]
        if digits and results:
            at, digit = digits[-1].start(), digits[-1].group()
            other = f"{sentence.text[:at]}{(int(digit) + 1) % 10}{sentence.text[at + 1 :]}"
            out.append(holds(other, results[-1]))
    return out


async def of_shown(row: Mapping[str, str], played: Played) -> str:
    """Return what the statement gives over the rows that the first prompt with the table shows."""
    from ragweave.corpora.blocks import Block
    from ragweave.corpora.store.tables import packed
    from ragweave.corpora.tables.keep import tables_of
    from ragweave.corpora.tables.query import query
    from ragweave.models.errors import InputError

    stem = row["table"].split(".")[0]
    for prompt in played.prompts:
        texts = [text for _, title, text in _DOCUMENT.findall(prompt) if stem in title and " | " in text]
        lines = [line for text in texts for line in text.split("\n") if " | " in line]
        heads = [] if row["table"] == "parcels.csv" else lines[:1]
        body = [line for line in dict.fromkeys(lines) if line not in heads]
        if texts and (found := tables_of([Block("\n".join([*heads, *body]), "table", len(heads))], [])):
            try:
                result = await query(found[0], [packed(found[0].rows)], row["statement"])
            except InputError:
                return ""
            return "\n".join(" | ".join(map(str, values)) for values in result.rows)
    return ""


async def measure(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Return the figures."""
    import whole_tables_data as made

    from ragweave.corpora.ingest.run import index

    rows = made.rows_of()
    (folder / "tables").mkdir(exist_ok=True)
    made.write(folder / "tables", rows)
    began = time.perf_counter()
    await index([folder / "tables"])
    indexed = time.perf_counter() - began
    truths = made.truths(rows)
    lines = QUESTIONS.read_text(encoding="utf-8").splitlines()
    right = shown = silent = computed = 0
    planted: list[bool] = []
    taken = []
    for line, truth in zip(lines, truths, strict=True):
        row = json.loads(line)
        began = time.perf_counter()
        played, state = await ask(row, len(rows[row["table"]]))
        taken.append((time.perf_counter() - began) * 1000)
        answer = state["answer"]
        good = is_right(truth, answer.text)
        right += good
        shown += is_right(truth, await of_shown(row, played))
        silent += played.silent()
        computed += bool(answer.sentences) and all(s.support == "computed" for s in answer.sentences)
        planted += altered(state)
        if given.show:
            print("right" if good else "WRONG", row["question"], "->", answer.text[:200], "| truth", truth)
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {
        "questions": len(truths),
        "right": right,
        "right from the rows shown": shown,
        "silent partial prompts": silent,
        "answers marked computed": computed,
        "figures altered in a digit": len(planted),
        "of these marked computed": sum(planted),
        "ms a question, median": sorted(taken)[len(taken) // 2],
        "ms a question, most": max(taken),
        "largest child, MiB": children,
        "seconds to index": indexed,
    }


if __name__ == "__main__":
    run(__doc__, measure)
