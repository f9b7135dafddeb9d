"""Read the lines of an answer that state nothing: marks on a line of their own, lists of sources."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.best_sentence import best_sentence
from ragweave.components.evidence import Strip
from ragweave.components.mark_numbers import NOUN, PLACE, leads_to_a_mark, names_documents

_LISTS = re.compile(
    r"\s*(?:[-*•>]\s*)?(?:\W{0,3}[^\W\d_]+(?:\s[^\W\d_]+){0,2}\W{0,3}[:：]\W{0,3})?"
    r"(?:[^\W\d_]+\s)?\W?(?:“[^”\n]*”)?\[\d"
)
"""Matches the beginning of a line that may list sources: a mark, or “Sources:” and a mark."""
_ITEM = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s")
_PLACES = re.compile(rf"(?:\b{PLACE}\w*|\b\d{{1,4}}\b)", re.I)
"""Matches a page or a year behind a title."""
_STATES = re.compile(r"[.!?。！？]\W*\Z")
"""Matches the end of a statement; a heading has none."""


def lists_sources(text: str, raw: str, known: Sequence[Strip], builder: AnswerBuilder) -> bool:
    """Return whether a line behind an answer only lists sources.

    It holds their marks, then nothing but titles, files or an address; or it is an item below a heading such
    as “References” and holds a title without a mark.

    Args:
        text: the line as it is shown.
        raw: the line as the model wrote it.
        known: the strips that the model was shown.
        builder: shows the answer.
    """
    if not builder.sentences:
        return False
    if _LISTS.match(raw) and (raw[0] == "\n" or _ITEM.match(raw)):
        lead, _, behind = text.casefold().replace("：", ":").rpartition(":")
        rest = behind if leads_to_a_mark(lead) or names_documents(lead) else text.casefold()
    elif _ITEM.match(raw) and names_documents(builder.heading) and builder.citations:
        rest = text.casefold()
    else:
        return False
    named, lead = rest, text.casefold().partition(":")[0]
    for strip in known:
        for name in names_of(strip):
            rest = rest.replace(name.casefold(), "")
    if rest != named or names_documents(lead) or names_documents(builder.heading):
        rest = _PLACES.sub("", rest)
    return not re.search(r"\w", NOUN.sub("", rest))


def names_of(strip: Strip) -> list[str]:
    """Return the names of a document: its title and its file."""
    return list(filter(None, (strip["title"], PurePath(strip["locator"].get("file", "")).name)))


def credit(builder: AnswerBuilder, cited: Sequence[Strip], alone: bool) -> None:
    """Cite documents for sentences that were shown without a citation.

    Args:
        builder: shows the answer.
        cited: strips of the documents.
        alone: whether marks alone name them. These belong to the paragraph or item before them; a list of
            sources belongs to an answer that cites nothing else.
    """
    if not alone:
        if builder.citations and not builder.credited:
            return
        builder.credited = cited = [*builder.credited, *cited]
    for n in range(len(builder.sentences), 0, -1):
        sentence = builder.sentences[n - 1]
        if alone and sentence.citations:
            return
        if cited and (sentence.support == "pending" or _STATES.search(sentence.text)):
            rests = [(strip, best_sentence(sentence.text, strip["text"])) for strip in cited]
            builder.remark(n, sentence.support, rests)
        if alone and sentence.sign:
            return
