"""Measure answers over whole tables: `python benchmarks/whole_tables.py`.

The program indexes six tables of 200 to 20,000 rows and asks 40 questions about them: sums, counts,
extremes, “all that” and none. A scripted model reads which tables the prompt offers, sends the statement
that its author wrote for the question from the prompt alone (`sets/whole_tables.jsonl`), or first a query
if the prompt has no table, and then copies the result. The comparison is with a model that answers from the
rows in its prompt. A silent partial prompt shows some rows of a table and does not say that others are
missing.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import time
from collections import Counter
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
        prompt = "\n\n".join([str(message.text) for message in messages])
        if "from numbered documents" not in prompt:
            return "{}"  # it checks nothing
        self.prompts.append(prompt)
        documents = _DOCUMENT.findall(prompt)
        results = [(n, text) for n, _, text in documents if text.startswith("Result of: ")]
        if results:
            n, text = results[-1]
            body = re.split(r"^Counted[^\n]*\n?", text, maxsplit=1, flags=re.M)[1].split("\n")
            values = [line for line in body if not line.startswith(("Note: ", "No row"))][1:]
            return "Final Answer: " + "\n".join([f"- {value} [{n}]" for value in values])
        stem = self.row["table"].split(".")[0]
        for n, title, _ in documents:
            if stem in title and f"Table {n} has " in prompt:
                return f"Table {n}: {self.row['statement']}"
        if "query" in self.row and not self._asked:
            self._asked = True
            return f"Query: {self.row['query']}"
        return "Final Answer: UNKNOWN."

    def silent(self) -> int:
        """Return how many prompts show a part of the table and do not say so."""
        count = 0
        for prompt in self.prompts:
            documents = _DOCUMENT.findall(prompt)
            count += any(self._is_silent_part(title, text) for _, title, text in documents)
        return count

    def _is_silent_part(self, title: str, text: str) -> bool:
        if self.row["table"].split(".")[0] not in title or _OF.search(title):
            return False
        if text.startswith("Result of: ") or " | " not in text:
            return False
        return text.count("\n") < self.total


def is_right(truth: Any, answer: str) -> bool:
    """Return whether an answer is right: a number to the cent, a text, or all of a set and no more."""
    if isinstance(truth, set):
        lines = list(filter(str.strip, answer.split("\n")))
        missing = [value for value in truth if str(value) not in "\n".join(lines)]
        return len(lines) == len(truth) and not missing
    if isinstance(truth, str):
        return truth in answer
    without_marks = re.sub(r"\[\d+\]", "", answer)
    for number in re.findall(r"-?\d[\d,]*(?:\.\d+)?", without_marks):
        if abs(float(number.replace(",", "")) - truth) < 0.006:
            return True
    return False


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
        lines: list[str] = []
        for _, title, text in _DOCUMENT.findall(prompt):
            if stem in title:
                lines += [line for line in text.split("\n") if " | " in line]
        lines = list(dict.fromkeys(lines))
        has_heads = row["table"] != "parcels.csv"
        found = tables_of([Block("\n".join(lines), "table", int(has_heads))], []) if lines else []
        if found:
            try:
                result = await query(found[0], [packed(found[0].rows)], row["statement"])
            except InputError:
                return ""
            return "\n".join([" | ".join(map(str, values)) for values in result.rows])
    return ""


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--show", action="store_true", help="print each question with its answer")


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
    count: Counter[str] = Counter()
    taken: list[float] = []
    lines = QUESTIONS.read_text(encoding="utf-8").splitlines()
    for line, truth in zip(lines, made.truths(rows), strict=True):
        row = json.loads(line)
        began = time.perf_counter()
        played, state = await ask(row, len(rows[row["table"]]))
        taken.append((time.perf_counter() - began) * 1000)
        answer = state["answer"]
        good = is_right(truth, answer.text)
        count["right"] += good
        count["right from the rows shown"] += is_right(truth, await of_shown(row, played))
        count["silent partial prompts"] += played.silent()
        count["answers marked computed"] += {s.support for s in answer.sentences} == {"computed"}
        planted = altered(state)
        count["figures altered in a digit"] += len(planted)
        count["of these marked computed"] += sum(planted)
        if given.show:
            print("right" if good else "WRONG", row["question"], "->", answer.text[:200], "| truth", truth)
    return {
        "questions": len(taken),
        **count,
        "ms a question, median": sorted(taken)[len(taken) // 2],
        "ms a question, most": max(taken),
        "largest child, MiB": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
        "seconds to index": indexed,
    }


if __name__ == "__main__":
    run(__doc__, measure, _options)
