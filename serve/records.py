"""What is kept of runs and of jobs while they are under way, and for a while after: whose they are, and what they told.

Each belongs to one server at a time, and only that one adds to it. A server that has ended loses what it had
to whoever claims it; what it still sends is refused.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, text

from ragweave.serve.database import sent
from ragweave.serve.journal import Entry
from ragweave.serve.problems import Refused
from ragweave.serve.store import ConversationThread, Store, begin_turn, packed, set_turn

Status = Literal["running", "waiting", "done", "failed", "cancelled"]

_KEPT_SECONDS = 900.0
"""How long the journal of an ended run can still be read."""
_SWEEP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Record:
    """One run, or one job, which has no thread and no turn.

    `about` has what it takes to go on: graph, question, context, or the paths of a job.
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
    """This server is no longer the one that a run belongs to."""

    def __init__(self) -> None:
        super().__init__(503, "another server has ended this run", "ask again", "interrupted")


class Records:
    """Runs and jobs as one server sees them; the times are those of its clock."""

    def __init__(self, store: Store, server: str) -> None:
        self._store, self._server = store, server
        self._swept = 0.0

    def mine(self, record: Record) -> bool:
        """Tell whether a run counts as this server's."""
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
        """Keep what begins, with a turn of its conversation where `knobs` are given; return the number of that.

        The conversation is kept as well where it is `new`; of another one, the turns from `replaces` on go,
        where the last of them is the one `seen`.

        Raises:
            Refused: the conversation takes no other question now.
        """
        about = record.about
        with self._store.writing() as db:
            self._sweep(db)
            turn = 0
            if knobs is not None:
                asked = about["graph"], about["question"], pictures, knobs, replaces, seen
                turn = begin_turn(db, record.thread, record.id, *asked, new=new)
            sent(
                db,
                "INSERT INTO runs (id, owner, library, thread, turn, about, status, server) "
                "VALUES (:id, :owner, :library, :thread, :turn, :about, 'running', :server)",
                **{name: getattr(record, name) for name in ("id", "owner", "library", "thread")},
                turn=turn,
                about=packed(about),
                server=self._server,
            )
        return turn

    def _sweep(self, db: Connection) -> None:
        """Forget once a minute the runs that nobody can come back to."""
        if (at := time.time()) >= self._swept + _SWEEP_SECONDS:
            sent(db, "DELETE FROM runs WHERE ended < :late", late=at - _KEPT_SECONDS)
            self._swept = at

    def get(self, id: str) -> Record | None:
        """Return a record by id."""
        found = self._found("id = :id", id=id)
        return found[0] if found else None

    def kept(self, thread: str) -> bool:
        """Tell whether there is a conversation; the id of one that is gone is given to no other."""
        with self._store.reading() as db:
            return sent(db, "SELECT 1 FROM threads WHERE id = :id", id=thread).scalar() is not None

    def open(self, thread: str) -> list[Record]:
        """Return what answers a conversation, or waits for consent in it."""
        return self._found("thread = :thread AND status IN ('running', 'waiting')", thread=thread)

    def jobs(self, library: str) -> list[Record]:
        """Return the jobs of a library that wait or run."""
        return self._found("thread = '' AND status = 'running' AND library = :library", library=library)

    def running(self) -> list[Record]:
        """Return what runs, on whichever server."""
        return self._found("status = 'running'")

    def stopped(self) -> list[str]:
        """Return what of this server's is to stop."""
        with self._store.reading() as db:
            query = "SELECT id FROM runs WHERE status = 'running' AND stop = 1 AND server = :server"
            return list(sent(db, query, server=self._server).scalars())

    def stop(self, id: str) -> None:
        """Ask whichever server has a run to stop it."""
        with self._store.writing() as db:
            sent(db, "UPDATE runs SET stop = 1 WHERE id = :id", id=id)

    def claim(self, record: Record) -> bool:
        """Take a run over from where it was seen to stand; tells whether nobody was faster."""
        change = "UPDATE runs SET status = 'running', server = :server, stop = 0"
        seen = "id = :id AND status = :status AND server = :other"
        given = {"id": record.id, "status": record.status, "other": record.server, "server": self._server}
        with self._store.writing() as db:
            claimed = bool(sent(db, f"{change} WHERE {seen}", **given).rowcount)
            if claimed and record.turn:
                turn = {"thread": record.thread, "n": record.turn}
                sent(db, "UPDATE turns SET status = 'running' WHERE thread = :thread AND n = :n", **turn)
        return claimed

    def tell(self, id: str, entries: Sequence[Entry]) -> None:
        """Keep what a run of this server told.

        Raises:
            Lost: it is this server's no more.
        """
        with self._store.writing() as db:
            self._tell(db, id, entries)

    def end(self, record: Record, status: Status, entries: Sequence[Entry], **kept: Any) -> None:
        """Keep how a run of this server ended, or that it waits, with the last of what it told.

        `kept` is what becomes of its turn.

        Raises:
            Lost: it is this server's no more.
        """
        ended = None if status == "waiting" else time.time()
        with self._store.writing() as db:
            self._tell(db, record.id, entries)
            change = "UPDATE runs SET status = :status, ended = :ended WHERE id = :id"
            sent(db, change, id=record.id, status=status, ended=ended)
            if record.turn:
                set_turn(db, record.thread, record.turn, status, **kept)

    def _tell(self, db: Connection, id: str, entries: Sequence[Entry]) -> None:
        change = (
            "UPDATE runs SET told = told + :more WHERE id = :id AND status = 'running' AND server = :server"
        )
        if not sent(db, change, id=id, more=len(entries), server=self._server).rowcount:
            raise RunLost
        if entries:
            rows = [{"run": id, "n": e.id, "type": e.type, "data": e.data} for e in entries]
            db.execute(text("INSERT INTO events VALUES (:run, :n, :type, :data)"), rows)

    def after(self, seen: Mapping[str, int]) -> dict[str, list[Entry]]:
        """Return what runs told behind the event of that number; a run that is not known any more is left out."""
        some = text("SELECT id, told FROM runs WHERE id IN :ids").bindparams(bindparam("ids", expanding=True))
        query = "SELECT n, type, data FROM events WHERE run = :run AND n > :n ORDER BY n"
        with self._store.reading() as db:
            told = {row.id: row.told for row in db.execute(some, {"ids": list(seen)})}
            new = {id: sent(db, query, run=id, n=seen[id]) for id, n in told.items() if n > seen[id]}
            return {id: [Entry(row.n, row.type, row.data) for row in new.get(id, ())] for id in told}

    def _found(self, where: str, **given: Any) -> list[Record]:
        columns = "id, owner, library, thread, turn, about, status, server"
        with self._store.reading() as db:
            rows = sent(db, f"SELECT {columns} FROM runs WHERE {where} ORDER BY id", **given).mappings().all()
        return [Record(**{**row, "about": json.loads(row["about"])}) for row in rows]
