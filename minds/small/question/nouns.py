"""The noun phrases of a question, told without a parser."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from ragweave.models.text import STOP, fold, plural, verb_form


class Phrase(NamedTuple):
    """A noun phrase of a question: where it lies, and its last word."""

    start: int
    end: int
    text: str
    head: str


_ALSO_ADJECTIVES = frozenset("long old far tall big high deep heavy wide large fast back".split())
"""Function words in “how old” and “come back” that tell one thing from another behind an article: “the old laptop”."""
_FUNCTION = (
    STOP
    | _ALSO_ADJECTIVES
    | frozenset(
        "may might must shall without near since per among against around across along whether upon within via yet"
        " ever still usually often please says say".split()
    )
)
DETERMINER = frozenset(
    "the a an my our your his her its their this that these those each every any some all both".split()
)
DO = frozenset("do does did can could may might must will would shall should".split())
BE = frozenset("is are was were has have had".split())
_BEFORE_NOUN = DETERMINER | _ALSO_ADJECTIVES
_ASKING = frozenset("which what many much whose who whom when where how why".split())
_NAMED = 6
"""Words of a topic that is only named, without a verb."""
JOINS = frozenset("of in from at on to".split())
_PREPOSITIONS = JOINS | frozenset("for with by near and".split())
_SUBJECT = frozenset("i we you they he she it".split())
_BEFORE_VERBS = frozenset("first last once again also already finally originally initially recently".split())
"""Adverbs between a noun phrase and its verb: “the lighthouse first lit”."""
_WORD = re.compile(r"[^\W_]+(?:[’'.-][^\W_]+)*")


def phrases(question: str) -> list[Phrase]:
    """Return the noun phrases of a question, without a parser: runs of words between those that only join.

    After “does”, “did” or “can” the last word of a run is the verb, and after “is” where it looks like one.
    """
    out: list[Phrase] = []
    run: list[re.Match[str]] = []
    lead = previous = ""
    does = bool(DO & set(fold(question).split()))
    verb_to_come = False

    def close(by: str) -> None:
        """End the run; `by` is the article that begins the next one, "." the end of the question."""
        nonlocal run, verb_to_come
        words, run = run, []
        # “How much do the students on the second floor pay?”: the verb stands behind what is joined to its subject.
        joined = by in _PREPOSITIONS
        awaited = verb_to_come and by not in ("of", "and")
        verb_to_come = verb_to_come and (joined or (not words and by in DETERMINER))
        if not words:
            return
        named = words[-1].group()[:1].isupper()
        led = fold(words[0].group()) in DETERMINER
        if len(words) > 1 + led and not named:
            acts = verb_form(fold(words[-1].group()))
            acts |= by == "." and does and words[-2].group()[:1].isupper()
            acts |= not lead and fold(words[-1].group()).endswith("s") and by not in DETERMINER
            if (
                (lead in DO and by not in BE)
                or awaited
                or (not lead and led and acts)
                or (acts and (lead in BE or by == "."))
                or (lead in _ASKING and by in DETERMINER)
            ):
                verb_to_come = verb_to_come and not awaited
                words = words[:-1]
                while len(words) > 1 and fold(words[-1].group()) in _BEFORE_VERBS:
                    words = words[:-1]
        elif not led and not named and (lead in ("who", *_SUBJECT) or (lead in BE and verb_form(words[0].group()))):
            # “Who wrote it?”, “What is written on the bell?”: a verb.
            return
        elif lead in DO:
            verb_to_come = joined
        if len(words) > 1 and lead in ("who", "what") and by == "." and not led:
            words = words[1:]
        if fold(words[-1].group()) not in DETERMINER:
            a, b = words[0].start(), words[-1].end()
            out.append(Phrase(a, b, question[a:b], words[-1].group()))

    for m in _WORD.finditer(question):
        word = fold(m.group())
        tells = word in _ALSO_ADJECTIVES and bool(run) and {fold(w.group()) for w in run} <= _BEFORE_NOUN
        joins = word in _FUNCTION and not tells
        if word in DETERMINER or joins or re.search(r"[,;:.]\s*$", question[: m.start()]):
            close(word)
        if word in DETERMINER or not joins:
            lead = lead if run else previous
            run.append(m)
        previous = word
    close(".")
    return out


def topic(question: str) -> str:
    """Return what a question is about: the noun phrase after its verb, with what is joined to it."""
    found = phrases(question)
    if not found:
        return ""
    if len(question.split()) <= _NAMED and not re.search(rf"\b(?:{'|'.join(BE | DO | _ASKING)})\b", question, re.I):
        return question.strip(" ,.:;")
    # “What does a wash cost?” is about the wash, “Which firm does the windows?” about the windows.
    if len(found) > 1 and fold(question[: found[0].start]).split()[-1:] in [[w] for w in _ASKING]:
        found = found[1:]
    does = bool(DO & set(fold(question).split()))
    return _with_joined(question, found, JOINS if not does else JOINS - {"on", "to"})


def _with_joined(question: str, found: Sequence[Phrase], at_end: Collection[str] = JOINS) -> str:
    """Return the first phrase with what is joined to it; what no word of `at_end` joins has to end the question."""
    start, end = found[0].start, found[0].end
    for p in found[1:]:
        between = fold(question[end : p.start]).split()
        if len(between) != 1 or between[0] not in {*JOINS, "for"}:
            break
        if between[0] not in {*at_end, "for"} and question[p.end :].strip(" ?.!"):
            break
        end = p.end
    return question[start:end]


_PLACED = (JOINS - {"of"}) | {"near"}


def group(question: str, acts: bool) -> str:
    """Return whom “they” means: who does something, a name, a plural, or else what the thing asked about is of.

    Args:
        question: the question before.
        acts: “they” or “their”; “them” is rather what something is done to.
    """
    found = phrases(question)
    led = [(fold(question[: p.start]).split() or [""])[-1] for p in found]
    for n, by in enumerate(led):
        if by in DO and acts:
            return _with_joined(question, found[n:])
    of = re.sub(r"^.*\bof\s+(?=\S)", "", topic(question))
    for by, p in zip(led, found, strict=True):
        if by not in (*_PLACED, *DO) and (plural(p.text) or (p.head[:1].isupper() and p.text in of)):
            return p.text
    return of
