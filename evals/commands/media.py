"""`ragweave eval images` and `video`: pictures found and words read; questions over recordings."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragweave.evals.commands.common import (
    WORK,
    Graph,
    JsonOut,
    ModeName,
    Set,
    Work,
    builder,
    context_of,
    report,
    run,
)

if TYPE_CHECKING:
    from ragweave.evals.video import VideoVerdict


def images(
    data: Annotated[Path, typer.Option("--data", help="Folder of the public data sets.")],
    only: Annotated[str, typer.Option("--only", help="astronomy, slides or ocr; empty: all three.")] = "",
    set_: Set = None,
    work: Work = WORK,
    json_out: JsonOut = None,
) -> None:
    """Index pictures, ask for them, and print recall and the share of words read."""
    from ragweave.evals.corpus import indexed, use_home
    from ragweave.evals.images import astronomy, measure, reading, slides
    from ragweave.models.errors import InputError

    if only not in ("", "astronomy", "slides", "ocr"):
        raise InputError(f"there is no set “{only}”", "use astronomy, slides or ocr")
    folder, context = work.resolve() / "images", context_of("default", "extractive", set_)
    folder.mkdir(parents=True, exist_ok=True)
    use_home(work.resolve() / "home")
    flat: dict[str, float] = {}

    async def measured() -> None:
        if only in ("", "astronomy"):
            book, asked = astronomy(data, folder)
            library = await indexed(book, "images-astronomy")
            plain = context.with_method(fusion="scores")
            flat.update(await measure(library, asked, context, "astronomy"))
            flat.update(await measure(library, asked, plain, "astronomy_fused"))
        if only in ("", "slides"):
            pictures, asked = slides(data, folder)
            library = await indexed(pictures, "images-slides")
            flat.update(await measure(library, asked, context, "slides_ocr"))
        if only in ("", "ocr"):
            flat.update(await asyncio.to_thread(reading, data))

    run(measured())
    report(flat, json_out)


Recordings = Annotated[
    Path, typer.Option("--data", help="Folder with recordings and qa.jsonl (question, answers, videos, t).")
]
Subtitles = Annotated[
    bool,
    typer.Option("--subtitles/--no-subtitles", help="Read the subtitles of recordings, or transcribe them."),
]
Ablate = Annotated[bool, typer.Option("--ablate", help="Also with each channel off in turn.")]
Show = Annotated[bool, typer.Option("--show", help="Print every question with its answer.")]


def video(
    data: Recordings,
    subtitles: Subtitles = True,
    ablate: Ablate = False,
    show: Show = False,
    graph: Graph = "video_rag",
    mode: ModeName = "extractive",
    work: Work = WORK,
    set_: Set = None,
    json_out: JsonOut = None,
) -> None:
    """Ask over recordings: share of right answers, of citations within 15 s, of right recordings."""
    from ragweave.evals.corpus import use_home
    from ragweave.evals.report import write_json
    from ragweave.evals.video import ask_all, figures, prepare, read_asked

    use_home(work.resolve() / "home")
    runs: dict[str, dict[str, float]] = {}
    library = run(prepare(data, work.resolve(), subtitles))
    asked = read_asked(data / "qa.jsonl")
    compiled = builder(graph)().compile()
    for name, knobs in _variants(ablate).items():
        context = context_of(library, mode, set_).with_method(**knobs)
        outcomes = run(ask_all(compiled, asked, context))
        runs[name] = figures(outcomes)
        if show and not knobs:
            _print_outcomes(outcomes)
    typer.echo(_figures_table(runs))
    if json_out:
        write_json(json_out, _flat(runs))


def _variants(ablate: bool) -> dict[str, dict[str, Any]]:
    """Return the settings of the method by variant: all channels, and without each of them in turn."""
    from ragweave.evals.video import CHANNELS

    variants: dict[str, dict[str, Any]] = {"all channels": {}}
    if ablate:
        for left_out in CHANNELS:
            channels = list(CHANNELS)
            channels.remove(left_out)
            variants[f"without {left_out}"] = {"channels": tuple(channels)}
    return variants


def _print_outcomes(outcomes: Sequence[VideoVerdict]) -> None:
    """Print each question with its answer and a plus or minus for each measure."""
    for outcome in outcomes:
        marks = ""
        for good in (outcome.correct, outcome.timely, outcome.right_video, outcome.found):
            marks += "+" if good else "-"
        question = outcome.asked
        typer.echo(f"{question.id} {marks} {question.evidence}: {question.text}\n      {outcome.answer.text}")


def _figures_table(runs: Mapping[str, Mapping[str, float]]) -> str:
    """Return the table of figures, with a column for each variant."""
    from ragweave.evals.report import table

    rows: dict[str, list[str]] = {}
    for figures in runs.values():
        for name, value in figures.items():
            rows.setdefault(name, [name]).append(f"{value:g}")
    return table(["figure", *runs], list(rows.values()))


def _flat(runs: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return all figures under flat keys, which name the variant if there are several."""
    flat = {}
    for variant, figures in runs.items():
        for name, value in figures.items():
            key = f"{variant} {name}" if len(runs) > 1 else name
            flat[key] = value
    return flat
