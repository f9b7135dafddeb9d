"""Conversations: LangGraph's own checkpoints, in files of a person's own or in PostgreSQL."""

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
    """One conversation: its id, its first question, how many were asked, and the ISO time of the last turn."""

    id: str
    opening: str
    turns: int
    last: str


def threads_file() -> Path:
    """Return the path of the database that keeps conversations."""
    return corpora_settings().home / "threads.sqlite"


def new_thread() -> str:
    """Return an id for a new conversation: its day and a few random letters."""
    return f"{datetime.now():%Y%m%d}-{secrets.token_hex(3)}"


@contextmanager
def opened(file: Path) -> Iterator[tuple[asyncio.Runner, AsyncSqliteSaver]]:
    """Open a database of checkpoints, with the one event loop that it is used on."""
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    file.parent.mkdir(parents=True, exist_ok=True)
    # What cannot be opened fails here: the saver's own thread would outlive the event loop that it answers
    # to.
    sqlite3.connect(file).close()
    with _running(AsyncSqliteSaver.from_conn_string(str(file))) as both:
        yield both


@contextmanager
def conversations() -> Iterator[tuple[asyncio.Runner, Saver]]:
    """Open what keeps the conversations: the database of the settings, or a file."""
    url = corpora_settings().database
    with _running(in_database(url)) if url else opened(threads_file()) as both:
        yield both


@contextmanager
def _running(kept: AbstractAsyncContextManager[S]) -> Iterator[tuple[asyncio.Runner, S]]:
    with asyncio.Runner() as runner:
        saver = runner.run(kept.__aenter__())
        try:
            runner.run(saver.setup())
            yield runner, saver
        finally:
            runner.run(kept.__aexit__(None, None, None))


async def list_threads(saver: Saver, limit: int = 20) -> list[SavedThread]:
    """Return the latest conversations, newest first."""
    from langchain_core.messages import HumanMessage

    from ragweave.graphs.run import build_agent

    found: list[SavedThread] = []
    agent = build_agent(checkpointer=saver)
    for thread in await latest(saver, limit):
        state = await agent.aget_state({"configurable": {"thread_id": thread}})
        asked = [m.text for m in state.values.get("messages", []) if isinstance(m, HumanMessage)]
        if asked:
            found.append(
                SavedThread(thread, clip(" ".join(asked[0].split()), 60), len(asked), state.created_at or "")
            )
    return found


def find_thread(found: list[SavedThread], name: str) -> str:
    """Return the id of the conversation that `name` begins."""
    return one_of(
        [t.id for t in found if t.id.startswith(name)], name, "conversation", "ragweave chat --list"
    )
