"""What a question of a table denies, and the rows that are left: “not vegan”, “without a phone”, “other than Ann”."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragweave.minds.small.tables.ask import Asked
from ragweave.models.table import Column, Table, spoken
from ragweave.models.text import content_terms, fold, stem, terms, verb_form, words
from ragweave.models.values import is_missing, yes

_NO = frozenset(
    "no non not t never without neither nor lack lacks lacking nicht kein keine keinen keinem keiner nie ohne weder "
    "pas aucun aucune jamais sans ni".split()
)
_DENIES = re.compile(rf"\b(?:{'|'.join(_NO - {'t'})})\b", re.I)
_BUT = frozenset("except excepting excluding besides ausser ausgenommen sauf excepte hormis".split())
_PAIRS = frozenset({("other", "than"), ("apart", "from"), ("aside", "from")})
_ALL = frozenset("all everybody everyone every everything anybody anyone any alle alles tous toutes".split())
_BOUND = frozenset("more less fewer later earlier only over under above below mehr weniger nur plus moins".split())
"""Behind a no they bound, or add: “no more than”, “not only”."""
_ENDS = frozenset("but who whom whose that which while yet aber sondern mais qui".split())
_FINITE = frozenset(
    "is are was were have has had do does did will would can could should may might must ist sind war waren hat haben "
    "hatte hatten est sont etait etaient a ont avait avaient".split()
)
"""Behind what is denied they begin what is not: “which guests that are not vegan *are* confirmed”."""
_STATES = frozenset("is are was were have has had ist sind war waren hat haben hatte est sont a ont".split())
"""Before a “not” they say in what state a row is: “has not paid”."""
_RUN = frozenset("run ran running runs".split())
"""Before “out of”, as a form of “be” does, they say that there is none: not so what is *taken* out of something."""
_AND = frozenset("and und et".split())
_OR = frozenset("or nor oder noch ou ni".split())
_PLACED = frozenset(
    "in on at of for with from by to into im am auf bei fur mit von vom aus an zu dans de du pour avec chez".split()
)
_UN = re.compile(r"\bun([^\W\d_]{3,})", re.I)
_UNSAID = frozenset({"none", "null"})
"""Cells that say that there is nothing, where others leave open what there is."""


@dataclass(frozen=True)
class Named:
    """Rows that a question names by one column: how that is told, and which of its stems say so."""

    rows: list[int]
    said: str
    explained: set[str]
    never: bool = False
    """Whether a no denies it of all rows of a thing: “sold no desk”, and not “has not paid”."""


@dataclass(frozen=True, slots=True)
class _Denial:
    """A no: its place, where the words behind it end, and whether it only leaves something out (“except”)."""

    at: int
    start: int
    end: int
    excepts: bool


def apart(question: str, table: Table) -> str:
    """Write “unpaid” as “not paid” where a table has cells or a head of that word."""
    if not _UN.search(question):
        return question
    sorting = [c for c in table.columns if c.kind in ("text", "yes", "date")]
    held = {t for c in sorting for t in (*c.terms, *terms(" ".join(c.cells)))}

    def parted(m: re.Match[str]) -> str:
        return f"not {m[1]}" if stem(fold(m[1])) in held and stem(fold(m[0])) not in held else m[0]

    return _UN.sub(parted, question)


def denying(cell: str) -> bool:
    """Tell whether a cell denies something: “not paid”."""
    return bool(_DENIES.search(cell)) and len(words(cell)) > 1


def verbatim(asked: Asked, cell: str) -> range:
    """Return the place at which a question says a cell word for word, empty for none."""
    said = words(cell)
    at = (n for n in range(len(asked.said) - len(said) + 1) if asked.said[n : n + len(said)] == said)
    n = next(at, None) if said else None
    return range(0) if n is None else range(n, n + len(said))


def without(asked: Asked, table: Table, found: dict[int, Named]) -> dict[int, Named] | None:
    """Turn what the question denies of what its columns were `found` to name; None where that is not certain.

    A denied cell means the rows that hold another one, a denied yes or number those with no or with none, and a denied
    head those where nothing stands below it. What only follows what is denied is not: “not paid for the Blue Room”.
    """
    denials = _denials(asked)
    said = {c for column in table.columns for c in (*column.cells, column.head)} if denials else set()
    told = [verbatim(asked, c) for c in said if denying(c)]
    out = dict(found)
    for denial in denials:
        if any(denial.at in place for place in told):
            continue
        places = {n: _places(asked, table.columns[n], out.get(n), denial) for n in range(len(table.columns))}
        within = sorted((min(at), n) for n, at in places.items() if at)
        if not within or any(n in found and _parted(asked, found[n], table.columns[n], denial) for _, n in within):
            return None
        before = -1
        for first, n in within:
            how = "or" if before < 0 else _joined(asked.said[before + 1 : first])
            before = max(places[n])
            if not how:
                continue
            certain = how == "or" and (n not in found or _leads(asked, table.columns[n], denial, first))
            turned = _turned(table.columns[n], found.get(n), denial) if certain else None
            if turned is None:
                return None
            never = turned.never or _never(asked, denial)
            out[n] = replace(turned, explained=turned.explained | _around(asked, denial), never=never)
    return out


def _never(asked: Asked, denial: _Denial) -> bool:
    """Tell whether a no denies of something whatever was done: not so where it only says in what state one row is."""
    before = (w.removesuffix("n") for w in reversed(asked.said[: denial.at]))
    finite = next((w for w in before if w in _FINITE), "")
    return not denial.excepts and not (asked.said[denial.at] in ("not", "t", "nicht", "pas") and finite in _STATES)


def shared(asked: Asked, table: Table, named: dict[int, Named], left: Sequence[int]) -> bool:
    """Tell whether something that is asked for stands in rows that a no leaves, and in some that it leaves out.

    Who sold a lamp may have sold a desk as well.
    """
    beside = {*range(len(table.body))}.intersection(*(n.rows for n in named.values() if not n.never)) - {*left}
    wanted = asked.named | asked.counted
    columns = [c for n, c in enumerate(table.columns) if n not in named and c.kind == "text"]
    of = [c for c in columns if c.terms & wanted]
    if not of and asked.operation == "cell" and 0 not in named:
        of = [c for c in columns if c.first]
    never = any(n.never for n in named.values())
    return never and any({c.cells[i] for i in left} & {c.cells[i] for i in beside} for c in of)


def _denials(asked: Asked) -> list[_Denial]:
    """Return what a question denies; a no behind which nothing stands that says something denies nothing (“or not”).

    Of one that is cut off before it says anything (“not, while open, paid”) nobody knows what it denies.
    """
    found: list[_Denial] = []
    said, n = asked.said, 0
    while n < len(said):
        length, excepts = _opens(said, n)
        at, n = n, n + (length or 1)
        if not length:
            continue
        end = n
        while end < len(said) and not (end > n and said[end] not in _OR and _opens(said, end)[0]):
            begins = said[end] in _FINITE and any(map(asked.tells, said[n:end]))
            joins = said[end] in _AND and said[end + 1 : end + 2] and said[end + 1] in _FINITE | _NO | _ENDS
            if said[end] in _ENDS or begins or joins:
                break
            end += 1
        if any(map(asked.tells, said[n:end])) or _ENDS & set(said[end : end + 1]):
            found.append(_Denial(at, n, end, excepts))
        n = end
    return found


def _opens(said: Sequence[str], n: int) -> tuple[int, bool]:
    """Return how many words of a no begin here, 0 for none, and whether it only leaves something out."""
    word, after = said[n], said[n + 1] if n + 1 < len(said) else ""
    if (word, after) in _PAIRS:
        return 2, True
    if (word, after) == ("out", "of") and n and said[n - 1] in _FINITE | _RUN:
        return 2, False
    if word == "but" and n and said[n - 1] in _ALL:
        return 1, True
    # “No 5” is a number, and “no more than 5” a bound.
    able = word in _BUT or (word in _NO and not after.isdigit() and after not in _BOUND)
    return able + (able and after == "yet"), word in _BUT  # behind “not”, “yet” is no “but”


def _places(asked: Asked, column: Column, named: Named | None, denial: _Denial) -> list[int]:
    """Return where, behind a no, the question speaks of a column: of its cells, or else of its whole head."""
    within = range(denial.start, denial.end)
    if named is not None:
        values = named.explained - column.terms or named.explained
        return [n for n in within if asked.stems[n] in values or asked.said[n] in values]
    head = {t for t in thing(column) if not t.isdigit()}
    if not head or not head <= set(asked.stems):
        return []
    return [n for n in within if asked.stems[n] in head]


def thing(column: Column) -> frozenset[str]:
    """Return the stems of what a head names, without what is done with it: of “Reminder sent” the reminder."""
    told = {stem(w) for w in words(spoken(column.head)) if not verb_form(w)}
    return column.terms & told or column.terms


def _parted(asked: Asked, named: Named, column: Column, denial: _Denial) -> bool:
    """Tell whether of the cells that are named some are denied and others are not."""
    values = named.explained - column.terms
    have = {s for n, s in enumerate(asked.stems) if denial.start <= n < denial.end}
    return column.kind != "yes" and not values & set(asked.stems) <= have


def _leads(asked: Asked, column: Column, denial: _Denial, first: int) -> bool:
    """Tell whether a no is said of what stands at a place, and not of something that is done there.

    “Who does not sing alto” denies the alto; “which lamps do not work in the kitchen” does not deny the kitchen.
    """
    between = asked.said[denial.start : first]
    own = [w in _PLACED or not asked.tells(w) or bool(asked.near(column.terms) & {stem(w)}) for w in between]
    done = own.index(False) if False in own else len(between)
    return not _PLACED & set(between[done:])


def _joined(between: Sequence[str]) -> str:
    """Tell how something further behind a no is joined to what is denied: by `or`, by `and`, or else ""."""
    return "or" if _OR & set(between) else "and" if _AND & set(between) else ""


def _turned(column: Column, named: Named | None, denial: _Denial) -> Named | None:
    """Return the rows that are left of a column when what the question says of it is denied."""
    head, terms = spoken(column.head), set(column.terms)
    if column.kind == "yes":
        kept = [i for i, c in enumerate(column.cells) if yes(c) is False]
        return Named(kept, f"{column.head}: {column.cells[kept[0]] if kept else False}", terms)
    if named is None and column.kind == "number":
        # “Out of stock”, “no bedrooms”: those with none of it.
        kept = [i for i, v in enumerate(column.numbers) if v is not None and not v.amount]
        return Named(kept, f"no {head}", terms | {"out"})
    if named is None or named.said == column.head:
        return Named([i for i, c in enumerate(column.cells) if is_missing(c)], f"no {head}", terms)
    if column.kind == "date" or (column.kind == "text" and not denial.excepts and not _sorts(column, named)):
        return None
    open_ = {i for i, c in enumerate(column.cells) if is_missing(c) and c.strip().lower() not in _UNSAID}
    filled = {column.cells[i] for i in range(len(column.cells)) if i not in open_}
    # Where a column holds but one value, a blank is the other one.
    open_ = open_ if len(filled) > 1 else set()
    kept = sorted({*range(len(column.cells))} - open_ - {*named.rows})
    value = " or ".join(dict.fromkeys(column.cells[i] for i in named.rows))
    stated = f", of {len(column.cells) - len(open_)} that state it" if open_ else ""
    return Named(kept, f"{head} not {value}{stated}", named.explained)


def _sorts(column: Column, named: Named) -> bool:
    """Tell whether a column sorts its rows by what is named whole: no remarks, and not “paid” beside “paid in part”."""
    meant = {column.cells[i] for i in named.rows}
    values = {frozenset(content_terms(c) or words(c)) for c in meant}
    others = {frozenset(content_terms(c)) for c in {*column.cells} - meant if not denying(c)}
    filled = [c for c in column.cells if not is_missing(c)]
    again = column.first or len(set(filled)) < len(filled)
    return again and all(v <= named.explained for v in values) and not any(v < o for v in values for o in others)


def _around(asked: Asked, denial: _Denial) -> set[str]:
    """Return the stems of a no itself: of “haven't” both halves."""
    return set(asked.stems[max(0, denial.at - (asked.said[denial.at] == "t")) : denial.start])
