"""What each rule of the small mind is worth: it is switched off, and what it touches is asked again.

    python benchmarks/switch_off.py [--set FOLDER ...] [RULE ...]

A rule is `minds.small.clauses:trimmed = lambda split, covers: split`: a name of a module, and what stands for it while
it is off, in the words of that module. Without any, those of `rules.txt` are tried. A function is off only where it
gave something else than its stand-in; for a number, a table or a pattern everything is asked again. Told are the
questions that are right only with the rule (lost), only without it (won), and how many more are answered wrong without.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from inspect import iscoroutinefunction
from pathlib import Path
from types import FunctionType
from typing import Any

from house import DATA, questions, run
from printed import options, own_home

HERE = Path(__file__).resolve().parent
SETS = (DATA / "house_dev", HERE / "observatory", HERE / "harbour")


def named(rule: str) -> tuple[Any, Any]:
    """Return what a rule names, and what stands for it."""
    place, _, instead = rule.partition("=")
    module, _, name = place.strip().partition(":")
    held = import_module(f"ragweave.{module}")
    return getattr(held, name), eval(instead, vars(held))


@contextmanager
def replaced(old: Any, new: Any) -> Iterator[None]:
    """Let one thing stand for another in every module that has it under a name of its own."""
    places = [(vars(m), k) for m in _modules() for k, v in [*vars(m).items()] if v is old]
    for names, k in places:
        names[k] = new
    try:
        yield
    finally:
        for names, k in places:
            names[k] = old


def forget() -> None:
    """Empty what the minds remember of former calls."""
    for held in _modules("ragweave.minds"):
        for v in [*vars(held).values()]:
            if hasattr(v, "cache_clear"):
                v.cache_clear()


def _modules(below: str = "ragweave") -> list[Any]:
    return [m for name, m in [*sys.modules.items()] if name.partition(".")[0] == "ragweave" and name.startswith(below)]


def watched(old: Callable[..., Any], new: Callable[..., Any], tell: Callable[[], None]) -> Callable[..., Any]:
    """Return a function that tells where its stand-in would have given something else."""

    def both(*args: Any, **kw: Any) -> Any:
        out = old(*args, **kw)
        if isinstance(out, Iterator):
            out = [*out]
        other = new(*args, **kw)
        if out != ([*other] if isinstance(other, Iterator) else other):
            tell()
        return out

    return both


def main() -> None:
    """Ask everything once, then once more for each rule what it touches."""
    parser = options(__doc__)
    parser.add_argument("rules", nargs="*", help="rules to switch off")
    parser.add_argument("--set", type=Path, action="append", help="folders of question sets")
    parser.add_argument("--work", type=Path, help="keep the libraries here for the next run")
    given = parser.parse_args()
    lines = given.rules or (HERE / "rules.txt").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line.strip() and not line.startswith("#")]
    with own_home(given.work) as folder:
        from ragweave.app.api import index

        asked: list[dict[str, Any]] = []
        for of in given.set or SETS:
            if not (folder / "home" / "libraries" / of.name).exists():
                index([of / "library"], of.name)
            asked += [q | {"library": of.name, "id": f"{of.name}:{q['id']}"} for q in questions(of)]
        try_all(rules, asked)


def try_all(rules: list[str], asked: list[dict[str, Any]]) -> None:
    """Print for each rule what becomes of the questions without it."""
    pairs = {rule: named(rule) for rule in rules}
    touched: dict[str, set[str]] = {rule: set() for rule in rules}
    with_all: dict[str, str] = {}
    for q in asked:
        forget()
        with ExitStack() as watching:
            for rule, (old, new) in pairs.items():
                told = partial(touched[rule].add, q["id"])
                if isinstance(old, FunctionType) and not iscoroutinefunction(old):
                    watching.enter_context(replaced(old, watched(old, new, told)))
                else:
                    told()
            with_all |= verdicts([q])
    print(f"{'all rules':<60} {_counts(with_all)}")
    for rule, (old, new) in pairs.items():
        forget()
        again = [q for q in asked if q["id"] in touched[rule]]
        with replaced(old, new):
            off = verdicts(again) if again else {}
        forget()
        lost = [i for i, v in off.items() if with_all[i] == "right" != v]
        won = [i for i, v in off.items() if v == "right" != with_all[i]]
        more = sum(v == "wrong" for v in off.values()) - sum(with_all[i] == "wrong" for i in off)
        print(f"{rule[:60]:<60} asked {len(again)}, lost {len(lost)}, won {len(won)}, wrong {more:+}", *lost, "|", *won)
        sys.stdout.flush()


def verdicts(asked: list[dict[str, Any]]) -> dict[str, str]:
    """Return the verdict on each question."""
    return {row["id"]: row["verdict"] for row in asyncio.run(run(asked, False))[1]}


def _counts(of: dict[str, str]) -> str:
    said = [*of.values()]
    return ", ".join(f"{v} {said.count(v)}" for v in ("right", "wrong", "abstained"))


if __name__ == "__main__":
    main()
