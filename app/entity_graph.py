"""The entity graph in `ragweave setup` and `ragweave doctor`: what it brings and costs, and how far it is."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import typer

from ragweave.app.commands.common import run
from ragweave.app.findings import Finding
from ragweave.app.places import clean
from ragweave.app.render import counted, duration
from ragweave.components.entities import model_name
from ragweave.components.graph_state import HOUR_CALLS, HOUR_INPUT, HOUR_OUTPUT, GraphState, graph_states
from ragweave.models.errors import InputError
from ragweave.models.user_settings import nearer, write

NAME = "entities"
"""Its name among the parts of `ragweave setup`."""
AREA = "entity graph"
VARIABLE = "RAGWEAVE_ENTITIES"
_FIRST = "ragweave setup chat"
_OFF = "recordings are searched by their words and pictures"
_BRINGS = """\
  With it the chat model notes who and what each recording speaks of, and how they are related.
  The page shows them as communities, `ragweave graph --entities FILE` exports them, and the preset
  video-rag-paper searches by them. In our test that put the right seconds among the first five for .03
  more of the questions, which may be chance (docs/papers.md); the default search leaves them out."""
_COSTS = (
    f"  An hour of recordings costs about {HOUR_CALLS} calls, once: {HOUR_INPUT:,} tokens to read and"
    f" {HOUR_OUTPUT:,} to write,\n  more if the model thinks first."
)


def offer(yes: bool, asks: bool) -> None:
    """Say what the entity graph brings and costs, and switch it on after a yes.

    Args:
        yes: whether the answer is given.
        asks: whether a person can be asked; otherwise the offer is only shown.

    Raises:
        InputError: `yes`, and no chat model is set up.
    """
    reader, states = model_name(), run(graph_states())
    typer.echo(f"\nEntity graph: {clean(_what(states, reader, _is_on()))}.\n{_BRINGS}\n{_COSTS}")
    if not reader:
        if yes:
            raise InputError(
                "the entity graph is built by a chat model, and none is set up", f"set one up first: {_FIRST}"
            )
        typer.echo(f"  It needs a chat model first: {_FIRST}")
        return
    typer.echo(clean(f"  The transcripts go to {reader}."))
    for state in states:
        if state.left:
            length = duration(state.seconds)
            calls = counted(state.left, "call")
            typer.echo(clean(f"  Library {state.library}: {length} of recordings, {calls} to read them."))
    if _is_on():
        typer.echo("  Back to none with: ragweave setup entities --remove")
    elif yes or (asks and typer.confirm("Switch it on?", default=False)):
        _write("llm")
        _name_commands(states)
    elif not asks:
        typer.echo("  Switch it on with: ragweave setup entities --yes")


def remove() -> None:
    """Switch the entity graph off; graphs that are built stay."""
    _write("")
    for state in run(graph_states()):
        if state.entities:
            typer.echo(f"The graph of library {state.library} stays, and is not continued.")


def _write(value: str) -> None:
    from ragweave.corpora.settings import corpora_settings

    where = write({VARIABLE: value})
    corpora_settings.cache_clear()
    typer.echo(f"Written to {where}: {f'{VARIABLE}={value}' if value else f'{VARIABLE} unset'}.")
    overridden = nearer([VARIABLE])
    if overridden:
        typer.echo(f"Note: {overridden}, and counts before it.")


def _name_commands(states: Sequence[GraphState]) -> None:
    """Print the command that builds the graph of each library with recordings."""
    if not states:
        typer.echo("`ragweave index` builds it with the first recording or transcript.")
    for state in states:
        typer.echo(f"Build that of library {state.library} with: {_index(state)}")


def _index(state: GraphState) -> str:
    """Return the command that indexes a library again: any file of it leads to all that is not read yet."""
    name = "" if state.library == "default" else f" --library {shlex.quote(state.library)}"
    return f"ragweave index {shlex.quote(state.path) if state.path else 'FOLDER'}{name}"


def _is_on() -> bool:
    from ragweave.corpora.settings import corpora_settings

    return corpora_settings().entities == "llm"


def _what(states: Sequence[GraphState], reader: str, is_on: bool) -> str:
    """Return the state of the graph of all libraries, in words."""
    built = []
    for state in states:
        if state.entities:
            part = f"library {state.library} has {state.entities:,} entities"
            unread = (
                f", and {state.left} of {state.chunks} parts are not read yet" if is_on and state.left else ""
            )
            built.append(part + unread)
        elif is_on:
            built.append(f"library {state.library} has none yet")
    if is_on:
        who = (
            f"built by {reader} when recordings are indexed" if reader else "on, but no chat model is set up"
        )
        return "; ".join([who, *built])
    return "; ".join(["built earlier, and not continued", *built]) if built else f"none; {_OFF}"


async def finding() -> Finding:
    """Return the state of the entity graph for `ragweave doctor`; call no model."""
    reader, states, is_on = model_name(), await graph_states(), _is_on()
    what = _what(states, reader, is_on)
    if not is_on:
        return Finding(AREA, "off", what, f"`ragweave setup {NAME}`")
    if not reader:
        return Finding(AREA, "warn", what, f"`{_FIRST}`, or `ragweave setup {NAME} --remove`")
    for state in states:
        if state.left:
            return Finding(AREA, "warn", what, f"`{_index(state)}`")
    return Finding(AREA, "ok", what)
