"""The sources of an answer as a terminal shows them: number, title, place and id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.style import Style
from rich.text import Text

from ragweave.app.places import clean, link, place, place_in

if TYPE_CHECKING:
    from ragweave.components.evidence import Citation

INDENT = 4
"""Columns by which lines of a source are indented."""


def print_citations(console: Console, citations: Sequence[Citation], heading: str) -> None:
    """Print the numbered sources of an answer; citations of the same place share a line."""
    if not citations:
        return
    console.print()
    console.print(Text(heading, style="bold"))
    by_place: dict[tuple[str, str], list[Citation]] = {}
    for citation in citations:
        where = place_in(citation.title, citation.locator) or clean(citation.title)
        by_place.setdefault((citation.id, where), []).append(citation)
    for (id_, where), group in by_place.items():
        numbers = "".join([f"[{citation.n}]" for citation in group])
        line = Text(f"  {numbers} ", style="cyan")
        indent = line.cell_len
        line.append(where, style=Style(color="default", link=link(group[0].locator) or None))
        _append_id(line, id_, indent, console.width)
        line.append(_further_places(group[0], indent))
        console.print(line, soft_wrap=True)


def print_source(console: Console, citation: Citation) -> None:
    """Print the source of a quote: its number and title, and below them its place and id."""
    title, locator = citation.title, citation.locator
    for heading in locator.get("heading", ()):
        title = title.replace(f" · {heading}", f" › {heading}")
    # The title already shows the headings. Without them the place shows the line, which an editor can open.
    without_heading = locator.copy()
    without_heading.pop("heading", None)
    head = Text(f"[{citation.n}]", style="bold cyan")
    head.append(f" {' '.join(clean(title).split())}".rstrip(), style="bold default")
    console.print(head, soft_wrap=True)
    line = Text(" " * INDENT, style="dim")
    line.append(place(without_heading), style=Style(link=link(locator) or None))
    _append_id(line, citation.id, INDENT, console.width)
    line.append(_further_places(citation, INDENT))
    console.print(line, soft_wrap=True)


def _append_id(line: Text, id_: str, indent: int, width: int) -> None:
    """Append an id to the line of its place if it fits there, else write it on the next line."""
    if line.cell_len == indent:
        gap = ""
    elif line.cell_len + 2 + len(id_) <= width:
        gap = "  "
    else:
        gap = "\n" + " " * indent
    line.append(f"{gap}{clean(id_)}", style="dim default")


def _further_places(citation: Citation, indent: int) -> Text:
    """Return the other places that hold the same text or picture, one a line."""
    same = "the same picture" if citation.locator.get("kind") == "image" else "the same text"
    lines = Text("", style="dim default")
    for other in citation.also:
        lines.append(f"\n{' ' * indent}{same}: {place(other)}")
    return lines
