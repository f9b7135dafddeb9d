"""What a question asks of the timeline: the first or last mention, a count, what comes after, what is said at a time.

Similarity cannot answer these: every mention of a thing is similar to it, and only their order tells the first one. The
rules read English, and the usual Chinese forms; they serve the small mind and a language model alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ragweave.models.text import fold

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

_KINDS = (
    r"(?:videos?|films?|movies?|talks?|lectures?|recordings?|clips?|episodes?|podcasts?|transcripts?|shows?|trailers?"
    r"|conversations?|interviews?|sessions?|meetings?|audio|files?)"
)
_CLOCK = r"(?:(\d{1,2}):)?(\d{1,3}):(\d{2})(?:\.\d+)?"
_BETWEEN = re.compile(rf"\b(?:between|from) {_CLOCK} (?:and|to|until|till) {_CLOCK}", re.I)
_AT = re.compile(rf"\b(?:at|around|about) (?:minute |time )?{_CLOCK}", re.I)
_AT_UNIT = re.compile(
    r"\b(?:at|around|in|after) (?:the )?(minute|second) (\d{1,4})\b"
    r"|\b(?:at|in) the (\d{1,3})(?:st|nd|rd|th) (minute|second)\b",
    re.I,
)
_EDGE = re.compile(
    r"\b(?:in|during|within) the (first|last|opening|final|closing) (?:(\d{1,4}|one|two|three|five|ten) )?"
    r"(seconds?|minutes?)\b",
    re.I,
)
_END = re.compile(
    r"\bwhat (?:happens|happened|comes|is|was|(?:do|does|did) .+?)(?: (?:said|shown|discussed|say|talk about|show))? "
    rf"at the (?:very )?(beginning|start|end|close) of (?:the|this|that)? ?{_KINDS}\s*[?.!]*$",
    re.I,
)
_NUMBERS = {"one": 1, "two": 2, "three": 3, "five": 5, "ten": 10}
AROUND = 15.0
"""Seconds before and after a moment that a question names."""
EDGE = 60.0
"""Seconds that the beginning or the end of a recording lasts, where a question does not say."""

_PLACE = re.compile(
    r"\s*[,]?\s*\b(?:in|of|during|throughout|across|within) (?:the|this|that|these|those|all|any)(?: of the)?"
    rf"(?: [\w'’-]+){{0,3}}? {_KINDS}\b(?:\s+(?:about|on|called|named|with|by|titled)\b.*$)?",
    re.I,
)
_IN_TITLE = (
    r"\s*\b(?:in|of|from|during|throughout)\s+(?:the\s+)?"
    rf"(?:{_KINDS}\s+)?(?:called\s+|titled\s+)?[\"“«]?{{}}[\"”»]?(?!\w)"
)
_WHOLE = re.compile(
    rf"\b(?:which|what)(?: of (?:the|these|my|all)(?: \w+)?)? {_KINDS}\b|\b{_KINDS} (?:is |are )?about\b"
    r"|\bsummar|\boverview\b|\bin general\b|\bas a whole\b|\b(?:main|key) (?:points?|topics?|themes?|ideas?)\b"
    r"|\bwhat (?:is|are) .{1,80} about\b"
    r"|总结|概述|概括|主要内容|哪些视频|哪个视频",
    re.I,
)
_QUOTES = "\"'“”‘’«»「」『』` "
_LEADING = re.compile(r"^(?:the (?:word|words|term|name|phrase|topic|subject)|a|an|the)\s+", re.I)
_TOPIC = re.compile(r"^(?:he|she|they|it|someone|somebody|anyone|the \w+)\s+(?=" + _SAID + r")", re.I)


@dataclass(frozen=True)
class Asked:
    """What a question asks of the timeline.

    Attributes:
        kind: what is asked.
        thing: what it is asked about; empty for `at`.
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


def named_in(question: str, titles: Iterable[str]) -> list[str]:
    """Return the titles of recordings that a question says it is about: “in lecture 3”, “of the film Sintel”."""
    folded = fold(question)
    return [t for t in dict.fromkeys(titles) if len(t) > 2 and re.search(_IN_TITLE.format(re.escape(fold(t))), folded)]


def asked_of(question: str, titles: Iterable[str] = ()) -> Asked | None:
    """Return what a question asks of the timeline, or None where it asks nothing of the kind.

    Args:
        question: the question.
        titles: titles of recordings that it may name as the place to look.
    """
    plain = " ".join(question.split())
    for title in titles:
        plain = re.sub(_IN_TITLE.format(re.escape(title)), "", plain, flags=re.I)
    said = _PLACE.sub("", plain.rstrip(" ?？.。!！"))
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
    window = window_of(plain)
    return Asked("at", start=window[0], end=window[1]) if window else None


def _which(parts: dict[str, str | None]) -> Kind:
    if side := (parts.get("side") or "").lower():
        return "after" if side in ("after", "following") else "before"
    word = (parts.get("which") or parts.get("time") or "").lower()
    return "last" if word in ("last", "finally", "latest", "final") else "first"


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
    return _LEADING.sub("", text).strip(_QUOTES)


def window_of(question: str) -> tuple[float, float] | None:
    """Return the [start, end] in seconds that a question names, or None; a negative start counts from the end."""
    if m := _BETWEEN.search(question):
        start, end = seconds(*m.groups()[:3]), seconds(*m.groups()[3:])
        return (min(start, end), max(start, end))
    if m := _AT.search(question):
        at = seconds(*m.groups())
        return (max(0.0, at - AROUND), at + AROUND)
    if m := _AT_UNIT.search(question):
        unit, number = (m.group(1), m.group(2)) if m.group(1) else (m.group(4), m.group(3))
        at = float(number) * (60 if unit.lower() == "minute" else 1)
        return (max(0.0, at - AROUND), at + max(AROUND, 60.0 if unit.lower() == "minute" else 0.0))
    if m := _EDGE.search(question):
        number = _NUMBERS.get((m.group(2) or "one").lower()) or int(m.group(2))
        length = number * (60.0 if m.group(3).lower().startswith("minute") else 1.0)
        return (0.0, length) if m.group(1).lower() in ("first", "opening") else (-length, 0.0)
    if m := _END.search(question):
        return (0.0, EDGE) if m.group(1).lower() in ("beginning", "start") else (-EDGE, 0.0)
    return None


def seconds(hours: str | None, minutes: str, rest: str) -> float:
    """Return a clock time in seconds."""
    return 3600.0 * int(hours or 0) + 60.0 * int(minutes) + int(rest)


def clock(at: float) -> str:
    """Write seconds as a player shows them: 0:07, 12:31, 1:02:03."""
    whole = int(at)
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
