"""Store conversations and their turns, by owner."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection

from ragweave.models.text import clip
from ragweave.serve.database import Database, sent
from ragweave.serve.problems import NotFound, Refused


@dataclass(frozen=True, slots=True)
class ConversationThread:
    """One conversation with a library; `title` is its first question or a name that its owner gave it."""

    id: str
    owner: str
    library: str
    title: str
    created: str
    updated: str
    pinned: int = 0


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """One question of a conversation and its outcome.

    The status is `running`, `waiting`, `done`, `failed` or `cancelled`. The trail has the steps of the run,
    and the sentences of a turn that did not finish. `pictures` is the number of pictures sent with the
    question. The context has the knobs of the question, the verdict the reader's `good`, `reason` and `at`.
    """

    n: int
    run: str
    graph: str
    question: str
    status: str
    answer: dict[str, Any] | None
    problem: dict[str, Any] | None
    created: str
    trail: list[dict[str, Any]]
    pictures: int
    context: dict[str, Any] | None = None
    verdict: dict[str, Any] | None = None


def now() -> str:
    """Return the present as an ISO time in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Store(Database):
    """Conversations, each with its turns."""

    def threads(self, owner: str, library: str | None = None, words: str = "") -> list[ConversationThread]:
        """Return the conversations of an owner, with one library or all, the last used first.

        If `words` are given, return only those whose title, questions or answers contain them.
        """
        mine = "owner = :owner AND library = coalesce(:library, library)"
        threads = f"SELECT * FROM threads WHERE {mine} ORDER BY updated DESC, id"
        turns = (
            "SELECT thread, question, answer FROM turns "
            f"WHERE thread IN (SELECT id FROM threads WHERE {mine})"
        )
        given = {"owner": owner, "library": library}
        with self.reading() as db:
            found = [ConversationThread(**row) for row in sent(db, threads, **given).mappings()]
            if not words:
                return found
            texts = {thread.id: thread.title for thread in found}
            for row in sent(db, turns, **given):
                answer = json.loads(row.answer)["text"] if row.answer else ""
                texts[row.thread] += f"\n{row.question}\n{answer}"
        wanted = words.casefold()
        return [thread for thread in found if wanted in texts[thread.id].casefold()]

    def thread(self, owner: str, id: str) -> ConversationThread | None:
        """Return one conversation of an owner."""
        with self.reading() as db:
            found = sent(db, "SELECT * FROM threads WHERE id = :id AND owner = :owner", id=id, owner=owner)
            row = found.mappings().one_or_none()
        return ConversationThread(**row) if row else None

    def set_thread(self, id: str, title: str | None = None, pinned: bool | None = None) -> None:
        """Give a conversation another title, or pin it, or both."""
        change = "title = coalesce(:title, title), pinned = coalesce(:pinned, pinned)"
        with self.writing() as db:
            pin = None if pinned is None else int(pinned)
            sent(db, f"UPDATE threads SET {change} WHERE id = :id", title=title, pinned=pin, id=id)

    def delete_threads(self, ids: list[str]) -> None:
        """Delete conversations with their turns and the events of their runs."""
        with self.writing() as db:
            for id in ids:
                sent(db, "DELETE FROM runs WHERE thread = :id", id=id)
                sent(db, "DELETE FROM threads WHERE id = :id", id=id)

    def turns(self, thread: str) -> list[ConversationTurn]:
        """Return the turns of a conversation, in order."""
        with self.reading() as db:
            rows = sent(db, f"{_TURNS} WHERE thread = :thread ORDER BY n", thread=thread).mappings().all()
        return [_turn(row) for row in rows]

    def judge(self, thread: str, n: int, verdict: dict[str, Any] | None) -> bool:
        """Store a reader's verdict on an answer; return whether the turn exists."""
        change = "UPDATE turns SET verdict = :verdict WHERE thread = :thread AND n = :n"
        with self.writing() as db:
            return bool(sent(db, change, verdict=packed(verdict), thread=thread, n=n).rowcount)

    def judged(self, owner: str, library: str) -> list[tuple[str, ConversationTurn]]:
        """Return an owner's turns with a verdict in conversations with a library, each with its thread."""
        mine = "thread IN (SELECT id FROM threads WHERE owner = :owner AND library = :library)"
        query = f"{_TURNS} WHERE verdict IS NOT NULL AND {mine} ORDER BY created, n"
        with self.reading() as db:
            rows = sent(db, query, owner=owner, library=library).mappings().all()
        return [(row["thread"], _turn(row)) for row in rows]

    def picture(self, thread: str, turn: int, n: int) -> bytes | None:
        """Return a picture that was sent with a question, a JPEG file."""
        query = "SELECT jpeg FROM pictures WHERE thread = :thread AND turn = :turn AND n = :n"
        with self.reading() as db:
            found = sent(db, query, thread=thread, turn=turn, n=n).scalar()
        return None if found is None else bytes(found)

    def keep_added(self, library: str, names: Sequence[str], owner: str) -> None:
        """Store who added uploads of these file names; the first owner of a name stays its owner."""
        with self.writing() as db:
            for name in names:
                row = {"library": library, "name": name, "owner": owner}
                sent(db, "INSERT INTO added VALUES (:library, :name, :owner) ON CONFLICT DO NOTHING", **row)

    def added_by(self, owner: str, library: str) -> set[str]:
        """Return the names of the files that a caller added to a library."""
        query = "SELECT name FROM added WHERE owner = :owner AND library = :library"
        with self.reading() as db:
            return set(sent(db, query, owner=owner, library=library).scalars())

    def forget_added(self, library: str, names: Sequence[str]) -> None:
        """Forget who added uploads that were removed."""
        change = "DELETE FROM added WHERE library = :library AND name = :name"
        with self.writing() as db:
            for name in names:
                sent(db, change, library=library, name=name)


class NoSuchTurn(NotFound):
    """A conversation has no turn of that number."""

    def __init__(self) -> None:
        super().__init__("There is no such turn", "the conversation says how many it has")
        self.named("turn_not_found")


class GoneOn(Refused):
    """The conversation has new turns since the caller read it, so that no turn is replaced."""

    def __init__(self) -> None:
        super().__init__(
            409,
            "this conversation has changed since it was read",
            "read it again before you replace",
            "conversation_changed",
        )
        self.named("conversation_changed")


def add_thread(db: Connection, thread: ConversationThread) -> None:
    """Store a new conversation within a transaction."""
    values = "(:id, :owner, :library, :title, :created, :updated, :pinned)"
    sent(db, f"INSERT INTO threads VALUES {values}", **asdict(thread))


def begin_turn(
    db: Connection,
    thread: str,
    run: str,
    graph: str,
    question: str,
    pictures: Sequence[bytes] = (),
    context: dict[str, Any] | None = None,
    replaces: int = 0,
    seen: str = "",
    new: ConversationThread | None = None,
) -> int:
    """Begin a turn within a transaction and return its number.

    A `new` conversation is stored as well. The first question becomes the title of an untitled one. The turns
    from number `replaces` on are deleted; if `seen` is given, it must be the run of the last turn.

    Raises:
        NotFound: the conversation was deleted meanwhile, or has no turn to replace.
        Refused: it accepts no other question now.
        GoneOn: its last turn is not the one that was seen.
    """
    title, at = clip(" ".join(question.split()), 80), now()
    if new is not None:
        add_thread(db, replace(new, title=new.title or title))
        n = 1
    else:
        n = _next_turn(db, thread, title, at, replaces, seen)
    row = {"thread": thread, "n": n, "run": run, "graph": graph, "question": question, "at": at}
    columns = "thread, n, run, graph, question, status, created, context"
    values = ":thread, :n, :run, :graph, :question, 'running', :at, :context"
    sent(db, f"INSERT INTO turns ({columns}) VALUES ({values})", **row, context=packed(context))
    add_picture = "INSERT INTO pictures VALUES (:thread, :turn, :n, :jpeg)"
    for nth, jpeg in enumerate(pictures, 1):
        sent(db, add_picture, thread=thread, turn=n, n=nth, jpeg=jpeg)
    return n


def _next_turn(db: Connection, thread: str, title: str, at: str, replaces: int, seen: str) -> int:
    """Prepare a conversation for another turn and return the number of that."""
    # This statement comes first: its lock keeps other servers from beginning a turn.
    change = "updated = :at, title = CASE title WHEN '' THEN :title ELSE title END"
    update = f"UPDATE threads SET {change} WHERE id = :thread"
    if not sent(db, update, title=title, at=at, thread=thread).rowcount:
        raise NotFound("The conversation was deleted", "begin another one").named("conversation_deleted")
    running = "SELECT 1 FROM runs WHERE thread = :thread AND status = 'running' LIMIT 1"
    if sent(db, running, thread=thread).scalar():
        raise Refused(
            409, "this conversation is being answered already", "wait for the answer, or cancel it"
        ).named("conversation_busy")
    if replaces:
        _delete_turns(db, thread, replaces, seen)
    count = "SELECT coalesce(max(n), 0) + 1 FROM turns WHERE thread = :thread"
    return int(sent(db, count, thread=thread).scalar_one())


def _delete_turns(db: Connection, thread: str, first: int, seen: str) -> None:
    """Delete the turns of a conversation from number `first` on."""
    last = "SELECT run FROM turns WHERE thread = :thread ORDER BY n DESC LIMIT 1"
    if seen and seen != sent(db, last, thread=thread).scalar():
        raise GoneOn
    sent(db, "DELETE FROM runs WHERE thread = :thread AND turn >= :n", thread=thread, n=first)
    delete = "DELETE FROM turns WHERE thread = :thread AND n >= :n"
    if not sent(db, delete, thread=thread, n=first).rowcount:
        raise NoSuchTurn


def set_turn(db: Connection, thread: str, n: int, status: str, **kept: Any) -> None:
    """Store within a transaction the outcome of a turn: its status, `answer`, `problem` and `trail`."""
    change = "status = :status, answer = :answer, problem = :problem, trail = :trail"
    sent(
        db,
        f"UPDATE turns SET {change} WHERE thread = :thread AND n = :n",
        thread=thread,
        n=n,
        status=status,
        answer=packed(kept.get("answer")),
        problem=packed(kept.get("problem")),
        trail=packed(kept.get("trail")),
    )


_TURNS = """SELECT *, (
    SELECT count(*) FROM pictures p WHERE p.thread = turns.thread AND p.turn = turns.n
) AS pictures FROM turns"""


def packed(value: Any) -> str | None:
    """Return a value as JSON for the database; None stays None."""
    return None if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _turn(row: Mapping[Any, Any]) -> ConversationTurn:
    values = {field.name: row[field.name] for field in fields(ConversationTurn)}
    for name in ("answer", "problem", "trail", "context", "verdict"):
        values[name] = json.loads(values[name]) if values[name] else None
    if values["trail"] is None:
        values["trail"] = []
    return ConversationTurn(**values)
