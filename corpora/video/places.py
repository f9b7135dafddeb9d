"""Where in the recordings a question asks to look: in a stretch of time, or in a recording that it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragweave.models.calendar import WEEKDAYS
from ragweave.models.text import content_terms, content_words, fold, stem, terms

KINDS = (
    r"(?:videos?|films?|movies?|talks?|lectures?|recordings?|clips?|episodes?|podcasts?|transcripts?|shows?"
    r"|conversations?|interviews?|sessions?|meetings?|audio|presentations?|courses?(?! of\b)|lessons?|webinars?"
    r"|seminars?|tutorials?|trailers?|teasers?)"
)
"""What recordings are called."""
_CLOCK = r"(?:(\d{1,2}):)?(\d{1,3}):(\d{2})(?:\.\d+)?"
_OF_IT = rf"(?: of (?:(?:the|this|that|my|our) )?(?:[\w'’-]+ ){{0,3}}{KINDS}\b(?: (?:on|about) [\w'’ -]+)?)"
_BETWEEN = re.compile(rf"\b(?:between|from) {_CLOCK} (?:and|to|until|till) {_CLOCK}", re.I)
_AT = re.compile(rf"\b(?:at|around|about) (?:minute |time )?{_CLOCK}", re.I)
_OF_DAY = re.compile(
    rf"\d\s?(?:[ap]\.?\s?m\b|uhr\b|o['’]clock)|\b(?:(?:today|tonight|tomorrow|yesterday)(?!['’])"
    rf"|in the (?:morning|afternoon|evening)|at night|(?:on|every|each) (?:day|weekday|{'|'.join(WEEKDAYS)})s?)\b"
    rf"(?! {KINDS}\b)",
    re.I,
)
"""Tells that the hours of a question are those of a day, and no places in a recording."""
_AT_UNIT = re.compile(r"\b(?:at|around|in|after) (?:the )?(minute|second) (\d{1,4})\b", re.I)
_EDGE = re.compile(
    r"\b(?:in|during|within) the (first|last|opening|final|closing) (?:(\d{1,4}|one|two|three|five|ten) )?"
    rf"(seconds?|minutes?){_OF_IT}?",
    re.I,
)
_END = re.compile(rf"\b(?:at|near|towards?|by) the (?:very )?(beginning|start|opening|end|close){_OF_IT}", re.I)
_NUMBERS = {"one": 1, "two": 2, "three": 3, "five": 5, "ten": 10}
AROUND = 15.0
"""Seconds before and after a moment that a question names."""
EDGE = 60.0
"""Seconds that a minute, or the beginning or the end of a recording lasts, where a question does not say."""


def window_of(question: str) -> tuple[float, float] | None:
    """Return the [start, end] in seconds that a question names, or None; a negative start counts from the end."""
    clocks = not _OF_DAY.search(question)
    if clocks and (m := _BETWEEN.search(question)):
        start, end = sorted((seconds(*m.groups()[:3]), seconds(*m.groups()[3:])))
        return start, end
    if clocks and (m := _AT.search(question)):
        at = seconds(*m.groups())
        return max(0.0, at - AROUND), at + AROUND
    if m := _AT_UNIT.search(question):
        minute = m[1].lower() == "minute"
        at = float(m[2]) * (60 if minute else 1)
        return max(0.0, at - AROUND), at + (EDGE if minute else AROUND)
    if m := _EDGE.search(question):
        number = _NUMBERS.get((m[2] or "one").lower()) or int(m[2])
        length = number * (60.0 if m[3].lower().startswith("minute") else 1.0)
        return (0.0, length) if m[1].lower() in ("first", "opening") else (-length, 0.0)
    if m := _END.search(question):
        return (0.0, EDGE) if m[1].lower() in ("beginning", "start", "opening") else (-EDGE, 0.0)
    return None


def without_window(question: str) -> str:
    """Return a question without the words that name a stretch of time."""
    for form in (*(() if _OF_DAY.search(question) else (_BETWEEN, _AT)), _AT_UNIT, _EDGE, _END):
        question = form.sub(" ", question)
    return " ".join(question.split())


def stretch(window: tuple[float, float], last: float) -> tuple[float, float]:
    """Return a window as seconds from the beginning; a negative one counts from the end of a recording."""
    return (max(0.0, last + window[0]), last) if window[0] < 0 else window


def seconds(hours: str | None, minutes: str, rest: str) -> float:
    """Return a clock time in seconds."""
    return 3600.0 * int(hours or 0) + 60.0 * int(minutes) + int(rest)


IN_TITLE = (
    r"\s*\b(?:in|of|from|during|throughout)\s+(?:the\s+)?"
    rf"(?:{KINDS}\s+)?(?:called\s+|titled\s+)?[\"“«]?{{}}[\"”»]?(?!\w)"
)
"""A title as the place to look, to be formatted with the title."""
_ENDS = (
    r"(?:sa(?:y|ys|id)|tells?|told|explains?|mentions?|shows?|gives?|us(?:es?|ed)|what|which|who|how|why|when"
    r"|is|are|was|were|do|does|did|about)"
)
"""Words that go on with the question after a topic."""
_DESCRIBED = re.compile(
    r"\b(?:in|of|from|during|throughout|by|does|did|according to) (?:the|this|that|my|our) "
    rf"(?P<before>(?:(?!{_ENDS}\b)[\w'’-]+ ){{0,4}}?)(?P<kind>{KINDS}|modules?)\b"
    r"(?: (?:on|about|called|named|titled) (?:the |a |an )?"
    rf"(?P<after>(?!{_ENDS}\b)[\w'’-]+(?: (?!{_ENDS}\b)[\w'’-]+){{0,3}}))?",
    re.I,
)
_NUMBERED = re.compile(
    rf"\b(?P<kind>{KINDS}|modules?|lessons?|units?|parts?|weeks?) (?:no\.? |number )?(?P<n>\d{{1,4}})\b", re.I
)
_LEAST = 4
"""Letters from which a word may be the beginning of one of a title: `laion400m` is the LAION talk."""


def names_of(title: str) -> list[str]:
    """Return what a recording may be called, the longest first: its title, and the file's name in parentheses there.

    >>> names_of("Stream ciphers (lecture 3)")
    ['Stream ciphers (lecture 3)', 'Stream ciphers', 'lecture 3']
    """
    parts = re.fullmatch(r"(.+) \((.+)\)", title)
    return [n for n in (title, *(parts.groups() if parts else ())) if len(n) > 2]


@dataclass(frozen=True, slots=True)
class Described:
    """A recording that a question describes: by what is said before its kind, or as its topic after it."""

    before: str
    kind: str
    topic: str

    @property
    def words(self) -> str:
        """What tells it from others of its kind."""
        return self.topic or self.before


def described(question: str) -> list[Described]:
    """Return the recordings that a question describes, in order: “the lecture on stream ciphers”, “the GIS course”."""
    found = _DESCRIBED.finditer(question)
    return [Described(*(" ".join(content_words(m[k] or "")) for k in ("before", "kind", "after"))) for m in found]


def named_in(question: str, titles: Iterable[str]) -> list[str]:
    """Return the titles of recordings that a question says it is about.

    By its title: “in lecture 3”, “of the film Sintel”. Else by its number: “module 2”, “episode 140”, of a title that
    has the word as well where one has. Else by words that all stand in the titles: “of the LAION talk”, “in the lecture
    on Make”. Else by the kind, where one title has it and nothing else describes it: “in the trailer”. What fits all of
    them tells nothing.
    """
    known = list(dict.fromkeys(titles))
    folded = fold(question)
    whole = [t for t in known if any(re.search(IN_TITLE.format(re.escape(fold(n))), folded) for n in names_of(t))]
    return whole or _numbered(question, known) or next((found for found in _in_titles(question, known) if found), [])


def on_topic(topic: str, about: Mapping[str, str]) -> list[str]:
    """Return the titles of the recordings that are on a topic, given the line of each that tells what it is about.

    The words stand there one after another; a topic that all recordings have tells nothing.
    """
    wanted = f" {' '.join(terms(topic))} "
    found = [t for t, text in about.items() if wanted.strip() and wanted in f" {' '.join(terms(text))} "]
    return found if len(found) < len(about) else []


def of_kind(kind: str, titles: Sequence[str]) -> list[str]:
    """Return the one title that has the word for a kind of recording, if one of several has it."""
    found = [t for t in titles if stem(kind.lower()) in terms(t)]
    return found if len(found) == 1 < len(titles) else []


def _numbered(question: str, titles: list[str]) -> list[str]:
    for m in _NUMBERED.finditer(question):
        fitting = [t for t in titles if int(m["n"]) in map(int, re.findall(r"\d+", t))]
        named = [t for t in fitting if stem(m["kind"].lower()) in terms(t)]
        if 0 < len(named or fitting) < len(titles):
            return named or fitting
    return []


def _in_titles(question: str, titles: list[str]) -> Iterable[list[str]]:
    held = {t: terms(t) for t in titles}
    for of in described(question):
        for said in (of.before, of.topic):
            wanted = content_terms(said)
            fitting = [t for t in titles if wanted and all(_in(w, held[t]) for w in wanted)]
            if len(fitting) < len(titles):
                yield fitting
        if not of.words:
            yield of_kind(of.kind, titles)


def _in(term: str, title: list[str]) -> bool:
    return any(term == word or (len(term) >= _LEAST and word.startswith(term)) for word in title)
