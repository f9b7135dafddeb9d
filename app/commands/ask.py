"""`ragweave ask` and `ragweave search`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragweave.app.commands.common import (
    EXIT_ABSTAINED,
    JsonOption,
    LibraryOption,
    call,
    console,
    library_name,
    print_json,
    run,
)
from ragweave.app.commands.scope import Choice, Folder, From, To, Video, scope

if TYPE_CHECKING:
    from rich.console import Console

    from ragweave.graphs.base import Wrap
    from ragweave.minds.context import Context
    from ragweave.nodes.answer import Answer


class MindChoice(StrEnum):
    """Values of `--mind`."""

    auto = "auto"
    small = "small"
    llm = "llm"


class WebChoice(StrEnum):
    """Values of `--web`."""

    off = "off"
    ask = "ask"
    auto = "auto"


MindOption = Annotated[
    MindChoice | None,
    typer.Option("--mind", help="Who answers; default: the chat model where there is one."),
]
WebOption = Annotated[WebChoice | None, typer.Option("--web", help="Web search: never, after consent, when needed.")]
TraceOption = Annotated[bool, typer.Option("--trace", "-t", help="Tell the steps as they happen.")]
GraphOption = Annotated[str | None, typer.Option("--graph", "-g", metavar="NAME", help="Graph; see `ragweave graph`.")]
MaxHops = Annotated[int | None, typer.Option("--max-hops", help="Rounds of retrieval, 0 to 10.")]
TopK = Annotated[int | None, typer.Option("--top-k", help="Items kept per round, 1 to 50.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Any other knob of docs/configuration.md; may be repeated."),
]


PresetOption = Annotated[
    str | None, typer.Option("--preset", metavar="NAME", help="Settings of a paper; docs/configuration.md has them.")
]
SaveOption = Annotated[
    Path | None, typer.Option("--save", metavar="RUN.json", help="Keep every step of the run, for `ragweave replay`.")
]


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know; `-` reads it from standard input.")],
    library: LibraryOption = None,
    mind: MindOption = None,
    web: WebOption = None,
    max_hops: MaxHops = None,
    top_k: TopK = None,
    sentences: Annotated[int | None, typer.Option("--sentences", help="Longest extractive answer.")] = None,
    video: Video = None,
    folder: Folder = None,
    from_: From = None,
    to: To = None,
    choice: Choice = None,
    preset: PresetOption = None,
    set_: Set = None,
    graph: GraphOption = None,
    trace: TraceOption = False,
    save: SaveOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question with numbered citations.

    Exit code 3 when the library does not answer it.
    """
    context = build_context(
        library,
        set_,
        preset=preset,
        mind=mind,
        web=web,
        max_hops=max_hops,
        top_k=top_k,
        sentences=sentences,
        choices=choice,
        **scope(video, folder, from_, to),
    )
    asked = read_question(question)
    if save is None:
        answer = answer_aloud(asked, context, graph=graph, trace=trace, quiet=as_json)
    else:
        from ragweave.app.commands.replay import answer_and_save

        answer = answer_and_save(asked, context, save, graph=graph, trace=trace, quiet=as_json)
    if as_json:
        typer.echo(answer.model_dump_json(indent=2))
    if answer.abstained:
        raise typer.Exit(EXIT_ABSTAINED)


def search(
    query: Annotated[str, typer.Argument(help="What to look for; `-` reads it from standard input.")],
    library: LibraryOption = None,
    top_k: TopK = None,
    video: Video = None,
    folder: Folder = None,
    from_: From = None,
    to: To = None,
    set_: Set = None,
    as_json: JsonOption = False,
) -> None:
    """List ranked evidence without answering.

    Exit code 3 when nothing was found.
    """
    from ragweave.app import api

    context = build_context(library, set_, top_k=top_k, **scope(video, folder, from_, to))
    found = run(api.asearch(read_question(query), context=context))
    if as_json:
        print_json(found)
    elif found:
        from ragweave.app.render import print_evidence

        print_evidence(console(), found)
    else:
        typer.echo("Nothing in this library matches.")
    if not found:
        raise typer.Exit(EXIT_ABSTAINED)


def read_question(question: str) -> str:
    """Return the question, read from standard input for `-`.

    Raises:
        InputError: if it is empty, or not text.
    """
    from ragweave.models.errors import InputError

    if question == "-":
        try:
            question = sys.stdin.read()
        except UnicodeDecodeError:
            raise InputError("the question on standard input is not UTF-8 text", "send plain text") from None
    if not question.strip():
        raise InputError("the question is empty", "write what you want to know")
    return question


def build_context(library: str | None, settings: list[str] | None = None, **options: Any) -> Context:
    """Build the run's context from options; one that was not given keeps its default.

    Raises:
        InputError: if a value is out of bounds, or a key is not known.
    """
    from ragweave.graphs.settings import run_settings

    defaults = run_settings()
    values: dict[str, Any] = {"mind": defaults.mind, "web": defaults.web}
    options["library"] = library_name(library)
    return with_settings(values, settings, **options)


def with_settings(given: Mapping[str, Any], settings: list[str] | None = None, **options: Any) -> Context:
    """Build a context from values, with `KEY=VALUE` pairs over them, and options over both; None counts as not given.

    Raises:
        InputError: if a value is out of bounds, or a key is not known.
    """
    from pydantic import ValidationError

    from ragweave.minds.context import Context
    from ragweave.minds.method import Method
    from ragweave.models.errors import InputError

    values = dict(given)
    for pair in settings or []:
        key, equals, value = pair.partition("=")
        if not equals:
            raise InputError(f"`--set {pair}` is not of the form KEY=VALUE", "write, say, --set rerank=false")
        group, _, inner = key.rpartition(".")
        into = values.setdefault("method", {}) if group == "method" else values
        field = (Method if group == "method" else Context).model_fields.get(inner)
        many = field is not None and "tuple" in str(field.annotation)
        into[inner if into is not values else key] = [v for v in value.split(",") if v] if many else value
    values.update({k: getattr(v, "value", v) for k, v in options.items() if v is not None})
    try:
        return Context.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(p) for p in first["loc"])
        raise InputError(
            f"{key}: {first['msg'].lower()}", "docs/configuration.md lists every knob with its bounds"
        ) from None


def answer_aloud(
    question: str,
    context: Context,
    *,
    graph: str | None = None,
    thread: str | None = None,
    checkpointer: Any = None,
    trace: bool = False,
    quiet: bool = False,
    wrap: Wrap | None = None,
    runner: Callable[[Any], Any] = run,
) -> Answer:
    """Ask, printing sentences as they pass their check, then sources and notes.

    Args:
        question: what is asked.
        context: the run's knobs.
        graph: name of the graph; default from the settings.
        thread: conversation to go on with, or None.
        checkpointer: keeps the conversation; without one, consent to a web search is asked only of a person here.
        trace: tell each step.
        quiet: print nothing on standard output; a trace goes to stderr.
        wrap: what every node is put through, for a run that is recorded or replayed.
        runner: runs the coroutine; a conversation keeps one event loop over its turns.
    """
    from ragweave.app.api import build_agent
    from ragweave.app.render import print_answer, usage_line
    from ragweave.graphs.settings import run_settings

    if context.web == "ask" and checkpointer is None and sys.stdin.isatty():
        from langgraph.checkpoint.memory import InMemorySaver

        checkpointer, thread = InMemorySaver(), "once"
    out = console()
    voice = _Voice(out, console(stderr=True), trace=trace, quiet=quiet)
    name = graph or run_settings().graph
    built = build_agent(name, checkpointer=checkpointer, wrap=wrap) if wrap else name
    options = {"context": context, "thread": thread, "graph": built}
    resume: bool | None = None
    while True:
        with voice:
            end = runner(_until_end(question, voice, checkpointer=checkpointer, resume=resume, **options))
        if "answer" in end:
            answer: Answer = end["answer"]
            break
        # Asked here and not inside the run, so that Ctrl-C reaches the question.
        resume = call(voice.consent, end)
    if not quiet:
        if trace:
            out.print()
        print_answer(out, answer, streamed=voice.spoke)
    if trace or (answer.mind == "llm" and not quiet):
        (voice.err if quiet else out).print(f"\nBy: {usage_line(answer)}", style="dim")
    return answer


async def _until_end(question: str, voice: _Voice, **options: Any) -> Mapping[str, Any]:
    """Run until the answer is there, or until consent to a web search is wanted; return the state or that event."""
    from ragweave.app import api

    consent: Mapping[str, Any] | None = None
    state: Mapping[str, Any] = {}
    async for event in api.astream(question, **options):
        if event["type"] == "state":
            state = event["state"]
        elif event["type"] == "consent":
            consent = event
        else:
            voice.event(event)
    return consent or state


class _Voice:
    """Shows a run while it happens: the current step and then the sentences, or the trace (the answer follows it)."""

    def __init__(self, out: Console, err: Console, *, trace: bool, quiet: bool) -> None:
        from ragweave.app.render import Flow

        self.err = err
        self.spoke = False
        self._story = (err if quiet else out) if trace else None
        self._flow = Flow(out)
        self._quiet = quiet
        self._status = err.status("Opening the library ...") if err.is_terminal and not trace else None
        self._steps = 0
        self._hop = 1

    def __enter__(self) -> _Voice:
        if self._status:
            self._status.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._status:
            self._status.stop()
        self._flow.end()

    def event(self, event: Mapping[str, Any]) -> None:
        """Show one event."""
        if event["type"] == "step":
            self._step(event)
        elif event["type"] == "sentence" and not self._quiet and self._story is None:
            if self._status:
                self._status.stop()
            self.spoke = True
            self._flow.sentence(event["text"], [int(c["n"]) for c in event["citations"]], event["support"])

    def consent(self, event: Mapping[str, Any]) -> bool:
        """Ask the reader whether this may be searched on the web."""
        from ragweave.app.render import clean

        try:
            return typer.confirm(f"Search the web for “{clean(str(event.get('query', '')))}”?", err=True)
        except typer.Abort:
            raise KeyboardInterrupt from None

    def _step(self, event: Mapping[str, Any]) -> None:
        from ragweave.app.render import clean, print_step
        from ragweave.graphs.steps import step_of

        self._steps += 1
        if self._story is not None:
            hop = int(event.get("hop") or 1)
            if hop > self._hop:
                self._story.print(f"     Round {hop}", style="bold")
            self._hop = hop
            print_step(self._story, event, self._steps)
        elif self._status:
            words = f"{step_of(str(event['node'])).words}: {event.get('summary', '')}"
            self._status.update(clean(words)[: self.err.width - 4])
