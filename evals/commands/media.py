"""`ragweave eval images` and `video`: pictures found and words read; questions over recordings."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from ragweave.evals.commands.common import (
    WORK,
    JsonOut,
    ModeName,
    Set,
    Work,
    builder,
    context_of,
    report,
    run,
)


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
            library, plain = (
                await indexed(book, "images-astronomy"),
                context.with_method(fusion="scores"),
            )
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


def video(
    data: Annotated[
        Path,
        typer.Option("--data", help="Folder with recordings and qa.jsonl (question, answers, videos, t)."),
    ],
    subtitles: Annotated[
        bool,
        typer.Option(
            "--subtitles/--no-subtitles", help="Read the subtitles of recordings, or transcribe them."
        ),
    ] = True,
    ablate: Annotated[bool, typer.Option("--ablate", help="Also with each channel off in turn.")] = False,
    show: Annotated[bool, typer.Option("--show", help="Print every question with its answer.")] = False,
    graph: Annotated[str, typer.Option("--graph", help="Graph that answers.")] = "video_rag",
    mode: ModeName = "extractive",
    work: Work = WORK,
    set_: Set = None,
    json_out: JsonOut = None,
) -> None:
    """Ask over recordings: share of right answers, of citations within 15 s, of right recordings."""
    from ragweave.evals.corpus import use_home
    from ragweave.evals.report import table, write_json
    from ragweave.evals.video import CHANNELS, ask_all, figures, prepare, read_asked

    use_home(work.resolve() / "home")
    runs: dict[str, dict[str, float]] = {}
    variants: list[tuple[str, dict[str, Any]]] = [("all channels", {})]
    if ablate:
        variants += [(f"without {c}", {"channels": tuple(o for o in CHANNELS if o != c)}) for c in CHANNELS]
    library = run(prepare(data, work.resolve(), subtitles))
    asked = read_asked(data / "qa.jsonl")
    compiled = builder(graph)().compile()
    for name, knobs in variants:
        context = context_of(library, mode, set_)
        context = context.model_copy(update={"method": context.method.model_copy(update=knobs)})
        outcomes = run(ask_all(compiled, asked, context))
        runs[name] = figures(outcomes)
        if show and not knobs:
            for o in outcomes:
                marks = "".join("+" if ok else "-" for ok in (o.correct, o.timely, o.right_video, o.found))
                typer.echo(f"{o.asked.id} {marks} {o.asked.evidence}: {o.asked.text}\n      {o.answer.text}")
    names = list(next(iter(runs.values())))
    typer.echo(
        table(["figure", *runs], [[n, *(f"{figures[n]:g}" for figures in runs.values())] for n in names])
    )
    if json_out:
        flat = {
            f"{run_} {n}" if len(runs) > 1 else n: v
            for run_, figures in runs.items()
            for n, v in figures.items()
        }
        write_json(json_out, flat)
