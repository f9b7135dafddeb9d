"""Help as a person reads it: commands in groups, each summary whole, and an example for each command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperGroup

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Begin": ("setup", "index", "ask", "chat", "search", "show"),
    "Serve": ("serve", "mcp", "keys"),
    "Look after libraries": ("library", "sources", "doctor", "graph"),
}
"""Commands of a user by group, in the order of the help; any other is for a checkout."""
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
        """Write the commands by their groups; those of a command's own under one heading."""
        told = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        named = {name: group for group, names in GROUPS.items() for name in names}
        if ctx.parent is not None:
            named = dict.fromkeys((name for name, _ in told), "Commands")
        for group in dict.fromkeys((*GROUPS, CHECKOUT, *named.values())):
            rows = [(name, _summary(c)) for name, c in told if c and named.get(name, CHECKOUT) == group]
            if rows:
                with formatter.section(group):
                    formatter.write_dl(rows)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the commands in the order of their groups."""
        order = [name for names in GROUPS.values() for name in names if ctx.parent is None]
        names = list(super().list_commands(ctx))
        return sorted(names, key=lambda name: order.index(name) if name in order else len(order))


def _summary(command: Any) -> str:
    return str(command.short_help or command.help or "").strip().partition("\n\n")[0].replace("\n", " ")


def add_examples(app: typer.Typer, words: str = "") -> None:
    """Put the examples of each command below its help."""
    for command in app.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "")
        command.epilog = _shown(f"{words} {name}".strip())
    for group in app.registered_groups:
        if group.typer_instance and group.name:
            group.epilog = _shown(group.name)
            add_examples(group.typer_instance, group.name)


def _shown(name: str) -> str | None:
    lines = EXAMPLES.get(name)
    # The mark keeps a paragraph from being wrapped.
    return "\b\nExamples:\n" + "\n".join(f"  ragweave {line}" for line in lines) if lines else None
