"""Recognise thoughts that words, headings, quotes or blocks set off at the head of a reply."""

from __future__ import annotations

import re
from typing import NamedTuple

from ragweave.models.answer_words import ANSWER

_WORDS = tuple(
    """think thought reason reflect scratch analys análisis analis denk gedank überleg raisonn pensé pensa
    pense razon ragion myśl racioc redener resonem düşün мысл рассужд размышл анализ تفكير التفكير सोच 思 推理 考え
    생각""".split()
)
"""Beginnings of the names of thoughts."""
_THOUGHT = rf"(?:{'|'.join(_WORDS)})\w{{0,14}}"
_SIGNS = r" \t>#*_=~–—…\U0001F300-\U0001FAFF\u2600-\u27bf\ufe0f-"
_SET_OFF = rf"(?:\d[.)][ \t])?(?:<\w{{1,6}}>)?[{_SIGNS}]{{0,10}}"
_LABEL = rf"\s*{_SET_OFF}(?:my |the )?{_THOUGHT}(?: process| steps| trace)?[ \t]?(?:</\w{{1,6}}>)?"
_LINE = rf"{_LABEL}(?:[:：]|\.{{3}}|…)?[ \t#*_=~–—-]{{0,8}}"
_LABELS_ANSWER = (
    rf"(?:{ANSWER}|(?:final )?(?:response|reply|output))[ \t]?"
    r"(?:[*_]{0,2}[:：](?:[*_]{2})?|(?:</\w{1,6}>)?[ \t#*_=~–—-]{0,8}\n)\s*(?=[^\s*_]|[*_]{2}[^\s*_])"
)
_BEGINS_ANSWER = rf"\n{_SET_OFF}{_LABELS_ANSWER}|assistant\s?final\s*"
_HARMONY_ENDS = re.compile(r"assistant\s*final\s*")
_CAPITALS = r"(?-i:(?=[^a-z\n:：]+[:：\n]))"
_DRESSED = re.compile(rf"\s*([{_SIGNS}]*)")


class Phrase(NamedTuple):
    """What opens a thought at the head of a reply, and the pattern that closes the thought.

    If nothing closes it, the thought counts as text if `stays`. A thought that is `labelled` may hold drafts
    with labels of their own.
    """

    opens: re.Pattern[str]
    until: re.Pattern[str]
    stays: bool = False
    labelled: bool = False

    def until_alike(self, opening: str) -> re.Pattern[str]:
        """Return what closes a thought with this opening: a label with the same signs, if it has some."""
        if opening.endswith("analysis\n"):
            return _HARMONY_ENDS
        found = _DRESSED.match(opening)
        signs = found[1].rstrip() if self.labelled and found else ""
        capitals = self.labelled and opening.isupper()
        if not signs and not capitals:
            return self.until
        begin = rf"\n{re.escape(signs)}[ \t]?{_CAPITALS if capitals else ''}"
        return re.compile(begin + _LABELS_ANSWER, re.I)


def _phrase(opens: str, until: str, stays: bool = False, flags: re.RegexFlag = re.I) -> Phrase:
    return Phrase(re.compile(opens, flags), re.compile(until, flags), stays)


PHRASES = (
    _phrase(r"\s*here(?:['’]s| is) my thought process:\s*", r"here(?:['’]s| is) my response:\s*"),
    _phrase(r"\s*(?:assistant)?commentary to=", r"assistant\s*final"),
    _phrase(rf"\s*\({_THOUGHT}[ \t]?[:：]", r"\)[ \t]*\n", stays=True),
    _phrase(rf"\s*[*_]{_THOUGHT}[ \t]?[:：](?![*_])", r"(?<![*_])[*_][ \t]*\n", stays=True),
    _phrase(r"\s*/(?:no_?)?think[ \t]*\n", ""),
    _phrase(r"\s*(?:assistant)?analysis(?=[A-Z\"“])", r"assistant\s*final", flags=re.RegexFlag(0)),
    Phrase(
        re.compile(r"\s*(?:assistant)?analysis\n"),
        re.compile(_BEGINS_ANSWER, re.I),
        stays=True,
        labelled=True,
    ),
    _phrase(
        rf"\s*<details\b[^<>]{{0,80}}>\s{{0,9}}<summary>[^\n]{{0,40}}?{_THOUGHT}[^\n]{{0,60}}?</summary>",
        r"</details>",
    ),
    _phrase(rf"\s*(?:`{{3,}}|~{{3,}})[ \t]?{_THOUGHT}[ \t]{{0,3}}\n", r"\n(?:`{3,}|~{3,})[ \t]*\n"),
    _phrase(rf"\s*<!--\s*{_THOUGHT}\b", r"-->"),
    # A block quote, below its label or around it.
    _phrase(
        rf"(?:{_LINE}\n\s*|\s*(?=>{_LABEL}[*_]{{0,2}}(?:[:：]|[*_ \t]{{0,4}}\n)))(?=>)",
        r"\n\s*(?=[^\s>])",
        stays=True,
    ),
    _phrase(r"\s*thinking\.{3}[ \t]*\n", r"\n\.{3}\s?done thinking\.?[ \t]*\n", stays=True),
    _phrase(rf"\s*[*_]{{0,2}}{_THOUGHT} for [^\n:]{{1,20}}s[*_.]{{0,3}}\n", ""),
    Phrase(
        re.compile(rf"(?:{_LABEL}[*_]{{0,2}}[:：][ \t*_]{{0,3}}|{_LINE}\n\s*)", re.I),
        re.compile(_BEGINS_ANSWER, re.I),
        stays=True,
        labelled=True,
    ),
    # The name of the role, or a fence of Markdown around the whole reply.
    _phrase(r"\s*(?:[*_]{0,2}assistant[*_]{0,2}[:：][*_]{0,2}|(?:assistant|model)[ \t]*\n)", ""),
    _phrase(r"\s*```(?:markdown|md)[ \t]*\n", ""),
)
OPENINGS = (
    "<details", "<!--", "analysis", "here is my thought process:", "here's my thought process:",
    "assistant", "assistantanalysis", "model", "commentary to=", "assistantcommentary to=", "/think\n",
    "/no_think\n",
)  # fmt: skip
"""Words instead of tags: Granite writes them, and harmony if the server dropped its special tokens."""
_DRESS = re.compile(rf"\A(?:\d[.)] )?(?:<\w{{0,6}}>?)?[<!`({_SIGNS}]*")
_HEAD = 80
"""Characters of the longest head, but for that of a folded block."""


def may_open(text: str) -> bool:
    """Return whether the text that follows may complete the head of a reply to the opening of a thought."""
    head = text.lstrip().replace("’", "'").lower()
    if head.startswith("<details"):
        return "</summary>" not in head and len(head) < 3 * _HEAD
    if "\n" in head or len(head) > _HEAD:
        return False
    for phrase in OPENINGS:
        if phrase.startswith(head):
            return True
    rest = _DRESS.sub("", head).removeprefix("my ").removeprefix("the ")
    for word in ("my ", "the ", "assistant", "md", "markdown", *_WORDS):
        if word.startswith(rest) or rest.startswith(word):
            return True
    return False
