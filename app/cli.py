"""The command line. Commands import what they need when they run, so that `ragweave --help` stays quick."""

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
    # Plain help: it can be piped and searched, and the rich one takes half as long again.
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


if find_spec("ragweave.evals") is not None:  # `eval`, `train` and `synthesize` run from a checkout
    import_module("ragweave.evals.commands.eval").add_to(app)
add_examples(app)

_WRONG_USE: type[Exception] = typer.BadParameter.__mro__[1]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; an error becomes one line on stderr."""
    # A process of one question makes objects and keeps them: looking for garbage at every 700th costs a tenth
    # of it.
    gc.set_threshold(20_000, 20, 100)
    # The products of a question are small: threads of BLAS wait for each other longer than they work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Conversations are read back as the types of the state alone, before anything imports the reader.
    os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
    if argv is None:  # this process is the command: what it writes into a home is its user's alone
        os.umask(0o077)
        if untraced := stop_unless_answered():
            typer.echo(untraced, err=True)
        if unknown := unknown_settings():
            typer.echo(unknown, err=True)
    try:
        code = app(args=with_trace(sys.argv[1:] if argv is None else list(argv)), standalone_mode=False)
        return code if isinstance(code, int) else 0
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(bool(stop.code))
    except typer.Abort:
        typer.echo("Stopped.", err=True)
        return common.EXIT_STOPPED
    except _WRONG_USE as error:
        common.complain(_wrong_use(error))
        return common.EXIT_ERROR
    except common.Stopped as stop:
        typer.echo(f"Stopped. {stop}".strip(), err=True)
        return common.EXIT_STOPPED
    except RagweaveError as error:
        common.complain(error)
        if common.debugging():
            common.logger.exception("stopped by a named error")
        return common.EXIT_ERROR
    except Exception as error:
        if refused := of_the_disk(error):
            common.complain(refused)
            common.logger.warning("the disk refused", exc_info=error)
            return common.EXIT_ERROR
        common.complain(common.unexpected(error))
        return common.EXIT_UNEXPECTED


def _wrong_use(error: Any) -> str:
    """Say in a sentence what is wrong with a command line, and where its use is told."""
    what = (
        "a command is missing" if type(error).__name__ == "NoArgsIsHelpError" else str(error.format_message())
    )
    what = what[:1].lower() + what[1:].rstrip(".")
    return (
        f"{what}{'' if what[-1] == '?' else ';'} see `{error.ctx.command_path} --help`."
        if error.ctx
        else f"{what}."
    )


if __name__ == "__main__":
    sys.exit(main())
