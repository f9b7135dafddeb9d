"""Names of one entity, told by the stated rule: `python -m ragweave.evals.entities` prints precision and recall.

The hundred pairs were written for this purpose and before the rule was asked; none of its parts was chosen on them.
"""

from __future__ import annotations

from importlib.resources import files

import typer

from ragweave.corpora.knowledge.alias import same

Pair = tuple[bool, str, str]
"""Whether two names are of one entity, and the names."""


def pairs() -> list[Pair]:
    """Return the pairs."""
    lines = files("ragweave.evals").joinpath("entity_pairs.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return [(kind == "1", one, other) for kind, one, other in (line.split("\t") for line in lines)]


def figures(given: list[Pair]) -> dict[str, float]:
    """Return how many of the pairs that the rule joins are one entity, and how many of those that are it joins."""
    joined = [alike for alike, one, other in given if same(one, other)]
    alike = sum(a for a, _, _ in given)
    right = sum(joined)
    precision = round(right / len(joined), 3) if joined else 0.0
    return {"pairs": len(given), "joined": len(joined), "precision": precision, "recall": round(right / alike, 3)}


if __name__ == "__main__":
    for name, value in figures(pairs()).items():
        typer.echo(f"{name:10} {value:g}")
    for alike, one, other in pairs():
        if same(one, other) != alike:
            typer.echo(f"{'apart, are one' if alike else 'joined, are two'}: {one} | {other}")
