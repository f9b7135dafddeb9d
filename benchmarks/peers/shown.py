"""What retrieval puts before the model, whose replies are scripted and not looked at: `shown.py [PEER ...]`.

    xquad    a hundred questions of XQuAD, its passages among HotpotQA's: is the sentence that holds the
             answer in a prompt of that question? tables   the questions of house_dev about tables: does the
             answer stand in a prompt (where it is a value of the table), and do all rows of the table (of a
             CSV or a workbook)?

A prompt is any call of the model for that question; where passages are graded one by one, all grades' prompts
together. Kept as run.py keeps its figures.
"""

from __future__ import annotations

import csv
import re
import shutil
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from against_plain_rag import DATA, as_files, by_kind, drawn, passages, read  # noqa: E402
from desk import Desk  # noqa: E402
from run import GRAPHS, SHARED, Turns, call, keep, measured, options  # noqa: E402

XQUAD, LIBRARY = DATA / "squad_xquad_en", DATA / "house_dev" / "library"
NEAR = 400
"""Characters between two cells of a row that is shown as one."""


def main() -> None:
    """Run what is not kept yet."""
    given = options(__doc__)
    mixed = [f"# {p['title']}\n\n{p['text']}\n" for p in read(XQUAD / "passages.jsonl")] + passages()
    asked = drawn(read(XQUAD / "queries.jsonl"), 100)
    tables = by_kind(DATA / "house_dev", "house", 1_000)
    for peer in given.peers:
        if peer in measured(given.out, "shown"):
            continue
        told: dict[str, Any] = {}
        if peer not in GRAPHS and peer != "open_webui":  # a call for each passage, or a file at a time
            prompts = shown(peer, given.work, "xquad", as_files(mixed, given.work / "xquad"), asked)
            told["xquad"] = [sentence_of(q) in prompts[q["id"]][0] for q in asked]
            told["tokens"] = [prompts[q["id"]][1] for q in asked]
        of = [q for q in tables if q["kind"] == "table"]
        prompts = shown(peer, given.work, "tables", LIBRARY, of)
        told["values"] = {q["id"]: holds(prompts[q["id"]][0], q) for q in of if is_value(q)}
        told["rows"] = {q["id"]: rows_in(prompts[q["id"]][0], q) for q in of if rows_of(q)}
        keep(given.out, "shown", peer, told)
        print(peer, sum(told.get("xquad", [])), told["values"], told["rows"], flush=True)


def shown(
    peer: str, work: Path, name: str, folder: Path, asked: list[dict[str, Any]]
) -> dict[str, tuple[str, int]]:
    """Index a folder, ask one question after another; return the prompts of each as one text, and its tokens."""
    store = work / "stores" / f"{SHARED.get(peer, peer)}-shown-{name}"
    if not (store / "done").exists():
        shutil.rmtree(store, ignore_errors=True)
        with Desk(0.0) as desk:
            call(peer, work, desk, "index", store, str(folder))
        (store / "done").touch()
    turn, made = Turns(peer, work, store), {}
    turn.lines()
    for q in asked:
        before = len(turn.desk.requests)
        turn.round_of([q], 1, 0.0)
        seen = [r.prompt for r in turn.desk.requests[before:]]
        made[q["id"]] = (even(" ".join(seen)), sum(map(len, seen)) // 4)
    turn.close()
    return made


def even(text: str) -> str:
    """Return a text in one case, without marks of a table, commas in numbers or more than one space."""
    return re.sub(r"[\s|*\"\\]+", " ", re.sub(r"(?<=\d),(?=\d{3})", "", text)).lower()


def sentence_of(q: dict[str, Any]) -> str:
    """Return the words around the answer in the passage that holds it: forty characters to either side."""
    text = next(p["text"] for p in read(XQUAD / "passages.jsonl") if p["id"] == q["gold"][0])
    at = text.find(q["answers"][0])
    return even(text[max(0, at - 40) : at + len(q["answers"][0]) + 40]).strip()


def is_value(q: dict[str, Any]) -> bool:
    """Say whether the answer stands in the table, instead of being counted or summed."""
    return not q["note"].startswith(("sum", "count"))


def holds(prompt: str, q: dict[str, Any]) -> bool:
    """Say whether as many of the answers as are needed stand in a prompt as words of their own."""
    asked = even(q["question"])
    there = [
        a
        for a in q["answers"]
        if re.search(rf"(?<!\w){re.escape(even(a))}(?!\w)", prompt.replace(asked, " "))
    ]
    return len(there) >= q.get("need", 1)


def rows_of(q: dict[str, Any]) -> list[list[str]]:
    """Return the rows of the table that a question is about, each by its two longest cells; none of other files."""
    file = LIBRARY / q["gold_files"][0]
    if file.suffix == ".csv":
        with file.open(encoding="utf-8", newline="") as opened:
            rows = [[c for c in row if c.strip()] for row in csv.reader(opened)]
    elif file.suffix == ".xlsx":
        from openpyxl import load_workbook

        sheets = list(load_workbook(file, data_only=True))
        sheet = sheets[1] if "second sheet" in q["note"] else sheets[0]
        rows = [[str(c) for c in row if c is not None] for row in sheet.iter_rows(values_only=True)]
    else:
        return []
    return [sorted(row, key=len)[-2:] for row in rows if len(row) > 1]


def rows_in(prompt: str, q: dict[str, Any]) -> float:
    """Return the share of the rows that a prompt shows: two cells near each other."""
    rows = [[even(c).strip() for c in row] for row in rows_of(q)]
    there = [near(prompt, *row) for row in rows]
    return sum(there) / len(there)


def near(prompt: str, one: str, other: str) -> bool:
    """Say whether two texts stand near each other."""
    spots = [m.start() for m in re.finditer(re.escape(one), prompt)]
    return any(other in prompt[max(0, at - NEAR) : at + NEAR] for at in spots)


if __name__ == "__main__":
    main()
