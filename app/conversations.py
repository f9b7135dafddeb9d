"""Where conversations lie: in a file of a person's own, or in the database that the settings name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from ragweave.corpora.store.folders import of_the_disk
from ragweave.models.errors import LibraryError

if TYPE_CHECKING:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

SCHEMA = "conversations_of_ragweave"
"""Schema of the database that holds the checkpoints, apart from those of libraries."""


@asynccontextmanager
async def in_database(url: str) -> AsyncIterator[AsyncPostgresSaver]:
    """Open the conversations of a database; a connection that has ended is replaced at the next turn.

    Raises:
        LibraryError: the extra `postgres` is missing, or the database cannot be used.
    """
    try:
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from psycopg import AsyncConnection, Error
        from psycopg.rows import DictRow, dict_row
        from psycopg_pool import AsyncConnectionPool
    except ImportError as error:
        raise LibraryError("PostgreSQL needs the extra `postgres`", "pip install 'ragweave[postgres]'") from error
    address = url.replace("postgresql+psycopg://", "postgresql://", 1)
    given: dict[str, Any] = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    try:
        async with await AsyncConnection.connect(address, autocommit=True) as first:
            await first.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    except Error as error:
        raise (of_the_disk(error) or error) from error
    pool: AsyncConnectionPool[AsyncConnection[DictRow]] = AsyncConnectionPool(
        address,
        kwargs={**given, "options": f"-c search_path={SCHEMA}"},
        min_size=1,
        max_size=4,
        open=False,
        timeout=10,
        check=AsyncConnectionPool.check_connection,
    )
    async with pool:
        yield AsyncPostgresSaver(pool)
