"""Setting a model up from the page, as `ragweave setup` does it: tried with a call, saved, and used at once."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from ragweave.components import exam
from ragweave.components.context import Context
from ragweave.components.reencoding import apart, heard_seconds, reencode
from ragweave.components.run_context import RunContext, TurnState
from ragweave.corpora.ingest.events import Event
from ragweave.models import trial
from ragweave.models.chat_client import address
from ragweave.models.errors import RagweaveError
from ragweave.models.meter import Meter
from ragweave.models.offered import Values, choices, named, variables
from ragweave.models.offers import TABLE, PartName
from ragweave.models.settings import model_settings, settings_with, using
from ragweave.models.user_settings import nearer, write
from ragweave.serve.problems import Refused, problem

Told = Callable[[dict[str, Any]], None]
"""Takes an event: `told` with a line, `again` with libraries to encode, `saved`, or `error` with a problem.

After `saved` a chat model sits its exam: `exam` has the answers judged so far, `examined` its result, `unexamined` the
problem that prevented it.
"""
_DECIDES = 3
"""Variables of a part that decide which model it is: its name, its address, its key."""
_WORDS = 1.5
"""By how much writing words down takes longer than listening to noise."""


@dataclass(frozen=True)
class ModelWanted:
    """Which model a part is to have: one that is offered, by its text, or one that is named; or what ships again.

    `again` says that the libraries may be encoded again for it.
    """

    choice: str = ""
    model: str = ""
    url: str = ""
    key: str = ""
    remove: bool = False
    again: bool = False


class Setups:
    """The one model that is being set up by this process; it is set up to the end, whoever leaves."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    def start(self, part: PartName, wanted: ModelWanted) -> AsyncIterator[dict[str, Any]]:
        """Begin, and return the events of it.

        Raises:
            Refused: another model is being set up, or what is set nearer would count before this one.
        """
        check_nearer(part)
        if self._task is not None and not self._task.done():
            raise Refused(409, "a model is being set up already", "wait until that has ended").named(
                "model_being_set_up"
            )
        events: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._task = asyncio.create_task(_to_its_end(set_up(part, wanted, events.put_nowait), part, events))
        return _until_none(events)

    async def close(self) -> None:
        """Stop it; what was written is written whole, or not at all."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])


async def _to_its_end(
    work: Coroutine[Any, Any, None], part: PartName, events: asyncio.Queue[dict[str, Any] | None]
) -> None:
    try:
        await work
    except Exception as error:
        events.put_nowait({"type": "error", "problem": problem(error, f"setting up {part}")})
    finally:
        events.put_nowait(None)


async def _until_none(events: asyncio.Queue[dict[str, Any] | None]) -> AsyncIterator[dict[str, Any]]:
    while (event := await events.get()) is not None:
        yield event


def check_nearer(part: PartName) -> None:
    """Refuse what could be saved and would not count."""
    if before := nearer(variables(part)[:_DECIDES]):
        raise Refused(
            409, f"{before}, and counts before what is saved here", "change it there, or take it out"
        ).named("set_elsewhere", before=before)


def stored_key(part: PartName, url: str, model: str = "") -> str:
    """Return the key that is set for a part, where it is for the same server or provider; it goes to no other."""
    settings, name = model_settings(), TABLE[part].setting
    key = getattr(settings, f"{name}_key", None)
    had, held = str(getattr(settings, name)), str(getattr(settings, f"{name}_url", ""))
    same = address(url) == address(held) if url or held else model.partition(":")[0] == had.partition(":")[0]
    return key.get_secret_value() if key is not None and same else ""


async def set_up(part: PartName, wanted: ModelWanted, tell: Told) -> None:
    """Try the model that is wanted and save it; an encoder once the libraries have its vectors.

    Raises:
        RagweaveError: it cannot be had, or does not work; nothing is saved.
        OSError: the settings cannot be written; they are as they were.
    """
    values = await _tried(part, wanted, lambda line: tell({"type": "told", "text": line}))
    if part == "encoder" and (waiting := await apart(values)):
        if not wanted.again:
            rows = [
                {"name": name, "items": items, "seconds": round(seconds, 1)}
                for name, items, seconds in waiting
            ]
            tell({"type": "again", "libraries": rows})
            return
        for library, *_ in waiting:
            await reencode(library, values, lambda event, library=library: _progress(event, library, tell))  # type: ignore[misc]
    await asyncio.to_thread(write, values)
    model = values[TABLE[part].variable]
    tell(
        {
            "type": "saved",
            "model": model,
            "after": TABLE[part].after if model else "",
            **await _hearing(part, values),
        }
    )
    if part == "chat" and model:
        await _examine(tell)


async def _examine(tell: Told) -> None:
    """Have the model that checks sit its exam if it never did; a failure leaves it for the first answer."""
    run = RunContext("setup", Context(mode="llm"), TurnState(Meter()))
    run.event = lambda event: None
    total = len(exam.cases())
    tell({"type": "exam", "done": 0, "of": total})
    try:
        result = await exam.passed(run, lambda done, of: tell({"type": "exam", "done": done, "of": of}))
    except RagweaveError as error:
        tell({"type": "unexamined", "problem": problem(error, "the exam")})
        return
    figures = result.model_dump(include={"model", "right", "of"})
    tell({"type": "examined", **figures, "needs": exam.PASS, "passed": result.passed})


async def _tried(part: PartName, wanted: ModelWanted, tell: Callable[[str], None]) -> Values:
    if wanted.remove:
        return dict.fromkeys(variables(part), "")
    if wanted.choice:
        found = next((c for c in await choices(part) if c.text == wanted.choice), None)
        if found is None:
            raise Refused(404, "this model is not offered any more", "open the form again").named(
                "model_not_offered_any"
            )
        return await found.take(tell)
    if not wanted.model.strip():
        raise Refused(422, "no model is named", "choose one of the list, or write its name").named(
            "no_model_named"
        )
    key = wanted.key.strip() or stored_key(part, wanted.url, wanted.model)
    return await named(part, wanted.model, tell, wanted.url, key)


def _progress(event: Event, library: str, tell: Told) -> None:
    if event.kind == "reembedded":
        tell({"type": "encoding", "library": library, "done": event.done, "total": event.total})


async def _hearing(part: PartName, values: Values) -> dict[str, Any]:
    """Return about how many minutes the next indexing takes to hear all recordings again, where a model here hears."""
    name = values[TABLE[part].variable]
    seconds = await heard_seconds() if part == "speech" and name and not name.startswith("api:") else 0.0
    if not seconds:
        return {}
    with using(settings_with(values)):
        pace = await asyncio.to_thread(trial.pace, name)
    return {"minutes": math.ceil(seconds * pace * _WORDS / 60)}
