"""Conversations kept on disk."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ragweave.corpora.settings import corpora_settings
from ragweave.models.errors import InputError
from ragweave.models.text import clip

if TYPE_CHECKING:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver


@dataclass(frozen=True)
class Thread:
    """One conversation.

    Attributes:
        id: its name.
        opening: first question.
        turns: questions asked so far.
        last: ISO time of the last turn.
    """

    id: str
    opening: str
    turns: int
    last: str


def threads_file() -> Path:
    """Return the path of the database that keeps conversations."""
    return Path(corpora_settings().home) / "threads.sqlite"


def new_thread() -> str:
    """Return an id for a new conversation: its day and a few random letters."""
    return f"{datetime.now():%Y%m%d}-{secrets.token_hex(3)}"


@asynccontextmanager
async def saver(file: Path | None = None) -> AsyncIterator[AsyncSqliteSaver]:
    """Open a database of conversations; by default that of `ragweave chat`."""
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    file = file or threads_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    async with AsyncSqliteSaver.from_conn_string(str(file)) as opened:
        await opened.setup()
        yield opened


async def list_threads(limit: int = 20) -> list[Thread]:
    """Return the latest conversations, newest first."""
    from langchain_core.messages import HumanMessage

    from ragweave.app.api import build_agent

    if not threads_file().exists():
        return []
    found: list[Thread] = []
    async with saver() as opened:
        agent = build_agent(checkpointer=opened)
        # Checkpoint ids grow with time.
        rows = await opened.conn.execute_fetchall(
            "SELECT thread_id, MAX(checkpoint_id) AS last FROM checkpoints WHERE checkpoint_ns = '' "
            "GROUP BY thread_id ORDER BY last DESC LIMIT ?",
            (limit,),
        )
        for thread, _last in rows:
            state = await agent.aget_state({"configurable": {"thread_id": thread}})
            asked = [m.text for m in state.values.get("messages", []) if isinstance(m, HumanMessage)]
            if asked:
                found.append(Thread(thread, clip(" ".join(asked[0].split()), 60), len(asked), state.created_at or ""))
    return found


async def find_thread(name: str) -> str:
    """Return the id of the conversation that `name` begins.

    Raises:
        InputError: if none or several begin so.
    """
    ids = [t.id for t in await list_threads(limit=1_000)]
    if name in ids:
        return name
    matches = [i for i in ids if i.startswith(name)]
    if len(matches) == 1:
        return matches[0]
    how = "no conversation" if not matches else f"{len(matches)} conversations"
    raise InputError(f"{how} is named {name!r}", "`ragweave chat --list` names them")
