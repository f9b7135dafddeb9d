"""Set up a model from the page as `ragweave setup` does: try it, save it and use it at once."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
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

Emit = Callable[[dict[str, Any]], None]
"""Receives an event.

`told` has a line of progress, `again` the libraries to encode again, `error` a problem. After `saved`, a chat
model is examined: `exam` has the number of answers judged so far, `examined` the result, and `unexamined` the
problem that prevented the exam.
"""
_DECIDES = 3
"""The first variables of a part identify its model: name, address and key."""
_WORDS = 1.5
"""Time to transcribe speech, as a multiple of the time for noise of the same length."""


@dataclass(frozen=True)
class ModelWanted:
    """The model that a part is to use.

    `choice` is the text of an offered model, `model` the name of any other one. `remove` restores the
    default. `again` allows encoding the libraries again for the model.
    """

    choice: str = ""
    model: str = ""
    url: str = ""
    key: str = ""
    remove: bool = False
    again: bool = False


class Setups:
    """Set up one model at a time in this process, to the end even if the client disconnects."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    def start(self, part: PartName, wanted: ModelWanted) -> AsyncIterator[dict[str, Any]]:
        """Start to set up a model, and return its events.

        Raises:
            Refused: another model is being set up, or another setting takes precedence over the saved one.
        """
        check_nearer(part)
        if self._task is not None and not self._task.done():
            raise Refused(409, "a model is being set up already", "wait until that has ended").named(
                "setup_busy"
            )
        events: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._task = asyncio.create_task(_to_its_end(set_up(part, wanted, events.put_nowait), part, events))
        return _until_none(events)

    async def close(self) -> None:
        """Cancel the setup; the settings are written completely or not at all."""
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
    while True:
        event = await events.get()
        if event is None:
            return
        yield event


def check_nearer(part: PartName) -> None:
    """Refuse a part for which another setting takes precedence over the saved one."""
    before = nearer(variables(part)[:_DECIDES])
    if before:
        raise Refused(
            409, f"{before}, and counts before what is saved here", "change it there, or take it out"
        ).named("setting_overridden", before=before)


def stored_key(part: PartName, url: str, model: str = "") -> str:
    """Return the stored key of a part if it belongs to the same server or provider, else "".

    The key is never sent to another server.
    """
    settings, name = model_settings(), TABLE[part].setting
    key = getattr(settings, f"{name}_key", None)
    stored_model = str(getattr(settings, name))
    stored_url = str(getattr(settings, f"{name}_url", ""))
    if url or stored_url:
        same = address(url) == address(stored_url)
    else:
        same = model.partition(":")[0] == stored_model.partition(":")[0]
    return key.get_secret_value() if key is not None and same else ""


async def set_up(part: PartName, wanted: ModelWanted, emit: Emit) -> None:
    """Try a model and save it; for an encoder, encode the libraries first.

    Raises:
        RagweaveError: the model is unavailable or does not work; nothing is saved.
        OSError: the settings cannot be written; they are unchanged.
    """
    values = await _tried(part, wanted, lambda line: emit({"type": "told", "text": line}))
    if part == "encoder" and not await _encoded(values, wanted.again, emit):
        return
    await asyncio.to_thread(write, values)
    model = values[TABLE[part].variable]
    saved = {"type": "saved", "model": model, "after": TABLE[part].after if model else ""}
    emit({**saved, **await _hearing(part, values)})
    if part == "chat" and model:
        await _examine(emit)


async def _encoded(values: Values, again: bool, emit: Emit) -> bool:
    """Encode the libraries that have no vectors of an encoder; without `again`, only list them.

    Returns:
        Whether the encoder can search all libraries now.
    """
    waiting = await apart(values)
    if waiting and not again:
        rows = []
        for name, items, seconds in waiting:
            rows.append({"name": name, "items": items, "seconds": round(seconds, 1)})
        emit({"type": "again", "libraries": rows})
        return False
    for library, *_ in waiting:
        await reencode(library, values, partial(_progress, library, emit))
    return True


async def _examine(emit: Emit) -> None:
    """Examine the model that checks answers, if it was never examined.

    If the exam fails to run, the first answer tries it again.
    """
    run = RunContext("setup", Context(mode="llm"), TurnState(Meter()))
    run.event = lambda event: None
    total = len(exam.cases())
    emit({"type": "exam", "done": 0, "of": total})
    try:
        result = await exam.passed(run, lambda done, of: emit({"type": "exam", "done": done, "of": of}))
    except RagweaveError as error:
        emit({"type": "unexamined", "problem": problem(error, "the exam")})
        return
    figures = result.model_dump(include={"model", "right", "of"})
    emit({"type": "examined", **figures, "needs": exam.PASS, "passed": result.passed})


async def _tried(part: PartName, wanted: ModelWanted, report: Callable[[str], None]) -> Values:
    """Return the settings of a model after a successful call to it; `report` receives lines of progress."""
    if wanted.remove:
        return dict.fromkeys(variables(part), "")
    if wanted.choice:
        for choice in await choices(part):
            if choice.text == wanted.choice:
                return await choice.take(report)
        raise Refused(404, "this model is not offered any more", "open the form again").named(
            "model_offer_gone"
        )
    if not wanted.model.strip():
        raise Refused(422, "no model is named", "choose one of the list, or write its name").named(
            "model_required"
        )
    key = wanted.key.strip() or stored_key(part, wanted.url, wanted.model)
    return await named(part, wanted.model, report, wanted.url, key)


def _progress(library: str, emit: Emit, event: Event) -> None:
    if event.kind == "reembedded":
        emit({"type": "encoding", "library": library, "done": event.done, "total": event.total})


async def _hearing(part: PartName, values: Values) -> dict[str, Any]:
    """Return the estimated `minutes` in which a local speech model transcribes all recordings again.

    The next indexing run does this. Without a local speech model or recordings the result is empty.
    """
    name = values[TABLE[part].variable]
    if part != "speech" or not name or name.startswith("api:"):
        return {}
    seconds = await heard_seconds()
    if not seconds:
        return {}
    with using(settings_with(values)):
        pace = await asyncio.to_thread(trial.pace, name)
    return {"minutes": math.ceil(seconds * pace * _WORDS / 60)}
