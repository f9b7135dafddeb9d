"""`ragweave chat`: a conversation that is kept on disk."""

from __future__ import annotations

import asyncio
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from ragweave.app.commands.ask import (
    GraphOption,
    MaxHops,
    MindOption,
    PresetOption,
    Set,
    TopK,
    TraceOption,
    WebOption,
    answer_aloud,
    build_context,
)
from ragweave.app.commands.common import LibraryOption, Stopped, complain, console, in_words, run

if TYPE_CHECKING:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from rich.console import Console

    from ragweave.app.threads import Thread
    from ragweave.minds.context import Context

_HELP = """/new        begin another conversation
/threads    list the conversations on disk
/go ID      go on with one of them
/trace      tell the steps, or stop telling them
/quit       leave (so does Ctrl-D)"""


def chat(
    library: LibraryOption = None,
    thread: Annotated[str | None, typer.Option("--thread", metavar="ID", help="Conversation to go on with.")] = None,
    last: Annotated[bool, typer.Option("--continue", "-c", help="Go on with the last conversation.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the conversations on disk.")] = False,
    mind: MindOption = None,
    web: WebOption = None,
    max_hops: MaxHops = None,
    top_k: TopK = None,
    preset: PresetOption = None,
    set_: Set = None,
    graph: GraphOption = None,
    trace: TraceOption = False,
) -> None:
    """Ask in turn; a follow-up is understood.

    Conversations are kept on disk and can be gone on with.
    """
    from ragweave.app import threads

    if list_:
        _print_threads(console(), run(threads.list_threads()))
        return
    context = build_context(library, set_, preset=preset, mind=mind, web=web, max_hops=max_hops, top_k=top_k)
    name = thread and run(threads.find_thread(thread))
    if last and not name:
        kept = run(threads.list_threads(limit=1))
        name = kept[0].id if kept else None
    Conversation(context, name or threads.new_thread(), known=bool(name), graph=graph, trace=trace).talk()


class Conversation:
    """The loop of questions and answers on one event loop, so that the library stays open."""

    def __init__(self, context: Context, thread: str, *, known: bool, graph: str | None, trace: bool) -> None:
        self.context, self.thread, self.graph, self.trace = context, thread, graph, trace
        self.out = console()
        self.turns = 1 if known else 0

    def talk(self) -> None:
        """Read questions until the reader leaves."""
        from ragweave.app import threads

        self._edit_lines()
        self.out.print(f"Library {self.context.library}. Ask, or type /help. Leave with Ctrl-D.", style="dim")
        with asyncio.Runner() as runner:
            kept = threads.saver()
            saver = runner.run(kept.__aenter__())
            try:
                while (line := self._read()) not in (None, "/quit", "/exit"):
                    if line:
                        self._turn(runner, saver, line)
            finally:
                runner.run(kept.__aexit__(None, None, None))
        if self.turns:
            self.out.print(f"Kept. Go on with: ragweave chat --thread {self.thread}", style="dim", soft_wrap=True)

    def _read(self) -> str | None:
        from ragweave.app.render import clean

        try:
            line = input("\n> ").strip()
            if not sys.stdin.isatty():
                # Nobody typed it where it can be seen.
                self.out.print(clean(line), soft_wrap=True)
            return line
        except (EOFError, KeyboardInterrupt):
            self.out.print()
            return None

    def _turn(self, runner: asyncio.Runner, saver: AsyncSqliteSaver, line: str) -> None:
        from ragweave.models.errors import RagweaveError

        try:
            if line.startswith("/"):
                self._command(runner, line)
                return
            self.out.print()
            answer_aloud(
                line,
                self.context,
                graph=self.graph,
                thread=self.thread,
                checkpointer=saver,
                trace=self.trace,
                runner=runner.run,
            )
            self.turns += 1
        except (KeyboardInterrupt, Stopped):
            self.out.print("\nStopped; ask something else.", style="dim")
        except RagweaveError as error:
            complain(in_words(error))

    def _command(self, runner: asyncio.Runner, line: str) -> None:
        from ragweave.app import threads

        word, _, rest = line.partition(" ")
        if word == "/new":
            self.thread, self.turns = threads.new_thread(), 0
            self.out.print("A new conversation.", style="dim")
        elif word == "/threads":
            _print_threads(self.out, runner.run(threads.list_threads()))
        elif word == "/go" and rest.strip():
            self.thread, self.turns = runner.run(threads.find_thread(rest.strip())), 1
            self.out.print(f"Going on with {self.thread}.", style="dim")
        elif word == "/trace":
            self.trace = not self.trace
            self.out.print("Telling the steps." if self.trace else "No longer telling the steps.", style="dim")
        else:
            self.out.print(_HELP)

    @staticmethod
    def _edit_lines() -> None:
        """Give `input` arrow keys and a history, where the platform has them."""
        import contextlib

        with contextlib.suppress(ImportError):
            import readline  # noqa: F401


def _print_threads(out: Console, found: list[Thread]) -> None:
    from ragweave.app.render import clean, counted

    if not found:
        out.print("There is no conversation yet.")
    for t in found:
        when = datetime.fromisoformat(t.last).astimezone().strftime("%Y-%m-%d %H:%M")
        out.print(f"{t.id}  {when}  {counted(t.turns, 'turn'):<8}  {clean(t.opening)}", soft_wrap=True)
