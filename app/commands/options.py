"""Options that `ask`, `search` and `chat` share, and the context that they set up."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragweave.app.commands.common import library_name
from ragweave.models.errors import InputError

if TYPE_CHECKING:
    from ragweave.components.context import Context


ModeOption = Annotated[
    str | None,
    typer.Option(
        "--mode",
        metavar="auto|extractive|llm",
        help="extractive: quote passages; llm: a chat model; default: llm if one is set.",
    ),
]
WebOption = Annotated[
    str | None,
    typer.Option("--web", metavar="off|ask|auto", help="Web search: never, after consent, when needed."),
]
TraceOption = Annotated[
    str,
    typer.Option(
        "--trace", metavar="[full]", help="Print the steps that mattered (-t for short), or every one."
    ),
]
"""Its word is optional, which the parser does not support: see `with_trace`."""
GraphOption = Annotated[
    str | None, typer.Option("--graph", "-g", metavar="NAME", help="Graph; see `ragweave graph`.")
]
LENGTHS = {"short": 1, "paragraph": 6, "report": 30}
"""The most sentences of an answer, by the name of its length."""
Length = Annotated[
    str | None,
    typer.Option(
        "--length",
        metavar="|".join(LENGTHS),
        help="How long an answer of a chat model may be; default: 3 sentences.",
    ),
]
TopK = Annotated[int | None, typer.Option("--top-k", help="Items kept per round, 1 to 50.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Any other knob of docs/configuration.md; may be repeated."
    ),
]
PresetOption = Annotated[
    str | None,
    typer.Option("--preset", metavar="NAME", help="A paper's graph and settings: `ragweave graph --preset`."),
]
EffortOption = Annotated[
    str | None,
    typer.Option(
        "--effort",
        metavar="low|normal|high",
        help="low: one round; high: more rounds, passages and rewrites, for more calls.",
    ),
]
Source = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        metavar="NAME",
        help="Only this file or recording: its name, title or id; may be repeated.",
    ),
]
Folder = Annotated[str | None, typer.Option("--in", metavar="FOLDER", help="Only what lies in this folder.")]
From = Annotated[
    str | None, typer.Option("--from", metavar="TIME", help="Only from here on, as 12:30 or seconds.")
]
To = Annotated[str | None, typer.Option("--to", metavar="TIME", help="Only up to here, as 15:00 or seconds.")]

Strict = Annotated[
    bool | None, typer.Option("--strict", help="Leave out what a chat model wrote and is not verified.")
]
MaxCalls = Annotated[int | None, typer.Option("--max-calls", help="Chat model calls this may take.")]
MaxCost = Annotated[
    float | None, typer.Option("--max-cost", help="Money this may cost, in the unit of your rates.")
]
MaxSeconds = Annotated[float | None, typer.Option("--max-seconds", help="Seconds this may take.")]


def limits(
    strict: bool | None, max_calls: int | None, max_cost: float | None, max_seconds: float | None
) -> dict[str, Any]:
    """Return the context's fields for the options that limit a run; None if not given."""
    return {
        "check_by": "strict" if strict else None,
        "max_model_calls": max_calls,
        "max_cost": max_cost,
        "max_seconds": max_seconds,
    }


def with_trace(words: list[str]) -> list[str]:
    """Replace `--trace` and `-t` by `--trace=short`, and `--trace full` by `--trace=full`."""
    out: list[str] = []
    for word in words:
        if word in ("--trace", "-t"):
            out.append("--trace=short")
        elif word == "full" and out and out[-1] == "--trace=short":
            out[-1] = "--trace=full"
        else:
            out.append(word)
    return out


def read_question(question: str) -> str:
    """Return the question; for `-`, read it from standard input.

    Raises:
        InputError: it is empty, or is not UTF-8 text.
    """
    if question == "-":
        try:
            question = sys.stdin.read()
            # Without a locale, Python reads invalid bytes as surrogates, which only `encode` rejects.
            question.encode()
        except UnicodeError:
            raise InputError("the question on standard input is not UTF-8 text", "send plain text") from None
    if not question.strip():
        raise InputError("the question is empty", "write what you want to know")
    return question


def scope(source: list[str] | None, folder: str | None, from_: str | None, to: str | None) -> dict[str, Any]:
    """Return the context's fields for the options that narrow a search; None if not given."""
    return {
        "sources": source or None,
        "collection": folder,
        "from_time": from_ and at_seconds(from_),
        "to_time": to and at_seconds(to),
    }


def at_seconds(time: str) -> float:
    """Return the seconds of a time such as 1:02:03, 12:30 or 90.

    Raises:
        InputError: it is not a time.
    """
    try:
        parts = [float(part) for part in time.split(":")]
    except ValueError:
        parts = []
    if not 1 <= len(parts) <= 3 or min(parts) < 0:
        raise InputError(f"“{time}” is not a time", "write 12:30, 1:02:03 or a number of seconds")
    seconds = 0.0
    for part in parts:
        seconds = 60 * seconds + part
    return seconds


def sentences_of(length: str | None) -> int | None:
    """Return how many sentences an answer of this length may have; None for the default."""
    if length is None:
        return None
    if length not in LENGTHS:
        raise InputError(f"there is no length “{length}”", f"use one of: {', '.join(LENGTHS)}")
    return LENGTHS[length]


def graph_of(named: str | None, context: Context) -> str:
    """Return the graph to run: the named one, else that of the preset, else that of the settings."""
    from ragweave.components import method
    from ragweave.components.run_settings import run_settings

    return named or method.graph_of(context.preset) or run_settings().graph


def build_context(library: str | None, settings: list[str] | None = None, **options: Any) -> Context:
    """Build the run's context from options; an option that is not given keeps its default."""
    from ragweave.components.run_settings import run_settings, with_settings

    values = run_settings().defaults
    return with_settings(values, settings, library=library_name(library), **options)
