"""Text that addresses whoever reads it by machine: it answers nothing and supports nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ragweave.models.text import sentences

_MACHINE = (
    r"(?:a\.?i\.?|artificial intelligence|(?:large )?language[- ]models?|llms?|chat ?bots?|gpt|ki|ia)\b"
    r"|(?:ai|digital|virtual|automated) (?:assistants?|agents?|systems?|readers?)|\bassistants?\b"
)
_HOSTILE = re.compile(
    rf"\b(?:ignore|disregard|forget|override)\b.{{0,40}}\b(?:instructions?|prompts?|rules|everything|above|previous)\b"
    rf"|\b(?:attention|note|notice|message|instructions?|dear|hey|hello|system)\b[^.!?]{{0,30}}\b(?:{_MACHINE})[^.!?]{{0,20}}[:,]"
    rf"|\b(?:if|when|as|to) (?:you are |you're |you )?(?:an? |any |all |the )?(?:{_MACHINE})[^.!?]{{0,60}}"
    r"\b(?:you|must|should|say|tell|answer|reply|read|reads|process|summari)"
    rf"|\b(?:{_MACHINE})\b[^.!?]{{0,40}}\b(?:must|should|shall|have to|are (?:ordered|instructed))\b"
    r"[^.!?]{0,40}"
    r"\b(?:say|tell|answer|reply|state|recommend|output|include|claim|repeat|ignore)"
    r"|\bsystem (?:prompt|message|note|override)\b|\bdo not (?:mention|reveal|disclose) this\b"
    r"|(?:忽略|无视).{0,12}(?:指令|指示|提示)|(?:人工智能|AI|语言模型|智能)助?手?.{0,12}(?:必须|应当|请回答|请告诉)"
    r"|\bignorier\w* .{0,30}anweisung|\bignore[zr]? .{0,30}(?:consignes|instructions)",
    re.I,
)  # fmt: skip


def hostile(text: str) -> bool:
    """Tell whether a text gives orders to assistants or language models."""
    return bool(_HOSTILE.search(text))


def harmless(text: str, parts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the parts of a text that are no such orders and do not follow one in its paragraph."""
    bad = _orders(text)
    return [p for p in parts if not any(a <= p[0] < b for a, b in bad)]


def without_orders(text: str) -> str:
    """Return a text without such orders and what follows them in their paragraphs."""
    for a, b in reversed(_orders(text)):
        text = f"{text[:a]}{text[b:]}"
    return text.strip()


def _orders(text: str) -> list[tuple[int, int]]:
    """Return [start, end) from each sentence that gives an order to the end of its paragraph."""
    if not hostile(text):
        return []
    edges = [0, *(m.end() for m in re.finditer(r"\n\s*\n", text)), len(text)]
    found = []
    for a, b in pairwise(edges):
        said = [(a + x, a + y) for x, y in sentences(text[a:b])]
        start = next((x for x, y in said if hostile(text[x:y])), a if hostile(text[a:b]) else None)
        if start is not None:
            found.append((start, b))
    return found
