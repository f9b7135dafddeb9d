"""The steps of conversations, and how they go with their library."""

from __future__ import annotations

import asyncio
from pathlib import Path
from unittest.mock import Mock

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import postgres
from ragweave.corpora.store.locks import held
from ragweave.serve.conversations import forget_library, latest, of_the_server
from ragweave.serve.database import SCHEMA
from ragweave.serve.store import ConversationThread, Store, add_thread, now

pytestmark = pytest.mark.both


async def test_a_deletion_of_a_library_that_is_cut_short_keeps_what_names_the_steps_that_are_left(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(home / "serve.sqlite")
    with store.writing() as db:
        for id in "ab":
            add_thread(db, ConversationThread(id, "owner", "old", "", now(), now()))
    async with of_the_server() as saver:
        for id in "abc":
            await saver.aput(
                {"configurable": {"thread_id": id, "checkpoint_ns": ""}}, empty_checkpoint(), {}, {}
            )
    with monkeypatch.context() as cut, pytest.raises(OSError, match="full"):
        cut.setattr(
            "ragweave.serve.conversations.of_the_server", Mock(side_effect=OSError("the disk is full"))
        )
        await forget_library(store, "old")
    assert {t.id for t in store.threads("owner")} == {"a", "b"}
    await forget_library(store, "old")
    async with of_the_server() as saver:
        assert (store.threads("owner"), set(await latest(saver, 10))) == ([], {"c"})
    store.close()


def test_what_was_written_of_a_library_outlives_the_server_until_the_library_changes_or_goes(
    home: Path,
) -> None:
    for summary in ("Mail of a choir.", "Mail and notes."):
        store = Store(home / "serve.sqlite")
        store.keep_overview("old", 3, {"summary": summary})
        store.close()
    store = Store(home / "serve.sqlite")
    assert (store.overview("old", 3), store.overview("old", 4)) == ({"summary": "Mail and notes."}, None)
    store.forget_library("old")
    assert store.overview("old", 3) is None
    store.close()


async def test_a_server_makes_its_tables_while_another_one_makes_those_of_the_conversations(
    home: Path,
) -> None:
    url = corpora_settings().database
    other = postgres.server(url).lock(SCHEMA, 0, print) if url else held(home, SCHEMA, 0, "Held by", "wait")
    with other:
        # An index that is made concurrently waits for every transaction: one that waited for this lock would
        # never end.
        store = await asyncio.wait_for(asyncio.to_thread(Store, home / "serve.sqlite"), 20)
    assert store.threads("owner") == []
    store.close()
