"""Answers, evidence and traces as a person reads them in a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

from ragweave.app.places import clean, link, place, place_in
from ragweave.components.phrases import EMPTY, QUOTED, SIGNS, counted_marks, mark
from ragweave.models.text import UNSPACED_LETTER
from ragweave.models.text import counted as counted

if TYPE_CHECKING:
    from ragweave.components.answer import Answer
    from ragweave.components.evidence import Citation, Evidence, Support

_PIECE = re.compile(r"\s+|\S+")
_WIDEST = 100
"""Columns beyond which running text is hard to read."""
_STYLES = {
    "verified": "green",
    "computed": "green",
    "follows": "green",
    "contradicted": "red",
    "disputed": "red",
}
"""Styles of marks; any other is yellow."""
_INDENT = 4
"""Columns by which lines of a source are indented."""

Marks = Sequence[Sequence[int]]
"""[start, end) of each stretch of a text that matches a question."""
Lines = tuple[str, Marks]
"""Lines of a source, and what in them matches."""


class Flow:
    """Writes sentences as they come, one after another, wrapped at word ends to the width of the terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._width = min(console.width, _WIDEST)
        self._indent = 0
        self._column = 0
        self._last = ""
        self._sign = ""
        self._quoted = False

    def sentence(
        self,
        text: str,
        numbers: Sequence[int],
        support: Support,
        sign: str = "",
        says: str = "",
        against: Sequence[int] = (),
    ) -> None:
        """Write one sentence with its citation numbers and its mark; a row, an item and code on lines of their own."""
        code, begun = sign.startswith("```"), bool(self._column)
        if sign or self._sign.strip():
            self.end()
        if begun and sign == "\n\n":
            self._console.print()
        self._sign = sign
        if code:
            for line in text.splitlines():
                self._console.print(Text("    " + clean(line.expandtabs(4))), soft_wrap=True)
            text = ""
        elif sign.strip():
            self._put(f"{clean(sign)} ", "")
        style = {"model": "italic", "contradicted": "strike"}.get(support, "")
        # A script without spaces joins its sentences without one.
        pieces = clean(text).split()
        if self._last and not (pieces and UNSPACED_LETTER.match(pieces[0]) and self._last in "。！？」”"):
            self._write(" ", "")
        for i, piece in enumerate(pieces):
            self._write((" " if i else "") + piece, style)
        for n in numbers:
            self._write(f" [{n}]" if n == numbers[0] and not code else f"[{n}]", "cyan")
        if said := mark(support, clean(says), against):
            self._write(f" {said}", _STYLES.get(support, "yellow"))
        if sign == "|":
            self._write(" |", "")
        self._last = "]" if numbers or support == "model" else text.rstrip()[-1:]

    def mark(
        self, text: str, numbers: Sequence[int], support: Support, says: str = "", against: Sequence[int] = ()
    ) -> None:
        """Write below the sentences the mark of one of them; a mark that is a sign alone is counted in the end."""
        said = mark(support, clean(says), against)
        if not said or support in SIGNS:
            return
        self.end()
        cited = "".join(f"[{n}]" for n in numbers if support != "contradicted" or n in against)
        self._write(" ".join(filter(None, (f"“{clean(text)}”", cited, said))), _STYLES.get(support, "yellow"))
        self.end()

    def tally(self, supports: Sequence[Support]) -> None:
        """Write below the sentences how many of them bear each mark."""
        if said := counted_marks(supports):
            self.end()
            self._write(f"✓ {said}" if any(s in SIGNS for s in supports) else said, "dim")
            self.end()

    def quote(self, text: str, marked: Marks, citation: Citation) -> None:
        """Write a quote below the title, place and id of what it is quoted from."""
        self.end()
        if self._quoted:
            self._console.print()
        self._quoted = True
        print_source(self._console, citation)
        self.lines(text, marked)

    def lines(self, text: str, marked: Marks) -> None:
        """Write lines of a source, indented, those that are too long wrapped; what is marked in bold."""
        self.end()
        self._indent = _INDENT
        gap = ""
        for found in _PIECE.finditer(text):
            if not found[0].isspace():
                self._word([*_styled(text, *found.span(), marked)], gap)
                gap = ""
            elif "\n" in found[0]:
                self._newline()
                gap = ""
            else:
                gap = " "
        self.end()
        self._indent = 0

    def end(self) -> None:
        """Finish the paragraph."""
        self._newline()
        self._last = ""

    def _word(self, parts: Sequence[tuple[str, str]], gap: str) -> None:
        """Write a word of several styles after a gap; it is not broken between them unless its script allows that."""
        word = "".join(text for text, _ in parts)
        if cell_len(word) == len(word) and max(self._column, self._indent) + len(gap + word) > self._width:
            self._newline()
        gap = gap if self._column else ""
        for text, style in parts:
            self._write(gap + text if text else "", style)
            gap = "" if text else gap

    def _write(self, piece: str, style: str) -> None:
        if max(self._column, self._indent) + cell_len(piece) <= self._width:
            self._put(piece, style)
        elif cell_len(piece) > len(piece):
            # Wide letters belong to scripts that may be broken anywhere.
            for c in piece:
                if self._column + cell_len(c) > self._width:
                    self._newline()
                self._put(c, style)
        elif piece := piece.lstrip():
            self._newline()
            self._put(piece, style)

    def _newline(self) -> None:
        if self._column:
            self._console.print()
            self._column = 0

    def _put(self, piece: str, style: str) -> None:
        if not piece or (self._column == 0 and piece.isspace()):
            return
        if self._column == 0 and self._indent:
            self._console.print(" " * self._indent, end="", soft_wrap=True)
            self._column = self._indent
        self._console.print(Text(piece, style=style), end="", soft_wrap=True)
        self._column += cell_len(piece)


def _styled(text: str, start: int, end: int, marked: Marks) -> Iterator[tuple[str, str]]:
    """Yield the parts of text[start:end] with their styles: bold if they are marked."""
    at = start
    for low, high in marked:
        if low < end and at < high:
            yield clean(text[at : max(low, at)]), ""
            yield clean(text[max(low, at) : min(high, end)]), "bold"
            at = min(high, end)
    yield clean(text[at:end]), ""


def print_answer(
    console: Console,
    answer: Answer,
    *,
    streamed: bool = False,
    shown: Mapping[int, Any] | None = None,
    remind: bool = True,
) -> None:
    """Print an answer with its sources and notes.

    `streamed` says that its sentences have been shown already, `shown` what they were cited to then: a number
    that stands on screen keeps its source, also where a mark has moved the sentence to another one. `remind`
    says whether to tell that no model read the quotes.
    """
    if answer.abstained:
        console.print(Text(clean(answer.text) or "No answer.", style="bold"))
        if answer.why and answer.why.rstrip(".") not in answer.text:
            console.print(Text(f"Why: {clean(answer.why)}"))
        if answer.why == EMPTY:
            console.print("Fill it with: ragweave index FOLDER")
        if looked := _looked_in(answer.searched):
            console.print(Text(f"Looked in {looked}.", style="dim"), soft_wrap=True)
    elif not streamed:
        flow, citations = Flow(console), {c.n: c for c in answer.citations}
        for s in answer.sentences:
            if s.support == "quoted":
                flow.quote(s.text, s.marked, citations[s.citations[0]])
            else:
                flow.sentence(s.text, s.citations, s.support, s.sign, s.says, s.against)
        flow.end()
    # A quote stands below its source.
    told = {n for s in answer.sentences if s.support == "quoted" for n in s.citations}
    kept = {c.n: c for c in answer.citations}
    if gone := {n: c for n, c in (shown or {}).items() if n not in kept}:
        from ragweave.components.evidence import Citation  # loads pydantic, which no other command needs

        kept |= {n: Citation.model_validate(c) for n, c in gone.items()}
    rest = [kept[n] for n in sorted(kept) if n not in told]
    print_citations(console, rest, "Closest found" if answer.abstained else "Sources")
    if told:
        console.print()
    for note in answer.notes:
        if note.startswith(QUOTED):
            if remind:
                console.print(Text(clean(note), style="dim"))
        else:
            console.print(Text(f"Note: {clean(note)}", style="yellow"))


def _looked_in(searched: Sequence[str]) -> str:
    """Return where all rounds together looked, in a reader's words."""
    corpora = dict.fromkeys(
        c for place in searched for c in place.partition(": ")[0].split(", ") if c != "nothing"
    )
    *first, last = [_CORPORA.get(c, clean(c)) for c in corpora] or [""]
    return f"{', '.join(first)} and {last}" if first else last


_CORPORA = {
    "paragraph": "passages",
    "document": "whole documents",
    "image": "pictures",
    "clip": "clips of recordings",
    "video": "whole recordings",
}


def print_citations(console: Console, citations: Sequence[Citation], heading: str) -> None:
    """Print the numbered sources of an answer, each with its place; numbers of the same place share a line."""
    if not citations:
        return
    console.print()
    console.print(Text(heading, style="bold"))
    groups: dict[tuple[str, str], list[Citation]] = {}
    for c in citations:
        groups.setdefault((c.id, place_in(c.title, c.locator) or clean(c.title)), []).append(c)
    for (id_, where), cited in groups.items():
        line = Text("  " + "".join(f"[{c.n}]" for c in cited) + " ", style="cyan")
        indent = line.cell_len
        line.append(where, style=Style(color="default", link=link(cited[0].locator) or None))
        _append_id(line, id_, indent, console.width)
        line.append(_also(cited[0], indent))
        console.print(line, soft_wrap=True)


def print_source(console: Console, citation: Citation) -> None:
    """Print what a quote stands in: its number and title, and below them its place and id."""
    title, locator = citation.title, citation.locator
    for heading in locator.get("heading", ()):
        title = title.replace(f" · {heading}", f" › {heading}")
    # The title holds the headings; a line opens the place in an editor.
    at = locator.copy()
    at.pop("heading", None)
    where = place(at)
    head = Text(f"[{citation.n}]", style="bold cyan")
    head.append(f" {' '.join(clean(title).split())}".rstrip(), style="bold default")
    console.print(head, soft_wrap=True)
    line = Text(" " * _INDENT, style="dim")
    line.append(where, style=Style(link=link(locator) or None))
    _append_id(line, citation.id, _INDENT, console.width)
    line.append(_also(citation, _INDENT))
    console.print(line, soft_wrap=True)


def _append_id(line: Text, id_: str, indent: int, width: int) -> None:
    """Append an id to the line of its place, where it fits there, or below it."""
    fits = line.cell_len + 2 + len(id_) <= width
    gap = "" if line.cell_len == indent else "  " if fits else f"\n{' ' * indent}"
    line.append(f"{gap}{clean(id_)}", style="dim default")


def _also(citation: Citation, indent: int) -> Text:
    """Return further places of a source, a line each."""
    same = "the same picture" if citation.locator.get("kind") == "image" else "the same text"
    lines = [f"\n{' ' * indent}{same}: {place(other)}" for other in citation.also]
    return Text("".join(lines), style="dim default")


def print_evidence(console: Console, evidence: Sequence[Evidence], lines: Sequence[Lines]) -> None:
    """Print ranked evidence: place, id, date and the passage that matches, its words of the query in bold."""
    flow = Flow(console)
    for n, (e, shown) in enumerate(zip(evidence, lines, strict=True), 1):
        head = Text(f"{n:>2}. ", style="cyan")
        head.append(
            place_in(e["title"], e["locator"]) or clean(e["title"]),
            style=Style(bold=True, link=link(e["locator"]) or None),
        )
        console.print(head, soft_wrap=True)
        facts = [e["corpus"], e["id"]]
        if e["date"]:
            facts.append(e["date"][:10])
        console.print(Text("    " + " · ".join(clean(f) for f in facts), style="dim"), soft_wrap=True)
        flow.lines(*shown)


def usage_line(answer: Answer) -> str:
    """Say who answered and what it took."""
    seconds = sum(u.seconds for u in answer.usage if not u.role)
    who = f"chat model {answer.model}" if answer.mode == "llm" else "no language model"
    spent = (
        f", {counted(answer.model_calls, 'model call')}, {answer.tokens:,} tokens"
        if answer.model_calls
        else ""
    )
    cost = sum(u.cost for u in answer.usage)
    return f"{who}{spent}, {duration(seconds)}" + (f", cost {cost:.4f}" if cost else "")


def duration(seconds: float) -> str:
    """Write a duration as a person would."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"


def listed(items: Iterable[str]) -> str:
    """Join words: `a`, `a and b`, `a, b and c`."""
    words = list(items)
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else ""
