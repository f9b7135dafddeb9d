"""An exam of forty sentences of known truth, which a model sits once before its verdicts count."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ConfigDict, ValidationError

from ragweave.components import verdicts
from ragweave.components.check import CheckSource, Claim, judged
from ragweave.components.run_context import RunContext, TurnState
from ragweave.components.verdicts import Said, ShownPassage, Verdict
from ragweave.models.chat import Chat
from ragweave.models.meter import Meter
from ragweave.models.settings import model_settings
from ragweave.prompts import fingerprint

logger = logging.getLogger(__name__)

PASS = 38
"""Sentences of the forty that must be judged right: a model that is right on 80 % passes once in 125 times."""
TRUE: tuple[Said, ...] = ("supported", "follows")
FALSE: tuple[Said, ...] = ("contradicted", "disputed", "not stated")
SITS = "This model sits an exam of forty sentences, once, before it checks answers."
REMEDY = "set RAGWEAVE_CHECK to another chat model, or check_by=off"

Rows = dict[int, list[Verdict]]
Ask = Callable[[str, Sequence[ShownPassage], Sequence[str], Sequence[Sequence[int]]], Awaitable[Rows | None]]
"""Judges the sentences of an answer: question, passages, sentences, and the numbers of the passages that each names."""

Progress = Callable[[int, int], None]
"""Takes how many answers of the exam have been judged, and how many there are."""


class ExamSentence(BaseModel):
    """A sentence of the exam.

    Attributes:
        text: the sentence.
        cites: numbers of the passages that it names.
        kind: what is false in it, or how a true one is written.
        verdict: what an honest reader says of it.
        rests: number of a passage and the words of it that decide, as an honest reader shows them.
    """

    text: str
    cites: list[int]
    kind: str
    verdict: Said
    rests: list[tuple[int, str]]

    @property
    def true(self) -> bool:
        """Whether the passages say it, or it follows from them."""
        return self.verdict in TRUE


class ExamCase(BaseModel):
    """A question, its passages, and the sentences of an answer in their order."""

    question: str
    passages: list[ShownPassage]
    sentences: list[ExamSentence]


class ExamResult(BaseModel):
    """What a model made of the exam.

    Attributes:
        model: its name.
        host: its server.
        right: sentences that it judged right.
        of: sentences of the exam.
        missed: kinds of sentence that it judged wrong, each once, in the order of the exam.
    """

    model_config = ConfigDict(frozen=True)

    model: str = ""
    host: str = ""
    right: int
    of: int
    missed: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether its verdicts count."""
        return self.right >= PASS

    @property
    def words(self) -> str:
        """The result in words, for the reader of an answer and for `ragweave doctor`."""
        score = f"{self.model} judged {self.right} of {self.of} sentences of the exam right"
        if self.passed:
            return score
        return f"this model cannot check: {score} and needs {PASS}; it missed {', '.join(self.missed)}"


class _Key(NamedTuple):
    """What a result holds for: another prompt or exam is another result."""

    home: Path
    model: str
    host: str
    digest: str

    @property
    def path(self) -> Path:
        name = hashlib.sha256(f"{self.model}\n{self.host}\n{self.digest}".encode()).hexdigest()[:32]
        return self.home / "exams" / f"{name}.json"


@cache
def cases() -> tuple[ExamCase, ...]:
    """Return the eight answers of the exam, five sentences each, half of them false."""
    return tuple(ExamCase.model_validate(row) for row in json.loads(_written()))


@cache
def _written() -> str:
    return files("ragweave.components").joinpath("data", "exam.json").read_text(encoding="utf-8")


async def sit(ask: Ask) -> ExamResult:
    """Have all sentences judged, the answers at once, and count what was judged right.

    Raises:
        RagweaveError: of the first call that failed, once all have ended.
    """
    held = cases()
    replies = await asyncio.gather(*(_asked(ask, case) for case in held), return_exceptions=True)
    right: list[ExamSentence] = []
    missed: list[str] = []
    for case, reply in zip(held, replies, strict=True):
        if isinstance(reply, BaseException):
            raise reply
        for n, item in enumerate(case.sentences, 1):
            if is_right(case, item, (reply or {}).get(n, [])):
                right.append(item)
            else:
                missed.append(item.kind)
    of = sum(len(case.sentences) for case in held)
    return ExamResult(right=len(right), of=of, missed=tuple(dict.fromkeys(missed)))


async def _asked(ask: Ask, case: ExamCase) -> Rows | None:
    return await ask(
        case.question,
        case.passages,
        [item.text for item in case.sentences],
        [item.cites for item in case.sentences],
    )


def is_right(case: ExamCase, item: ExamSentence, rows: Sequence[Verdict]) -> bool:
    """Tell whether the rows of a sentence judge it right; a true one needs words that hold what it says.

    They hold it by the rule of the product: who never shows such words would verify nothing.
    """
    said = {row.verdict for row in rows}
    if not item.true:
        return bool(said) and said <= set(FALSE)
    if not said or not said <= set(TRUE):
        return False
    sources = [CheckSource(str(n), shown.title, shown.text) for n, shown in enumerate(case.passages, 1)]
    mark = judged(Claim(item.text, tuple(item.cites)), rows, sources, case.question)
    return mark.support in ("verified", "follows")


async def passed(run: RunContext, progress: Progress | None = None) -> ExamResult:
    """Return what the model that checks made of the exam; it sits it now if it never did.

    The reader is told so through the events of the run. Its calls count against no limit of the run.

    Raises:
        ModelError: no chat model is configured, or the server refused.
        ModelTransient: the server cannot be reached; nothing is kept then.
    """
    model = run.asked("check")
    key = _Key(model_settings().home, model.name, model.host, _digest())
    async with _lock(key):
        kept = await asyncio.to_thread(_read, key)
        if kept is not None:
            return kept
        run.event({"type": "note", "text": SITS})
        return await _sat(run, model, key, progress)


async def known(model: Chat) -> ExamResult | None:
    """Return the result that is kept of a model, None if it never sat the exam."""
    return await asyncio.to_thread(_read, _Key(model_settings().home, model.name, model.host, _digest()))


async def _sat(run: RunContext, model: Chat, key: _Key, progress: Progress | None) -> ExamResult:
    own = RunContext("exam", run.context, TurnState(Meter(), down=set(run.turn.down)))
    ask = partial(verdicts.ask, own)
    made = await sit(_counted(ask, progress) if progress else ask)
    result = made.model_copy(update={"model": model.name, "host": model.host})
    logger.info("exam: %s", result.words)
    await asyncio.to_thread(_keep, key, result)
    return result


def _counted(ask: Ask, progress: Progress) -> Ask:
    """Return the same question, which reports how many answers have been judged."""
    judged_answers = 0

    async def counted(
        question: str,
        passages: Sequence[ShownPassage],
        sentences: Sequence[str],
        cites: Sequence[Sequence[int]],
    ) -> Rows | None:
        nonlocal judged_answers
        rows = await ask(question, passages, sentences, cites)
        judged_answers += 1
        progress(judged_answers, len(cases()))
        return rows

    return counted


def _digest() -> str:
    return hashlib.sha256(f"{fingerprint('verdicts')}\n{_written()}".encode()).hexdigest()


_locks: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[_Key, asyncio.Lock]] = WeakKeyDictionary()
_sat_here: dict[_Key, ExamResult] = {}
"""Results of this process: a home that cannot be written must not cost an exam for each answer."""


def _lock(key: _Key) -> asyncio.Lock:
    """Return what lets one run at a time sit the exam; the others wait and read its result."""
    return _locks.setdefault(asyncio.get_running_loop(), {}).setdefault(key, asyncio.Lock())


def _read(key: _Key) -> ExamResult | None:
    if key in _sat_here:
        return _sat_here[key]
    try:
        result = ExamResult.model_validate_json(key.path.read_bytes())
    except (OSError, ValidationError):
        return None
    usable = result.of == sum(len(case.sentences) for case in cases()) and 0 <= result.right <= result.of
    return result if usable else None


def _keep(key: _Key, result: ExamResult) -> None:
    """Write a result beside its place and move it there, so that nobody reads half of it."""
    _sat_here[key] = result
    draft = ""
    try:
        key.path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(
            "w", encoding="utf-8", dir=key.path.parent, suffix=".part", delete=False
        ) as file:
            draft = file.name
            file.write(result.model_dump_json())
        os.replace(draft, key.path)
    except OSError as error:
        logger.warning("the result of the exam is not kept: %s", error)
        if draft:
            Path(draft).unlink(missing_ok=True)
