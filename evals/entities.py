"""Names of one entity, as indexing joins them: `python -m ragweave.evals.entities`.

A hundred pairs of names, and twenty with types of which ten are homonyms, were written for this purpose and before
anything was asked of them; nothing was chosen on them. Indexing joins what the stated rule joins, parts what is of
another kind, and asks a model about the rest where the vectors are near; here the names stand without descriptions.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Literal, NamedTuple

import numpy as np
import typer

from ragweave.corpora.knowledge.alias import by_rule
from ragweave.corpora.knowledge.unify import ALIKE, class_of
from ragweave.models.embed import Encoder, encoder

Decided = Literal["joined", "apart", "asked"]


class Pair(NamedTuple):
    """Whether two names are of one entity, the names, and their types where they have any."""

    alike: bool
    one: str
    other: str
    kinds: tuple[str, ...] = ()


def pairs() -> list[Pair]:
    """Return the pairs."""
    lines = files("ragweave.evals").joinpath("entity_pairs.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return [Pair(kind == "1", one, other, tuple(kinds)) for kind, one, other, *kinds in (r.split("\t") for r in lines)]


def decided(pair: Pair, text_encoder: Encoder) -> Decided:
    """Return what indexing does with a pair."""
    if len({class_of(kind) for kind in pair.kinds}) > 1:
        return "apart"
    joined, doubted = by_rule([("one", pair.one), ("other", pair.other)])
    if joined or doubted:
        return "joined" if joined else "asked"
    one, other = text_encoder.texts([pair.one, pair.other])
    cosine = float(one @ other) / (float(np.linalg.norm(one) * np.linalg.norm(other)) or 1.0)
    return "asked" if cosine >= ALIKE else "apart"


def figures(given: list[tuple[bool, Decided]]) -> dict[str, float]:
    """Return how many of the joined are one entity, the share of those that are one that is joined, and is asked."""
    alike = sum(a for a, _ in given) or 1
    joined = [a for a, how in given if how == "joined"]
    asked = [a for a, how in given if how == "asked"]
    return {
        "pairs": len(given),
        "joined": len(joined),
        "precision": round(sum(joined) / (len(joined) or 1), 3),
        "recall": round(sum(joined) / alike, 3),
        "asked of a model": len(asked),
        "recall with a model that is always right": round((sum(joined) + sum(asked)) / alike, 3),
    }


if __name__ == "__main__":
    outcomes = [(pair, decided(pair, encoder())) for pair in pairs()]
    for title, typed in (("without types", False), ("with types", True)):
        typer.echo(title)
        for name, value in figures([(p.alike, how) for p, how in outcomes if bool(p.kinds) == typed]).items():
            typer.echo(f"  {name:42} {value:g}")
    for p, how in outcomes:
        if how != "asked" and (how == "joined") != p.alike:
            typer.echo(f"{how}, {'is' if p.alike else 'are'} {'one' if p.alike else 'two'}: {p.one} | {p.other}")
