"""Which column of a table a question means: the one that it names, or that measures what it asks for."""

from __future__ import annotations

import re

from ragweave.minds.small.tables.ask import Asked
from ragweave.minds.small.tables.earned import able
from ragweave.minds.small.tables.measures import ADJECTIVES, HOW_MANY, NOUNS, QUANTITY, WORDS_OF
from ragweave.minds.small.tables.rows import Choice, measured
from ragweave.models.calendar import NUMBER_WORDS
from ragweave.models.table import Column, Table
from ragweave.models.text import stem, terms, words

MEASURED = 0.8
"""What a column earns that measures what the question asks for; its head by name earns 1."""
_MONEY = frozenset(WORDS_OF["money"])
_PRICE = frozenset(map(stem, NOUNS["money"].split()))
_FEES = frozenset("fee price cost charg rate subscript contribut".split())
"""Stems of heads under which a fee stands; an amount may be of anything."""
_LOT = re.compile(rf"\b(?:[2-9]|\d\d+|{'|'.join([*NUMBER_WORDS][2:])})\s+(\w+)\s+of\b", re.I)
_MUCH = re.compile(r"\W*how much (?:is|was|are|were) (?P<one>(?:an?|one|each|every)\b)?", re.I)
AGED = frozenset({"oldest", "newest", "youngest"})
_AGE = frozenset({"age", "alter"})
_BORN = frozenset(
    map(stem, "born birth birthday birthdate dob built founded made planted geboren geburtstag gebaut ne".split())
)
_PERSONS = frozenset(
    map(
        stem, "person guest member customer client employee player child pupil student patient tenant volunteer".split()
    )
)
_UNTIL = frozenset(
    map(
        stem,
        "arrives arrival due expires expiry end ends leaves left departure return returned seen until deadline".split(),
    )
)
"""Stems of heads of dates that do not tell since when something is there."""


def number_column(asked: Asked, table: Table, choice: Choice, alone: bool = False) -> int | None:
    """Return the column of numbers that is asked for: named by its head, its measure, or alone; None if not certain."""
    # Where a column is asked for that holds “closed” and “~300” beside its numbers, no other is meant.
    fitting = [n for n, c in enumerate(table.columns) if c.kind == "number" or (n and c.mixed)]  # first stand codes
    fitting = [
        n for n in fitting if n not in choice.by and (not asked.per or _per(table.columns[n]) in ("", asked.per))
    ]
    fitting = [n for n in fitting if able(asked, table, choice, table.columns[n])]
    if piece(asked, table, choice)[0]:
        fitting = [n for n in fitting if _priced(asked, table.columns[n])]
    scored = sorted(((_likeness(asked, table.columns[n]), -n) for n in fitting), reverse=True)
    if asked.operation == "cell" and len(choice.rows) == 1:
        # Of several that may be meant, a wheel of two and of three spokes, the one that holds anything for the row.
        scored = [s for s in scored if s[0] < scored[0][0] or table.columns[-s[1]].numbers[choice.rows[0]]] or scored
    if scored and scored[0][0] > 0 and (len(scored) == 1 or scored[0][0] > scored[1][0] or asked.measured):
        return -scored[0][1]
    # An inventory says in a column of its own how many there are of each; a log has a row for each.
    # Orders, and rooms that hold chairs, are rows of it: only of what a cell names a quantity says how many.
    cells = choice.explained - {t for c in table.columns for t in c.terms}
    many = HOW_MANY | QUANTITY if asked.counted and asked.counted <= cells else HOW_MANY
    counts = [n for n in fitting if table.columns[n].terms and table.columns[n].terms <= many]
    if asked.operation == "count" and len(counts) == 1 and all(c.kind != "date" for c in table.columns):
        return counts[0]
    # What is asked for may be what chose the rows: “what did all that was over its budget cost”.
    chose = any(_likeness(asked, table.columns[n]) for n in choice.by if table.columns[n].kind == "number")
    return fitting[0] if alone and len(fitting) == 1 and not chose else None


def piece(asked: Asked, table: Table, choice: Choice) -> tuple[set[str], bool]:
    """Return the stems of heads of numbers that a question of a price is beside: “what does a bottle cost”.

    With them whether it is one of it that is meant: what “the bottles” or “3 bottles of Cava” cost together, or each,
    nobody knows.
    """
    price = any(ADJECTIVES.get(w) == "money" for w in asked.said) or {*asked.stems} & _PRICE
    much = None if price else _MUCH.match(asked.question)
    if asked.superlative or not (price or much) or not any(_priced(asked, c) for c in table.columns):
        return set(), True
    held = {t for c in table.columns[1:] for t in c.terms}  # what stands first is what the rows are of
    if choice.by and any(stem(m[1].lower()) in held for m in _LOT.finditer(asked.question)):
        return set(), False
    beside = [c for n, c in enumerate(table.columns) if c.kind == "number" and n not in choice.by]
    beside = [c for c in beside if not _priced(asked, c) and not asked.counted & c.terms]
    heads = {t for c in beside for t in c.terms}
    said = [(w, s) for w, s in zip(asked.said, asked.stems, strict=True) if s in heads]
    if much and not much["one"]:  # “the stock” is the head “Stock”, and “the bottle” not the head “Bottles”
        own = {w for c in beside for w in words(c.head)}
        said = [(w, s) for w, s in said if w not in own or w.endswith("s")]
    return {s for _, s in said}, not any(w.endswith("s") for w, _ in said)


def _priced(asked: Asked, column: Column) -> bool:
    return column.kind == "number" and bool(measured(column) & _MONEY)


def aged(asked: Asked, table: Table, word: str) -> tuple[int | None, str]:
    """Return the column by which something is the oldest, newest or youngest, and which end of it.

    Somebody is as old as he says or since when he was born, a thing since when it is there; until when it is there,
    or when a guest arrives, tells no age.
    """
    old = word == "oldest"
    ages = [n for n, c in enumerate(table.columns) if c.kind == "number" and c.terms & _AGE]
    dates = [n for n, c in enumerate(table.columns) if c.kind == "date"]
    born = [n for n in dates if {*map(stem, words(table.columns[n].head))} & _BORN]
    person = asked.word in ("who", "whom", "whose") or bool({*asked.stems} & _PERSONS) or word == "youngest"
    if person and word == "newest":  # the newest member is not the youngest
        ages, born, person = [], [], False
    if len(ages) == 1:
        return ages[0], "most" if old else "least"
    since = born if born or person or ages else [n for n in dates if not table.columns[n].terms & _UNTIL]
    certain = len(since) == 1 and (born or len(dates) == 1)
    return since[0] if certain else None, "least" if old else "most"


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
    value += MEASURED * bool("fee" in have and column.terms & _FEES - {"fee"})
    value += bool((found - column.terms) & asked.counted) or MEASURED * bool(found & asked.dimensions)
    if asked.superlative is not None:
        after = asked.stems[asked.superlative[1] + 1 : asked.superlative[1] + 4]
        value += 0.5 * bool(column.terms & set(after))
    return value if value > 0.25 else 0.0


def meant(asked: Asked, column: Column) -> set[str]:
    """Return the stems of a question that a column of numbers explains: its head, and what says what it measures."""
    found = measured(column)
    fee = {"fee"} if column.terms & _FEES else set[str]()
    asks = (asked.counted | asked.dimensions) & found
    return {*column.terms, *asked.near(column.terms), *asked.means(found), *asks, *fee}


def column_of(asked: Asked, table: Table, target: int) -> int | None:
    """Return the column whose head “which” or “what” names, where it is not the one that is compared."""
    kinds = {"text"} if asked.word == "whose" else {"text", "date", "key", "number"}
    wanted = {n: asked.attribute | (asked.named if c.kind in kinds else set()) for n, c in enumerate(table.columns)}
    found = [n for n, c in enumerate(table.columns) if n != target and c.terms & wanted[n]]
    found = found or [n for n, c in enumerate(table.columns) if n != target and c.terms and c.terms == asked.last]
    if not found and asked.word == "when" and "since" not in asked.said:
        found = [n for n, c in enumerate(table.columns) if c.kind == "date"]
    if not found:
        # “Name” and “by” alone are heads too, though they say nothing in a sentence.
        alone = [frozenset(terms(c.head)) if len(words(c.head)) == 1 else c.terms for c in table.columns]
        found = [n for n, of in enumerate(alone) if asked.heads(of)]
    return found[0] if len(found) == 1 else None
