"""`ragweave` alone: the state of the home in four lines, and the next step."""

from __future__ import annotations

import asyncio

import typer

from ragweave.app.places import clean, short_path
from ragweave.app.render import counted, listed

_LISTED = 4


def start() -> None:
    """Print home, libraries, who answers, and what to do next."""
    from ragweave.corpora.settings import corpora_settings
    from ragweave.models.settings import model_settings

    home, settings = corpora_settings().home, model_settings()
    libraries = asyncio.run(asyncio.to_thread(_libraries))
    rest = [f"{len(libraries) - _LISTED} more"] if len(libraries) > _LISTED else []
    if not libraries:
        step = "ragweave index FOLDER: reads your files"
    elif not settings.chat:
        step = 'ragweave ask "...": quotes what lies closest; `ragweave setup` finds a chat model'
    else:
        step = 'ragweave ask "...": answers; `ragweave serve` opens the page'
    typer.echo(f"home       {short_path(str(home))}{'' if home.is_dir() else ' (made at first use)'}")
    typer.echo(f"libraries  {listed([*libraries[:_LISTED], *rest]) or 'none yet'}")
    who = (
        f"written by {settings.chat}"
        if settings.chat
        else "quotes of the closest passages; no chat model is set up"
    )
    typer.echo(clean(f"answers    {who}"))
    typer.echo(f"next       {step}")
    typer.echo("\n`ragweave --help` lists the commands.")


def _libraries() -> list[str]:
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.store.stores import stores
    from ragweave.models.errors import RagweaveError

    told: list[str] = []
    # Listing would make the home.
    for row in stores().catalog.scan()[0] if corpora_settings().home.is_dir() else []:
        try:
            told.append(clean(f"{row.name} ({counted(stores().catalog.files(row.id), 'source')})"))
        except RagweaveError:
            told.append(clean(f"{row.name} (cannot be read: `ragweave doctor` says why)"))
    return told
