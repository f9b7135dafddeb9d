"""Normal forms of entity names, and the digests that rows refer to."""

from __future__ import annotations

import hashlib
import html
import re

from ragweave.models.text import fold, stem, words

LONGEST = 120
"""Characters of a name; what is longer is a sentence."""
_ARTICLE = frozenset(("the", "a", "an"))
_POSSESSIVE = re.compile(r"['’]s\b|['’](?=\s|$)")
_EDGES = " \t\r\n\"'“”‘’«»「」『』()[]{}<>*_`.,;:|"


def clean(name: str) -> str:
    """Return a name as it is shown: one line, without quotation marks around it, entities of HTML read."""
    plain = "".join(c for c in html.unescape(name) if c.isprintable() or c.isspace())
    return " ".join(plain.split()).strip(_EDGES)


def normal(name: str) -> str:
    """Return the form in which names of one entity are equal: folded words, no articles, phrases by their stems.

    >>> normal("The Neural Networks"), normal("neural network")
    ('neural network', 'neural network')
    """
    plain = clean(name)
    found = words(_POSSESSIVE.sub("", plain))
    while len(found) > 1 and found[0] in _ARTICLE:
        found = found[1:]
    return " ".join(stem(w) for w in found)


def key_of(name: str) -> str:
    """Return the digest of a name's normal form; empty where the name has no word."""
    form = normal(name)
    return hashlib.sha256(form.encode("utf-8", "replace")).hexdigest()[:24] if form else ""


def initials(name: str) -> str:
    """Return the first letters of a name's words, small words left out."""
    return "".join(w[0] for w in words(name) if w not in ("of", "the", "and", "for", "in", "to", "a", "an"))


def compact(name: str) -> str:
    """Return a name without the blanks and hyphens that writers put in or leave out, and without its plural."""
    joined = fold("".join(normal(name).split()))
    return joined[:-1] if len(joined) > 3 and joined.endswith("s") else joined
