"""A question that describes what it speaks of: what is described is asked by itself, then put in its place."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from ragweave.minds.evidence import Hop
from ragweave.minds.small.answer.sentences import Extract
from ragweave.minds.small.question.nouns import DO
from ragweave.models.text import content_terms, fold, names, terms

_CLAUSE = re.compile(
    r"\b(?:the|an?|our|my) (?P<noun>(?:(?!(?:the|an?|who|that|which)\b)[^\W_][\w'’&-]* ?){1,7}?) ?"
    r"(?P<rel>(?:(?:to|for|in|at|on|from|by|with|of|under) )?(?:whom|which)|who|that|whose|where|when) "
    r"(?P<rest>(?:[^?;.!]|[.!](?!\s))+)",
    re.I,
)
"""A noun and the clause that describes it."""
_OF = re.compile(r"\b(?:the|our|my) (?P<noun>[a-z][\w-]*(?: [a-z][\w-]*)?) (?P<by>of|with) (?P<rest>[^?;,]+)", re.I)
_OWNS = re.compile(r"\b(?P<rest>(?:the )?[A-Z][\w-]*(?: [A-Z][\w-]*)*)['’]s? (?P<noun>[a-z][\w-]*)")
"""A noun that is told by what it belongs to."""
_IS = re.compile(r"\b(?:is|are|was|were)\s*$", re.I)
"""After it the noun goes on behind its first word: “What is Wren's hourly wage?”."""
_ANYONE = frozenset("man woman person people one boy girl lady gentleman guy human".split())
_DOES = re.compile(r"(?:[eo]r|ist|ian|ant|ent|man|woman)$")
"""How nouns end for those who do something: “owner”, “conductor”, “president”."""
_TIMES = frozenset("year month day date decade century time".split())
_YEAR = re.compile(r"\b(?:1\d{3}|20\d{2})\b")
_TAIL = 4
"""Words behind a clause that may belong to the question around it."""
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

    def filled(self, value: str) -> str:
        """Return the question with a value in the place of the description."""
        return " ".join(f"{self.before} {value} {self.after}".split()).replace(" ’", "’").rstrip(" ?.,") + "?"


_ASKS = re.compile(r"\b(?:who|whom|what|which|where|when|how)\b", re.I)
"""What asks; in a description it shows that the description itself is asked for."""
_SAID = frozenset(content_terms("name person people kind thing call"))


def splits(question: str) -> list[Split]:
    """Return the ways to take a question apart, the innermost description first; none where nothing is described."""
    plain = question.strip().rstrip("?. ")
    clauses: list[re.Match[str]] = []
    while m := _CLAUSE.search(plain, clauses[-1].start("rel") if clauses else 0):
        clauses.append(m)
    found = [_clause(plain, m) for m in reversed(clauses)]
    owners = [m for m in _OWNS.finditer(plain) if not (_IS.search(plain[: m.start()]) and plain[m.end() :].strip())]
    owned = [] if found else owners or [*reversed([*_OF.finditer(plain)])]
    for m in owned:
        by = m.groupdict().get("by") or "of"
        person = bool(_DOES.search(m["noun"]))
        asks = "Who" if person else "What"
        inner = f"{asks} is the {m['noun']} {by} {m['rest'].strip()}?"
        found.append(Split(plain[: m.start()], inner, plain[m.end() :], "person" if person else "thing"))
    return [s for s in found if content_terms(s.inner)]


def trimmed(split: Split, covers: Set[str]) -> Split:
    """Give last words that the best sentence lacks back to the question around: “did the man who made it *die*”."""
    if split.after.strip() or not (DO | _BE) & set(fold(split.before).split()):
        return split
    inner = split.inner.rstrip("?").split()
    cut = len(inner)
    while cut > max(3, len(inner) - _TAIL) and not set(content_terms(inner[cut - 1])) & covers:
        cut -= 1
    if not any(content_terms(w) for w in inner[cut:]):
        return split
    return replace(split, inner=" ".join(inner[:cut]) + "?", after=" ".join(inner[cut:]))


_BE = frozenset("is was are were".split())


def _clause(plain: str, m: re.Match[str]) -> Split:
    rel, noun, rest = fold(m["rel"]), m["noun"].strip(), m["rest"].strip()
    head = fold(noun.split(" of ")[0].split()[-1]) if noun else ""
    kind = "year" if head in _TIMES else "person" if rel in ("who", "whom") or head in _ANYONE else "thing"
    if kind == "year":
        asks = f"In which {head}"
    elif head in _ANYONE:
        asks = "Who"
    else:
        asks = f"{m['rel'].rpartition(' ')[0]} which {noun}".strip()
    return Split(plain[: m.start()], f"{asks[0].upper()}{asks[1:]} {rest}?", plain[m.end() :], kind)


def value_of(split: Split, e: Extract) -> str:
    """Return what a sentence gives for the description: a year, a name, else its few words that the question lacks."""
    said = set(terms(split.inner)) | set(terms(split.before))
    if split.kind == "year":
        years = dict.fromkeys(y for y in _YEAR.findall(e.text) if y not in split.inner)
        return next(iter(years)) if len(years) == 1 else ""
    if (noun := _noun(split)) and (m := re.search(rf"\b{re.escape(noun)} (?:no\. ?)?\d+\b", e.text, re.I)):
        return m.group()
    fresh = [n for n in names(e.text) if not set(content_terms(n)) <= said and not n.isdigit()]
    tail = e.strip["title"].split(" · ")[-1]
    piece = not e.text.rstrip().endswith((".", "!", "?"))
    fresh_head = not set(content_terms(tail)) <= said and not re.search(r"\d{4}", tail)
    headed = piece and fresh_head and " · " in e.strip["title"]
    if fresh:
        return _nearest(fresh, e.text, split)
    if headed and (split.kind == "thing" or names(f"x {tail}")):
        return tail
    left = [w for w in re.findall(r"[\w'’-]+", e.text) if content_terms(w) and not set(content_terms(w)) <= said]
    return " ".join(left) if piece and split.kind == "thing" and 0 < len(left) <= _LONG else ""


def _noun(split: Split) -> str:
    """Return the last word of what is described (“flat”), which may be told by a number."""
    m = re.match(r"(?:What is the|Which) ((?:[\w-]+ )*?[\w-]+)(?= (?:of|with|is|was)\b|$)", split.inner)
    return m[1].split()[-1] if m and split.kind == "thing" else ""


def _nearest(found: Sequence[str], text: str, split: Split) -> str:
    """Return the name after “by”, else the one nearest to what is asked of it."""
    for n in found:
        if _BY.search(text[: text.find(n)]):
            return n
    wanted = set(content_terms(split.inner)) - {t for n in names(split.inner) for t in content_terms(n)}
    spots = [m.start() for m in re.finditer(r"[\w'’-]+", text) if set(terms(m.group())) & wanted]
    return min(found, key=lambda n: min((abs(text.find(n) - s) for s in spots), default=text.find(n)))


def standing(question: str, hops: Sequence[Hop]) -> str:
    """Return the question as it stands after what it describes was found: the last one made from an item."""
    return next((h["next"] for h in reversed(hops) if h["lead"] and h["next"].endswith("?")), question)
