"""`ragweave` without a command: the state of the home, and the next step."""

from __future__ import annotations

import asyncio

import typer

from ragweave.app.places import clean, short_path
from ragweave.app.render import counted, listed

_LISTED = 4
"""Libraries that are named; the rest are counted."""


def start() -> None:
    """Print home, libraries, who answers, and the next step."""
    from ragweave.corpora.settings import corpora_settings
    from ragweave.models.settings import model_settings

    home, settings = corpora_settings().home, model_settings()
    libraries = asyncio.run(asyncio.to_thread(_libraries))
    names = libraries[:_LISTED]
    if len(libraries) > _LISTED:
        names.append(f"{len(libraries) - _LISTED} more")
    answers = "quotes of the closest passages; no chat model is set up"
    if settings.chat:
        answers = f"written by {settings.chat}"
    typer.echo(f"home       {short_path(str(home))}{'' if home.is_dir() else ' (made at first use)'}")
    typer.echo(f"libraries  {listed(names) or 'none yet'}")
    typer.echo(clean(f"answers    {answers}"))
    typer.echo(f"next       {_next_step(bool(libraries), bool(settings.chat))}")
    typer.echo("\n`ragweave --help` lists the commands.")


def _next_step(has_library: bool, has_chat: bool) -> str:
    if not has_library:
        return "ragweave index FOLDER: reads your files"
    if not has_chat:
        return 'ragweave ask "...": quotes what lies closest; `ragweave setup` finds a chat model'
    return 'ragweave ask "...": answers; `ragweave serve` opens the page'


def _libraries() -> list[str]:
    """Return the name of each library with the number of its sources."""
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.store.stores import stores
    from ragweave.models.errors import RagweaveError

    # Scanning would create the home.
    if not corpora_settings().home.is_dir():
        return []
    catalog = stores().catalog
    names: list[str] = []
    for row in catalog.scan()[0]:
        try:
            state = counted(catalog.files(row.id), "source")
        except RagweaveError:
            state = "cannot be read: `ragweave doctor` says why"
        names.append(clean(f"{row.name} ({state})"))
    return names
