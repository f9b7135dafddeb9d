"""Work out one table: which rows and which column a question means, what they give, and how surely."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from decimal import Decimal

from ragweave.minds.small.tables.ask import Asked
from ragweave.minds.small.tables.columns import AGED, aged, column_of, meant, number_column, piece
from ragweave.minds.small.tables.denials import apart
from ragweave.minds.small.tables.measures import ADJECTIVES, UNIT_STEMS
from ragweave.minds.small.tables.rows import Choice, measured, rows
from ragweave.minds.small.tables.telling import LISTED, figure, listed, numbered, of_row, value_at
from ragweave.minds.small.tables.units import comparable
from ragweave.models.calendar import NUMBER_WORDS
from ragweave.models.table import Column, Row, Table, spoken
from ragweave.models.text import content_terms, names, stem, words
from ragweave.models.values import Value, is_missing, month_of, written

OPEN, OPEN_CELL = 0.4, 0.25
"""Share of the question, by rarity, that a table may leave unexplained; less where a single cell is told, because the
word that is left may be what is asked for."""
VERB = 0.5
"""What a verb weighs beside other words: what somebody does with the things of a table is seldom said in it."""
_WHO = re.compile(r"who(?:['’]?s|\s+(?:is|was|are|were))\s+(.+?)[\s?.!]*", re.I)
_ROLES = frozenset(map(stem, "role position function job title office duty task post rank rolle amt funktion".split()))
_CLAUSE = re.compile(r"\b(?:that|which|who|whom|whose|where) (?!of\b)(.+)", re.I)
_TIMES = frozenset("hour day night week month quarter year".split())
_WHOLE = 0.95
"""Share of the question from which its words need not stand in the title of the table."""
_NAMED = 0.02
"""What each word of the question earns that stands in the title, file or heading of the table, or heads a column."""
_IN_PART = 0.1
"""What a row costs that is named by a part of its cell."""


@dataclass(frozen=True)
class Worked:
    """What a table gives: the answer, the rows that it rests on, and how well the table explains the question."""

    text: str
    rows: tuple[Row, ...]
    fit: float
    blank: frozenset[str] = frozenset()
    """What the question names the row by, where the cell that it asks for holds nothing."""


def compute(
    question: str, table: Table, about: str, idf: Callable[[str], float], beside: Container[str] = frozenset()
) -> Worked | None:
    """Return what a question asked of a table gives; None where column or rows are not certain.

    `about` says of what the table is; `beside` are the terms of its file, which must hold every name of the question.
    """
    asked = Asked(apart(question, table))
    choice = rows(asked, table, about)
    if not choice.rows:
        return None
    made = _work(asked, table, choice)
    blank = frozenset() if made is not None else asked.terms & _said(table, choice)
    made = made or (_blank(asked, table, choice) if blank else None)
    if made is None:
        return None
    text, used, explained = made
    context = set(content_terms(spoken(about)))
    known = explained | choice.explained | context | asked.operating | piece(asked, table, choice)[0]
    known |= {t for c in table.columns if c.kind == "number" for t in asked.means(measured(c))}
    known |= asked.near(frozenset(context)) | {
        t for c in table.columns if c.kind == "text" for t in c.terms & asked.all
    }
    left = asked.terms - known
    own = asked.terms - asked.operating
    strange = {t for n in names(question) for t in content_terms(n) if t in left and t not in beside}
    if strange or any(t.isdigit() for t in left):
        return None
    if asked.counted & left and not context & own:
        return None
    # A time alone says of no table that its rows are meant: “how many came in 2024”.
    timed = asked.numbers | {stem(w) for w in asked.said if month_of(w)}
    dated = not asked.bounds and all(table.columns[n].kind in ("date", "key") for n in choice.by)
    if (
        asked.operation == "count"
        and dated
        and not (own - timed) & known
        and number_column(asked, table, choice) is None
    ):
        return None
    named = frozenset().union(*(c.terms for c in table.columns))
    # What is added up may be told apart by what nothing here says: “the tickets that were handed back”.
    adds, clause = asked.operation in ("sum", "mean"), _CLAUSE.search(question, 1)
    if adds and left & {*named, *content_terms(clause[1] if clause else "")}:
        return None
    unlabelled = asked.label and not asked.label & (context | named)
    if asked.operation == "cell" and (asked.attribute & left or unlabelled):
        return None
    weight = {t: idf(t) * (VERB if t in asked.verbs else 1.0) for t in asked.terms}
    fit = 1 - sum(weight[t] for t in left) / (sum(weight.values()) or 1.0)
    least = 1 - (OPEN_CELL if asked.operation == "cell" or (adds and not choice.by) else OPEN)
    # Without a row that is named, the question has to say that it means this table.
    if fit < least or not (choice.by or context & own or fit > _WHOLE):
        return None
    fit += _NAMED * (len(context & asked.terms) + len(named & asked.terms)) - _IN_PART * choice.parts
    return Worked(text, tuple(table.body[n] for n in used), round(fit, 3), blank)


_Made = tuple[str, list[int], set[str]]


def _work(asked: Asked, table: Table, choice: Choice) -> _Made | None:
    operation = asked.operation
    # Of a total that holds other figures than the sums of its rows nobody knows what it is beside them.
    if not piece(asked, table, choice)[1] or not (table.certain or operation in ("cell", "difference")):
        return None
    if operation in ("most", "least"):
        return _extreme(asked, table, choice, operation)
    if operation in ("sum", "mean", "difference"):
        return _computed(asked, table, choice, operation)
    target = number_column(asked, table, choice)
    if operation == "often":
        return _cell(asked, table, choice, None) or _counted(asked, table, choice)
    if asked.adds and target is not None and len(choice.rows) > 1 and choice.by:
        return _computed(asked, table, choice, "sum")
    if operation == "count":
        if target is None:
            return _counted(asked, table, choice)
        counts = asked.adds and asked.counted & measured(table.columns[target])
        if len(choice.rows) > 1 and (choice.by or counts):
            return _computed(asked, table, choice, "sum")
    return _cell(asked, table, choice, target)


def _of(column: Column, rows: Sequence[int]) -> list[tuple[int, Value]]:
    return [(i, v) for i in rows if (v := column.numbers[i]) is not None]


def _extreme(asked: Asked, table: Table, choice: Choice, side: str) -> _Made | None:
    """Return the row or rows with the most or least of a column, or the first or last date."""
    word, after, *_ = [*asked.said[asked.superlative[1] :], ""] if asked.superlative else ["", ""]
    at: int | None
    if word in AGED:
        at, side = aged(asked, table, word)
    else:
        dates = [n for n, c in enumerate(table.columns) if c.kind == "date"]
        at = dates[0] if word in ("earliest", "latest") and len(dates) == 1 else None
        at = number_column(asked, table, choice, alone=True) if at is None else at
    if at is None:
        return None
    if table.columns[at].kind == "date":
        return _first_or_last(asked, table, choice, at, side)
    column = table.columns[at]
    values = _of(column, choice.rows)
    # The longest operation is not the animal with the most operations.
    strange = asked.measured and word not in AGED and not asked.measured & measured(column)
    if len(values) < 2 or strange or column.kind != "number":
        return None
    # Whatever 1.200 and 2.450 amount to, the second is more; of 980 beside them nobody knows.
    if column.unsure and not all("." in column.cells[i] for i, _ in values):
        return None
    if word in ("fastest", "slowest") and "minut" in asked.means(measured(column)):
        side = "least" if side == "most" else "most"  # who is faster takes less time
    amounts = comparable(column, [v for _, v in values])
    if amounts is None:
        return None
    end = (max if side == "most" else min)(amounts)
    used = [i for (i, _), amount in zip(values, amounts, strict=True) if amount == end]
    if len(used) > LISTED:
        return None
    shown = column.cells[used[0]] if column.unsure else figure(column, next(v for i, v in values if i == used[0]))
    which = "highest" if side == "most" else "lowest"
    told = column_of(asked, table, at)
    groups = [table.columns[told].cells[i] for i, _ in values] if told is not None else []
    most = word in ("most", "least", "fewest") and after not in ADJECTIVES
    # Of a region with several rows the largest row is not what it has: “most units”, unlike “most expensive”.
    if most and len({*groups}) < len(groups):
        return None
    named = listed(table, used, told)
    text = f"{named}: {spoken(column.head)} {shown}, the {which} of {len(values)} rows."
    return text, used, _subject(asked, table) | meant(asked, column)


def _first_or_last(asked: Asked, table: Table, choice: Choice, at: int, side: str) -> _Made | None:
    """Return the row or rows of the first or last date of a column."""
    found = [(i, d) for i in choice.rows if (d := table.columns[at].days[i]) is not None]
    if len(found) < 2 or asked.superlative is None:
        return None
    end = (max if side == "most" else min)(d for _, d in found)
    used = [i for i, d in found if d == end]
    told = column_of(asked, table, at)
    if told is None or table.columns[told].kind == "date":
        told = number_column(asked, table, choice) if "number" in asked.kinds else None
    word = asked.said[asked.superlative[1]]
    text = f"{listed(table, used, told)}: {table.heads[at]} {end.isoformat()}, the {word} of {len(found)} rows."
    return text, used, _subject(asked, table) | table.columns[at].terms


def _computed(asked: Asked, table: Table, choice: Choice, operation: str) -> _Made | None:
    """Return a sum, a mean or a difference, with what was computed."""
    at = number_column(asked, table, choice, alone=operation != "difference")
    if at is None:
        return None
    column = table.columns[at]
    if column.unsure or column.kind != "number":
        return None
    values = _of(column, choice.rows)
    amounts = [v.amount for _, v in values]
    used = [i for i, _ in values]
    places = max((v.places for _, v in values), default=0)
    unit = values[0][1].unit if values else ""
    if len({v.unit for _, v in values}) > 1 or len(values) < 2:
        return None
    explained = _subject(asked, table) | meant(asked, column) | {str(len(values))}
    explained |= {w for w in asked.said if NUMBER_WORDS.get(w) == len(values)}
    if operation == "difference":
        if len(values) != 2:
            return None
        high, low = sorted(values, key=lambda row: row[1].amount, reverse=True)
        gap = figure(column, Value(high[1].amount - low[1].amount, unit, places))
        figures = f"{written(high[1].amount, high[1].places)} − {written(low[1].amount, low[1].places)} = {gap}"
        text = f"{spoken(column.head)}: {figures} ({table.label(high[0])} against {table.label(low[0])})."
        return text, used, explained
    total = sum(amounts, Decimal(0))
    shown = [written(v.amount, v.places) for _, v in values]
    parts = " + ".join(shown if len(shown) <= 2 * LISTED else [*shown[:3], "…", shown[-1]])
    if operation == "mean":
        if not (times := _times(asked, table, used, column)):
            return None
        mean = (total / times).quantize(Decimal(1).scaleb(-max(places, 2))).normalize()
        parts, total, places = f"({parts}) / {times}", mean, max(0, -int(mean.as_tuple().exponent))
    where = f"; {', '.join(choice.said)}" if choice.said else ""
    result = figure(column, Value(total, unit, places))
    return (
        f"{spoken(column.head)}: {parts} = {result} ({numbered([table.places[i] for i in used])}{where}).",
        used,
        explained,
    )


def _times(asked: Asked, table: Table, used: Sequence[int], column: Column) -> int:
    """Return by how much a sum is divided: of a mean per week by the weeks, else by the rows; 0 where nobody knows."""
    timed = [c for c in table.columns if c is not column and (c.kind == "date" or c.terms & _TIMES)]
    if not (asked.per and timed):
        return len(used)
    weeks = [c for c in timed if stem(asked.per) in c.terms]
    return len({weeks[0].cells[i] for i in used}) if len(weeks) == 1 else 0


def _counted(asked: Asked, table: Table, choice: Choice) -> _Made | None:
    """Return how many rows are meant, where something tells them from the others; minutes are no rows."""
    if not choice.by or asked.counted & UNIT_STEMS:
        return None
    named = f": {listed(table, choice.rows)}" if len(choice.rows) <= 2 * LISTED else ""
    said = f" with {', '.join(choice.said)}" if choice.said else ""
    text = f"{len(choice.rows)} of {len(table.body)} rows{said}{named}."
    return text, choice.rows, _subject(asked, table)


def _subject(asked: Asked, table: Table) -> set[str]:
    """Return the stems of the head of the first column, and of what is counted or listed where it names the rows."""
    return set(table.columns[0].terms) | (set(asked.named) & {t for c in table.columns for t in c.terms})


def _of_cell(asked: Asked, table: Table, choice: Choice, target: int | None) -> int | None:
    """Return the column of the cell that is asked for."""
    at = target if target is not None else column_of(asked, table, -1)
    if at is not None and table.columns[at].kind not in asked.kinds:
        at = column_of(asked, table, -1)
    if at is None or at in choice.by:
        others = [
            n
            for n, c in enumerate(table.columns)
            if n not in choice.by and n and c.terms and all(asked.names(frozenset({t})) for t in c.terms)
        ]
        at = others[0] if len(others) == 1 else None
    return at


def _blank(asked: Asked, table: Table, choice: Choice) -> _Made | None:
    """Return the one row that is meant, where the cell that is asked for holds nothing."""
    at = _of_cell(asked, table, choice, number_column(asked, table, choice))
    if asked.operation != "cell" or len(choice.rows) != 1 or not at or table.columns[at].kind not in asked.kinds:
        return None
    if not is_missing(table.columns[at].cells[choice.rows[0]]):
        return None
    text = f"{of_row(table, choice, choice.rows[0])}: {spoken(table.columns[at].head)} –"
    return text, choice.rows, _subject(asked, table) | meant(asked, table.columns[at])


def _said(table: Table, choice: Choice) -> set[str]:
    """Return the stems of the cells by which the question names its one row."""
    rows = choice.rows if len(choice.rows) == 1 else []
    return {t for i in rows for n in choice.by for t in content_terms(table.body[i].cells[n])}


def _describes(asked: Asked, table: Table, choice: Choice) -> bool:
    """Tell whether it asks who somebody is that only stands beside what its row is of: “who is Gus”, who invited her.

    “Who is the treasurer” is told by the row.
    """
    m = _WHO.fullmatch(asked.question.strip())
    said = set(words(m[1])) if m and m[1][:1].isupper() else set()
    beside = [n for n in choice.by if n and not table.columns[n].terms & _ROLES]
    return bool(said) and any(said <= set(words(table.columns[n].cells[i])) for n in beside for i in choice.rows)


def _cell(asked: Asked, table: Table, choice: Choice, target: int | None) -> _Made | None:
    """Return one cell of each row that is meant, or the rows themselves where it is asked which they are."""
    if not choice.by or len(choice.rows) > LISTED or _describes(asked, table, choice):
        return None
    at = _of_cell(asked, table, choice, target)
    explained = _subject(asked, table)
    # Who is in arrears is told by the rows that have any, and not by how much.
    held = any(table.columns[n].kind == "number" for n in choice.by)
    holds = asked.word == "who" and held and (at is None or at in choice.by)
    if at is not None and not holds and not (at == 0 and len(choice.rows) > 1):
        column = table.columns[at]
        cells = [(i, column.cells[i]) for i in choice.rows if not is_missing(column.cells[i])]
        if not cells or len(cells) > (LISTED if column.terms & asked.named else 3) or column.kind not in asked.kinds:
            return None
        if asked.word in ("who", "whom", "whose") and not all(c[:1].isupper() for _, c in cells):
            return None
        said = [
            f"{of_row(table, choice, i)}: {spoken(column.head)} {value_at(column, i)}" if at else column.cells[i]
            for i, _ in cells
        ]
        return "; ".join(said) + ".", [i for i, _ in cells], explained | meant(asked, column)
    which = asked.named and (asked.named & table.columns[0].terms or len(choice.rows) > 1 or choice.denied)
    if not which and not holds and (at is None or asked.word not in ("who", "whom")):
        return None
    where = f" ({', '.join(choice.said)})" if choice.said else ""
    return f"{listed(table, choice.rows)}{where}.", choice.rows, explained | set(asked.named)
