"""Writes docs/cli.md from the commands themselves, so that it cannot fall behind them.

Run `python -m ragweave.docs.write_cli FILE`; without a file it prints the page.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import typer

from ragweave.docs.write_configuration import put

_INTRO = """# Commands

This page is written by `make docs` from the commands. `ragweave COMMAND --help` prints the same in the terminal, and
`python -m ragweave` is the same as `ragweave`. Defaults are settings of [configuration.md](configuration.md).
"""
_SHARED = """## Options that commands share

A command that takes one of these lists it by name only.
"""
_CHECKOUT = """## From a checkout

The installed package does not hold these commands. `--help` lists their options; [evaluation.md](evaluation.md) and
[checkpoints.md](checkpoints.md) show how to use them.

| command | what it does |
|---|---|"""
_MANY = 2
"""Commands from which on an option is told once for all."""

Named = tuple[str, Any]
"""The words that start a command, and the command."""


def page() -> str:
    """Return the whole page as Markdown."""
    from ragweave.app.cli import app

    root = typer.main.get_command(app)
    every = list(_commands(root, "ragweave"))
    ours = [(name, command) for name, command in every if not _of_evals(command)]
    told = Counter(_option(p) for _, command in ours for p in _options(command))
    shared = {row for row, times in told.items() if times >= _MANY}
    parts = [_INTRO, f"{root.epilog}\n", _SHARED, _table(dict.fromkeys(row for row in told if row in shared))]
    parts += [_section(name, command, shared) for name, command in ours]
    rest = [
        f"| `{name}` | {_flat(command.help.split(chr(10) * 2)[0])} |"
        for name, command in every
        if _of_evals(command)
    ]
    return "\n".join([*parts, "\n".join([_CHECKOUT, *rest, ""])])


def _commands(group: Any, words: str) -> Iterator[Named]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{words} {name}")
        else:
            yield f"{words} {name}", command


def _of_evals(command: Any) -> bool:
    return bool(command.callback.__module__.startswith("ragweave.evals"))


def _parts(command: Any) -> list[str]:
    return str(command.help).split("\n\n")


def _options(command: Any) -> list[Any]:
    return [p for p in command.params if p.param_type_name == "option" and not p.hidden]


def _section(name: str, command: Any, shared: set[tuple[str, str]]) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    usage = " ".join([name, *(_argument(p) for p in arguments)])
    rows = [(f"`{_name(p)}`", _flat(p.help)) for p in arguments if p.help]
    options = [_option(p) for p in _options(command)]
    rows += [row for row in options if row not in shared]
    also = [f"`{max(p.opts, key=len)}`" for p in _options(command) if _option(p) in shared]
    told = [f"## `{usage}`\n", *(f"{_flat(part)}\n" for part in _parts(command))]
    if rows:
        told.append(_table(rows))
    if also:
        told.append("Also: " + ", ".join(also) + ".\n")
    return "\n".join(told)


def _argument(parameter: Any) -> str:
    name = _name(parameter) + ("..." if parameter.nargs == -1 else "")
    return name if parameter.required else f"[{name}]"


def _name(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _option(parameter: Any) -> tuple[str, str]:
    """Return the flags of an option with the word it takes, and what it does."""
    flags = ", ".join([*sorted(parameter.opts, key=len), *parameter.secondary_opts])
    takes = "" if parameter.is_flag else f" {parameter.metavar or 'VALUE'}"
    return f"`{flags}{takes}`".replace("|", "\\|"), _flat(parameter.help)


def _flat(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def _table(rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join(
        ["| option | meaning |", "|---|---|", *(f"| {flags} | {means} |" for flags, means in rows), ""]
    )


def main(argv: list[str]) -> None:
    """Write the page to the file named first, or print it."""
    put(page(), argv)


if __name__ == "__main__":
    main(sys.argv[1:])
