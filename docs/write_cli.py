"""Write docs/cli.md from the commands themselves, so that the page is never out of date.

Run `python -m ragweave.docs.write_cli FILE`; without a file it prints the page.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import typer

from ragweave.docs.write_configuration import put

_INTRO = """# Commands

`make docs` writes this page from the commands. `ragweave COMMAND --help` prints the same in the terminal, and
`python -m ragweave` is the same as `ragweave`. Defaults are settings of [configuration.md](configuration.md).
"""
_SHARED = """## Options that commands share

A command that takes one of these lists it by name only.
"""
_CHECKOUT = """## From a checkout

The installed package does not hold these commands. `--help` lists their options;
[evaluation.md](evaluation.md) and [checkpoints.md](checkpoints.md) show how to use them.

| command | what it does |
|---|---|"""
_MANY = 2
"""An option of at least this many commands is described once, in a section of shared options."""

Named = tuple[str, Any]
"""The words that start a command, and the command."""
Row = tuple[str, str]
"""The first and second cell of a row in a table of options."""


def page() -> str:
    """Return the whole page as Markdown."""
    from ragweave.app.cli import app

    root = typer.main.get_command(app)
    installed: list[Named] = []
    checkout = [_CHECKOUT]
    for name, command in _commands(root, "ragweave"):
        if command.callback.__module__.startswith("ragweave.evals"):
            checkout.append(f"| `{name}` | {_flat(_paragraphs(command)[0])} |")
        else:
            installed.append((name, command))
    shared = _shared_options(installed)
    parts = [_INTRO, f"{root.epilog}\n", _SHARED, _table(shared)]
    for name, command in installed:
        parts.append(_section(name, command, shared))
    return "\n".join([*parts, *checkout, ""])


def _shared_options(commands: Iterable[Named]) -> list[Row]:
    """Return the rows of the options that many commands have, in the order in which they first occur."""
    counts: Counter[Row] = Counter()
    for _, command in commands:
        counts.update([_option(parameter) for parameter in _options(command)])
    return [row for row, count in counts.items() if count >= _MANY]


def _commands(group: Any, words: str) -> Iterator[Named]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{words} {name}")
        else:
            yield f"{words} {name}", command


def _paragraphs(command: Any) -> list[str]:
    return str(command.help).split("\n\n")


def _options(command: Any) -> list[Any]:
    return [p for p in command.params if p.param_type_name == "option" and not p.hidden]


def _section(name: str, command: Any, shared: Sequence[Row]) -> str:
    """Return the section of a command: usage, description, its own options, names of shared ones."""
    usage = [name]
    rows: list[Row] = []
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            usage.append(_argument(parameter))
            if parameter.help:
                rows.append((f"`{_name(parameter)}`", _flat(parameter.help)))
    also: list[str] = []
    for parameter in _options(command):
        if _option(parameter) in shared:
            also.append(f"`{max(parameter.opts, key=len)}`")
        else:
            rows.append(_option(parameter))
    lines = [f"## `{' '.join(usage)}`\n"]
    for paragraph in _paragraphs(command):
        lines.append(f"{_flat(paragraph)}\n")
    if rows:
        lines.append(_table(rows))
    if also:
        lines.append("Also: " + ", ".join(also) + ".\n")
    return "\n".join(lines)


def _argument(parameter: Any) -> str:
    name = _name(parameter) + ("..." if parameter.nargs == -1 else "")
    return name if parameter.required else f"[{name}]"


def _name(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _option(parameter: Any) -> tuple[str, str]:
    """Return the flags of an option with its value, and its meaning."""
    flags = ", ".join([*sorted(parameter.opts, key=len), *parameter.secondary_opts])
    value = "" if parameter.is_flag else f" {parameter.metavar or 'VALUE'}"
    return f"`{flags}{value}`".replace("|", "\\|"), _flat(parameter.help)


def _flat(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def _table(rows: Iterable[Row]) -> str:
    lines = ["| option | meaning |", "|---|---|"]
    for flags, meaning in rows:
        lines.append(f"| {flags} | {meaning} |")
    return "\n".join([*lines, ""])


def main(argv: list[str]) -> None:
    """Write the page to the file that the first argument names, or print it."""
    put(page(), argv)


if __name__ == "__main__":
    main(sys.argv[1:])
