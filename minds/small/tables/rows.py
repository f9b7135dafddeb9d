"""Which rows of a table a question means: by their cells, numbers, dates, bounds, or yes and no."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal

from ragweave.minds.small.tables.ask import Asked
from ragweave.minds.small.tables.bounds import BESIDE, compared, sign_of
from ragweave.minds.small.tables.denials import Named, denying, shared, thing, verbatim, without
from ragweave.minds.small.tables.measures import UNIT_WORDS
from ragweave.minds.small.tables.moments import timed
from ragweave.minds.small.tables.units import in_unit, of_kind, scale, unit_of
from ragweave.models.table import Column, Table, spoken
from ragweave.models.text import STOP, content_terms, stem, verb_form, words
from ragweave.models.values import CURRENCIES, WHOLE, is_missing, month_of, written, year_of, yes

_PARTLY = 0.5
"""Share of the words of a cell that name its row where no other row has them."""
_HAS = r"\b(?:(?P<in>in)|(?P<which>which|whom|where)|with|has|had|have|got)(?: an?| any| the)? "
"""Before a head, what rows have: “invoices with a reminder”, “for which a reminder went out”."""


@dataclass
class Choice:
    """The rows that are meant, and what of the question said so."""

    rows: list[int]
    said: list[str] = field(default_factory=list)
    explained: set[str] = field(default_factory=set)
    by: set[int] = field(default_factory=set)
    """Columns that chose."""
    parts: int = 0
    """Columns that chose by a part of a cell."""
    denied: bool = False
    """Whether it leaves out what the question denies."""


def rows(asked: Asked, table: Table, about: str) -> Choice:
    """Choose the rows that the question names by their cells, numbers, dates, bounds, or yes and no."""
    choice = Choice([*range(len(table.body))])
    when = timed(asked, table)
    if when is None:
        return Choice([])
    found = _found(asked, table, frozenset(content_terms(about)), when)
    named = without(asked, table, found)
    if named is None:
        return Choice([])
    choice.denied = named != found
    for n, column in enumerate(table.columns):
        if n not in named and asked.none and column.kind == "number" and not column.measure:
            none = [i for i, v in enumerate(column.numbers) if v is not None and not v.amount]
            named |= {n: Named(none, f"no {spoken(column.head)}", {"none", "out"})} if none else {}
        if n not in named:
            continue
        kept, explained = named[n].rows, named[n].explained
        choice.rows = sorted({*choice.rows} & {*kept})
        choice.explained |= (
            explained | (column.terms & set(asked.stems)) | ({"date"} if column.kind == "date" else set())
        )
        choice.parts += column.kind == "text" and not any(
            set(content_terms(column.cells[i])) <= explained for i in kept
        )
        if len(kept) < len(table.body):
            choice.by.add(n)
            choice.said += [named[n].said] if named[n].said else []
    _bounded(asked, table, choice)
    _beside(asked, table, choice)
    if shared(asked, table, named, choice.rows) or any(_is_bound(asked, table.columns[n], named[n]) for n in named):
        choice.rows = []
    stated = {w for w in words(about) if w.isdigit()}
    years = {y for y in asked.numbers if len(y) == 4 and y[:2] in ("18", "19", "20")}
    heads = {w for h in table.heads for w in words(h)}
    if years - stated - choice.explained - heads:
        choice.rows = []
    return choice


def _found(asked: Asked, table: Table, context: frozenset[str], when: dict[int, Named]) -> dict[int, Named]:
    """Return the rows that the question names in each column, by number, where it names any; what it denies as well."""
    found = _texts(asked, table, context) | when
    dates = [n for n, c in enumerate(table.columns) if c.kind == "date"]
    # Of several dates the one counts that the question names, else the first: that of the row.
    dates = [n for n in dates if asked.names(table.columns[n].terms)] or dates[:1]
    # What is a part of a name, “invoice 2025-006”, is no year.
    free = asked.numbers - {t for named in found.values() for t in named.explained}
    for n, column in enumerate(table.columns):
        if n in found:
            continue
        named = None
        if column.kind in ("key", "number"):
            named = _numbered(asked, column, free)
        if column.kind == "date" and n in dates:
            named = _dated(asked, column, free)
        # “Paid” is no word of “which show pays the least”.
        done = {w for w in words(column.head) if verb_form(w)} if "did" not in asked.said else set[str]()
        if column.kind == "yes" and column.terms and column.terms <= set(asked.stems) and done <= set(asked.said):
            kept = [i for i, c in enumerate(column.cells) if yes(c)]
            named = Named(kept, f"{column.head}: {column.cells[kept[0]] if kept else True}", set(column.terms))
        if (named := named or _with_some(asked, column)) is not None:
            found[n] = named
    return found


def _texts(asked: Asked, table: Table, context: frozenset[str]) -> dict[int, Named]:
    """Return the rows that the question names in each column of texts.

    Of columns that hold the same name the one counts whose head the question names as well (“who cooks”), or any.
    """
    found = {n: named for n, c in enumerate(table.columns) if (named := _named(asked, c, context)) is not None}
    for named in [*found.values()]:
        same = [m for m, f in found.items() if f.explained == named.explained]
        if len(same) < 2:
            continue
        headed = [m for m in same if asked.names(table.columns[m].terms)] or same
        rows = sorted({i for m in headed for i in found[m].rows})
        for m in same:
            del found[m]
        found[headed[0]] = Named(rows, named.said, named.explained)
    return found


def _named(asked: Asked, column: Column, context: frozenset[str]) -> Named | None:
    """Return the rows whose cell the question names: wholly, or by words that no other cell and no title has."""
    if column.kind != "text":
        return None
    have = set(asked.stems)
    told = bool(column.terms & have)
    denied = {i for i, c in enumerate(column.cells) if denying(c)}
    verb = frozenset(
        {"may"} & {*asked.said} if asked.months and 5 not in asked.months and " May" not in asked.question else ()
    )
    if kept := [i for i in sorted(denied) if verbatim(asked, column.cells[i])]:
        return Named(kept, column.cells[kept[0]], set(content_terms(column.cells[kept[0]])))
    cells = [
        frozenset() if is_missing(c) or i in denied or verb == {*words(c)} else frozenset(content_terms(c) or words(c))
        for i, c in enumerate(column.cells)
    ]
    small = [
        (c, _as_written(asked, cell, told)) for c, cell in zip(cells, column.cells, strict=True) if c and c <= STOP
    ]
    if any(written is None for _, written in small):
        return Named([], "", set())
    whole = {c for c in cells if c and c <= have and not c <= STOP and (told or not c <= asked.operating)}
    whole |= {c for c, written in small if written}
    if whole and len(asked.months) > 1:
        # “From May to September”: the months between are meant as well.
        whole |= {c for c, cell in zip(cells, column.cells, strict=True) if month_of(cell) in asked.months}
    whole = {c for c in whole if not any(c < other for other in whole)}
    if whole:
        kept = [i for i, c in enumerate(cells) if c in whole]
        said = ", ".join(dict.fromkeys(column.cells[i] for i in kept))
        return Named(kept, said, {t for c in whole for t in c} | verb)
    parts = have & frozenset().union(*cells) - asked.operating - column.terms - context
    if told and parts and (some := [i for i, c in enumerate(cells) if parts <= c]):
        return Named(some, " ".join(sorted(parts)), set(parts))
    best = [(len(c & have) / len(c), i) for i, c in enumerate(cells) if c & have - asked.operating - column.terms]
    if not best:
        return None
    share, at = max(best)
    mine = cells[at] & have - asked.operating - column.terms - context
    others = {t for i, c in enumerate(cells) if c != cells[at] for t in c}
    if share < _PARTLY or not mine - others or sum(s == share for s, _ in best) > 1:
        return None
    return Named([i for i, c in enumerate(cells) if c == cells[at]], column.cells[at], set(mine))


def _is_bound(asked: Asked, column: Column, named: Named) -> bool:
    """Tell whether a cell only bounds what is asked for: “who started before Cid Dow” does not ask of him."""
    if column.kind != "text" or asked.operation == "difference":
        return False
    whole = [place[0] for i in named.rows if (place := verbatim(asked, column.cells[i]))]
    at = min(whole or [n for n, s in enumerate(asked.stems) if s in named.explained - column.terms], default=0)
    before = [w for w in asked.said[:at] if w not in ("the", "a", "an", "my", "our")][-2:]
    return before[-1:] in (["before"], ["after"], ["than"]) and before[0] not in ("other", "rather")


def _as_written(asked: Asked, cell: str, told: bool) -> bool | None:
    """Tell whether a question says a cell of small words, “IT” and not “it”; None where that is not certain."""
    said = re.escape(" ".join(cell.split()))
    if cell == "I" or not set(words(cell)) <= set(asked.said):
        return False
    if cell.islower() or (told and (asked.question.islower() or asked.question.isupper())):
        return told
    if any(
        m.start() or (cell.isupper() and len(cell) > 1) for m in re.finditer(rf"(?<!\w){said}(?!\w)", asked.question)
    ):
        return not asked.question.isupper()
    # “In it” may be “in IT”.
    return None if re.search(rf"\b(?:in|for|from|of|at|to|by)\s+{said}(?!\w)", asked.question, re.I) else False


def _numbered(asked: Asked, column: Column, free: set[str]) -> Named | None:
    """Return the rows whose number the question says beside the head of the column, or whose year it says."""
    wanted = {Decimal(n) for n in asked.beside(column.terms)}
    if column.kind == "key":
        wanted |= {Decimal(n) for n in free if len(n) == 4}
    bounds = [b.amount for b in asked.bounds]
    kept = [i for i, v in enumerate(column.numbers) if v is not None and v.amount in wanted and v.amount not in bounds]
    if not kept:
        return None
    values = ", ".join(dict.fromkeys(column.cells[i] for i in kept))
    return Named(kept, f"{column.head} {values}", {*column.terms, *words(values)})


def _with_some(asked: Asked, column: Column) -> Named | None:
    """Return the rows that hold any of what a question says they have: “who is in arrears”, “have a garage”.

    Of a column of texts or dates those that are not blank, where rows are counted or added up: “with a reminder”.
    """
    counts, cell = column.kind == "number", asked.operation == "cell"
    head = [s for s in map(stem, words(spoken(column.head))) if counts or s in thing(column)]
    m = re.search(_HAS + " ".join(head) + r"\b", " ".join(asked.stems)) if head else None
    if m is None or (m["which"] or not (asked.word == "who" or asked.named) if counts else m["in"] or cell):
        return None
    cells = zip(column.cells, column.numbers, strict=True)
    kept = [i for i, (c, v) in enumerate(cells) if (v is not None and v.amount if counts else not is_missing(c))]
    ends = m.end() == len(m.string) and asked.operation in ("cell", "count")
    able = ends if counts else 0 < len(kept) < len(column.cells)
    done = {stem(w) for w in asked.said[len(m.string[: m.end()].split()) :][:2] if verb_form(w)}  # “went out”
    return Named(kept, "" if counts else column.head, {*column.terms, *done}) if able else None


def _dated(asked: Asked, column: Column, free: set[str]) -> Named | None:
    """Return the rows within the months, years or on the days that the question names."""
    years = {int(n) for n in free if len(n) == 4 and n[:2] in ("18", "19", "20")}
    days = asked.days
    if not (years or asked.months):
        return None
    if asked.span:
        return Named([], "", set())
    read = [d.year if d else year_of(c) for d, c in zip(column.days, column.cells, strict=True)]
    within = [i for i, y in enumerate(read) if y is not None and (not years or y in years)]
    if asked.months and any(column.days[i] is None for i in within):
        return Named([], "", set())  # of 03/08 nobody knows whether it is in March
    kept = [
        i
        for i in within
        if (d := column.days[i]) is None
        or ((not asked.months or d.month in asked.months) and (not days or d.day in days))
    ]
    explained = {str(y) for y in years & {*read}} | {w for w in asked.said if any(w.startswith(str(n)) for n in days)}
    return Named(kept, "", explained | {stem(w) for w in asked.said if month_of(w) in asked.months and month_of(w)})


def _bounded(asked: Asked, table: Table, choice: Choice) -> None:
    """Keep the rows within the bounds; a bound of which the column is not certain leaves none."""
    for bound in asked.bounds:
        fitting = [n for n, c in enumerate(table.columns) if c.kind == "number"]
        near = (
            [n for n in fitting if bound.near & measured(table.columns[n])]
            or [n for n in fitting if of_kind(table.columns[n], bound.unit)]
            or [n for n in fitting if table.columns[n].terms and table.columns[n].terms <= set(asked.stems)]
        )
        chosen = near if len(near) == 1 else fitting if len(fitting) == 1 else []
        n = chosen[0] if chosen else 0
        bound = bound.beside(table.columns[n].decimal)
        amounts = None if not chosen or table.columns[n].unsure else in_unit(table.columns[n], bound.unit)
        if amounts is None or not bound.sign:
            choice.rows = []
            return
        holds = [a is not None and compared(a, bound.sign, bound.amount) for a in amounts]
        choice.rows = [i for i in choice.rows if holds[i]]
        choice.by.add(n)
        choice.explained |= {*words(asked.question[slice(*bound.place)]), *table.columns[n].terms}
        # The unit is said where the figures shown beside it are in another.
        written_in = [v and v.amount for v in table.columns[n].numbers]
        told = written(bound.amount) if amounts == written_in else f"{written(bound.amount)} {bound.unit}"
        choice.said.append(f"{table.columns[n].head} {bound.sign} {told}")


def _beside(asked: Asked, table: Table, choice: Choice) -> None:
    """Keep the rows of which a number that is said, or the only other one of the unit, is “below the minimum”."""
    numbers = {n: c for n, c in enumerate(table.columns) if c.kind == "number" and c.terms}
    units = {n: {scale(unit_of(c, v)) for v in c.numbers if v is not None} for n, c in numbers.items()}
    for m in BESIDE.finditer(asked.question):
        sign = sign_of(m, asked.question)
        said, of = ([*map(stem, words(m[side] or ""))] for side in ("two", "one"))
        # Behind the second the question goes on: “below the minimum in the stock list”.
        ends = {n: max(map(said.index, c.terms)) for n, c in numbers.items() if c.terms <= {*said}}
        if not ends:
            continue
        second = max(ends, key=lambda n: (len(numbers[n].terms), -ends[n]))
        alike = [n for n in numbers if n != second and units[n] == units[second]]
        named = [n for n in numbers if n != second and numbers[n].terms <= {*(of or asked.stems)}]
        at = [*(named or ([] if of else alike)), second]
        if len(at) != 2 or at[0] not in alike or not sign or any(numbers[n].unsure for n in at):
            choice.rows = []
            return
        pairs = [(i, numbers[at[0]].numbers[i], numbers[second].numbers[i]) for i in choice.rows]
        choice.rows = [i for i, a, b in pairs if a and b and compared(a.amount, sign, b.amount)]
        choice.by |= {*at}
        lead = words(asked.question[m.start() : m.start("two")])
        choice.explained |= {*map(stem, lead), *said[: ends[second] + 1], *numbers[at[0]].terms}
        choice.said.append(f" {sign} ".join(numbers[n].head for n in at))


def measured(column: Column) -> frozenset[str]:
    """Return the stems of a head and of its unit, a currency also by its sign and as money."""
    unit = column.measure.lower()
    found = {*column.terms, *content_terms(unit), *([CURRENCIES[unit], "price"] if unit in CURRENCIES else [])}
    # A head may be a unit and nothing else: “kWh”.
    found |= {stem(w) for u in (unit, column.head.lower()) for w in UNIT_WORDS.get(u, "").split()}
    found |= {"price"} if any(re.search(WHOLE, c) for c in column.cells) else set()
    return frozenset(found | ({unit} if unit else set()))
