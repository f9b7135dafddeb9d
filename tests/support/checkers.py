"""Scripted checkers: an honest one, and others that copy, guess, skip or are right only sometimes."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from ragweave.components.exam import TRUE, Ask, ExamCase, Rows
from ragweave.components.exam import cases as exam_cases
from ragweave.components.plain_sentences import parts
from ragweave.components.verdicts import Said, ShownPassage, Verdict
from ragweave.models import text

Key = Mapping[str, tuple[Said, Sequence[tuple[int, str]]]]
"""The true verdict of each sentence, with the numbers of the deciding passages and their words."""


def key_of(cases: Iterable[ExamCase]) -> Key:
    """Return the key of exam cases."""
    key: dict[str, tuple[Said, Sequence[tuple[int, str]]]] = {}
    for case in cases:
        for item in case.sentences:
            key[item.text] = (item.verdict, item.rests)
    return key


def written_rows() -> list[dict[str, Any]]:
    """Return the written answers of the measurement; no rule was tuned on them."""
    path = Path(__file__).parent.parent.parent / "evals" / "written_marks.json"
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return rows


def honest(key: Key) -> Ask:
    """Judge by the key; judge any other sentence by the controls, or by whether a passage contains it."""

    async def ask(
        question: str, passages: Sequence[ShownPassage], sentences: Sequence[str], cited: object
    ) -> Rows:
        return {n: _rows(n, s, passages, key) for n, s in enumerate(sentences, 1)}

    return ask


_PASSAGE = re.compile(r"^\[\d+\]\s<<<\n(.*?)\n(.*?)\n?>>>$", re.M | re.S)
_SENTENCE = re.compile(r"^(\d+)\. (.*?)(?: ?(?:\[\d+\])+)?$", re.M)


def reply(prompt: str, key: Key | None = None) -> str:
    """Return the reply of an honest model to a prompt of the check or of the exam.

    A sentence without a key is supported if a passage contains it word for word, else contradicted.
    """
    known = {**key_of(exam_cases()), **(key or {})}
    shown, _, asked = prompt.rpartition("\n\nSentences of the answer")
    passages = [ShownPassage(title, written) for title, written in _PASSAGE.findall(shown)]
    verdicts: list[dict[str, Any]] = []
    for n, sentence in _SENTENCE.findall(asked):
        for row in _rows(int(n), sentence, passages, known):
            verdicts.append(row.model_dump())
    return json.dumps({"verdicts": verdicts})


def right_on(share: float, key: Key, seed: int) -> Ask:
    """Judge a share of the sentences by the key; say the opposite of the others, with the nearest words."""
    draw = random.Random(seed)

    async def ask(
        question: str, passages: Sequence[ShownPassage], sentences: Sequence[str], cited: object
    ) -> Rows:
        out = {}
        for n, s in enumerate(sentences, 1):
            rows = _rows(n, s, passages, key)
            if draw.random() >= share:
                said: Said = "contradicted" if rows[0].verdict in TRUE else "supported"
                rows = [_near(n, s, passages, said)]
            out[n] = rows
        return out

    return ask


def nearest() -> Ask:
    """Call every sentence supported, and copy the passage sentence that shares most words."""
    return _each(lambda n, s, passages: _near(n, s, passages, "supported"))


def whole_passage() -> Ask:
    """Call every sentence supported, and copy the whole passage that shares most words."""

    def row(n: int, s: str, passages: Sequence[ShownPassage]) -> Verdict:
        near = _near(n, s, passages, "supported")
        return near.model_copy(update={"words": passages[near.passage - 1].text})

    return _each(row)


def at_random(seed: int) -> Ask:
    """Draw one of three verdicts, and copy the nearest sentence."""
    draw = random.Random(seed)
    said: tuple[Said, ...] = ("supported", "contradicted", "not stated")
    return _each(lambda n, s, passages: _near(n, s, passages, draw.choice(said)))


def values_only() -> Ask:
    """Call a sentence supported if the nearest passage has all of its numbers, else contradicted."""

    def row(n: int, s: str, passages: Sequence[ShownPassage]) -> Verdict:
        near = _near(n, s, passages, "supported")
        held = text.numbers(passages[near.passage - 1].text)
        said: Said = "supported" if set(text.numbers(s)) <= set(held) else "contradicted"
        return near.model_copy(update={"verdict": said})

    return _each(row)


def empty_words() -> Ask:
    """Call every sentence supported, and copy no words."""
    return _each(lambda n, s, passages: Verdict(n=n, verdict="supported", passage=1))


def not_stated() -> Ask:
    """Call every sentence not stated."""
    return _each(lambda n, s, passages: Verdict(n=n, verdict="not stated"))


async def garbage(question: str, passages: object, sentences: object, cited: object) -> None:
    """Give a reply that cannot be parsed."""


def first_only(key: Key) -> Ask:
    """Judge the first sentence by the key, and skip the others."""

    async def ask(
        question: str, passages: Sequence[ShownPassage], sentences: Sequence[str], cited: object
    ) -> Rows:
        return {1: _rows(1, sentences[0], passages, key)} if sentences else {}

    return ask


def _each(row: Callable[[int, str, Sequence[ShownPassage]], Verdict]) -> Ask:
    async def ask(
        question: str, passages: Sequence[ShownPassage], sentences: Sequence[str], cited: object
    ) -> Rows:
        return {n: [row(n, s, passages)] for n, s in enumerate(sentences, 1)}

    return ask


def _near(n: int, sentence: str, passages: Sequence[ShownPassage], said: Said) -> Verdict:
    wanted = set(text.terms(sentence))
    numbered: list[tuple[int, str]] = []
    for p, shown in enumerate(passages, 1):
        for part in parts_as_written(shown.text):
            numbered.append((p, part))
    passage, words = max(numbered, key=lambda at: len(wanted & set(text.terms(at[1]))))
    return Verdict(n=n, verdict=said, passage=passage, words=words)


def parts_as_written(written: str) -> list[str]:
    """Return the table rows or sentences of a text, unchanged."""
    if " | " in written:
        return written.splitlines()
    return [written[a:b] for a, b in text.sentences(written)] or [written]


def _rows(n: int, sentence: str, passages: Sequence[ShownPassage], key: Key) -> list[Verdict]:
    said, rests = key.get(sentence) or _of_control(sentence, passages)
    if said == "disputed":
        (passage, words), (against, says) = rests
        return [Verdict(n=n, verdict=said, passage=passage, words=words, against=against, says=says)]
    return [Verdict(n=n, verdict=said, passage=p, words=w) for p, w in rests] or [Verdict(n=n, verdict=said)]


def _of_control(sentence: str, passages: Sequence[ShownPassage]) -> tuple[Said, Sequence[tuple[int, str]]]:
    written = json.loads(
        files("ragweave.components").joinpath("data", "controls.json").read_text(encoding="utf-8")
    )
    for row in written:
        passage = next((n for n, shown in enumerate(passages, 1) if shown.title == row["title"]), 0)
        if sentence == row["false"]:
            return "contradicted", [(passage, row["contradicts"])]
        if sentence == row["true"]:
            return "supported", [(passage, row["supports"])]
    for n, shown in enumerate(passages, 1):
        if sentence in parts(shown.text):
            return "supported", [(n, sentence)]
    near = _near(0, sentence, passages, "contradicted")
    return "contradicted", [(near.passage, near.words)]
