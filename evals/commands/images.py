"""`ragweave eval images` and `eval alpha`: pictures found, words read, and the weight of what pictures show."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from ragweave.app.commands.options import Set
from ragweave.evals.commands.common import WORK, HtmlOut, JsonOut, Work, context_of, report, run

Folder = Annotated[Path, typer.Option("--data", help="Folder of the public data sets.")]


def images(
    data: Folder,
    only: Annotated[str, typer.Option("--only", help="astronomy, slides, ocr or pace; empty: all four.")] = "",
    set_: Set = None,
    work: Work = WORK,
    json_out: JsonOut = None,
    html: HtmlOut = None,
) -> None:
    """Index pictures, ask for them, and print recall with each text source switched off, and what reading costs."""
    from ragweave.evals.corpus import use_home
    from ragweave.evals.image_figures import book, lectures, pace, reading
    from ragweave.models.errors import InputError

    if only not in ("", "astronomy", "slides", "ocr", "pace"):
        raise InputError(f"there is no set “{only}”", "use astronomy, slides, ocr or pace")
    folder, context = work.resolve() / "images", context_of("default", "small", set_)
    folder.mkdir(parents=True, exist_ok=True)
    use_home(work.resolve() / "home")
    flat: dict[str, float] = {}

    def tell(name: str, figures: dict[str, float]) -> None:
        flat.update(figures)
        typer.echo(f"{name}: " + ", ".join(f"{k} {v:g}" for k, v in figures.items()))

    async def measured() -> None:
        if only in ("", "astronomy"):
            await book(data, folder, context, tell)
        if only in ("", "slides"):
            await lectures(data, folder, context, tell)
        if only in ("", "ocr"):
            await asyncio.to_thread(reading, data, tell)
        if only in ("", "pace"):
            await asyncio.to_thread(pace, data, folder, tell)

    run(measured())
    report(flat, json_out, html, "Pictures")


def alpha(
    queries: Annotated[Path, typer.Option("--queries", help="JSON Lines with query and gold, a file name.")],
    library: Annotated[str, typer.Option("--library", help="Library whose pictures an image encoder has seen.")],
    set_: Set = None,
    json_out: JsonOut = None,
    html: HtmlOut = None,
) -> None:
    """Ask for pictures with every weight of what they show, and print the one that finds most."""
    from ragweave.evals.images import calibrate, read_asked

    context = context_of(library, "small", set_)
    flat = run(calibrate(read_asked(queries), library, context))
    report(flat, json_out, html, f"Alpha: {queries.name}")
