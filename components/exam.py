"""Give a model an exam of forty sentences of known truth, once, before its verdicts count."""

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
"""Sentences of the forty that a model must judge right; one with 80 % right passes once in 125 times."""
TRUE: tuple[Said, ...] = ("supported", "follows")
FALSE: tuple[Said, ...] = ("contradicted", "disputed", "not stated")
SITS = "This model sits an exam of forty sentences, once, before it checks answers."
REMEDY = "set RAGWEAVE_CHECK to another chat model, or check_by=off"

Rows = dict[int, list[Verdict]]
Ask = Callable[[str, Sequence[ShownPassage], Sequence[str], Sequence[Sequence[int]]], Awaitable[Rows | None]]
"""Judges an answer: question, passages, sentences, and the passage numbers that each sentence cites."""

Progress = Callable[[int, int], None]
"""Takes the number of judged answers of the exam, and the number of all."""


class ExamSentence(BaseModel):
    """A sentence of the exam.

    Attributes:
        text: the sentence.
        cites: numbers of the passages that it cites.
        kind: the error in a false one, or the wording of a true one.
        verdict: the right verdict.
        rests: (passage number, words of it) that decide.
    """

    text: str
    cites: list[int]
    kind: str
    verdict: Said
    rests: list[tuple[int, str]]

    @property
    def true(self) -> bool:
        """Whether the passages state it, or it follows from them."""
        return self.verdict in TRUE


class ExamCase(BaseModel):
    """A question, its passages, and the sentences of an answer in their order."""

    question: str
    passages: list[ShownPassage]
    sentences: list[ExamSentence]


class ExamResult(BaseModel):
    """The result of a model.

    Attributes:
        model: name of the model.
        host: its server.
        right: sentences that it judged right.
        of: sentences of the exam.
        missed: kinds of sentences that it judged wrong, each once, in the order of the exam.
    """

    model_config = ConfigDict(frozen=True)

    model: str = ""
    host: str = ""
    right: int
    of: int
    missed: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the verdicts of the model count."""
        return self.right >= PASS

    @property
    def words(self) -> str:
        """The result in words, for the reader of an answer and for `ragweave doctor`."""
        score = f"{self.model} judged {self.right} of {self.of} sentences of the exam right"
        if self.passed:
            return score
        return f"this model cannot check: {score} and needs {PASS}; it missed {', '.join(self.missed)}"


class _Key(NamedTuple):
    """Identifies a result: a change of the prompt or the exam makes it invalid."""

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
    return tuple(map(ExamCase.model_validate, json.loads(_exam_file())))


def _sentences() -> int:
    """Return the number of sentences of the exam."""
    return sum(len(case.sentences) for case in cases())


@cache
def _exam_file() -> str:
    return files("ragweave.components").joinpath("data", "exam.json").read_text(encoding="utf-8")


async def sit(ask: Ask) -> ExamResult:
    """Have all sentences judged, the answers concurrently, and count the right verdicts.

    Raises:
        RagweaveError: from the first call that failed, after all have ended.
    """
    replies = await asyncio.gather(*map(partial(_judge, ask), cases()), return_exceptions=True)
    right = 0
    missed: dict[str, None] = {}
    for case, reply in zip(cases(), replies, strict=True):
        if isinstance(reply, BaseException):
            raise reply
        rows = reply or {}
        for n, item in enumerate(case.sentences, 1):
            if is_right(case, item, rows.get(n, [])):
                right += 1
            else:
                missed[item.kind] = None
    return ExamResult(right=right, of=_sentences(), missed=tuple(missed))


async def _judge(ask: Ask, case: ExamCase) -> Rows | None:
    texts: list[str] = []
    cites: list[list[int]] = []
    for item in case.sentences:
        texts.append(item.text)
        cites.append(item.cites)
    return await ask(case.question, case.passages, texts, cites)


def is_right(case: ExamCase, item: ExamSentence, rows: Sequence[Verdict]) -> bool:
    """Return whether the verdicts on a sentence are right; those on a true one must copy supporting words.

    The check itself decides whether the words support it: a model that never copies them verifies nothing.
    """
    given = {row.verdict for row in rows}
    if not item.true:
        return bool(given) and given <= set(FALSE)
    if not given or not given <= set(TRUE):
        return False
    sources: list[CheckSource] = []
    for n, shown in enumerate(case.passages, 1):
        sources.append(CheckSource(str(n), shown.title, shown.text))
    mark = judged(Claim(item.text, tuple(item.cites)), rows, sources, case.question)
    return mark.support in ("verified", "follows")


async def passed(run: RunContext, progress: Progress | None = None) -> ExamResult:
    """Return the exam result of the checking model, which sits the exam now if it never did.

    An event of the run says so. The calls of the exam count against no limit of the run.

    Raises:
        ModelError: no chat model is configured, or the server refused.
        ModelTransient: the server cannot be reached; then no result is stored.
    """
    model = run.asked("check")
    key = _key(model)
    async with _lock(key):
        kept = await _stored(key)
        if kept is not None:
            return kept
        run.event({"type": "note", "text": SITS})
        return await _sat(run, model, key, progress)


async def known(model: Chat) -> ExamResult | None:
    """Return the stored result of a model, None if it never sat the exam."""
    return await _stored(_key(model))


def _key(model: Chat) -> _Key:
    digest = hashlib.sha256(f"{fingerprint('verdicts')}\n{_exam_file()}".encode()).hexdigest()
    return _Key(model_settings().home, model.name, model.host, digest)


async def _sat(run: RunContext, model: Chat, key: _Key, progress: Progress | None) -> ExamResult:
    own = RunContext("exam", run.context, TurnState(Meter(), down=set(run.turn.down)))
    ask = partial(verdicts.ask, own)
    made = await sit(_counted(ask, progress) if progress else ask)
    result = made.model_copy(update={"model": model.name, "host": model.host})
    logger.info("exam: %s", result.words)
    await asyncio.to_thread(_keep, key, result)
    return result


def _counted(ask: Ask, progress: Progress) -> Ask:
    """Return a judge that reports its progress after each answer."""
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


_locks: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[_Key, asyncio.Lock]] = WeakKeyDictionary()
_known_here: dict[_Key, ExamResult] = {}
"""Results that this process has read, or has found: a read-only home would cost an exam for each answer."""


def _lock(key: _Key) -> asyncio.Lock:
    """Return the lock under which one run sits the exam while the others wait for its result."""
    locks = _locks.setdefault(asyncio.get_running_loop(), {})
    return locks.setdefault(key, asyncio.Lock())


async def _stored(key: _Key) -> ExamResult | None:
    """Return the result that this process knows, or that of the home."""
    return _known_here.get(key) or await asyncio.to_thread(_read, key)


def _read(key: _Key) -> ExamResult | None:
    try:
        result = ExamResult.model_validate_json(key.path.read_bytes())
    except (OSError, ValidationError):
        return None
    if result.of != _sentences() or not 0 <= result.right <= result.of:
        return None
    _known_here[key] = result
    return result


def _keep(key: _Key, result: ExamResult) -> None:
    """Write a result to a temporary file and move it, so that no reader sees half of it."""
    _known_here[key] = result
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
