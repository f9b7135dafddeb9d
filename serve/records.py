"""Store runs and indexing jobs with their owners and events, while they run and for some time after.

Each belongs to one server at a time, and only that server adds events to it. Another server may claim the
runs of a server that has ended; events that the old server still sends are refused.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, text

from ragweave.serve.database import sent
from ragweave.serve.journal import Entry
from ragweave.serve.problems import Refused
from ragweave.serve.store import ConversationThread, Store, begin_turn, packed, set_turn

Status = Literal["running", "waiting", "done", "failed", "cancelled"]

Write = Callable[[Connection], None]
"""Changes the tables within a transaction."""

_KEPT_SECONDS = 900.0
"""Seconds for which the journal of an ended run can still be read."""
_SWEEP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Record:
    """One run or one job; a job has no thread and no turn.

    `about` has what another server needs to continue it: graph, question and context of a run, or the paths
    of a job.
    """

    id: str
    owner: str
    library: str
    thread: str
    turn: int
    about: dict[str, Any]
    status: Status
    server: str


class RunLost(Refused):
    """The run does not belong to this server any more."""

    def __init__(self) -> None:
        super().__init__(503, "another server has ended this run", "ask again", "interrupted")


class Records:
    """Access of one server to the stored runs and jobs; times come from the clock of this server."""

    def __init__(self, store: Store, server: str) -> None:
        self._store, self._server = store, server
        self._swept = 0.0

    def mine(self, record: Record) -> bool:
        """Return whether a run belongs to this server."""
        return record.server == self._server

    def begin(
        self,
        record: Record,
        pictures: Sequence[bytes] = (),
        knobs: dict[str, Any] | None = None,
        new: ConversationThread | None = None,
        replaces: int = 0,
        seen: str = "",
    ) -> int:
        """Store a run or a job that begins; return the number of its turn, 0 for a job.

        A run has `knobs` and gets a turn of its conversation. A `new` conversation is stored as well. In an
        existing one, the turns from number `replaces` on are deleted, if the last of them is that of the run
        `seen`.

        Raises:
            Refused: the conversation accepts no other question now.
        """
        about = record.about
        turn = 0
        with self._store.writing() as db:
            self._sweep(db)
            if knobs is not None:
                query = about["graph"], about["question"], pictures, knobs, replaces, seen
                turn = begin_turn(db, record.thread, record.id, *query, new=new)
            sent(
                db,
                "INSERT INTO runs (id, owner, library, thread, turn, about, status, server) "
                "VALUES (:id, :owner, :library, :thread, :turn, :about, 'running', :server)",
                id=record.id,
                owner=record.owner,
                library=record.library,
                thread=record.thread,
                turn=turn,
                about=packed(about),
                server=self._server,
            )
        return turn

    def _sweep(self, db: Connection) -> None:
        """Delete once a minute the runs whose journals have expired."""
        at = time.time()
        if at >= self._swept + _SWEEP_SECONDS:
            sent(db, "DELETE FROM runs WHERE ended < :late", late=at - _KEPT_SECONDS)
            self._swept = at

    def get(self, id: str) -> Record | None:
        """Return a record by id."""
        found = self._found("id = :id", id=id)
        return found[0] if found else None

    def kept(self, thread: str) -> bool:
        """Return whether a conversation exists; ids of deleted conversations are not used again."""
        with self._store.reading() as db:
            return sent(db, "SELECT 1 FROM threads WHERE id = :id", id=thread).scalar() is not None

    def open(self, thread: str) -> list[Record]:
        """Return the runs of a conversation that run or wait for consent."""
        return self._found("thread = :thread AND status IN ('running', 'waiting')", thread=thread)

    def jobs(self, library: str) -> list[Record]:
        """Return the jobs of a library that wait or run."""
        return self._found("thread = '' AND status = 'running' AND library = :library", library=library)

    def running(self) -> list[Record]:
        """Return the runs and jobs that run on any server."""
        return self._found("status = 'running'")

    def stopped(self) -> list[str]:
        """Return the ids of the runs and jobs that this server must stop."""
        with self._store.reading() as db:
            query = "SELECT id FROM runs WHERE status = 'running' AND stop = 1 AND server = :server"
            return list(sent(db, query, server=self._server).scalars())

    def stop(self, id: str) -> None:
        """Request that a run or job stops, on the server that has it."""
        with self._store.writing() as db:
            sent(db, "UPDATE runs SET stop = 1 WHERE id = :id", id=id)

    def claim(self, record: Record) -> bool:
        """Take a run over if it has not changed since `record` was read; return whether that succeeded."""
        change = "UPDATE runs SET status = 'running', server = :server, stop = 0"
        seen = "id = :id AND status = :status AND server = :other"
        given = {"id": record.id, "status": record.status, "other": record.server, "server": self._server}
        with self._store.writing() as db:
            claimed = bool(sent(db, f"{change} WHERE {seen}", **given).rowcount)
            if claimed and record.turn:
                turn = {"thread": record.thread, "n": record.turn}
                sent(db, "UPDATE turns SET status = 'running' WHERE thread = :thread AND n = :n", **turn)
        return claimed

    def write_together(self, writes: Sequence[Write]) -> list[Exception | None]:
        """Execute writes in one transaction, or each in its own if one of them fails; return their errors."""
        errors: list[Exception | None] = []
        try:
            with self._store.writing() as db:
                for write in writes:
                    errors.append(_lost(write, db))
        except Exception as error:
            if len(writes) == 1:
                return [error]
            errors = []
            for write in writes:
                errors += self.write_together([write])
        return errors

    def add_end(
        self, db: Connection, record: Record, status: Status, entries: Sequence[Entry], **kept: Any
    ) -> None:
        """Store within a transaction how a run of this server ended, or that it waits, with its last events.

        `kept` has the `answer`, `problem` and `trail` of its turn.

        Raises:
            RunLost: the run does not belong to this server any more; nothing was changed.
        """
        ended = None if status == "waiting" else time.time()
        self.add_events(db, record.id, entries)
        change = "UPDATE runs SET status = :status, ended = :ended WHERE id = :id"
        sent(db, change, id=record.id, status=status, ended=ended)
        if record.turn:
            set_turn(db, record.thread, record.turn, status, **kept)

    def add_events(self, db: Connection, id: str, entries: Sequence[Entry]) -> None:
        """Store events within a transaction; the column `told` counts those of a run.

        Raises:
            RunLost: the run does not belong to this server any more; nothing was changed.
        """
        change = (
            "UPDATE runs SET told = told + :more WHERE id = :id AND status = 'running' AND server = :server"
        )
        changed = sent(db, change, id=id, more=len(entries), server=self._server).rowcount
        if not changed:
            raise RunLost
        if entries:
            rows = [{"run": id, "n": e.id, "type": e.type, "data": e.data} for e in entries]
            db.execute(_ADD_EVENT, rows)

    def after(self, seen: Mapping[str, int]) -> dict[str, list[Entry]]:
        """Return the events of runs after the numbers that were `seen`, by the id of the run.

        A run that does not exist any more is missing in the result.
        """
        counts = text("SELECT id, told AS events FROM runs WHERE id IN :ids").bindparams(
            bindparam("ids", expanding=True)
        )
        query = "SELECT n, type, data FROM events WHERE run = :run AND n > :n ORDER BY n"
        new: dict[str, list[Entry]] = {}
        with self._store.reading() as db:
            for row in db.execute(counts, {"ids": list(seen)}).all():
                new[row.id] = []
                if row.events > seen[row.id]:
                    events = sent(db, query, run=row.id, n=seen[row.id])
                    new[row.id] = [Entry(event.n, event.type, event.data) for event in events]
        return new

    def _found(self, where: str, **given: Any) -> list[Record]:
        columns = "id, owner, library, thread, turn, about, status, server"
        with self._store.reading() as db:
            rows = sent(db, f"SELECT {columns} FROM runs WHERE {where} ORDER BY id", **given).mappings().all()
        return [_record(row) for row in rows]


_ADD_EVENT = text("INSERT INTO events VALUES (:run, :n, :type, :data)")


def _lost(write: Write, db: Connection) -> RunLost | None:
    """Execute a write; return its error if its run was lost, which changes nothing."""
    try:
        write(db)
    except RunLost as error:
        return error
    return None


def _record(row: Mapping[Any, Any]) -> Record:
    return Record(**{**row, "about": json.loads(row["about"])})
