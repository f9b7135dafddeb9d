"""`ragweave serve`: the server in the foreground, until Ctrl-C."""

from __future__ import annotations

import ipaddress
import os
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from ragweave.app.commands.common import LibraryOption, debugging, library_name, run
from ragweave.models.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from fastapi import FastAPI

    from ragweave.serve.keys import Keys
    from ragweave.serve.settings import ServeSettings


def serve(
    host: Annotated[
        str | None,
        typer.Option("--host", metavar="ADDRESS", help="Address to listen on; default: this machine only."),
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", "-p", min=0, max=65_535, help="Port; 0 takes a free one.")
    ] = None,
    library: LibraryOption = None,
    log: Annotated[str, typer.Option("--log", help="Log on stderr: text, json or none.")] = "text",
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, max=64, help="Processes that answer; default: 1.")
    ] = None,
) -> None:
    """Serve the page, the API, and the doors for chat apps and LangServe.

    Listens on this machine alone. Any other address needs API keys; see `ragweave keys`.
    """
    need("uvicorn", "fastapi", "sse_starlette", what="`ragweave serve`")
    import uvicorn

    from ragweave.serve.process import only_server, set_up, settle, share_heap
    from ragweave.serve.settings import serve_settings
    from ragweave.serve.workers import config_of, listen, run_workers

    if log not in ("text", "json", "none"):
        raise InputError(f"there is no log of the form {log!r}", "use text, json or none")
    given = {k: v for k, v in {"host": host, "port": port, "workers": workers}.items() if v is not None}
    settings = serve_settings().model_copy(update=given)
    if library is not None:
        use_library(library)
    log = "debug" if debugging() else log
    share_heap()
    with only_server():
        check_keys(settings)
        app = build(settings) if settings.workers == 1 else None
        listener = listen(settings.host, settings.port)
        set_up(log)
        at = listener.getsockname()
        shown = f"[{at[0]}]" if ":" in at[0] else at[0]
        place = f"Ragweave is at http://{shown}:{at[1]} (library {library_name(None)}). Ctrl-C stops it."
        if app is not None:
            typer.echo(place)
            settle()
            uvicorn.Server(config_of(app, settings.shutdown_seconds, settings.proxies)).run(
                sockets=[listener]
            )
        elif not run_workers(partial(build, settings), settings, log, listener, partial(typer.echo, place)):
            raise typer.Exit(1)
    typer.echo("Stopped.")


def mcp(
    library: Annotated[
        list[str] | None,
        typer.Option(
            "--library", "-l", metavar="NAME", help="Library to open, and no other; may be repeated."
        ),
    ] = None,
) -> None:
    """Serve tools to an assistant over standard input and output (MCP).

    The assistant starts this command by itself. Over HTTP the same tools are at /mcp of `ragweave serve`.
    """
    need("mcp", "fastapi", "sse_starlette", what="`ragweave mcp`")
    from ragweave.corpora.store.library import open_library
    from ragweave.corpora.store.stores import stay
    from ragweave.serve.access import Caller
    from ragweave.serve.mcp import build
    from ragweave.serve.pictures import PictureDesk
    from ragweave.serve.settings import serve_settings
    from ragweave.serve.slots import Slots

    async def talk() -> None:
        stay()
        # Opened here, so that a name that is wrong ends the command with a sentence.
        rows = [await open_library(name) for name in library or ()]
        caller = Caller(libraries=frozenset(row.id for row in rows) if rows else None)
        settings = serve_settings()
        server = build(lambda _: caller, Slots(settings.running, settings.run_seconds), PictureDesk())
        await server.run_stdio_async()

    if library:
        use_library(library[0])
    run(talk())


def use_library(name: str) -> None:
    """Make a library the one that is used where a request names none."""
    from ragweave.components.run_settings import run_settings

    os.environ["RAGWEAVE_LIBRARY"] = name
    run_settings.cache_clear()


def need(*modules: str, what: str) -> None:
    """Check that packages of the extra `serve` are there."""
    if any(find_spec(m) is None for m in modules):
        raise MissingExtra(what, "serve")


def is_exposed(settings: ServeSettings) -> bool:
    """Whether the settings let other machines in; further host names count, because a proxy may stand before them."""
    if settings.names.strip():
        return True
    try:
        return not ipaddress.ip_address(settings.host).is_loopback
    except ValueError:
        return settings.host.lower() != "localhost"


def check_keys(settings: ServeSettings) -> None:
    """Refuse to let other machines in where there is no key; makes the tables before several workers would at once."""
    keys = keys_of_home().all()
    if is_exposed(settings) and all(key.revoked for key in keys):
        if not is_exposed(settings.model_copy(update={"names": ""})):
            raise InputError(
                f"RAGWEAVE_SERVE_NAMES lets other machines in by {settings.names.strip()!r}, and there is no"
                " API key",
                "make one with: ragweave keys create NAME --all, or unset RAGWEAVE_SERVE_NAMES",
            )
        raise InputError(
            f"{settings.host} can be reached from other machines, and there is no API key",
            "make one with: ragweave keys create NAME --all, or listen on 127.0.0.1",
        )


def keys_of_home() -> Keys:
    """Return the keys that the settings lead to."""
    from ragweave.corpora.settings import corpora_settings
    from ragweave.serve.keys import Keys
    from ragweave.serve.store import Store

    return Keys(Store(corpora_settings().home / "serve.sqlite"))


def build(settings: ServeSettings) -> FastAPI:
    """Return the app."""
    from ragweave.serve.app import create_app

    return create_app(settings, exposed=is_exposed(settings))
