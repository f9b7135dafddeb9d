"""Amounts in different units, made comparable where it is certain how: 800 g and 12 kg, not 980 $ and 300 £."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from ragweave.models.table import Column
from ragweave.models.text import stem, words
from ragweave.models.values import CURRENCIES, Value

_FACTORS = {
    stem(name) if name.islower() else name: (kind, Decimal(factor))
    for kind, listed in {
        "weight": "mg:.001 g,gram,gramm,gramme,gr:1 kg,kgs,kilo,kilogram,kilogramm,kilogramme:1000 t,tonne,ton:1000000",
        "pounds": "oz,ounce:1 lb,lbs:16",
        "length": "mm,millimetre,millimeter:.001 cm,centimetre,centimeter:.01 m,metre,meter:1 "
        "km,kilometre,kilometer:1000",
        "feet": "inch:1 ft,foot:12 yd,yard:36",
        "volume": "ml,millilitre,milliliter:.001 cl,centilitre,centiliter:.01 dl:.1 l,litre,liter:1 hl:100",
        "time": "s,sec,second,sekunde:1 min,mins,minute:60 h,hr,hrs,hour,stunde:3600 day,tag:86400 week,woche:604800",
        "area": "cm²:.0001 m²,sqm:1 ha,hectare,hektar:10000 km²:1000000",
        "power": "mW,milliwatt:.001 w,watt:1 kw,kilowatt:1000 MW,megawatt:1000000",
        "energy": "mWh:.001 wh:1 kwh:1000 MWh:1000000",
        "bytes": "kb:1 mb:1000 gb:1000000 tb:1000000000",
        "share": "‰:.1 %,percent,prozent:1",
    }.items()
    for row in listed.split()
    for names, factor in [row.split(":")]
    for name in names.split(",")
}
"""Units by their stems: of what, and how much of the others of it; mW and MW as they are written."""
_CASED = re.compile("[mM][A-Z]")


def scale(unit: str) -> tuple[str, Decimal]:
    """Return of what a unit is and its factor; a word that is no known unit is one of its own, and "" is none."""
    own = unit.strip(" .")
    plain = stem(own.lower())
    alone = own if _CASED.match(own) else CURRENCIES.get(own.lower()) or plain  # a mega is no milli
    return _FACTORS.get(own) or _FACTORS.get(plain) or (alone, Decimal(1))


def is_unit(word: str) -> bool:
    """Tell whether a word is a unit or currency, and not what is counted: “20 kg”, but “20 seats”."""
    return word in _FACTORS or word.lower() in CURRENCIES or stem(word.lower()) in _FACTORS


def unit_of(column: Column, value: Value) -> str:
    """Return the unit of a number: its own, that of its column, or the one unit that the head names."""
    if value.unit or column.unit:
        return value.unit or column.unit
    named = {scale(w): w for w in (*column.head.split(), *words(column.head)) if is_unit(w)}
    return named.popitem()[1] if len(named) == 1 else ""


def of_kind(column: Column, unit: str) -> bool:
    """Tell whether a column measures what a unit does, if in others: “over 10 kg” of grams."""
    units = {unit_of(column, v) for v in column.numbers if v is not None and v.amount}
    return is_unit(unit) and any(is_unit(u) and scale(u)[0] == scale(unit)[0] for u in units)


def comparable(column: Column, values: Sequence[Value]) -> list[Decimal] | None:
    """Return amounts that may be compared with each other; None where their units do not let it."""
    # Nothing is nothing in every unit.
    kinds = {scale(unit_of(column, v))[0] for v in values if v.amount or v.unit}
    return None if len(kinds) > 1 else [v.amount * scale(unit_of(column, v))[1] for v in values]


def in_unit(column: Column, unit: str) -> list[Decimal | None] | None:
    """Return the amounts of a column in the unit of a bound; None where it is not certain what they are in it.

    What follows the number of a bound may be no unit, and a column may leave its own to be known: amounts stay as they
    are then.
    """
    units = {unit_of(column, v) for v in column.numbers if v is not None and (v.amount or v.unit)}
    if not is_unit(unit) or not any(map(is_unit, units)):
        return None if len({scale(u) for u in units}) > 1 else [None if v is None else v.amount for v in column.numbers]
    kind, factor = scale(unit)
    if any(scale(u)[0] != kind for u in units):
        return None
    return [None if v is None else v.amount * scale(unit_of(column, v))[1] / factor for v in column.numbers]
