"""Sentences of a chat model: found while its reply arrives, read plainly, told to the page with what they cite."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence

from ragweave.corpora.web.plain import one_line
from ragweave.minds.evidence import Strip
from ragweave.minds.page import Page
from ragweave.models.text import sentences
from ragweave.models.values import month_of

REPORT = 20
"""Sentences from which an answer has paragraphs."""
LONGEST = 4_000
"""Characters of one sentence."""
_BEHIND = 400
"""Characters before an end by which it is judged; and of what has come last, by which is found what is settled."""
REFUSES = re.compile(
    r"(?:i(?:['’]m| am) (?:very )?sorry|sorry,|i (?:can(?:no|['’])t|am unable|am not able)|as an ai)\b"
    r"|(?:很?抱歉|对不起)",
    re.I,
)
_NO_PROSE = re.compile(r"(?:query|learnt|missing)\s*[:：]|<\|?(?:tool|function)|[\[{]\s*[\"'{]", re.I)
"""What a model says to a program and not to a reader."""
_MARK = re.compile(r"\s*[\[【](\d{1,3}(?:\s*[,;，、]\s*\d{1,3})*)[\]】]")
_END = re.compile(r"(?:[.!?…][\"'”’)]*|[。！？][」』”’）]*)(?:\s*[\[【]\d{1,3}(?:\s*[,;，、]\s*\d{1,3})*[\]】])*|\n")
_CAPTION = re.compile(r"[\"“„«](?:\w+ )?\d+\.$")
_ORDINAL, _NEXT = re.compile(r"(?<![\w.,])\d{1,2}\.$"), re.compile(r"(\w+)\W")
_WORDS = re.compile(r".*[^\W\d_](?=\W)", re.S)
"""All up to where the last word ends: what belongs to the end of a sentence, quotes, marks, blanks, has no letter."""
_FORMATTING = re.compile(r"^\s*(?:[-*•]|#{1,6}|\d{1,2}[.)](?!\d))\s+")
_LISTED = re.compile(r"\s*([-*•|]|\d{1,2}[.)])(?:\s+(?=\S)|(?<=\|))")
"""A line of a list or of a table, which is told whole."""
_FRAME = re.compile(r"[\s|:`~*_-]*|\s*`{3,}\w*\s*")
"""What only frames: the line under the heads of a table, the fence of code."""
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)")
_URL = re.compile(r"\b(?:https?|ftp)://\S+", re.I)


def long(sentences: int) -> str:
    """Say how long an answer of at most so many sentences is to be; 0: no limit."""
    if not sentences:
        return "as many sentences as the question needs"
    most = {1: "one sentence", 2: "one or two sentences", 3: "one to three sentences"}.get(sentences)
    if most is None and sentences >= REPORT:
        return f"a report of several paragraphs, at most {sentences} sentences"
    return most or f"a paragraph of at most {sentences} sentences"


async def complete_sentences(tokens: AsyncIterator[str]) -> AsyncIterator[str]:
    """Yield each sentence, with its marks, as soon as it is certainly complete; the rest at the end of the stream."""
    buffer, judged = "", 0
    async for token in tokens:
        buffer += token
        while (end := boundary(buffer, judged)) is not None:
            sentence, buffer, judged = buffer[:end].strip(), buffer[end:], 0
            if sentence:
                yield sentence
        judged = settled_to(buffer, judged)
    for sentence in split(buffer):
        yield sentence


def split(text: str) -> list[str]:
    """Return the sentences of a whole text, each with the marks that follow it."""
    out = []
    while (end := boundary(text)) is not None:
        out.append(text[:end].strip())
        text = text[end:]
    return [s for s in [*out, text.strip()] if s]


def settled_to(buffer: str, judged: int) -> int:
    """Return up to where no more text can make an end of a sentence of what was none; `judged` is known to be so."""
    found = _WORDS.match(buffer, max(judged, len(buffer) - _BEHIND))
    return found.end() if found else judged


def boundary(buffer: str, judged: int = 0) -> int | None:
    """Return the end of the first sentence, or None while more text could still belong to it.

    What ends before `judged` was found to be no end: a reply that never ends a sentence is read once and not anew with
    each token.
    """
    listed = _LISTED.match(buffer)
    for m in _END.finditer(buffer, judged):
        if listed and m.group() != "\n":
            continue
        rest = buffer[m.end() :]
        follows = rest.lstrip()
        # A mark may still come, and a full stop inside a number or an abbreviation ends nothing.
        if not follows or follows[0] in "[【":
            continue
        if m.group() == "\n":
            if buffer[: m.end()].strip():
                return m.end()
            continue
        if m.group()[0] in "。！？":
            return m.end()
        before = buffer[max(0, m.end() - _BEHIND) : m.end()]
        if _ORDINAL.search(before) and (not (word := _NEXT.match(follows)) or month_of(word[1])):
            continue  # “am 1. September”, or what may become that
        if _CAPTION.search(before):
            continue  # “Figure 1. The parts of the hive”
        whole = sentences(_MARK.sub("", before).strip() + " Next")
        if rest[0] != follows[0] and len(whole) > 1:
            return m.end()
    return None


def marks(sentence: str) -> list[int]:
    """Return the numbers that a sentence cites, in order."""
    return list(dict.fromkeys(int(n) for m in _MARK.finditer(sentence) for n in re.findall(r"\d+", m[1])))


def plain(sentence: str) -> str:
    """Return a sentence without marks, list signs, links and addresses: what a model wrote is shown as text only."""
    text = _URL.sub("", _MARK.sub("", _LINK.sub(r"\1", sentence)))
    if _FRAME.fullmatch(text):
        return ""
    text = text.strip().strip("|") if text.lstrip().startswith("|") else text
    return " ".join(_FORMATTING.sub("", text).replace("**", "").split())


def sign(sentence: str) -> str:
    """Return what makes a line an item of a list, `-` or `2.`, or `|` for the row of a table; nothing for prose."""
    found = _LISTED.match(sentence)
    return "" if found is None else "-" if found[1] in "*•" else found[1].replace(")", ".")


async def tell(raw: str, rows: Sequence[Sequence[Strip]], page: Page) -> None:
    """Offer a sentence to the page, with what it cites of the numbered rows; a refusal is not shown."""
    text = one_line(plain(raw), LONGEST)
    if not text or _NO_PROSE.match(text) or (REFUSES.match(text) and not marks(raw)):
        return
    if not any(rows):
        page.tell_unsourced(text, sign(raw))
        return
    named = [s for n in marks(raw) if 1 <= n <= len(rows) for s in rows[n - 1]]
    await page.tell(text, named, [s for row in rows for s in row], sign(raw))
