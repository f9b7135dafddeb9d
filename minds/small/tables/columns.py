"""Which column of a table a question means: the one that it names, or that measures what it asks for."""

from __future__ import annotations

from ragweave.minds.small.tables.ask import Asked
from ragweave.minds.small.tables.earned import able
from ragweave.minds.small.tables.measures import HOW_MANY
from ragweave.minds.small.tables.rows import Choice, measured
from ragweave.models.table import Column, Table
from ragweave.models.text import terms, words

MEASURED = 0.8
"""What a column earns that measures what the question asks for; its head by name earns 1."""


def number_column(asked: Asked, table: Table, choice: Choice, alone: bool = False) -> int | None:
    """Return the column of numbers that is asked for: named by its head, its measure, or alone; None if not certain."""
    fitting = [n for n, c in enumerate(table.columns) if c.kind == "number" and n not in choice.by]
    fitting = [n for n in fitting if not asked.per or _per(table.columns[n]) in ("", asked.per)]
    fitting = [n for n in fitting if able(asked, table, choice, table.columns[n])]
    scored = sorted(((_likeness(asked, table.columns[n]), -n) for n in fitting), reverse=True)
    if scored and scored[0][0] > 0 and (len(scored) == 1 or scored[0][0] > scored[1][0] or asked.measured):
        return -scored[0][1]
    # An inventory says in a column of its own how many there are of each; a log has a row for each.
    counts = [n for n in fitting if table.columns[n].terms and table.columns[n].terms <= HOW_MANY]
    if asked.operation == "count" and len(counts) == 1 and all(c.kind != "date" for c in table.columns):
        return counts[0]
    return fitting[0] if alone and len(fitting) == 1 else None


def _per(column: Column) -> str:
    """Return the time that the amounts of a column are for."""
    _, per, unit = column.head.lower().rpartition("per ")
    return unit.strip() if per else ""


def _likeness(asked: Asked, column: Column) -> float:
    have = set(asked.stems)
    year = {w for w in words(column.head) if w.isdigit()}
    value = len((column.terms - year) & have) / max(1, len(column.terms - year))
    value += bool(year & asked.numbers) - bool(year and asked.numbers and not year & asked.numbers)
    found = measured(column)
    value += bool((found - column.terms) & asked.counted) or MEASURED * bool(found & asked.dimensions)
    if asked.superlative is not None:
        after = asked.stems[asked.superlative[1] + 1 : asked.superlative[1] + 4]
        value += 0.5 * bool(column.terms & set(after))
    return value if value > 0.25 else 0.0


def meant(asked: Asked, column: Column) -> set[str]:
    """Return the stems of a question that a column of numbers explains: its head, and what says what it measures."""
    found = measured(column)
    return {*column.terms, *asked.near(column.terms), *asked.means(found), *(asked.counted | asked.dimensions) & found}


def column_of(asked: Asked, table: Table, target: int) -> int | None:
    """Return the column whose head “which” or “what” names, where it is not the one that is compared."""
    wanted = asked.named | asked.attribute
    found = [n for n, c in enumerate(table.columns) if n != target and c.terms & wanted]
    found = found or [n for n, c in enumerate(table.columns) if n != target and c.terms and c.terms == asked.last]
    if not found and asked.word == "when" and "since" not in asked.said:
        found = [n for n, c in enumerate(table.columns) if c.kind == "date"]
    if not found:
        # “Name” and “by” alone are heads too, though they say nothing in a sentence.
        alone = [frozenset(terms(c.head)) if len(words(c.head)) == 1 else c.terms for c in table.columns]
        found = [n for n, of in enumerate(alone) if asked.heads(of)]
    return found[0] if len(found) == 1 else None
