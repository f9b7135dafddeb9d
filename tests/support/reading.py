"""A scripted checker that reads: what a passage has word for word is supported, what differs from it contradicted."""

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
"""Messages of a prompt, as LangChain has them or as a server receives them."""


def _text_of(message: BaseMessage | dict[str, Any]) -> str:
    return str(message["content"] if isinstance(message, dict) else message.text)


def is_check(messages: Sent) -> bool:
    """Tell whether a prompt asks for verdicts on the sentences of an answer."""
    return "You check an answer, sentence by sentence" in _text_of(messages[0])


def asked(messages: Sent) -> tuple[dict[int, str], dict[int, str]]:
    """Return the passages and the sentences of a prompt of the check, by number."""
    text = _text_of(messages[-1])
    shown, _, said = text.partition("Sentences of the answer, each with the passages that it names:")
    passages = {int(n): body for n, body in _PASSAGE.findall(shown)}
    return passages, {int(n): line.strip() for n, line, _ in _LINE.findall(said)}


def honest(messages: Sent, **by_hand: dict[str, Any]) -> dict[str, Any]:
    """Return the verdicts of a reader; those on sentences that contain a key of `by_hand` are given."""
    passages, sentences = asked(messages)
    rows: list[dict[str, Any]] = []
    for n, sentence in sentences.items():
        given = [row for words, row in by_hand.items() if words in sentence][:1]
        made = given or _known(sentence, passages) or [_verdict(sentence, passages)]
        rows += [{"n": n, **row} for row in made]
    return {"verdicts": rows}


def reader(**by_hand: dict[str, Any]) -> Any:
    """Return a checker for a script: `reader(**{"words of a sentence": {"verdict": "follows", ...}})`."""
    return lambda messages: honest(messages, **by_hand)


@cache
def _written() -> list[tuple[str, str, list[dict[str, Any]]]]:
    """Return the sentences of the stock of controls and of the exam: text of a passage, sentence, rows."""
    folder = files("ragweave.components").joinpath("data")
    found: list[tuple[str, str, list[dict[str, Any]]]] = []
    for row in json.loads(folder.joinpath("controls.json").read_text(encoding="utf-8")):
        found.append((row["text"], row["true"], [{"verdict": "supported", "words": row["supports"]}]))
        found.append((row["text"], row["false"], [{"verdict": "contradicted", "words": row["contradicts"]}]))
    for case in json.loads(folder.joinpath("exam.json").read_text(encoding="utf-8")):
        for item in case["sentences"]:
            rows = [{"verdict": item["verdict"], "passage": n, "words": words} for n, words in item["rests"]]
            found.append((case["passages"][0]["text"], item["text"], rows or [{"verdict": item["verdict"]}]))
    return found


def _known(sentence: str, passages: dict[int, str]) -> list[dict[str, Any]]:
    """Return the rows on a sentence that was written with its verdict, none for any other."""
    for text, written, rows in _written():
        number = next((n for n, shown in passages.items() if text in shown), 0)
        if number and sentence == written:
            return [{"passage": number, **row} for row in rows]
    return []


def _verdict(sentence: str, passages: dict[int, str]) -> dict[str, Any]:
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
    return any(said[n : n + len(wanted)] == list(wanted) for n in range(len(said) - len(wanted) + 1))
