"""Events of one moment are stored together; what fails, fails alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ragweave.serve.event_writer import EventWriter
from ragweave.serve.journal import Entry
from ragweave.serve.records import Record, Records, RunLost
from ragweave.serve.store import Store


class CountedRecords(Records):
    """Records that count their transactions."""

    transactions: int = 0

    def write_together(self, writes: Sequence[Any]) -> list[Exception | None]:
        self.transactions += 1
        return super().write_together(writes)


@pytest.fixture
def records(tmp_path: Path) -> CountedRecords:
    found = CountedRecords(Store(tmp_path / "serve.sqlite"), "here")
    for name in ("one", "two", "three"):
        found.begin(Record(name, "owner", "library", "", 0, {}, "running", ""))
    return found


def entry(data: Any = "{}") -> list[Entry]:
    return [Entry(1, "step", data)]


def stored(records: Records) -> dict[str, int]:
    found = records.after({"one": 0, "two": 0, "three": 0})
    return {name: len(entries) for name, entries in found.items()}


async def test_events_that_come_while_others_are_stored_share_the_next_transaction(
    records: CountedRecords,
) -> None:
    writer = EventWriter(records)
    first = asyncio.create_task(writer.tell("one", entry()))
    await asyncio.sleep(0)
    await asyncio.gather(first, writer.tell("two", entry()), writer.tell("three", entry()))
    assert stored(records) == {"one": 1, "two": 1, "three": 1}
    assert records.transactions == 2


async def test_a_run_of_another_server_takes_nothing_and_stops_no_other(records: CountedRecords) -> None:
    lost = Record("two", "owner", "library", "", 0, {}, "running", "here")
    assert Records(records._store, "elsewhere").claim(lost)
    writer = EventWriter(records)
    told = [writer.tell(name, entry()) for name in ("one", "two", "three")]
    outcomes = await asyncio.gather(*told, return_exceptions=True)
    assert outcomes[0] is None and outcomes[2] is None and isinstance(outcomes[1], RunLost)
    assert stored(records) == {"one": 1, "two": 0, "three": 1}


async def test_an_event_that_the_database_refuses_stops_no_other(records: CountedRecords) -> None:
    writer = EventWriter(records)
    told = [writer.tell("one", entry()), writer.tell("two", entry(object())), writer.tell("three", entry())]
    outcomes = await asyncio.gather(*told, return_exceptions=True)
    assert outcomes[0] is None and outcomes[2] is None and isinstance(outcomes[1], Exception)
    assert stored(records) == {"one": 1, "two": 0, "three": 1}
