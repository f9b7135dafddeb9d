"""What a turn asks, without what is said around it: greetings, courtesy, reasons, and where to look.

Stated rules for English, with the usual frames of German and French. What is set aside is never searched; a sentence
beside the question stays as its context where the question leans on it.
"""

from __future__ import annotations

import re

from ragweave.minds.contracts import Core, Said
from ragweave.minds.small.choose import options_of
from ragweave.minds.small.question import frames
from ragweave.minds.small.question.greeting import ungreeted
from ragweave.minds.small.question.refer import leans, resolve
from ragweave.models.text import content_terms, sentences

_EMPTY = frozenset(
    "help ask someth anyth question minut moment second know idea time thing favour favor chanc look hope".split()
)
"""Stems that a courtesy is made of."""
_TOPIC = 6
"""Words of a topic that is only named (“The trip to the mine: what does it cost?”)."""
_SHORT = re.compile(r"^(who|what|where|when|how)['’]?s\b", re.I)
_LIMIT = 12
"""Frames around one question that are taken off."""


def core(text: str) -> Core:
    """Return what a turn asks; a turn that states answers to choose from, or asks nothing, is left whole."""
    whole = " ".join(text.split())
    if options_of(text)[1] or not whole:
        return Core(text, text)
    asks: list[str] = []
    wishes: list[str] = []
    before: list[str] = []
    fresh = onward = courteous = False
    for said in _parts(text):
        peeled, frame, new, goes = _peel(said)
        fresh |= new
        onward |= goes and not (asks or before)
        courteous |= bool(frame)
        marked = said.rstrip().endswith(("?", "？"))
        if not peeled:
            continue
        told, question = _clause(peeled)
        asking = marked or bool(told or frames.QUESTION.match(peeled) or frames.ORDER.match(peeled))
        if not asking and (not frame or frames.OWN.match(frame)):
            (wishes if frame else before).append(peeled)
            continue
        before += [told] if told and not asks else []
        asks.append(question)
    kept = [q for q in asks if set(content_terms(q)) - _EMPTY] or wishes[-1:]
    # “A friend wants the name of our dentist. Can you give it to me?” asks in its first sentence.
    kept = kept or (asks[-1:] if not before else [])
    question = " ".join(kept) or _closed(" ".join(before)) or whole
    context = " ".join(before) if kept else ""
    mine = bool(frames.MINE.search(context))
    topic = len(context.split()) <= _TOPIC and not (mine or re.search(rf"\b{frames.VERB}\b", context, re.I))
    own = courteous or topic or mine
    if context and leans(question, context, strict=own):
        # A pronoun takes what the reason or the topic names; a tale that leads to the question stays whole.
        found = resolve(question, Said(context) if topic else Said("", context)) if own else question
        question = found if found != question else f"{context} {question}"
    question = _SHORT.sub(r"\1 is", text.strip() if " ".join(question.split()) == whole else question)
    return Core(text, question, fresh, onward)


def _parts(text: str) -> list[str]:
    """Return the sentences of a turn without its greetings; in a message each line ends one."""
    lines = [" ".join(line.split()) for line in re.split(r"\n\s*\n|\n(?=\s*[A-ZÄÖÜ])", text)]
    found = [line[a:b] for line in lines for a, b in sentences(line)]
    return [said for said in map(ungreeted, found) if said]


def _peel(said: str) -> tuple[str, str, bool, bool]:
    """Take the frames off a sentence: return it, the request, and whether it changes the subject and goes on."""
    frame, fresh, on, rest = "", False, False, said
    for _ in range(_LIMIT):
        for pattern in (frames.FRESH, frames.REQUEST, frames.OPENING, frames.GOES_ON):
            m = pattern.match(rest)
            if m is None or not m.end():
                continue
            if pattern is frames.REQUEST:
                frame = frame or m.group()
            fresh |= pattern is frames.FRESH
            on |= pattern is frames.GOES_ON
            rest = ungreeted(rest[m.end() :])
            break
        else:
            at = 0 if frame else _embedded(rest)
            if not at:
                break
            frame, rest = rest[:at], rest[at:]
    return _closed(rest), frame, fresh, on


def _embedded(said: str) -> int:
    """Return where the question begins that a sentence about who asks and who is asked leads to; 0 for none."""
    if re.match(rf"(?:{frames.PREP}\s+)?{frames.WH}\b", said, re.I):
        return 0
    for m in frames.EMBEDDED.finditer(said):
        start = m.end("prep") + 1 if (m["prep"] or "").lower() in ("on", "about", "of") else m.start()
        before = said[:start]
        stays = frames.STAYS.match(before) and not re.search(r"[:–—]\s*$", before)
        if not stays and frames.SELF.search(before) and (m["sure"] or frames.LEADS.search(before)):
            return start
    return 0


def _closed(said: str) -> str:
    """Take the courtesy off the end of a sentence, and keep its question mark; “What is in my notes?” asks for them."""
    rest = said
    for _ in range(_LIMIT):
        m = frames.CLOSING.search(rest)
        if m is None:
            break
        rest = rest[: m.start()] + ("?" if "?" in m["end"] else "")
    rest = frames.WITHIN.sub("", rest).strip()
    if content_terms(said) and not content_terms(rest) and frames.QUESTION.match(rest):
        return said
    return rest if any(c.isalnum() for c in rest) else ""


_NAMED = re.compile(r"(?:the|our|your)(?: (?!is|are|was|were)[\w'’-]+){1,2}", re.I)
"""A thing that is named before it is asked about."""


def _clause(said: str) -> tuple[str, str]:
    """Divide a sentence into what is told and what is asked (“I am cooking, so how long does it take?”)."""
    m = None if frames.QUESTION.match(said) else frames.TURN.search(said)
    # “The light flashes five times, what is wrong?” asks about what it tells; “the ferry, how often ...” tells nothing.
    told = bool(m and (frames.MINE.search(said[: m.start()]) or _NAMED.fullmatch(said[: m.start()])))
    if m is None or not told or (frames.STAYS.match(said) and m.group()[0] == ","):
        return "", said
    return said[: m.start()], _peel(said[m.end() :])[0]
