"""Store LangGraph's checkpoints of conversations, in a file or in the database of the settings."""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import postgres
from ragweave.corpora.store.folders import of_the_disk
from ragweave.corpora.store.locks import held
from ragweave.models.errors import LibraryError
from ragweave.serve.database import SCHEMA, Database

if TYPE_CHECKING:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    Saver: TypeAlias = AsyncSqliteSaver | AsyncPostgresSaver

CHAT = "conversations_of_ragweave"
"""Database schema for the conversations of `ragweave chat`, apart from those of servers."""
_CONNECTIONS = 4
_FRESH_SECONDS = 1.0
"""Seconds after a check in which a connection counts as alive."""
_PATIENCE = 60.0
"""Seconds to wait while another process creates the tables."""
_BEFORE = """thread_id = :thread AND checkpoint_id < (SELECT max(checkpoint_id) FROM checkpoints
    WHERE thread_id = :thread AND checkpoint_ns = '' AND CAST(metadata AS {json}) ->> 'run' = :run)"""
_UNUSED = """thread_id = :thread AND NOT EXISTS (SELECT 1 FROM checkpoints c WHERE c.thread_id = b.thread_id
    AND c.checkpoint_ns = b.checkpoint_ns AND c.checkpoint -> 'channel_versions' ->> b.channel = b.version)"""


@asynccontextmanager
async def of_the_server() -> AsyncIterator[Saver]:
    """Open the checkpoints of a server's conversations."""
    url = corpora_settings().database
    if url:
        async with in_database(url, SCHEMA) as saver:
            yield saver
        return
    from ragweave.serve.step_saver import open_file

    home = corpora_settings().home
    async with open_file(home / "conversations.sqlite") as saver:
        async with _alone(
            held(home, SCHEMA, _PATIENCE, "The conversations are made by", "start this one again")
        ):
            await saver.setup()
        yield saver


async def settle(saver: Saver, thread: str) -> None:
    """Wait until the last step of a conversation is stored."""
    from ragweave.serve.step_saver import StepSaver

    if isinstance(saver, StepSaver):
        await saver.settle(thread)


async def forget_library(tables: Database, library: str) -> None:
    """Delete the conversations with a deleted library, their links, and all else stored about it."""
    # The checkpoints go first, while the rows still name them: an interruption leaves none without a row.
    await _forget_threads(await asyncio.to_thread(tables.asked_of, library))
    # A server may have added conversations meanwhile.
    await _forget_threads(await asyncio.to_thread(tables.forget_library, library))


async def _forget_threads(threads: list[str]) -> None:
    """Delete the checkpoints of conversations."""
    if not threads:
        return
    async with of_the_server() as saver:
        for thread in threads:
            await saver.adelete_thread(thread)


async def latest(saver: Saver, limit: int) -> list[str]:
    """Return the ids of the conversations that were used last, newest first."""
    conn: Any = saver.conn
    # Checkpoint ids grow with time.
    query = (
        "SELECT thread_id FROM checkpoints WHERE checkpoint_ns = '' "
        f"GROUP BY thread_id ORDER BY MAX(checkpoint_id) DESC LIMIT {limit:d}"
    )
    if _is_file(saver):
        return [row[0] for row in await conn.execute_fetchall(query)]
    async with conn.connection() as connection:
        return [row["thread_id"] for row in await (await connection.execute(query)).fetchall()]


async def forget_steps(saver: Saver, thread: str, run: str) -> None:
    """Delete the checkpoints of a conversation before the last one of a run."""
    from ragweave.serve.step_saver import StepSaver

    given = {"thread": thread, "run": run}
    if isinstance(saver, StepSaver):
        before = _BEFORE.format(json="TEXT")
        saver.delete_later(thread, [f"writes WHERE {before}", f"checkpoints WHERE {before}"], given)
        return
    conn: Any = saver.conn
    before = _BEFORE.format(json="JSONB")
    steps = (
        f"checkpoint_writes WHERE {before}",
        f"checkpoints WHERE {before}",
        f"checkpoint_blobs b WHERE {_UNUSED}",
    )
    async with conn.connection() as connection, connection.transaction():
        for which in steps:
            named = which.replace(":thread", "%(thread)s").replace(":run", "%(run)s")
            await connection.execute(f"DELETE FROM {named}", given)


def _is_file(saver: Saver) -> bool:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    return isinstance(saver, AsyncSqliteSaver)


@asynccontextmanager
async def in_database(url: str, schema: str = CHAT) -> AsyncIterator[AsyncPostgresSaver]:
    """Open the checkpoints in a database; a closed connection is replaced at the next turn.

    Raises:
        LibraryError: the extra `postgres` is missing, or the database cannot be used.
    """
    try:
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from psycopg import AsyncConnection, Error
        from psycopg.rows import DictRow, dict_row
        from psycopg_pool import AsyncConnectionPool
    except ImportError as error:
        raise LibraryError(
            "PostgreSQL needs the extra `postgres`", "install it with: pip install 'ragweave[postgres]'"
        ) from error
    address = url.replace("postgresql+psycopg://", "postgresql://", 1)
    given: dict[str, Any] = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    try:
        async with await AsyncConnection.connect(address, autocommit=True) as first:
            await first.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    except Error as error:
        raise (of_the_disk(error) or error) from error
    pool: AsyncConnectionPool[AsyncConnection[DictRow]] = AsyncConnectionPool(
        address,
        kwargs={**given, "options": f"-c search_path={schema}"},
        min_size=1,
        max_size=_CONNECTIONS,
        open=False,
        timeout=10,
        check=_unless_fresh(AsyncConnectionPool.check_connection),
    )
    async with pool:
        saver = AsyncPostgresSaver(pool)
        # Its own lock allows one call at a time, as a single connection needs. In a pool each call has its
        # own connection.
        saver.lock = asyncio.Semaphore(_CONNECTIONS)  # type: ignore[assignment]
        async with _alone(postgres.server(url).lock(schema, _PATIENCE, lambda holder: None)):
            await saver.setup()
        yield saver


def _unless_fresh(check: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
    """Return a check that runs at most once a second: each step of an answer takes connections many times.

    A connection with unread data is always checked: a database server announces its end, and may be back
    within that second.
    """
    checked_at: WeakKeyDictionary[Any, float] = WeakKeyDictionary()

    async def checked(connection: Any) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(connection.fileno(), selectors.EVENT_READ)
            has_data = bool(selector.select(0))
        now = time.monotonic()
        age = now - checked_at.get(connection, -_FRESH_SECONDS)
        if age >= _FRESH_SECONDS or has_data:
            await check(connection)
            checked_at[connection] = now

    return checked


@asynccontextmanager
async def _alone(lock: AbstractContextManager[Any]) -> AsyncIterator[None]:
    """Hold a lock, so that no two processes create the tables at once."""
    with ExitStack() as alone:
        await asyncio.to_thread(alone.enter_context, lock)
        yield
