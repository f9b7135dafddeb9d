"""What a question asks of the timeline: the first or last mention, a count, what comes after, what is said at a time.

Similarity cannot answer these: every mention of a thing is similar to it, and only their order tells the first one. The
rules read English, and the usual Chinese forms; they serve both minds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ragweave.corpora.video.mentions import Asked, Kind
from ragweave.corpora.video.places import IN_TITLE, KINDS, names_of, window_of, without_window
from ragweave.models.text import content_terms, words

_SAID = (
    r"(?:mention(?:s|ed|ing)?|nam(?:es?|ed)|sa(?:y|ys|id)|talk(?:s|ed|ing)?(?: about| of)?|sp(?:eaks?|oke|oken)"
    r"(?: about| of)?|discuss(?:es|ed)?|br(?:ings?|ought) up|c(?:om(?:e|es|ing)|ame) up|refer(?:s|red)?(?: to)?"
    r"|introduc(?:es?|ed)|appear(?:s|ed)?|show(?:s|n|ed)?(?: up)?|us(?:es?|ed)|utter(?:s|ed)?|heard|seen)"
)
_BE = r"(?:is|are|was|were|does|do|did|has|have|had|gets?|got)"
_BEEN = r"(?:be(?:ing|en)? )?"
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
_FIRST_ZH = "(?:什么时候|何时|几分几秒)?(?:第一次|首次|最早)"

_WRITTEN: tuple[tuple[Kind | None, str], ...] = (
    ("count", rf"\bhow (?:many times|often) {_BE} {_THING} {_BEEN}{_SAID}\s*$"),
    ("count", rf"\bhow (?:many times|often) {_BE} (?:.+? )?{_SAID}(?: about| of)? {_WORD}{_THING}$"),
    ("count", rf"\b(?:how many|count(?: the| all)?) (?:mentions|occurrences) (?:of|are there of) {_THING}$"),
    (
        "order",
        rf"\b(?:which|what|who) (?:{_BE}|comes|came) (?:{_SAID} )?(?P<which>first|earlier|last|later)(?: {_SAID})?"
        r"[,:;]?\s+(?P<thing>.+?)\s*,?\s+or\s+(?P<other>.+)$",
    ),
    (None, rf"\b{_WHEN} {_BE} {_THING} {_ONCE} {_BEEN}{_SAID}\s*$"),
    (None, rf"\b{_WHEN} {_BE} {_THING} {_BEEN}{_SAID} {_ONCE}\s*$"),
    (None, rf"\b{_WHEN} {_BE} {_SOMEONE} {_ONCE} {_SAID}(?: about| of)? {_THING}$"),
    (None, rf"\b{_WHEN} {_BE} {_SOMEONE} {_SAID}(?: about| of)? {_THING},? {_ONCE}\s*$"),
    (None, rf"\b(?P<which>first|earliest|last|final) mention of {_THING}$"),
    ("first", rf"\b{_WHEN} {_BE} {_THING} {_BEEN}(?:mentioned|said|named|brought up|introduced)\s*$"),
    (None, rf"\bwhat {_HAPPENS}(?: next)?,? {_RIGHT}(?P<side>after|following|before|prior to) {_THING}$"),
    ("after", rf"\bwhat (?:follows|followed) {_THING}$"),
    ("before", rf"\bwhat (?:precedes|preceded) {_THING}$"),
    ("count", r"(?P<thing>.+?)(?:一共)?(?:被)?(?:提到|提及|出现|说)了?(?:过)?(?:多少次|几次)"),
    ("first", rf"{_FIRST_ZH}{_SAID_ZH}了?(?P<thing>.+)"),
    ("first", rf"(?P<thing>.+?)(?:是)?(?:在)?{_FIRST_ZH}{_SAID_ZH}"),
    ("last", rf"(?P<thing>.+?)(?:是)?(?:在)?(?:什么时候|何时)?最后一次{_SAID_ZH}"),
    ("after", r"(?:在)?(?P<thing>.+?)(?:之后|以后|后面)(?:紧接着)?(?:说|讲|发生|出现)了?什么"),
    ("before", r"(?:在)?(?P<thing>.+?)(?:之前|以前|前面)(?:说|讲|发生|出现)了?什么"),
)
_FORMS = tuple((kind, re.compile(form, re.I)) for kind, form in _WRITTEN)
"""Forms of questions; where none names the kind, the words for first, last, after and before do."""
_ALL = r"(?: of (?:the|these|my|all))?"
_WHICH = re.compile(
    rf"\b(?:which|what){_ALL}(?: \w+)? {KINDS} (?:{_BE} )?"
    rf"(?:mention|nam|talk|speak|discuss|refer|bring)(?:s|es|ed|ing)?(?: up)?(?: about| of| to)? {_WORD}(?P<thing>.+?)$"
    rf"|\bin (?:which|what){_ALL} {KINDS} {_BE} (?P<other>.+?) (?:be(?:en)? )?{_SAID}$",
    re.I,
)
"""Asks which recordings something is mentioned in: its mentions are counted in each."""
_PLACE = re.compile(
    r"\s*[,]?\s*\b(?:in|of|during|throughout|across|within) (?:the|this|that|these|those|all|any)(?: of the)?"
    rf"(?: [\w'’-]+){{0,3}}? {KINDS}\b(?:\s+(?:about|on|called|named|with|by|titled)\b.*$)?",
    re.I,
)
_WHOLE = re.compile(
    rf"\b(?:which|what)(?: of (?:the|these|my|all)(?: \w+)?)? {KINDS}\b|\b{KINDS} (?:is |are )?about\b"
    r"|\bsummar|\boverview\b|\bin general\b|\bas a whole\b|\b(?:main|key) (?:points?|topics?|themes?|ideas?)\b"
    r"|\bwhat (?:is|are) .{1,80} about\b|总结|概述|概括|主要内容|哪些视频|哪个视频",
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


def asked_of(question: str, titles: Iterable[str] = ()) -> Asked | None:
    """Return what a question asks of the timeline, or None; it may name recordings of `titles` as the place to look."""
    whole = plain = " ".join(question.split())
    for title in (name for t in titles for name in names_of(t)):
        plain = re.sub(IN_TITLE.format(re.escape(title)), "", plain, flags=re.I)
    plain = plain.rstrip(" ?？.。!！")
    if found := _WHICH.search(plain):
        return Asked("count", subject(found["thing"] or found["other"]))
    said = _PLACE.sub("", plain)
    for kind, form in _FORMS:
        found = form.search(said)
        if found is None:
            continue
        parts = found.groupdict()
        thing, other = subject(parts["thing"]), subject(parts.get("other") or "")
        if kind == "order" and thing and other:
            return Asked(kind, thing, other, late=parts["which"].lower() in ("last", "later"))
        if kind != "order" and thing:
            return Asked(kind or _which(parts), thing)
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
        return quoted[1].strip()
    return _LEADING.sub("", _MENTIONED.sub("", text.strip(_QUOTES))).strip(_QUOTES)
