"""A question that describes what it speaks of: what is described is asked by itself, then put in its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragweave.minds.evidence import Hop
from ragweave.minds.small.answer.sentences import Extract
from ragweave.minds.small.question.asked import ASKING, has_clause
from ragweave.minds.small.question.nouns import BE, DETERMINER, DO, JOINS
from ragweave.minds.small.question.sides import sides
from ragweave.models import tables
from ragweave.models.text import STOP, content_terms, fold, names, terms, verb_form

_CLAUSE = re.compile(
    r"\b(?:the|an?|our|my) (?P<noun>(?:(?!(?:the|an?|who|that|which)\b)[^\W_][\w'’&-]* ){1,7}?) ?"
    r"(?P<rel>(?:(?:to|for|in|at|on|from|by|with|of|under|after|about|near|through) )?(?:whom|which)"
    r"|who|that|whose|where|when) "
    r"(?P<rest>(?:[^?;.!]|[.!](?!\s))+)",
    re.I,
)
"""A noun and the clause that describes it."""
_OF = re.compile(r"\b(?:the|our|my) (?P<noun>[a-z][\w-]*(?: [a-z][\w-]*)?) (?P<by>of|with) (?P<rest>[^?;,]+)", re.I)
_OWNS = re.compile(
    r"\b(?P<rest>(?:the )?[A-Z][\w-]*(?: [A-Z][\w-]*)*)['’]s? "
    r"(?P<noun>[a-z][\w-]*(?: [a-z][\w-]*(?=$| (?:is|are|was|were|in|at|on|for)\b))?)"
)
"""A noun, or two (“cello teacher”), told by what it belongs to."""
_IS = re.compile(r"\b(?:is|are|was|were)\s*$", re.I)
"""After it the noun goes on behind its first word: “What is Wren's hourly wage?”."""
_ANYONE = frozenset("man woman person people one boy girl lady gentleman guy human".split())
_DOES = re.compile(r"(?:[eo]r|ist|ian|ant|ent|man|woman|son|wife|husband|child|niece|nephew|warden|chair|apprentice)$")
"""How nouns end for those who do or are something to others: “owner”, “conductor”, “president”, “mother”."""
_NOBODY = frozenset("offer order number letter paper cover corner door floor tower river water winter summer".split())
_TIMES = frozenset("year month day date decade century time".split())
_YEAR = re.compile(r"\b(?:1\d{3}|20\d{2})\b")
_VERBS = frozenset(
    "have take get give go come make keep hold lead teach write sing drive live die weigh cost close open begin start"
    " end retire study work play need want pay earn own use wear eat leave learn grow become happen finish move see"
    " deliver bring sell buy lie stand".split()
)
"""How verbs stand after “did” and “can”, behind what is described: “Where did the man who made it *live*?”."""
_HELD = DETERMINER | JOINS | DO | frozenset("and or by with for as than".split())
"""A word behind one of these is no verb of the question around a description."""
_ROLE = re.compile(r"\b(?P<rest>(?:the|our|my) [a-z][\w-]*(?: [a-z][\w-]*)?)(?P<own>['’]s) (?=[a-z])")
"""Who is named by what he is: “our treasurer's locker”."""
_LONG = 6
"""Content words of a sentence that can stand for the thing it tells."""
_BY = re.compile(r"\b(?:by|von|par)\s+$")


@dataclass(frozen=True)
class Split:
    """A question taken apart: what is asked of a thing that is only described, and the question for that thing.

    Attributes:
        before: the question up to the description.
        inner: the question for what is described.
        after: the question behind the description.
        kind: `person`, `year` or `thing`.
    """

    before: str
    inner: str
    after: str
    kind: str

    @property
    def asks(self) -> bool:
        """Whether the question asks more than for what is described."""
        asked = set(content_terms(f"{self.before} {self.after}")) - _SAID
        described = re.sub(rf"^(?:\w+ )?{_ASKS.pattern}", "", self.inner, flags=re.I)
        return bool(asked and _ASKS.search(self.before) and not _ASKS.search(described))

    @property
    def open(self) -> frozenset[str]:
        """The stems of what is asked of what is described: who only holds the rest has not answered."""
        return frozenset(content_terms(f"{self.before} {self.after}")) - _SAID - ASKING

    @property
    def bare(self) -> str:
        """The question for what is described, without what it is called: who was damaged at the weir is a boat."""
        return re.sub(r"^which (?!of\b)[\w-]+", "What", self.inner, flags=re.I)

    def filled(self, value: str) -> str:
        """Return the question with a value in the place of the description."""
        return re.sub(r" (?=['’])", "", " ".join(f"{self.before} {value} {self.after}".split())).rstrip(" ?.,") + "?"


_ASKS = re.compile(r"\b(?:who|whom|what|which|where|when|how)\b", re.I)
"""What asks; in a description it shows that the description itself is asked for."""
_SAID = frozenset(content_terms("name person people kind thing call"))


def splits(question: str) -> list[Split]:
    """Return the ways to take a question apart, the innermost description first; none where nothing is described."""
    plain = question.strip().rstrip("?. ")
    clauses: list[re.Match[str]] = []
    while m := _CLAUSE.search(plain, clauses[-1].start("rel") if clauses else 0):
        clauses.append(m)
    found = [_clause(m, plain[: m.start()], plain[m.end() :]) for m in reversed(clauses)]
    owners = [
        m
        for m in _OWNS.finditer(plain)
        if not (_IS.search(plain[: m.start()]) and (plain[m.end() :].strip() or " " in m["noun"]))
    ]
    owned = [] if found else owners or [*reversed([*_OF.finditer(plain)])]
    for m in owned:
        before, noun, after = plain[: m.start()], m["noun"], plain[m.end() :]
        by = m.groupdict().get("by")
        if by is None and not after and " " in noun and DO & set(fold(before).split()):
            # “What does Wren's dog *weigh*?”
            noun, after = noun.split()
        rest, back = _parted(m["rest"].strip(), before)
        person = bool(_DOES.search(noun)) and noun.split()[-1] not in _NOBODY
        inner = f"{'Who' if person else 'What'} is the {noun} {by or 'of'} {rest}?"
        found.append(Split(before, inner, f"{back}{after}", "person" if person else "thing"))
    roles = [m for m in _ROLE.finditer(plain) if not found and _DOES.search(m["rest"])]
    found += [Split(plain[: m.start()], f"Who is {m['rest']}?", plain[m.start("own") :], "person") for m in roles]
    # What is weighed against something else is named: nothing is put in its place.
    return [] if sides(question) else [s for s in found if content_terms(s.inner)]


def _parted(rest: str, before: str) -> tuple[str, str]:
    """Part a description from the verb behind it that the question around has: “did the man who made it *die*”."""
    lead, said = set(fold(before).split()), [*re.finditer(r"\S+", rest)]
    for last, m in pairwise(said):
        verb = m.group() in _VERBS or rest[m.start() :] == "last"
        acts = verb and bool(DO & lead) and fold(last.group()) not in _HELD
        if acts or (m.group() == "born" and BE & lead):
            return rest[: last.end()], rest[last.end() :]
    return rest, ""


def beyond(question: str, strict: bool = False) -> frozenset[str]:
    """Return the stems of what a question asks of the thing that it describes by a clause, or by any words (`strict`).

    A sentence that holds none of them tells what is described, and nothing of it.
    """
    apart = splits(question) if strict or has_clause(question) else []
    return apart[-1].open if apart else frozenset()


def _clause(m: re.Match[str], before: str, after: str) -> Split:
    rel, noun = fold(m["rel"]), m["noun"].strip()
    rest, back = _parted(m["rest"].strip(), before)
    after = f"{back}{after}"
    # “What did the woman *teach* whose ...”, “Where was the clock *built* that ...”
    lead, (*nouns, last) = fold(before).split(), noun.split() or [""]
    if " be " in noun:
        # “Where must the key of the hut *be fetched* that ...”
        noun, _, tail = noun.partition(" be ")
        after, nouns, last = f" be {tail}{after}", [], ""
    acts = bool(DO & set(lead)) or (bool(BE & set(lead)) and (last == "born" or verb_form(last)))
    if last in _VERBS and (cut := _parted(noun, before))[1]:
        noun, after = cut[0], f"{cut[1]}{after}"
    elif nouns and (last in JOINS or (acts and last.islower() and nouns[-1] not in STOP)):
        noun, after = " ".join(nouns), f" {last}{after}"
    head = fold(noun.split(" of ")[0].split()[-1]) if noun else ""
    kind = "year" if head in _TIMES else "person" if rel in ("who", "whom") or head in _ANYONE else "thing"
    if kind == "year":
        asks = f"In which {head}"
    elif head in _ANYONE:
        asks = "Whose" if rel == "whose" else "Who"
    else:
        asks = f"{m['rel'].rpartition(' ')[0]} which {noun}".strip()
    return Split(before, f"{asks[0].upper()}{asks[1:]} {rest}?", after, kind)


def value_of(split: Split, e: Extract) -> str:
    """Return what a sentence gives for the description: a year, a name, else its few words that the question lacks."""
    said = set(terms(split.inner)) | set(terms(split.before))
    row = e.strip["text"][e.start : e.end]
    # What a sentence leans on may be what tells it: “The leather of Brackwater smells. We order elsewhere.”
    tells = set(content_terms(split.bare)) & set(terms(e.text)) or e.before is None
    text = row if tables.is_row(row) else e.text if tells else e.told.removesuffix(e.text)
    if split.kind == "year":
        years = dict.fromkeys(y for y in _YEAR.findall(text) if y not in split.inner)
        return next(iter(years)) if len(years) == 1 else ""
    # The last word of what is described (“flat”) may be told by a number.
    noun = re.match(r"(?:What is the|Which) ((?:[\w-]+ )*?[\w-]+)(?= (?:of|with|is|was)\b|$)", split.inner)
    counted = noun and re.search(rf"\b{re.escape(noun[1].split()[-1])} (?:no\. ?)?\d+\b", text, re.I)
    if counted and split.kind == "thing":
        return counted.group()
    fresh = [n for n in names(text) if not set(content_terms(n)) <= said and not n.isdigit()]
    if split.kind == "person":
        fresh = [n for n in fresh if not re.search(r"\d", n)]
    # “Plays the cello; his teacher is Mrs Quist”: a first word without a verb before it may be anything.
    fresh = [n for n in fresh if " " in n or not text.startswith(n) or text[len(n) :].startswith(("'", "’"))] or [
        n for n in fresh if re.match(rf"{re.escape(n)} (?:is|was|has|had)\b", text)
    ]
    heads = e.strip["title"].split(" · ")
    if kinds := [n for n in [*fresh, *heads] if _is_kind(n, split) and not set(content_terms(n)) <= said]:
        return kinds[0]
    tail = heads[-1]
    # What is said has no full stops, and a caption names a picture: neither is a note that is short.
    noted = e.strip["locator"].get("kind") not in ("time", "image")
    piece = noted and not text.rstrip().endswith((".", "!", "?"))
    fresh_head = not set(content_terms(tail)) <= said and not re.search(r"\d{4}", tail)
    if fresh:
        # Of a row the first cells say whose it is.
        return fresh[0] if text == row and tables.is_row(row) else _nearest(fresh, text, split)
    named = names(f"x {tail}") == (tail.removeprefix("The "),)
    if fresh_head and len(heads) > 1 and (named or (piece and split.kind == "thing")):
        return tail
    left = [w for w in re.findall(r"[\w'’-]+", text) if content_terms(w) and not set(content_terms(w)) <= said]
    return " ".join(left) if piece and split.kind == "thing" and 0 < len(left) <= _LONG else ""


def _is_kind(name: str, split: Split) -> bool:
    """Tell whether a name says the kind of what is described: “which hut”, Marmot Hut; “mountain”, Mount Wilson."""
    m = re.match(r"(?:\w+ )?which (?:[\w'’-]+ )??([a-z]{3,})\b", split.inner, re.I)
    says = m is not None and any(len(w) > 2 and m[1].startswith(w) for w in fold(name).split())
    return says and " " in name and names(f"x {name}") == (name,)


def _nearest(found: Sequence[str], text: str, split: Split) -> str:
    """Return the name after “by”, else the one nearest to what is asked of it."""
    if led := [n for n in found if _BY.search(text[: text.find(n)])]:
        return led[0]
    wanted = set(content_terms(split.inner)) - {t for n in names(split.inner) for t in content_terms(n)}
    text = max(text.split("; "), key=lambda part: len(wanted & set(terms(part))))
    found = [n for n in found if n in text] or found
    spots = [m.start() for m in re.finditer(r"[\w'’-]+", text) if set(terms(m.group())) & wanted]
    return min(found, key=lambda n: min((abs(text.find(n) - s) for s in spots), default=text.find(n)))


def standing(question: str, hops: Sequence[Hop]) -> str:
    """Return the question as it stands after what it describes was found: the last one made from an item."""
    return next((h["next"] for h in reversed(hops) if h["lead"] and h["next"].endswith("?")), question)
