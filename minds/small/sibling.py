"""Whether a sentence tells something of another thing or person than is asked of: of Oma Inge, not of Oma Ruth."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from pathlib import PurePath

from ragweave.minds.small.answer.sentences import Extract, parts_of
from ragweave.minds.small.answer.spoken import is_recorded
from ragweave.minds.small.question.asked import ASKING, CALENDAR, Asked, asked_of, cases, has_clause
from ragweave.minds.small.question.likes import LIGHT, likes
from ragweave.models import tables
from ragweave.models.text import STOP, content_terms, fold, names, stem, terms, verb_form

_LINK = r"(?:of|for|von|des|der|de|du|del)"
_THE = r"(?:(?:the|our|my|your|his|her|their|an?|den|dem|la|le|les|el|los|las) )*"
_OF = re.compile(rf"\b([^\W\d_]{{3,}}) {_LINK} {_THE}(?:l['’])?([^\W\d_]\w*(?: [^\W\d_]\w*)?)", re.I)
_OWN = re.compile(r"\b([^\W\d_]\w*)['’]s ((?:[^\W\d_]+ )?[^\W\d_]+)", re.I)
_VERB = re.compile(r"^(.*\b(?:do|does|did|will|can)\b.*) [a-z]+(?: out| off| up)?\W*$", re.I)
_OWNER = re.compile(r"\b([^\W\d_]+)['’]s (?=[^\W\d_])")
_FIRST = re.compile(r"(?:^|: |• )(?=[^\W\d_a-z])")
"""Where who or what is told of stands first: in a sentence, behind its label."""
_HAIL = re.compile(r"(?:dear|hello|hi|hallo|liebe[rs]?|sehr|cher|chère|querid[oa])\b", re.I)
_ACTS = frozenset("had will can could must may should would might".split())
_WORDS = 5
"""Words that a label has at most."""
_TITLES = frozenset("mr mrs ms miss dr prof herr frau madame mme monsieur señor señora sir lady the".split())


def place_of(e: Extract) -> str:
    """Return the title of a sentence, and its folder and file."""
    file = PurePath(e.strip["locator"].get("file", ""))
    return f"{e.strip['title']} {file.parent.name} {file.stem}"


def of_it(question: str, chosen: Sequence[Extract]) -> list[Extract]:
    """Return the chosen sentences without those of another thing; all of them where none is left, or two are linked."""
    if not chosen or chosen[0].partner is not None:
        return [*chosen]
    return [e for e in chosen if is_recorded(e.strip) or not of_another(question, e)] or [*chosen]


def of_another(question: str, best: Extract) -> bool:
    """Tell whether a sentence, with its title and file, names another in the place of what is asked of."""
    if has_clause(question):
        return False
    place = place_of(best)
    asked = asked_of(question, cases([best.strip["text"]]))
    told = f"{best.told} {best.partner.told}" if best.partner is not None else best.told
    have = frozenset(terms(f"{place} {told}"))
    alike = likes(question)
    return (
        _owned_by_another(question, f"{place}. {told}", have, alike)
        or _like_named(question, told, have)
        or (asked.kind not in ("person", "name") and _opens_with_another(asked, told, have, best, place))
        or _of_another_row(asked, best)
        or _labelled_otherwise(asked, best, have, alike)
    )


def like_named(question: str, told: str, place: str) -> bool:
    """Tell whether a text names another of the same name: “Oma Inge”, where “Oma Ruth” is asked of."""
    return _like_named(question, told, frozenset(terms(f"{place} {told}")))


def _pairs(text: str) -> list[tuple[set[str], set[str]]]:
    """Return what belongs to what in a text: the code, the gate."""
    # “When does the lease of the printer *end*?”
    text = _VERB.sub(r"\1", text)
    found = [(m[1], m[2]) for m in _OF.finditer(text)] + [(m[2], m[1]) for m in _OWN.finditer(text)]
    return [(set(content_terms(a)), set(content_terms(x))) for a, x in found]


def _owned_by_another(question: str, told: str, have: Set[str], alike: dict[str, frozenset[str]]) -> bool:
    """Tell whether the code of the gate is told where that of the shed is asked for."""
    said = set(terms(question))
    for thing, owner in _pairs(question):
        near, ours = owner.union(*(alike.get(t, frozenset()) for t in owner)), said | owner
        if thing and owner and not near & have and any(thing & a and x and not x & ours for a, x in _pairs(told)):
            return True
    return False


def _like_named(question: str, told: str, have: Set[str]) -> bool:
    theirs = [set(terms(n)) for n in names(told)]
    for name in names(question):
        ours = set(terms(name)) - _TITLES - STOP
        if len(ours) > 1 and not ours <= have and any(n & ours and n - ours - _TITLES - STOP for n in theirs):
            return True
    return False


def _opens_with_another(asked: Asked, told: str, have: Set[str], best: Extract, place: str) -> bool:
    """Tell whether another begins the sentence or owns what is told, as who is asked of does elsewhere in the text."""
    owners = {stem(fold(m[1])) for m in _OWNER.finditer(asked.question)}
    wanted = {t for t in asked.subject | owners if t.isalpha()} - CALENDAR - STOP
    if not wanted or wanted & have:
        return False
    said = STOP.union(LIGHT, terms(f"{asked.question} {place}"))
    if all(set(terms(n)) & said for n in _acting(told)):
        return False
    text = best.strip["text"]
    return any(wanted & set(terms(n)) for a, b in parts_of(best.strip) for n in _acting(text[a:b]))


def _acting(told: str) -> list[str]:
    return [*_first(told), *(m[1] for m in _OWNER.finditer(told))]


def _first(told: str) -> list[str]:
    """Return the names with which a sentence begins, or what stands behind its label: those that do something."""
    out = []
    for m in _FIRST.finditer(told):
        name = next(iter(names(told[m.end() :])), "")
        rest = told[m.end() + len(name) :]
        if name and told.startswith(name, m.end()) and not _HAIL.match(name):
            verb = re.match(r" ([a-z]+)\b", rest)
            acts = verb is not None and (verb_form(verb[1]) or verb[1] in _ACTS or verb[1].endswith("s"))
            if acts or m.group() or " " in name or rest.startswith(": "):
                out.append(name)
    return out


def _of_another_row(asked: Asked, best: Extract) -> bool:
    """Tell whether a row of a table, which says in its cells whatever it is of, lacks a name that is asked of."""
    row = tables.is_row(best.strip["text"][best.start : best.end])
    return row and bool({t for t in asked.subject if t.isalpha()} - CALENDAR - best.covers)


def _labelled_otherwise(asked: Asked, best: Extract, have: Set[str], alike: dict[str, frozenset[str]]) -> bool:
    """Tell whether a line is labelled as another: “male cat: £92” is of no dog where another is, nor of a rabbit."""
    text = best.strip["text"]
    label = _label(text[best.start : best.end])
    missing = {
        t for t in asked.slot - best.covers - asked.implied - LIGHT - ASKING if not alike.get(t, frozenset()) & have
    }
    other = label - set(terms(asked.question)) - set().union(*alike.values())
    whole = not text[best.end : best.end + 1].strip(" ") or text[best.end] == "\n"
    if not missing or not other or not whole:
        return False
    beside = [at for line in text.splitlines() if (at := _label(line)) and at != label]
    return any(missing & at for at in beside) or any(label & at and (label - at) & other for at in beside)


def _label(line: str) -> set[str]:
    label, colon, _ = line.partition(": ")
    return set(content_terms(label)) if colon and "(" not in label and len(label.split()) <= _WORDS else set()
