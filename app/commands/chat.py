"""`ragweave chat`: a conversation that is kept on disk."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from ragweave.app import api
from ragweave.app.commands import options as given
from ragweave.app.commands.common import LibraryOption, Stopped, complain, console, print_json
from ragweave.app.console_stream import print_run
from ragweave.app.places import clean
from ragweave.app.render import counted
from ragweave.corpora.store.folders import of_the_disk
from ragweave.models.errors import RagweaveError

if TYPE_CHECKING:
    from ragweave.app.threads import SavedThread
    from ragweave.serve.conversations import Saver

_HELP = """/new        begin another conversation
/threads    list the conversations on disk
/go ID      continue one of them
/trace      print the steps, or stop printing them
/quit       leave (so does Ctrl-D)"""


def chat(
    library: LibraryOption = None,
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="ID", help="Conversation to continue.")
    ] = None,
    last: Annotated[bool, typer.Option("--continue", "-c", help="Continue the last conversation.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the conversations on disk.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --list: print JSON for programs.")] = False,
    mode: given.ModeOption = None,
    web: given.WebOption = None,
    effort: given.EffortOption = None,
    preset: given.PresetOption = None,
    strict: given.Strict = None,
    max_calls: given.MaxCalls = None,
    max_cost: given.MaxCost = None,
    max_seconds: given.MaxSeconds = None,
    set_: given.Set = None,
    graph: given.GraphOption = None,
    trace: given.TraceOption = "",
) -> None:
    """Ask one question after another; follow-up questions are understood.

    Conversations are kept on disk and can be continued.
    """
    from ragweave.app import threads

    bounds = given.limits(strict, max_calls, max_cost, max_seconds)
    context = given.build_context(library, set_, effort=effort, preset=preset, mode=mode, web=web, **bounds)
    with threads.conversations() as (runner, saver):
        kept = runner.run(threads.list_threads(saver, 1_000)) if list_ or thread or last else []
        if list_:
            _list_threads(kept, as_json=as_json)
            return
        known = _known_thread(kept, thread, last=last)
        options = {"context": context, "graph": given.graph_of(graph, context), "checkpointer": saver}
        Conversation(runner, saver, options, known or threads.new_thread(), trace, 1 if known else 0).talk()


def _known_thread(kept: list[SavedThread], thread: str | None, *, last: bool) -> str:
    """Return the id of the conversation to continue, or an empty string for a new one."""
    from ragweave.app import threads

    if thread:
        return threads.find_thread(kept, thread)
    return kept[0].id if last and kept else ""


def _list_threads(kept: list[SavedThread], *, as_json: bool) -> None:
    if as_json:
        print_json([asdict(thread) for thread in kept])
    else:
        _print_threads(console(), kept[:20])


@dataclass
class Conversation:
    """A loop of questions and answers; it keeps one event loop, so that the library stays open."""

    runner: asyncio.Runner
    saver: Saver
    options: dict[str, Any]
    thread: str
    trace: str
    turns: int
    out: Console = field(default_factory=console)
    remind: bool = True

    def talk(self) -> None:
        """Read questions until the reader leaves."""
        with contextlib.suppress(ImportError):
            # Importing it gives `input` arrow keys and a history; some platforms lack it.
            import readline  # noqa: F401

        self.out.print(
            f"Library {self.options['context'].library}. Ask, or type /help. Leave with Ctrl-D.", style="dim"
        )
        line = self._read()
        while line not in (None, "/quit", "/exit"):
            if line:
                self._turn(line)
            line = self._read()
        if self.turns:
            self.out.print(
                f"Kept. Continue with: ragweave chat --thread {self.thread}", style="dim", soft_wrap=True
            )

    def _read(self) -> str | None:
        """Return the next line of the reader, or None at the end of the input."""
        try:
            line = input("\n> ").strip()
            if not sys.stdin.isatty():
                # A terminal shows what is typed; a line from a pipe has to be printed.
                self.out.print(clean(line), soft_wrap=True)
            return line
        except (EOFError, KeyboardInterrupt):
            self.out.print()
            return None

    def _turn(self, line: str) -> None:
        try:
            if line.startswith("/"):
                self._command(line)
                return
            self.out.print()
            print_run(
                lambda resume: api.astream(line, resume=resume, thread=self.thread, **self.options),
                trace=self.trace,
                runner=self.runner.run,
                remind=self.remind,
            )
            self.turns += 1
            self.remind = False
        except (KeyboardInterrupt, Stopped):
            self.out.print("\nStopped; ask something else.", style="dim")
        except RagweaveError as error:
            complain(error)
        except Exception as error:
            refused = of_the_disk(error)
            if not refused:
                raise
            complain(refused)

    def _command(self, line: str) -> None:
        from ragweave.app import threads

        word, _, rest = line.partition(" ")
        if word == "/new":
            self.thread, self.turns = threads.new_thread(), 0
            self.out.print("A new conversation.", style="dim")
        elif word == "/threads":
            _print_threads(self.out, self.runner.run(threads.list_threads(self.saver)))
        elif word == "/go" and rest.strip():
            found = self.runner.run(threads.list_threads(self.saver, 1_000))
            self.thread, self.turns = threads.find_thread(found, rest.strip()), 1
            self.out.print(f"Continuing {self.thread}.", style="dim")
        elif word == "/trace":
            self.trace = "" if self.trace else "short"
            words = "Printing the steps." if self.trace else "No longer printing the steps."
            self.out.print(words, style="dim")
        else:
            self.out.print(_HELP)


def _print_threads(out: Console, found: list[SavedThread]) -> None:
    if not found:
        out.print("There is no conversation yet.")
    for thread in found:
        when = datetime.fromisoformat(thread.last).astimezone().strftime("%Y-%m-%d %H:%M")
        turns = counted(thread.turns, "turn")
        out.print(f"{thread.id}  {when}  {turns:<8}  {clean(thread.opening)}", soft_wrap=True)
