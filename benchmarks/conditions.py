"""Which conditions of the small mind decide an answer: each is set aside in turn over the questions that meet it.

    python benchmarks/conditions.py [--set FOLDER ...] [--most 6] [--only minds/small/tables]

Every `if`, filter and operand of `and` and `or` in the small mind is watched while the questions are asked once.
Then one condition after the other is forced, an `if` to false and to true, an operand to what leaves it out, and
the questions that met it are asked again. Printed are those without which no verdict changes, and those without
which answers become better. Ones that more than `--most` questions meet are left out: they take long, and much rests
on them. Nine sets, 730 questions: six minutes for the first pass, twenty for 457 forced conditions, on quiet cores.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import importlib.machinery
import os
from collections import defaultdict
from pathlib import Path
from types import CodeType
from typing import Any

from house import DATA, answered, questions
from printed import judge_of, options, own_home
from switch_off import forget

ROOT = Path(__file__).resolve().parent.parent
WORTH = {"right": 1, "abstained": 0, "wrong": -1, "error": -2}
Key = tuple[str, int, int, str]
"""File, line, column and kind of a condition."""


class Watch:
    """What each condition gave for which question, and which one is forced."""

    def __init__(self) -> None:
        self.source: dict[Key, str] = {}
        self.met: dict[tuple[Key, bool], set[str]] = defaultdict(set)
        self.forced: tuple[Key, bool] | None = None
        self.question = ""

    def __call__(self, key: Key, value: Any) -> Any:
        """Note the value of a condition and return it, or what it is forced to."""
        if self.forced is not None and self.forced[0] == key:
            return self.forced[1]
        if self.question:
            self.met[key, bool(value)].add(self.question)
        return value

    def able(self, most: int) -> list[tuple[Key, bool, list[str]]]:
        """Return what can be forced, with the questions that it may change, those of few questions first."""
        out = []
        for key in self.source:
            for to in {"if": (False, True), "or": (False,), "and": (True,), "filter": (True,)}[key[3]]:
                found = sorted(self.met[key, not to])
                out += [(key, to, found)] if 0 < len(found) <= most else []
        return sorted(out, key=lambda row: (len(row[2]), row[0]))


class Wrapped(ast.NodeTransformer):
    """Puts each condition of a file into a call of the watch."""

    def __init__(self, file: str, text: str, watch: Watch) -> None:
        self.file, self.text, self.watch = file, text, watch

    def _wrapped(self, node: ast.expr, kind: str) -> ast.expr:
        key = (self.file, node.lineno, node.col_offset, kind)
        self.watch.source[key] = " ".join((ast.get_source_segment(self.text, node) or "").split())
        call = ast.Call(ast.Name("ragweave_watch", ast.Load()), [ast.Constant(key), self.visit(node)], [])
        return ast.copy_location(call, node)

    def visit_If(self, node: ast.If) -> ast.If:
        """Wrap the test, and what stands in the branches."""
        node.test = self._wrapped(node.test, "if")
        node.body, node.orelse = ([self.visit(n) for n in part] for part in (node.body, node.orelse))
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.IfExp:
        """Wrap the test of an expression."""
        node.test = self._wrapped(node.test, "if")
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.BoolOp:
        """Wrap each operand."""
        node.values = [self._wrapped(v, "and" if isinstance(node.op, ast.And) else "or") for v in node.values]
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        """Wrap the filters."""
        node.iter, node.ifs = self.visit(node.iter), [self._wrapped(n, "filter") for n in node.ifs]
        return node


def watched(watch: Watch) -> None:
    """Let the small mind's files be compiled with their conditions wrapped, from now on."""
    vars(builtins)["ragweave_watch"] = watch
    compiled = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: importlib.machinery.SourceFileLoader, name: str) -> CodeType | None:
        file = os.path.relpath(os.path.realpath(self.path), ROOT)
        if not file.startswith("minds/small/"):
            return compiled(self, name)
        text = (ROOT / file).read_text(encoding="utf-8")
        tree = ast.fix_missing_locations(Wrapped(file, text, watch).visit(ast.parse(text)))
        code: CodeType = compile(tree, file, "exec")
        return code

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]


async def verdict(q: dict[str, Any], look: Any) -> str:
    """Ask one question and return what the judge says, or that it cannot be asked any more."""
    forget()
    try:
        answer = await answered(q)
    except Exception:  # a condition that is forced may break whatever rests on it
        return "error"
    return str(look.judge({"need": 1, **q}, answer.text, answer.abstained)[0])


async def run(asked: dict[str, dict[str, Any]], watch: Watch, most: int, only: str) -> None:
    """Ask all once, then each condition's questions with it forced; print what they say."""
    look, before = judge_of(DATA), {}
    for watch.question, q in asked.items():
        before[watch.question] = await verdict(q, look)
    watch.question = ""
    able = [row for row in watch.able(most) if row[0][0].startswith(only)]
    print(f"{len(watch.source)} conditions, {len(able)} forced over {sum(len(f) for *_, f in able)} questions")
    for key, to, found in able:
        watch.forced = (key, to)
        after = {name: await verdict(asked[name], look) for name in found}
        won = sum(WORTH[after[n]] - WORTH[before[n]] for n in found)
        if won >= 0:
            changed = ", ".join(f"{n}: {before[n]} -> {after[n]}" for n in found if after[n] != before[n])
            print(f"{'better' if won else 'equal '} {key[0]}:{key[1]}:{key[2]} {to} {len(found)} {watch.source[key]}")
            print(f"        {changed}" if changed else "", end="\n" if changed else "")


def main() -> None:
    """Index the sets in a home of its own, ask, force, print."""
    parser = options(__doc__)
    parser.add_argument("--set", type=Path, action="append", help="folder of a set; house_dev where none is given")
    parser.add_argument("--most", type=int, default=6, help="questions that a condition may be met by")
    parser.add_argument("--only", default="", help="files whose path begins so")
    given = parser.parse_args()
    watch = Watch()
    watched(watch)
    with own_home():
        from ragweave.app.api import index

        asked: dict[str, dict[str, Any]] = {}
        for folder in given.set or [DATA / "house_dev"]:
            index([folder / "library"], folder.name)
            asked |= {f"{folder.name}/{q['id']}": {**q, "library": folder.name} for q in questions(folder)}
        asyncio.run(run(asked, watch, given.most, given.only))


if __name__ == "__main__":
    main()
