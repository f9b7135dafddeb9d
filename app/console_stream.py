"""Asking at the terminal: the steps, the sentences or quotes as they come, consent where it is wanted, the sources."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from ragweave.app.commands.common import Stopped, console, run
from ragweave.app.places import clean
from ragweave.app.render import Flow, print_answer, usage_line
from ragweave.app.trail import Trail
from ragweave.nodes.steps import step_of

if TYPE_CHECKING:
    from ragweave.components.answer import Answer

Events = AsyncGenerator[dict[str, Any], None]


def answer_aloud(
    events: Callable[[bool | None], Events],
    *,
    trace: str = "",
    quiet: bool = False,
    runner: Callable[[Any], Any] = run,
    remind: bool = True,
) -> Answer:
    """Ask, printing sentences as they are written, then what the check says against them, sources and notes.

    `events` begins the run, or goes on with it once consent to a web search was given or refused. `trace` is
    "", `short` (the steps that mattered) or `full`; a quiet run tells it on stderr and prints nothing else. A
    conversation keeps one event loop over its turns (`runner`), and is told only once that no model read its
    quotes (`remind`).
    """
    out = console()
    voice = _Voice(out, console(stderr=True), trace=trace, quiet=quiet)
    resume: bool | None = None
    while True:
        with voice:
            end = runner(_until_end(events(resume), voice))
        if "answer" in end:
            answer: Answer = end["answer"]
            break
        # Asked here and not inside the run, so that Ctrl-C reaches the question.
        resume = _consent(end)
    if not quiet:
        if trace:
            out.print()
        print_answer(out, answer, streamed=voice.spoke, shown=voice.cited, remind=remind)
    if trace or (answer.mode == "llm" and not quiet):
        (voice.err if quiet else out).print(f"\nBy: {usage_line(answer)}", style="dim")
    return answer


async def _until_end(events: Events, voice: _Voice) -> Mapping[str, Any]:
    """Run until the answer is there, or until consent to a web search is wanted; return the state or that event."""
    consent: Mapping[str, Any] | None = None
    state: Mapping[str, Any] = {}
    async for event in events:
        if event["type"] == "state":
            state = event["state"]
        elif event["type"] == "consent":
            consent = event
        else:
            voice.event(event)
    return consent or state


def _consent(event: Mapping[str, Any]) -> bool:
    """Ask the reader whether this may be searched on the web."""
    try:
        return typer.confirm(f"Search the web for “{clean(str(event.get('query', '')))}”?", err=True)
    except typer.Abort:
        raise Stopped from None


class _Voice:
    """Shows a run while it happens: the current step and then the sentences, or the trace (the answer follows it)."""

    def __init__(self, out: Console, err: Console, *, trace: str, quiet: bool) -> None:
        self.err = err
        self.spoke = False
        self.cited: dict[int, Any] = {}
        self._texts: dict[int, str] = {}
        self._marks: dict[int, Any] = {}
        self._trail = Trail(err if quiet else out, full=trace == "full") if trace else None
        self._flow = Flow(out)
        self._quiet = quiet
        self._status = err.status("Opening the library ...") if err.is_terminal and not trace else None

    def __enter__(self) -> _Voice:
        if self._status:
            self._status.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._status:
            self._status.stop()
        self._flow.end()
        self._flow.tally([*self._marks.values()])

    def event(self, event: Mapping[str, Any]) -> None:
        """Show one event."""
        if event["type"] == "step" and self._trail:
            self._trail.step(event)
        elif event["type"] == "step" and self._status:
            words = f"{step_of(str(event['node'])).words}: {event.get('summary', '')}"
            self._status.update(" ".join(clean(words).split())[: self.err.width - 4])
        elif event["type"] == "note" and not self._quiet:
            self.err.print(clean(str(event["text"])), style="dim")
        elif event["type"] == "sentence" and not self._quiet and self._trail is None:
            if self._status:
                self._status.stop()
            self.spoke = True
            if event["support"] == "quoted":
                from ragweave.components.evidence import (
                    Citation,
                )  # loads pydantic, which no other command needs

                self._flow.quote(
                    event["text"], event["marked"], Citation.model_validate(event["citations"][0])
                )
                return
            numbers = [int(c["n"]) for c in event["citations"]]
            self._texts[event["n"]] = event["text"]
            self.cited |= {int(c["n"]): c for c in event["citations"]}
            self._flow.sentence(event["text"], numbers, event["support"], event.get("sign", ""))
        elif event["type"] == "mark" and self.spoke:
            self.cited |= {int(c["n"]): c for c in event["citations"]}
            numbers = [int(c["n"]) for c in event["citations"]]
            self._marks[event["n"]] = event["support"]
            text = self._texts.get(event["n"], "")
            self._flow.mark(text, numbers, event["support"], event["says"], event["against"])
