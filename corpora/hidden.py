"""What a reader of a document does not see, and what is written in it for machines: left out, counted, and named.

Text that is invisible on purpose is a known way of giving orders to whatever reads a file for somebody. It is dropped
when the file is read, so that no later step can mistake it for what the document says.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ragweave.corpora.blocks import Block
from ragweave.models.text import sentences

_INVISIBLE = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]")
"""Characters without a width or sign; the joiners that Persian, Indian scripts and emoji need are not among them."""
_NOTED = 10
"""Invisible characters of a file from which they are worth a warning: a few are left by any editor."""
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0+)?\s*(?:;|!|$)|"
    r"font(?:-size)?\s*:\s*(?:[^;:]*\s)?(?:0?\.\d+|0|1(?:\.\d+)?(?:px|pt)|0(?:\.\d+)?\w+)\s*(?:[;!/]|$)|"
    r"(?:left|right|top|text-indent|margin-left)\s*:\s*-\d{3,}|"
    r"clip(?:-path)?\s*:\s*(?:rect\(\s*0|inset\(\s*(?:50|100)%)",
    re.I,
)
_COLOR = re.compile(r"(?<![\w-])color\s*:\s*([^;!]+)", re.I)
_BACKGROUND = re.compile(r"background(?:-color|-image)?\s*:\s*([^;!]+)", re.I)
_WHITE = re.compile(
    r"#f{3}(?:f|f{3}(?:f{2})?)?|#f[a-f]f[a-f]f[a-f]|white|rgba?\(\s*25[0-5]\s*,?\s*25[0-5]\s*,?\s*25[0-5].*\)|transparent|"
    r"rgba\([^)]*,\s*0(?:\.0+)?\)",
    re.I,
)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_WORDS = 4
"""Words of a hidden part from which it is counted: hidden marks and single words lie in every page."""
_MACHINE = (
    r"(?:a\.?i\.?|artificial intelligence|(?:large )?language[- ]models?|llms?|chat ?bots?|gpt|ki|ia|sprachmodelle?)\b"
    r"|(?:ai|digital|virtual|automated) (?:assistants?|agents?|systems?|readers?)|\bassistants?\b|modèles? de langage"
)
_ADDRESSED = re.compile(
    rf"\b(?:ignore|disregard|forget|override)\b.{{0,40}}\b(?:instructions?|prompts?|rules|everything|above|previous)\b"
    rf"|\b(?:attention|note|notice|message|instructions?|dear|hey|hello|system|hinweis|achtung)\b[^.!?]{{0,30}}"
    rf"\b(?:{_MACHINE})[^.!?]{{0,20}}[:,]"
    rf"|\b(?:if|when|as|to) (?:you are |you're |you )?(?:an? |any |all |the )?(?:{_MACHINE})[^.!?]{{0,60}}"
    r"\b(?:you|must|should|say|tell|answer|reply|read|reads|process|summari)"
    rf"|\b(?:{_MACHINE})\b[^.!?]{{0,40}}\b(?:must|should|shall|have to|are (?:ordered|instructed))\b"
    r"[^.!?]{0,40}"
    r"\b(?:say|tell|answer|reply|state|recommend|output|include|claim|repeat|ignore)"
    r"|\b(?:system|developer) (?:prompt|message|note|override)\b|\bdo not (?:mention|reveal|disclose) this\b"
    # Orders about the form of an answer address whoever answers, though they name nobody.
    r"|\b(?:reply|respond|answer|output|print)(?: only| just| always)? with(?: only| just| exactly)?"
    r" (?:this|the following|these) (?:sentences?|texts?|words?|messages?|lines?|answers?|strings?)\b"
    r"|\byour (?:reply|answer|response|output) (?:must|should|shall|has to)(?: only| always)?"
    r" (?:say|read|begin|end|contain|consist)\b"
    r"|\bdo not (?:cite|mention|quote) (?:any |the )?other (?:documents?|passages?|sources?|notes?)\b"
    r"|<\|?(?:system|im_start|assistant)\|?>|\[/?INST\]"
    # The roles of a conversation with a model, as a line that opens a part of it.
    r"|(?:^|\n)[^\w\n]{0,6}(?-i:SYSTEM|DEVELOPER|ASSISTANT)\b[^\n:]{0,30}:"
    r"|(?:忽略|无视).{0,12}(?:指令|指示|提示)|(?:人工智能|AI|语言模型|智能)助?手?.{0,12}(?:必须|应当|请回答|请告诉)"
    r"|\bignorier\w* .{0,30}anweisung|\bignore[zr]? .{0,30}(?:consignes|instructions)",
    re.I,
)  # fmt: skip

_NEEDED = (
    *("ignor", "disregard", "forget", "override", "intelligence", "language", "llm", "chatbot", "chat bot", "gpt"),
    *("sprachmodell", "assistant", "digital ", "virtual ", "automated ", "system", "developer", "do not "),
    *("reply", "respon", "answer", "output", "print", "<", "inst]", "modèle", "忽略", "无视"),
    *("必须", "应当", "请回答", "请告诉"),
)
"""One of these, or one of the short names, stands in every text that `_ADDRESSED` finds: most texts hold none."""
_PARAGRAPH = re.compile(r"(?:[^\n]|\n(?!\s*\n))+")
_FENCE = "[order to assistants, which supports nothing: ", "]"
_SHORT = re.compile(r"\b(?:a\.?i|ki|ia)\b")


@lru_cache(maxsize=4_000)
def addresses_machines(text: str) -> bool:
    """Tell whether a text gives orders to assistants or language models instead of speaking to people."""
    return _addresses(text)


def _addresses(text: str) -> bool:
    # Without regard to case an expression takes ı and İ for i as well.
    low = text.lower() if text.isascii() else text.casefold().replace("ı", "i").replace("i̇", "i")
    if not any(map(low.__contains__, _NEEDED)) and not _SHORT.search(low):
        return False
    return bool(_ADDRESSED.search(text))


def without_orders(text: str) -> str:
    """Return a text without the sentences that give orders to assistants and what follows them in their paragraphs.

    What is cut becomes blank, so that every other character keeps its place.
    """
    for start, end in _orders(text):
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


def fenced(text: str) -> str:
    """Return a text in which orders to assistants, and what follows them in their paragraphs, are marked as such."""
    for start, end in reversed(_orders(text)):
        order = text[start:end].replace("[", "(").replace("]", ")")  # it must not end what it stands in
        text = f"{text[:start]}{_FENCE[0]}{order}{_FENCE[1]}{text[end:]}"
    return text


def _orders(text: str) -> list[tuple[int, int]]:
    """Return [start, end) of each order, up to the end of its paragraph."""
    found = []
    if addresses_machines(text):
        for m in _PARAGRAPH.finditer(text):
            if addresses_machines(m.group()):
                cut = next((a for a, b in sentences(m.group()) if addresses_machines(m.group()[a:b])), 0)
                found.append((m.start() + cut, m.end()))
    return found


def warnings_of(
    blocks: Iterable[Block], hidden: Sequence[str], invisible: int, beside: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return what is to be said of a file's hidden parts and of sentences that give orders to assistants.

    `hidden` are the parts that were left out because nobody sees them, `invisible` counts characters; `beside` is what
    is written of pictures.
    """
    said = []
    parts = [p for p in hidden if len(p.split()) >= _WORDS or addresses_machines(p)]
    if parts:
        said.append(f"{len(parts)} hidden part{'s' if len(parts) > 1 else ''} left out, which no reader sees")
    if invisible >= _NOTED:
        said.append(f"{invisible} invisible characters were left out")
    texts = [*hidden, *beside, *(b.text for b in blocks if b.kind != "code")]
    orders = sum(addresses_machines(t[a:b]) for t in texts if _addresses(t) for a, b in sentences(t))
    if orders:
        one = "1 sentence of it gives orders to assistants and supports no answer"
        said.append(one if orders == 1 else f"{orders} sentences of it give orders to assistants and support no answer")
    return tuple(said)


def seen(blocks: Sequence[Block]) -> tuple[tuple[Block, ...], int]:
    """Return blocks without invisible characters, their places moved with the text, and how many there were."""
    count = 0
    out = []
    for block in blocks:
        at = [m.start() for m in _INVISIBLE.finditer(block.text)]
        if at:
            count += len(at)
            ends = ((s, s.start - bisect_left(at, s.start), s.end - bisect_left(at, s.end)) for s in block.spans)
            spans = tuple(replace(s, start=start, end=end) for s, start, end in ends if end > start)
            block = replace(block, text=_INVISIBLE.sub("", block.text), spans=spans)
        out.append(block)
    return tuple(out), count


class Styles:
    """What the style sheets of a page and its attributes say of whether an element is seen."""

    def __init__(self, root: Any) -> None:
        self._rules: dict[str, str] = {}
        for style in root.iter("style"):
            for m in _RULE.finditer(style.text or ""):
                for selector in m[1].split(","):
                    if re.fullmatch(r"\s*[\w-]*[.#][\w-]+\s*", selector):
                        name = re.sub(r"^[\w-]*(?=[.#])", "", selector.strip())
                        self._rules[name] = f"{self._rules.get(name, '')};{m[2]}"

    def hides(self, element: Any) -> bool:
        """Tell whether an element is hidden by itself: not shown, out of sight, too small, or white on white."""
        if element.get("hidden") is not None or element.get("aria-hidden") == "true":
            return True
        style = self._of(element)
        if _HIDING.search(style):
            return True
        color = _COLOR.search(style)
        plain = (element.get("color") or "") if element.tag == "font" else ""
        if not _WHITE.fullmatch((color[1] if color else plain).strip()):
            return False
        around = (element, *element.iterancestors())
        grounds = [g[1].strip() for e in around for g in _BACKGROUND.finditer(self._of(e))]
        grounds += [e.get("bgcolor") for e in around if e.get("bgcolor")]
        return all(_WHITE.fullmatch(g) for g in grounds[:1])

    def _of(self, element: Any) -> str:
        names = [f".{c}" for c in (element.get("class") or "").split()] + [f"#{element.get('id')}"]
        return ";".join([*(self._rules[n] for n in names if n in self._rules), element.get("style") or ""])
