"""The steps of conversations, and how they go with their library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from ragweave.serve.conversations import forget_library, latest, of_the_server
from ragweave.serve.store import ConversationThread, Store, add_thread, now

pytestmark = pytest.mark.both


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    """The tables, with the conversations `a` and `b` about the library `old`."""
    store = Store(home / "serve.sqlite")
    with store.writing() as db:
        for id in "ab":
            add_thread(db, ConversationThread(id, "owner", "old", "", now(), now()))
    yield store
    store.close()


async def _go_on(*threads: str) -> None:
    async with of_the_server() as saver:
        for id in threads:
            await saver.aput({"configurable": {"thread_id": id, "checkpoint_ns": ""}}, empty_checkpoint(), {}, {})


async def _kept() -> set[str]:
    async with of_the_server() as saver:
        return set(await latest(saver, 10))


async def test_a_deletion_of_a_library_that_is_cut_short_keeps_what_names_the_steps_that_are_left(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _go_on("a", "b", "c")
    with monkeypatch.context() as cut, pytest.raises(OSError, match="full"):
        cut.setattr("ragweave.serve.conversations.of_the_server", _full)
        await forget_library(store, "old")
    assert {t.id for t in store.threads("owner")} == {"a", "b"}
    await forget_library(store, "old")
    assert (store.threads("owner"), await _kept()) == ([], {"c"})


def _full() -> None:
    raise OSError("the disk is full")
