"""The help of the commands: in groups, with whole summaries and with examples."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperGroup

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Begin": ("setup", "index", "ask", "chat", "search", "show"),
    "Serve": ("serve", "mcp", "keys"),
    "Look after libraries": ("library", "sources", "doctor", "graph"),
}
"""Commands by group, in the order of the help; every other command needs a checkout."""
CHECKOUT = "In a checkout only: measure and train"

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "setup": (
        "setup",
        "setup chat",
        "setup --all --yes",
        "setup chat --model openai:gpt-4o-mini --key OPENAI_API_KEY",
    ),
    "index": ("index ~/notes", "index ~/papers report.pdf --library work", "index ~/notes --watch"),
    "ask": (
        'ask "When does the ferry sail in winter?"',
        'ask "Who signed?" --in contracts --json',
        "ask - < question.txt",
    ),
    "chat": ("chat", "chat --continue", "chat --list"),
    "search": ('search "winter timetable"', "search ferry --top-k 3 --json"),
    "show": ("show f785e65a16e66685bb24a579", "show f785e65a16e66685bb24a579 --open"),
    "serve": ("serve", "serve --port 9000 --library work"),
    "mcp": ("mcp --library notes",),
    "keys": ('keys create "Open WebUI" --library notes', "keys list", "keys revoke 1a2b3c4d"),
    "keys create": ('keys create "Open WebUI" --library notes', "keys create me --all"),
    "keys list": ("keys list",),
    "keys edit": ("keys edit 1a2b3c4d --role read",),
    "keys rotate": ("keys rotate 1a2b3c4d",),
    "keys revoke": ("keys revoke 1a2b3c4d",),
    "keys logout": ("keys logout 1a2b3c4d",),
    "keys give": ("keys give 1a2b3c4d 5e6f7a8b",),
    "library": ("library", "library create work", "library rename work archive"),
    "library list": ("library list --json",),
    "library create": ("library create work",),
    "library copy": ("library copy notes --to postgresql://localhost/ragweave",),
    "library rename": ("library rename work archive",),
    "library set": ("library set news --recency on --half-life 30",),
    "library delete": ("library delete work",),
    "sources": ("sources", "sources show report.pdf", "sources remove report.pdf"),
    "sources list": ("sources list --library work --json",),
    "sources show": ("sources show report.pdf",),
    "sources remove": ("sources remove report.pdf", "sources remove ~/notes/old"),
    "doctor": ("doctor", "doctor --json", "doctor --repair"),
    "graph": ("graph", "graph crag --mermaid", "graph --preset crag-paper"),
}


class Grouped(TyperGroup):
    """A group whose help lists its commands under headings; no summary is cut off."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands under the headings of their groups; subcommands have one heading."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command:
                group = _group(name) if ctx.parent is None else "Commands"
                groups.setdefault(group, []).append((name, _summary(command)))
        for group, rows in groups.items():
            with formatter.section(group):
                formatter.write_dl(rows)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the commands in the order of their groups."""
        names = list(super().list_commands(ctx))
        if ctx.parent is not None:
            return names
        grouped = list(itertools.chain(*GROUPS.values()))
        ordered = [name for name in grouped if name in names]
        return ordered + [name for name in names if name not in grouped]


def _group(name: str) -> str:
    """Return the heading of a top-level command."""
    for group, names in GROUPS.items():
        if name in names:
            return group
    return CHECKOUT


def _summary(command: Any) -> str:
    return str(command.short_help or command.help or "").strip().partition("\n\n")[0].replace("\n", " ")


def add_examples(app: typer.Typer, words: str = "") -> None:
    """Add the examples of each command to the end of its help."""
    for command in app.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "")
        command.epilog = _shown(f"{words} {name}".strip())
    for group in app.registered_groups:
        if group.typer_instance and group.name:
            group.epilog = _shown(group.name)
            add_examples(group.typer_instance, group.name)


def _shown(name: str) -> str | None:
    """Return the examples of a command for its help, or None."""
    if name not in EXAMPLES:
        return None
    # The backspace character keeps click from wrapping the paragraph.
    lines = ["\b", "Examples:"]
    for example in EXAMPLES[name]:
        lines.append(f"  ragweave {example}")
    return "\n".join(lines)
