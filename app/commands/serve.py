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


HostOption = Annotated[
    str | None,
    typer.Option("--host", metavar="ADDRESS", help="Address to listen on; default: this machine only."),
]
PortOption = Annotated[
    int | None, typer.Option("--port", "-p", min=0, max=65_535, help="Port; 0 takes a free one.")
]
LogOption = Annotated[str, typer.Option("--log", help="Log on stderr: text, json or none.")]
WorkersOption = Annotated[
    int | None, typer.Option("--workers", min=1, max=64, help="Processes that answer; default: 1.")
]


def serve(
    host: HostOption = None,
    port: PortOption = None,
    library: LibraryOption = None,
    log: LogOption = "text",
    workers: WorkersOption = None,
) -> None:
    """Serve the page, the API, and the endpoints for chat apps and LangServe.

    Listens on this machine alone. Any other address needs API keys; see `ragweave keys`.
    """
    need("uvicorn", "fastapi", "sse_starlette", what="`ragweave serve`")
    from ragweave.serve.process import only_server, share_heap
    from ragweave.serve.settings import serve_settings

    if log not in ("text", "json", "none"):
        raise InputError(f"there is no log of the form {log!r}", "use text, json or none")
    given: dict[str, str | int] = {}
    if host is not None:
        given["host"] = host
    if port is not None:
        given["port"] = port
    if workers is not None:
        given["workers"] = workers
    settings = serve_settings().model_copy(update=given)
    if library is not None:
        use_library(library)
    share_heap()
    with only_server():
        check_keys(settings)
        _run_server(settings, "debug" if debugging() else log)
    typer.echo("Stopped.")


def _run_server(settings: ServeSettings, log: str) -> None:
    """Serve in this process, or in worker processes if there are several, until the server is stopped."""
    import uvicorn

    from ragweave.serve.process import set_up, settle
    from ragweave.serve.workers import config_of, listen, run_workers

    app = build(settings) if settings.workers == 1 else None
    listener = listen(settings.host, settings.port)
    set_up(log)
    host, port = listener.getsockname()[:2]
    address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    ready = f"Ragweave is at {address} (library {library_name(None)}). Ctrl-C stops it."
    if app is not None:
        typer.echo(ready)
        settle()
        config = config_of(app, settings.shutdown_seconds, settings.proxies)
        uvicorn.Server(config).run(sockets=[listener])
    elif not run_workers(partial(build, settings), settings, log, listener, partial(typer.echo, ready)):
        raise typer.Exit(1)


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
        # Open the libraries first: a wrong name ends the command with an error.
        ids: set[str] = set()
        for name in library or ():
            ids.add((await open_library(name)).id)
        caller = Caller(libraries=frozenset(ids) if ids else None)
        settings = serve_settings()
        server = build(lambda _: caller, Slots(settings.running, settings.run_seconds), PictureDesk())
        await server.run_stdio_async()

    if library:
        use_library(library[0])
    run(talk())


def use_library(name: str) -> None:
    """Make a library the default of this process."""
    from ragweave.components.run_settings import run_settings

    os.environ["RAGWEAVE_LIBRARY"] = name
    run_settings.cache_clear()


def need(*modules: str, what: str) -> None:
    """Check that packages of the extra `serve` are installed.

    Raises:
        MissingExtra: one of them is not.
    """
    for module in modules:
        if find_spec(module) is None:
            raise MissingExtra(what, "serve")


def is_exposed(settings: ServeSettings) -> bool:
    """Return whether other machines can reach the server; further host names mean that a proxy may."""
    if settings.names.strip():
        return True
    try:
        return not ipaddress.ip_address(settings.host).is_loopback
    except ValueError:
        return settings.host.lower() != "localhost"


def check_keys(settings: ServeSettings) -> None:
    """Check that a server which other machines can reach has an API key.

    This also creates the tables, before several workers would create them at once.

    Raises:
        InputError: there is no key that is not revoked.
    """
    revoked = [bool(key.revoked) for key in keys_of_home().all()]
    if is_exposed(settings) and all(revoked):
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
    """Return the keys of the home, or of the database, of the settings."""
    from ragweave.corpora.settings import corpora_settings
    from ragweave.serve.keys import Keys
    from ragweave.serve.store import Store

    return Keys(Store(corpora_settings().home / "serve.sqlite"))


def build(settings: ServeSettings) -> FastAPI:
    """Return the web app."""
    from ragweave.serve.app import create_app

    return create_app(settings, exposed=is_exposed(settings))
