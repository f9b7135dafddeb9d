"""A run at the terminal: steps and sentences as they arrive, the question for consent, the sources."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from ragweave.app.commands.common import Stopped, console, run
from ragweave.app.flow import Flow
from ragweave.app.places import clean
from ragweave.app.render import print_answer, usage_line
from ragweave.app.trail import Trail
from ragweave.nodes.steps import step_of

if TYPE_CHECKING:
    from ragweave.components.answer import Answer
    from ragweave.components.evidence import Support

Events = AsyncGenerator[dict[str, Any], None]


def print_run(
    events: Callable[[bool | None], Events],
    *,
    trace: str = "",
    quiet: bool = False,
    runner: Callable[[Any], Any] = run,
    remind: bool = True,
) -> Answer:
    """Run a question, print the answer as it is written, and return it.

    Args:
        events: begins the run; called again with the reader's answer if the run waits for consent to a web
            search.
        trace: "", `short` (print the steps that mattered) or `full` (print every step).
        quiet: print the trace to stderr and nothing else.
        runner: runs a coroutine; a conversation passes one that keeps its event loop over all turns.
        remind: print the note that no model read the quotes; a conversation prints it only once.
    """
    out = console()
    display = _Display(out, console(stderr=True), trace=trace, quiet=quiet)
    resume: bool | None = None
    while True:
        with display:
            end = runner(_until_end(events(resume), display))
        if "answer" in end:
            answer: Answer = end["answer"]
            break
        # The question comes after the coroutine ended, so that Ctrl-C stops the question and not the loop.
        resume = _consent(end)
    if not quiet:
        if trace:
            out.print()
        print_answer(out, answer, streamed=display.streamed, shown=display.cited, remind=remind)
    if trace or (answer.mode == "llm" and not quiet):
        target = display.err if quiet else out
        target.print(f"\nBy: {usage_line(answer)}", style="dim")
    return answer


async def _until_end(events: Events, display: _Display) -> Mapping[str, Any]:
    """Show the events of a run; return its last state, or the event that waits for consent."""
    consent: Mapping[str, Any] | None = None
    state: Mapping[str, Any] = {}
    async for event in events:
        if event["type"] == "state":
            state = event["state"]
        elif event["type"] == "consent":
            consent = event
        else:
            display.event(event)
    return consent or state


def _consent(event: Mapping[str, Any]) -> bool:
    """Ask the reader for consent to a web search."""
    try:
        return typer.confirm(f"Search the web for “{clean(str(event.get('query', '')))}”?", err=True)
    except typer.Abort:
        raise Stopped from None


class _Display:
    """Shows a run while it happens: the trace if there is one, else the current step and the sentences."""

    def __init__(self, out: Console, err: Console, *, trace: str, quiet: bool) -> None:
        self.err = err
        self.streamed = False
        """True once a sentence was printed."""
        self.cited: dict[int, Any] = {}
        """Every citation that was printed, by its number."""
        self._texts: dict[int, str] = {}
        self._marks: dict[int, Support] = {}
        self._trail = Trail(err if quiet else out, full=trace == "full") if trace else None
        self._flow = Flow(out)
        self._quiet = quiet
        self._status = err.status("Opening the library ...") if err.is_terminal and not trace else None

    def __enter__(self) -> _Display:
        if self._status:
            self._status.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._status:
            self._status.stop()
        self._flow.end()
        self._flow.tally(list(self._marks.values()))

    def event(self, event: Mapping[str, Any]) -> None:
        """Show one event."""
        match event["type"]:
            case "step":
                self._step(event)
            case "note" if not self._quiet:
                self.err.print(clean(str(event["text"])), style="dim")
            case "sentence" if not self._quiet and self._trail is None:
                self._sentence(event)
            case "mark" if self.streamed:
                self._mark(event)

    def _step(self, event: Mapping[str, Any]) -> None:
        if self._trail:
            self._trail.step(event)
        elif self._status:
            words = f"{step_of(str(event['node'])).words}: {event.get('summary', '')}"
            self._status.update(" ".join(clean(words).split())[: self.err.width - 4])

    def _sentence(self, event: Mapping[str, Any]) -> None:
        if self._status:
            self._status.stop()
        self.streamed = True
        if event["support"] == "quoted":
            # This import loads pydantic, which other commands do not need.
            from ragweave.components.evidence import Citation

            citation = Citation.model_validate(event["citations"][0])
            self._flow.quote(event["text"], event["marked"], citation)
            return
        self._texts[event["n"]] = event["text"]
        self._flow.sentence(event["text"], self._numbers(event), event["support"], event.get("sign", ""))

    def _mark(self, event: Mapping[str, Any]) -> None:
        self._marks[event["n"]] = event["support"]
        text = self._texts.get(event["n"], "")
        self._flow.mark(text, self._numbers(event), event["support"], event["says"], event["against"])

    def _numbers(self, event: Mapping[str, Any]) -> list[int]:
        """Return the citation numbers of a sentence, and remember their citations."""
        numbers: list[int] = []
        for citation in event["citations"]:
            number = int(citation["n"])
            numbers.append(number)
            self.cited[number] = citation
        return numbers
