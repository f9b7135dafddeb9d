"""The command line. Commands import what they need when they run, so that `ragweave --help` is fast."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from ragweave import __version__
from ragweave.app.commands import common, keys, library, serve, sources
from ragweave.app.commands.ask import ask
from ragweave.app.commands.chat import chat
from ragweave.app.commands.doctor import doctor
from ragweave.app.commands.graph import graph
from ragweave.app.commands.index import index
from ragweave.app.commands.options import with_trace
from ragweave.app.commands.search import search
from ragweave.app.commands.setup import setup
from ragweave.app.commands.start import start
from ragweave.app.help import Grouped, add_examples
from ragweave.app.tracing import stop_unless_answered
from ragweave.app.unknown_settings import unknown_settings
from ragweave.corpora.store.folders import of_the_disk
from ragweave.models.errors import RagweaveError

app = typer.Typer(
    name="ragweave",
    cls=Grouped,
    help="Ask questions over your own files and get answers that cite them.",
    epilog=(
        "Exit codes: 0 done, 1 unexpected error, 2 wrong use or a named problem, 3 no answer found, 130"
        " stopped. The shell completes commands after `ragweave --install-completion`."
    ),
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    # Plain help can be piped and searched, and loads faster than the rich one.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ragweave {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks and log every step.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    common.set_up_logging(debug)
    if context.invoked_subcommand is None:
        start()


for command in (index, ask, search, chat, sources.show, serve.serve, serve.mcp, doctor, setup, graph):
    app.command()(command)
app.add_typer(sources.sources, name="sources")
app.add_typer(library.library, name="library")
app.add_typer(keys.keys, name="keys")


# Only a checkout has the commands that measure and train.
if find_spec("ragweave.evals") is not None:
    import_module("ragweave.evals.commands.eval").add_to(app)
add_examples(app)

_WRONG_USE: type[Exception] = typer.BadParameter.__mro__[1]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; print an error as one line on stderr."""
    _set_process_options()
    if argv is None:
        _set_own_process()
    try:
        code = app(args=with_trace(sys.argv[1:] if argv is None else list(argv)), standalone_mode=False)
        return code if isinstance(code, int) else 0
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(bool(stop.code))
    except typer.Abort:
        typer.echo("Stopped.", err=True)
        return common.EXIT_STOPPED
    except common.Stopped as stop:
        typer.echo(f"Stopped. {stop}".strip(), err=True)
        return common.EXIT_STOPPED
    except Exception as error:
        return _report(error)


def _set_process_options() -> None:
    """Set options of this process that suit a short command; they must be set before heavy imports."""
    # A short command creates objects and keeps them, so frequent garbage collection only costs time.
    gc.set_threshold(20_000, 20, 100)
    # The matrices of one question are small: threads of BLAS would mostly wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # The reader of conversations takes this setting at import; it then loads only the types of the state.
    os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")


def _set_own_process() -> None:
    """Prepare a process that runs nothing but this command, and print warnings about its environment."""
    # Files in the home are for its user alone.
    os.umask(0o077)
    for warning in (stop_unless_answered(), unknown_settings()):
        if warning:
            typer.echo(warning, err=True)


def _report(error: Exception) -> int:
    """Print an error as one line on stderr, and return the exit code."""
    if isinstance(error, _WRONG_USE):
        common.complain(_wrong_use(error))
        return common.EXIT_ERROR
    if isinstance(error, RagweaveError):
        common.complain(error)
        if common.debugging():
            common.logger.error("stopped by a named error", exc_info=error)
        return common.EXIT_ERROR
    refused = of_the_disk(error)
    if refused:
        common.complain(refused)
        common.logger.warning("the disk refused", exc_info=error)
        return common.EXIT_ERROR
    common.complain(common.unexpected(error))
    return common.EXIT_UNEXPECTED


def _wrong_use(error: Any) -> str:
    """Return in one sentence what is wrong with a command line, and which command shows its usage."""
    what = str(error.format_message())
    if type(error).__name__ == "NoArgsIsHelpError":
        what = "a command is missing"
    what = what[:1].lower() + what[1:].rstrip(".")
    if not error.ctx:
        return f"{what}."
    separator = "" if what[-1] == "?" else ";"
    return f"{what}{separator} see `{error.ctx.command_path} --help`."


if __name__ == "__main__":
    sys.exit(main())
