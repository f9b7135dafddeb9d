"""Cut what was said and shown in a recording into pieces that can stand in an answer."""

from __future__ import annotations

import re

from ragweave.models.calendar import ENGLISH
from ragweave.models.text import STOP, sentences, words

Span = tuple[int, int]

SHORT = 8
"""Words; a shorter sentence of speech says little alone, and is read with the next one."""
LONGEST = 45
"""Words to which sentences are joined."""
GOES_ON = STOP | {"like"}
"""Last words of a line that the next one completes."""
_NEXT_LINE = re.compile(r"(?<![,&-])[ \t]*\n+[ \t]*(?=[^\sa-z])")
_OPEN = re.compile(r"(?:…|\.\.\.|[^\s.!?…。！？:\"'”’)])$")
"""The end of a sentence that is not over: three dots, or no mark at all."""
_SPEAKER = re.compile(rf"^\s*(?!(?:{'|'.join(ENGLISH[12:]).title()}):)" r"[A-Z][\w.’'-]*(?: [A-Z][\w.’'-]*){0,3}:\s+")
"""The name of a speaker before what is said, or the name of what a line of a slide states; no day speaks."""


def pieces(text: str) -> list[Span]:
    """Return [start, end) of what stands for a sentence in what was said and shown.

    Speech is cut by breath and by subtitle: “The first step is to find…”, “…where fields overlap.” And an answer such
    as “I need backup!” is found by the words before it. So sentences that go on, and short ones, are joined.
    """
    out: list[Span] = []
    for start, end in _lines(text):
        if out and _one(text, out[-1], (start, end)):
            out[-1] = (out[-1][0], end)
        else:
            out.append((start, end))
    return out


def _lines(text: str) -> list[Span]:
    """Part sentences at the lines of a slide, which puts no full stops; one in small letters goes on."""
    out: list[Span] = []
    for start, end in sentences(text):
        begin = start
        for m in _NEXT_LINE.finditer(text, start, end):
            last = text[begin : m.start()].rsplit(None, 1)[-1:]
            if last and last[0].lower() not in GOES_ON:
                out.append((begin, m.start()))
                begin = m.end()
        out.append((begin, end))
    return out


def _one(text: str, before: Span, after: Span) -> bool:
    said, then, gap = text[slice(*before)], text[slice(*after)], text[before[1] : after[0]]
    if len(words(said)) + len(words(then)) > LONGEST:
        return False
    if then.startswith(("…", "...")):
        return True
    if "\n" in gap or "\n" in said or _SPEAKER.match(then):
        return False
    goes_on = then[:1].islower() or bool({*words(said)[-1:]} & GOES_ON)
    return len(words(said)) < SHORT or bool(_OPEN.search(said) and goes_on)


def spoken(sentence: str, question: str = "") -> str:
    """Return what a speaker says, without the name that a transcript puts before it; a name alone answers nothing.

    “Source: Common Crawl” on a slide is no speech where a source is asked for: the question has the word in small
    letters, as it writes no name.
    """
    label = _SPEAKER.match(sentence)
    if label is None:
        return sentence
    name = label.group().strip(" :\n")
    stated = name not in question and re.search(rf"\b{re.escape(name.lower())}", question)
    return sentence if stated else sentence[label.end() :]
