"""A turn that asks several things at once (“When was it built, and how tall is it?”), as a question each."""

from __future__ import annotations

import re

from ragweave.minds.contracts import Said
from ragweave.minds.small.question.asked import has_clause
from ragweave.minds.small.question.refer import leans, resolve
from ragweave.models.text import content_terms, verb_form

_AND = re.compile(
    r",? (?:and|but)(?: also)? (?=(?:how(?: \w+)?|what|when|where|who|which \w+|why) "
    r"(?:(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should)\b|(?P<verb>[a-z]+)))",
    re.I,
)
_MOST = 3
"""Questions of one turn that are told apart."""


def several(question: str) -> list[str]:
    """Return the questions that one joins by “and”, each standing by itself; the question alone where it is one.

    What is joined must ask by a verb of its own: “when and where did it sink” is one question, as is a clause.
    """
    asked = question.strip().rstrip("?")
    # “who founded ...” asks anew; behind a relative clause it may go on with that.
    anew = [m for m in _AND.finditer(asked) if not (m["verb"] and has_clause(asked[: m.start()]))]
    cuts = [m.span() for m in anew if not m["verb"] or verb_form(m["verb"].lower())]
    edges = zip([0, *(b for _, b in cuts)], [*(a for a, _ in cuts[: _MOST - 1]), len(asked)], strict=False)
    parts = [asked[a:b] for a, b in edges]
    out = [f"{parts[0].rstrip(' ,')}?"]
    for part in parts[1:]:
        own = f"{part[0].upper()}{part[1:].rstrip(' ,')}?"
        stands = resolve(own, Said(out[0])) if leans(own, out[0]) else own
        # A place that is only pointed at stays out: its words would answer for those of the question.
        out.append(own if stands.startswith(own) else stands)
    return out if len(out) > 1 and all(content_terms(q) for q in out) else [question]
