"""What a question asks of the timeline: the first or last mention, a count, what comes after, what is said at a time.

Similarity cannot answer these: every mention of a thing is similar to it, and only their order tells the first one. The
rules read English, and the usual Chinese forms; they serve the small mind and a language model alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ragweave.minds.small.places import IN_TITLE
from ragweave.minds.small.windows import KINDS, window_of, without_window
from ragweave.models.text import content_terms, words

Kind = Literal["first", "last", "count", "after", "before", "order", "at"]

_SAID = "(?:" + "|".join(
    (
        r"mention(?:s|ed|ing)?", r"nam(?:es?|ed)", r"sa(?:y|ys|id)", r"talk(?:s|ed|ing)?(?: about| of)?",
        r"sp(?:eaks?|oke|oken)(?: about| of)?", r"discuss(?:es|ed)?", r"brings? up", r"brought up",
        r"com(?:e|es|ing) up", r"came up", r"refer(?:s|red)?(?: to)?", r"introduc(?:es?|ed)", r"appear(?:s|ed)?",
        r"show(?:s|n|ed)?(?: up)?", r"us(?:es?|ed)", r"utter(?:s|ed)?", r"heard", r"seen",
    )
) + ")"  # fmt: skip
_BE = r"(?:is|are|was|were|does|do|did|has|have|had|gets?|got)"
_THING = r"(?P<thing>.+?)"
_ONCE = r"(?:(?:very )?(?P<which>first|initially|earliest|last|finally|latest)|for the (?P<time>first|last) time)"
_WHEN = r"(?:when|where|at (?:what|which) (?:time|point|minute|moment|second|timestamp)|how far in(?:to .+?)?)"
_WORD = r"(?:the (?:word|term|name|phrase) )?"
_SOMEONE = r"\S+(?: \S+){0,3}?"
_HAPPENS = (
    r"(?:comes|came|happens|happened|follows|followed|else happens|goes on"
    r"|(?:is|was|gets?) (?:said|shown|discussed|told|heard|seen)"
    r"|(?:do|does|did) (?:.+?) (?:say|talk about|show|explain|discuss|ask|answer|reply))"
)
_RIGHT = r"(?:right |directly |immediately |just |shortly |straight )?"
_SAID_ZH = "(?:被)?(?:提到|提及|出现|说到|讲到)"
_WHEN_ZH = "(?:什么时候|何时|几分几秒)"
_ONCE_ZH = "(?:第一次|首次|最早)"


def _form(kind: Kind | None, *parts: str) -> tuple[Kind | None, re.Pattern[str]]:
    return kind, re.compile("".join(parts), re.I)


_FORMS: tuple[tuple[Kind | None, re.Pattern[str]], ...] = (
    _form("count", rf"\bhow (?:many times|often) {_BE} {_THING} (?:be(?:en)? )?{_SAID}\s*[?.!]*$"),
    _form("count", rf"\bhow (?:many times|often) {_BE} (?:.+? )?{_SAID}(?: about| of)? {_WORD}{_THING}$"),
    _form("count", rf"\bhow many (?:mentions|occurrences) (?:of|are there of) {_THING}$"),
    _form("count", rf"\bcount (?:the |all )?(?:mentions|occurrences|times) (?:of )?{_THING}(?: {_BE} {_SAID})?$"),
    _form(
        "order",
        rf"\b(?:which|what|who) (?:{_BE}|comes|came) (?:{_SAID} )?(?P<which>first|earlier|last|later)",
        rf"(?: {_SAID})?[,:;]?\s+",
        r"(?P<thing>.+?)\s*,?\s+or\s+(?P<other>.+)$",
    ),
    _form(None, rf"\b{_WHEN} {_BE} {_THING} {_ONCE} (?:be(?:ing|en)? )?{_SAID}\s*[?.!]*$"),
    _form(None, rf"\b{_WHEN} {_BE} {_THING} (?:be(?:en)? )?{_SAID} {_ONCE}\s*[?.!]*$"),
    _form(None, rf"\b{_WHEN} {_BE} {_SOMEONE} {_ONCE} {_SAID}(?: about| of)? {_THING}$"),
    _form(None, rf"\b{_WHEN} {_BE} {_SOMEONE} {_SAID}(?: about| of)? {_THING},? {_ONCE}\s*[?.!]*$"),
    _form(None, rf"\b(?P<which>first|earliest|last|final) mention of {_THING}$"),
    _form(
        "first",
        rf"\b{_WHEN} {_BE} {_THING} (?:be(?:ing|en)? )?(?:mentioned|said|named|brought up|introduced)\s*[?.!]*$",
    ),
    _form(
        None,
        rf"\bwhat {_HAPPENS}(?: next)?,? {_RIGHT}(?P<side>after|following|before|prior to) {_THING}$",
    ),
    _form("after", rf"\bwhat (?:follows|followed|comes next after) {_THING}$"),
    _form("before", rf"\bwhat (?:precedes|preceded) {_THING}$"),
    _form("count", r"(?P<thing>.+?)(?:一共)?(?:被)?(?:提到|提及|出现|说)了?(?:过)?(?:多少次|几次)"),
    _form("first", rf"{_WHEN_ZH}{_ONCE_ZH}{_SAID_ZH}了?(?P<thing>.+)"),
    _form("first", rf"(?P<thing>.+?)(?:是)?(?:在)?{_WHEN_ZH}?{_ONCE_ZH}{_SAID_ZH}"),
    _form("last", rf"(?P<thing>.+?)(?:是)?(?:在)?{_WHEN_ZH}?最后一次{_SAID_ZH}"),
    _form("after", r"(?:在)?(?P<thing>.+?)(?:之后|以后|后面)(?:紧接着)?(?:说|讲|发生|出现)了?什么"),
    _form("before", r"(?:在)?(?P<thing>.+?)(?:之前|以前|前面)(?:说|讲|发生|出现)了?什么"),
)

_WHICH: tuple[re.Pattern[str], ...] = (
    re.compile(
        rf"\b(?:which|what)(?: of (?:the|these|my|all))?(?: \w+)? {KINDS} (?:{_BE} )?"
        rf"(?:mention|nam|talk|speak|discuss|refer|bring)(?:s|es|ed|ing)?(?: up)?(?: about| of| to)? {_WORD}{_THING}$",
        re.I,
    ),
    re.compile(
        rf"\bin (?:which|what)(?: of (?:the|these|my|all))? {KINDS} {_BE} {_THING} (?:be(?:en)? )?{_SAID}$", re.I
    ),
)
"""Forms that ask which recordings something is mentioned in: its mentions are counted in each."""
_PLACE = re.compile(
    r"\s*[,]?\s*\b(?:in|of|during|throughout|across|within) (?:the|this|that|these|those|all|any)(?: of the)?"
    rf"(?: [\w'’-]+){{0,3}}? {KINDS}\b(?:\s+(?:about|on|called|named|with|by|titled)\b.*$)?",
    re.I,
)
_WHOLE = re.compile(
    rf"\b(?:which|what)(?: of (?:the|these|my|all)(?: \w+)?)? {KINDS}\b|\b{KINDS} (?:is |are )?about\b"
    r"|\bsummar|\boverview\b|\bin general\b|\bas a whole\b|\b(?:main|key) (?:points?|topics?|themes?|ideas?)\b"
    r"|\bwhat (?:is|are) .{1,80} about\b"
    r"|总结|概述|概括|主要内容|哪些视频|哪个视频",
    re.I,
)
_ASKING = re.compile(
    rf"{_SAID}|{KINDS}|happen(?:s|ed)?|explain(?:s|ed)?|describe[sd]?|given?|gives|tells?|told|see|read|written|begins?"
    r"|starts?|ends?|slides?|screen|pictures?|speakers?|presenters?|narrators?|lecturers?|hosts?|people|thing|things",
    re.I,
)
"""Words that ask what is there, and say nothing of what it is about."""
_MENTIONED = re.compile(rf"\s+{_BE}\s+(?:(?:first|last)\s+)?{_SAID}$", re.I)
_QUOTES = "\"'“”‘’«»「」『』` "
_LEADING = re.compile(r"^(?:the (?:word|words|term|name|phrase|topic|subject)|a|an|the)\s+", re.I)
_TOPIC = re.compile(r"^(?:he|she|they|it|someone|somebody|anyone|the \w+)\s+(?=" + _SAID + r")", re.I)


@dataclass(frozen=True)
class Asked:
    """What a question asks of the timeline.

    Attributes:
        kind: what is asked.
        thing: what it is asked about; for `at` its words, empty where all that is there is asked for.
        other: the other thing, for `order`.
        start: seconds, for `at`; a negative value counts from the end.
        end: seconds, for `at`; 0 is the end where `start` is negative.
        late: for `order`: the later one is wanted.
    """

    kind: Kind
    thing: str = ""
    other: str = ""
    start: float = 0.0
    end: float = 0.0
    late: bool = False


def asked_of(question: str, titles: Iterable[str] = ()) -> Asked | None:
    """Return what a question asks of the timeline, or None where it asks nothing of the kind.

    Args:
        question: the question.
        titles: titles of recordings that it may name as the place to look.
    """
    whole = plain = " ".join(question.split())
    for title in titles:
        plain = re.sub(IN_TITLE.format(re.escape(title)), "", plain, flags=re.I)
    plain = plain.rstrip(" ?？.。!！")
    if found := next(filter(None, (form.search(plain) for form in _WHICH)), None):
        return Asked("count", subject(found["thing"]))
    said = _PLACE.sub("", plain)
    for kind, form in _FORMS:
        found = form.search(said)
        if found is None:
            continue
        parts = found.groupdict()
        thing = subject(parts.get("thing") or "")
        which = kind or _which(parts)
        if not thing or (which == "order" and not subject(parts["other"])):
            continue
        if which == "order":
            late = (parts["which"] or "").lower() in ("last", "later")
            return Asked("order", thing, subject(parts["other"]), late=late)
        return Asked(which, thing)
    window = window_of(whole)
    return Asked("at", _about(whole), start=window[0], end=window[1]) if window else None


def _about(question: str) -> str:
    """Return the words of what is asked about within a stretch of time."""
    said = words(_PLACE.sub("", without_window(question)))
    return " ".join(w for w in said if content_terms(w) and not _ASKING.fullmatch(w))


def _which(parts: dict[str, str | None]) -> Kind:
    if side := (parts.get("side") or "").lower():
        return "after" if side in ("after", "following") else "before"
    word = (parts.get("which") or parts.get("time") or "").lower()
    return "last" if word in ("last", "finally", "latest", "final") else "first"


def placeless(question: str) -> str:
    """Return a question without the words for where to look: “in the lecture about the shell”."""
    return _PLACE.sub("", question)


def wants_whole(question: str) -> bool:
    """Tell whether a question is about recordings as wholes: which of them, or what one is about."""
    return bool(_WHOLE.search(question))


def subject(text: str) -> str:
    """Return what is spoken of, without articles, quotation marks, and where it is looked for."""
    text = _PLACE.sub("", text.strip()).strip(" ?？.。!！,，:;")
    quoted = re.search(r"[\"“「『]([^\"”」』]{1,120})[\"”」』]", text)
    if quoted:
        return quoted.group(1).strip()
    text = _TOPIC.sub("", text.strip(_QUOTES))
    text = re.sub(rf"^{_SAID}\s+(?:about |of )?", "", text, flags=re.I) if _TOPIC.match(text) else text
    return _LEADING.sub("", _MENTIONED.sub("", text)).strip(_QUOTES)
