"""Conversations of `ragweave chat`: LangGraph checkpoints in a file of the home, or in PostgreSQL."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ragweave.app.commands.common import one_of
from ragweave.corpora.settings import corpora_settings
from ragweave.models.text import clip
from ragweave.serve.conversations import in_database, latest

if TYPE_CHECKING:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    from ragweave.serve.conversations import Saver

S = TypeVar("S", bound="Saver")


@dataclass(frozen=True)
class SavedThread:
    """A conversation: its id, its first question, its number of turns, and the ISO time of the last."""

    id: str
    opening: str
    turns: int
    last: str


def threads_file() -> Path:
    """Return the path of the database of conversations."""
    return corpora_settings().home / "threads.sqlite"


def new_thread() -> str:
    """Return an id for a new conversation: the date and a few random digits."""
    return f"{datetime.now():%Y%m%d}-{secrets.token_hex(3)}"


@contextmanager
def opened(file: Path) -> Iterator[tuple[asyncio.Runner, AsyncSqliteSaver]]:
    """Open a database file of checkpoints, and the event loop on which it must be used."""
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    file.parent.mkdir(parents=True, exist_ok=True)
    # A file that cannot be opened must fail here: after a failure in the saver, its thread would outlive the
    # event loop.
    sqlite3.connect(file).close()
    with _running(AsyncSqliteSaver.from_conn_string(str(file))) as both:
        yield both


@contextmanager
def conversations() -> Iterator[tuple[asyncio.Runner, Saver]]:
    """Open the conversations, in the database of the settings or in a file of the home."""
    url = corpora_settings().database
    if url:
        with _running(in_database(url)) as both:
            yield both
    else:
        with opened(threads_file()) as both:
            yield both


@contextmanager
def _running(opening: AbstractAsyncContextManager[S]) -> Iterator[tuple[asyncio.Runner, S]]:
    """Open a saver on an event loop of its own; close both at the end."""
    with asyncio.Runner() as runner:
        saver = runner.run(opening.__aenter__())
        try:
            runner.run(saver.setup())
            yield runner, saver
        finally:
            runner.run(opening.__aexit__(None, None, None))


async def list_threads(saver: Saver, limit: int = 20) -> list[SavedThread]:
    """Return the latest conversations, newest first."""
    from langchain_core.messages import HumanMessage

    from ragweave.graphs.run import build_agent

    found: list[SavedThread] = []
    agent = build_agent(checkpointer=saver)
    for thread in await latest(saver, limit):
        state = await agent.aget_state({"configurable": {"thread_id": thread}})
        questions: list[str] = []
        for message in state.values.get("messages", []):
            if isinstance(message, HumanMessage):
                questions.append(message.text)
        if questions:
            opening = clip(" ".join(questions[0].split()), 60)
            found.append(SavedThread(thread, opening, len(questions), state.created_at or ""))
    return found


def find_thread(found: list[SavedThread], name: str) -> str:
    """Return the id of the only conversation whose id starts with `name`.

    Raises:
        InputError: there is none, or more than one.
    """
    matches = [thread.id for thread in found if thread.id.startswith(name)]
    return one_of(matches, name, "conversation", "ragweave chat --list")
