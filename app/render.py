"""Answers, evidence and usage as a person reads them in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.style import Style
from rich.text import Text

from ragweave.app.citations import print_citations
from ragweave.app.flow import Flow, Marks
from ragweave.app.places import clean, link, place_in
from ragweave.components.phrases import EMPTY, QUOTED
from ragweave.models.text import counted as counted

if TYPE_CHECKING:
    from ragweave.components.answer import Answer
    from ragweave.components.evidence import Citation, Evidence

Lines = tuple[str, Marks]
"""Lines of a source, and the stretches of them that match a query."""

_CORPORA = {
    "paragraph": "passages",
    "document": "whole documents",
    "image": "pictures",
    "clip": "clips of recordings",
    "video": "whole recordings",
}
"""What a reader calls the items of a corpus."""


def print_answer(
    console: Console,
    answer: Answer,
    *,
    streamed: bool = False,
    shown: Mapping[int, Any] | None = None,
    remind: bool = True,
) -> None:
    """Print an answer with its sources and notes.

    Args:
        console: where to print.
        answer: the answer.
        streamed: whether its sentences are already on screen.
        shown: the citations on screen by number. A number on screen keeps its source, even if a mark moved
            the sentence to another source later.
        remind: whether to print the note that no model read the quotes.
    """
    if answer.abstained:
        _print_abstention(console, answer)
    elif not streamed:
        _print_sentences(console, answer)
    # The source of a quote is already printed above it.
    quoted: set[int] = set()
    for sentence in answer.sentences:
        if sentence.support == "quoted":
            quoted.update(sentence.citations)
    sources = []
    for n, citation in sorted(_on_screen(answer, shown or {}).items()):
        if n not in quoted:
            sources.append(citation)
    print_citations(console, sources, "Closest found" if answer.abstained else "Sources")
    if quoted:
        console.print()
    for note in answer.notes:
        if not note.startswith(QUOTED):
            console.print(Text(f"Note: {clean(note)}", style="yellow"))
        elif remind:
            console.print(Text(clean(note), style="dim"))


def _print_abstention(console: Console, answer: Answer) -> None:
    """Print that there is no answer, why, and where the run looked."""
    console.print(Text(clean(answer.text) or "No answer.", style="bold"))
    if answer.why and answer.why.rstrip(".") not in answer.text:
        console.print(Text(f"Why: {clean(answer.why)}"))
    if answer.why == EMPTY:
        console.print("Fill it with: ragweave index FOLDER")
    searched = _searched_corpora(answer.searched)
    if searched:
        console.print(Text(f"Looked in {searched}.", style="dim"), soft_wrap=True)


def _print_sentences(console: Console, answer: Answer) -> None:
    flow = Flow(console)
    citations = {citation.n: citation for citation in answer.citations}
    for s in answer.sentences:
        if s.support == "quoted":
            flow.quote(s.text, s.marked, citations[s.citations[0]])
        else:
            flow.sentence(s.text, s.citations, s.support, s.sign, s.says, s.against)
    flow.end()


def _on_screen(answer: Answer, shown: Mapping[int, Any]) -> dict[int, Citation]:
    """Return the citations of an answer and those that only the stream has shown, by number."""
    citations = {citation.n: citation for citation in answer.citations}
    if not shown.keys() <= citations.keys():
        # This import loads pydantic, which other commands do not need.
        from ragweave.components.evidence import Citation

        for n, citation in shown.items():
            if n not in citations:
                citations[n] = Citation.model_validate(citation)
    return citations


def _searched_corpora(searched: Sequence[str]) -> str:
    """Return in a reader's words which corpora all rounds together searched.

    `searched` has an entry for each round: `CORPUS, CORPUS: REASON`.
    """
    names: list[str] = []
    for entry in searched:
        for corpus in entry.partition(": ")[0].split(", "):
            name = _CORPORA.get(corpus, clean(corpus))
            if corpus != "nothing" and name not in names:
                names.append(name)
    return listed(names)


def print_evidence(console: Console, evidence: Sequence[Evidence], lines: Sequence[Lines]) -> None:
    """Print ranked evidence: place, id, date and the matching passage, with words of the query in bold."""
    flow = Flow(console)
    for n, (row, shown) in enumerate(zip(evidence, lines, strict=True), 1):
        head = Text(f"{n:>2}. ", style="cyan")
        head.append(
            place_in(row["title"], row["locator"]) or clean(row["title"]),
            style=Style(bold=True, link=link(row["locator"]) or None),
        )
        console.print(head, soft_wrap=True)
        facts = [row["corpus"], row["id"]]
        if row["date"]:
            facts.append(row["date"][:10])
        console.print(Text("    " + " · ".join(map(clean, facts)), style="dim"), soft_wrap=True)
        flow.lines(*shown)


def usage_line(answer: Answer) -> str:
    """Return who answered, the model calls and tokens, the duration and the cost, in one line."""
    seconds = 0.0
    cost = 0.0
    for usage in answer.usage:
        cost += usage.cost
        # Only the row of a node has its time; a row with a role has the calls of one model.
        if not usage.role:
            seconds += usage.seconds
    parts = [f"chat model {answer.model}" if answer.mode == "llm" else "no language model"]
    if answer.model_calls:
        parts.append(counted(answer.model_calls, "model call"))
        parts.append(f"{answer.tokens:,} tokens")
    parts.append(duration(seconds))
    if cost:
        parts.append(f"cost {cost:.4f}")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """Return a duration in milliseconds, seconds or minutes, whichever a person would write."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"


def listed(items: Iterable[str]) -> str:
    """Join words: `a`, `a and b`, `a, b and c`."""
    *first, last = list(items) or [""]
    return f"{', '.join(first)} and {last}" if first else last
