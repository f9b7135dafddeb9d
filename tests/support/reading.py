"""A scripted checker: a sentence that a passage contains is supported, a similar one contradicted."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from langchain_core.messages import BaseMessage

from ragweave.models import tables
from ragweave.models.text import content_terms, words

_PASSAGE = re.compile(r"^\[(\d+)\]\n<<<\n(.*?)\n>>>$", re.M | re.S)
_LINE = re.compile(r"^(\d+)\. (.*?)((?:\[\d+\])*)$", re.M)


Sent = Sequence[BaseMessage] | Sequence[dict[str, Any]]
"""Messages of a prompt, as LangChain messages or as a server receives them."""


def _text_of(message: BaseMessage | dict[str, Any]) -> str:
    return str(message["content"] if isinstance(message, dict) else message.text)


def is_check(messages: Sent) -> bool:
    """Return whether a prompt asks for verdicts on the sentences of an answer."""
    return "You check an answer, sentence by sentence" in _text_of(messages[0])


def asked(messages: Sent) -> tuple[dict[int, str], dict[int, str]]:
    """Return the passages and the sentences of a check prompt, by number."""
    text = _text_of(messages[-1])
    shown, _, said = text.partition("Sentences of the answer, each with the passages that it names:")
    passages = {int(n): body for n, body in _PASSAGE.findall(shown)}
    return passages, {int(n): line.strip() for n, line, _ in _LINE.findall(said)}


def honest(messages: Sent, **by_hand: dict[str, Any]) -> dict[str, Any]:
    """Return the verdicts of an honest reader.

    A sentence that contains a key of `by_hand` gets the verdict that it gives.
    """
    passages, sentences = asked(messages)
    rows: list[dict[str, Any]] = []
    for n, sentence in sentences.items():
        given = _given(sentence, by_hand)
        for row in given or _known(sentence, passages) or [_verdict(sentence, passages)]:
            rows.append({"n": n, **row})
    return {"verdicts": rows}


def _given(sentence: str, by_hand: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the row of the first words that a sentence contains, or an empty list."""
    for given_words, row in by_hand.items():
        if given_words in sentence:
            return [row]
    return []


def reader(**by_hand: dict[str, Any]) -> Any:
    """Return a checker for a script: `reader(**{"words of a sentence": {"verdict": "follows", ...}})`."""
    return lambda messages: honest(messages, **by_hand)


@cache
def _written() -> list[tuple[str, str, list[dict[str, Any]]]]:
    """Return the sentences of the controls and of the exam, as (text of a passage, sentence, rows)."""
    folder = files("ragweave.components").joinpath("data")
    found: list[tuple[str, str, list[dict[str, Any]]]] = []
    for row in json.loads(folder.joinpath("controls.json").read_text(encoding="utf-8")):
        found.append((row["text"], row["true"], [{"verdict": "supported", "words": row["supports"]}]))
        found.append((row["text"], row["false"], [{"verdict": "contradicted", "words": row["contradicts"]}]))
    for case in json.loads(folder.joinpath("exam.json").read_text(encoding="utf-8")):
        for item in case["sentences"]:
            rows: list[dict[str, Any]] = []
            for n, copied in item["rests"]:
                rows.append({"verdict": item["verdict"], "passage": n, "words": copied})
            found.append((case["passages"][0]["text"], item["text"], rows or [{"verdict": item["verdict"]}]))
    return found


def _known(sentence: str, passages: dict[int, str]) -> list[dict[str, Any]]:
    """Return the rows of a sentence of the controls or the exam; an empty list for any other."""
    for text, written, rows in _written():
        if sentence != written:
            continue
        for number, passage in passages.items():
            if text in passage:
                return [{"passage": number, **row} for row in rows]
    return []


def _verdict(sentence: str, passages: dict[int, str]) -> dict[str, Any]:
    """Compare a sentence with every part of the passages, word by word."""
    wanted = words(sentence)
    best: tuple[float, int, str] = (0.0, 0, "")
    for number, text in passages.items():
        for a, b in tables.spans(text):
            part = text[a:b]
            if _holds(words(part), wanted):
                return {"verdict": "supported", "passage": number, "words": part}
            mine = set(content_terms(sentence))
            share = len(mine & set(content_terms(part))) / max(1, len(mine))
            best = max(best, (share, number, part))
    if best[0] >= 0.5:
        return {"verdict": "contradicted", "passage": best[1], "words": best[2]}
    return {"verdict": "not stated", "passage": 0, "words": ""}


def _holds(said: Sequence[str], wanted: Sequence[str]) -> bool:
    """Return whether a list of words contains another one as a run."""
    for n in range(len(said) - len(wanted) + 1):
        if said[n : n + len(wanted)] == list(wanted):
            return True
    return False
