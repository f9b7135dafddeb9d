"""Words by what they measure: superlatives, adjectives, nouns and verbs of a dimension, and heads of its columns."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.models.text import stem

DIMENSIONS: dict[str, tuple[str, Sequence[str]]] = {
    form: (side, names.split(","))
    for side, listed in (
        (
            "least",
            "cheapest:money shortest:length,duration nearest:distance lightest:weight youngest:age smallest:size,area "
            "lowest:height slowest:speed,duration coldest:temperature coolest:temperature earliest:date "
            "oldest:date,year",
        ),
        (
            "most",
            "dearest:money priciest:money costliest:money longest:length,duration farthest:distance furthest:distance "
            "heaviest:weight tallest:height highest:height deepest:depth biggest:size,area largest:size,area "
            "fastest:speed,duration hottest:temperature warmest:temperature latest:date newest:date,year",
        ),
    )
    for form, _, names in [row.partition(":") for row in listed.split()]
}
"""Superlatives: which end they mean, and of what where the question does not say it."""
WORDS_OF = {
    "money": (
        "price cost charg fee rent amount rate euro eur pound dollar money worth valu salari wage incom earn".split()
    ),
    "length": "length long km kilometr mile metr meter cm mm distanc".split(),
    "distance": "distanc km kilometr mile away".split(),
    "duration": "durat minut min hour second day week month time length".split(),
    "weight": "weight kg gram mass kilo ton tonn".split(),
    "age": "age old".split(),
    "size": "size".split(),
    "area": "area squar sqm m² ha hectar surfac".split(),
    "height": "height elev altitud metr".split(),
    "depth": "depth".split(),
    "speed": "speed mph pace".split(),
    "temperature": "temperatur celsius degre °c".split(),
    "energy": "energi electr power consumpt kwh kw watt".split(),
    "date": "date day".split(),
    "year": "year built found sinc made".split(),
}
"""Stems of heads and units that measure a dimension."""
ADJECTIVES = {
    form: dimension
    for dimension, forms in {
        "money": "expensive costly cheaper dearer cost costs price prices worth charge charged pay",
        "length": "longer shorter",
        "distance": "far farther further",
        "duration": "long last take",
        "weight": "heavy heavier lighter weigh weighs",
        "size": "larger bigger smaller",
        "height": "tall taller high higher lower",
        "depth": "deep deeper",
        "speed": "fast faster slower",
        "date": "older newer",
    }.items()
    for form in forms.split()
}
NOUNS = {
    "money": "price cost money euro pound dollar",
    "distance": "distance kilometre kilometer mile km",
    "length": "length metre meter",
    "duration": "time duration minute hour",
    "weight": "weight kilo kilogram",
    "energy": "energy electricity consumption power",
}
"""Nouns that name a dimension or a unit of it."""
DONE = {
    "money": "spend pay earn give donate raise come cost owe buy purchase",
    "distance": "run walk ride cycle drive travel swim",
    "duration": "take last need",
    "weight": "weigh",
}
"""What somebody does whose amounts are of a dimension; said of a column that measures it, it says nothing more."""
PAID = frozenset("spend pay earn give donat rais owe".split())
"""Stems of what somebody does to an amount of money, and not to what it is for."""
COSTS = frozenset("price cost charg fee worth valu".split())
"""Stems of heads under which it stands what a thing costs."""
EARNINGS = frozenset(
    "salari wage pay incom earn stipend rate revenu profit take bonus gehalt lohn verdienst honorar salair".split()
)
"""Stems of heads under which it stands what somebody gets."""
SELLERS = frozenset(
    "where from shop store seller supplier vendor dealer trader company firm payee contractor to laden geschaft "
    "handler lieferant firma magasin fournisseur".split()
)
"""Words of heads under which it stands who is paid for a thing."""
UNIT_WORDS = {
    "h": "hour hr",
    "hrs": "hour",
    "min": "minute",
    "s": "second",
    "g": "gram gramme gramm weight",
    "kg": "kilogram kilogramme kilo weight",
    "t": "ton tonne weight",
    "m": "metre meter length",
    "km": "kilometre kilometer distance",
    "cm": "centimetre centimeter",
    "mm": "millimetre millimeter",
    "l": "litre liter",
    "ml": "millilitre milliliter",
    "w": "watt",
    "kwh": "energy",
    "°c": "degree celsius temperature",
    "%": "percent percentage share",
}
"""What the abbreviation of a unit is called, and what is measured by it."""
UNIT_STEMS = frozenset(stem(w) for words in UNIT_WORDS.values() for w in words.split())
HOW_MANY = frozenset(stem(w) for w in "count number piece pieces pcs stock stück anzahl nombre".split())
"""Stems of heads under which it stands how many there are."""
QUANTITY = frozenset({"quantiti", "qty"})
"""Stems of heads under which it stands how many there are of what the row names; in orders as well."""
HEADS = {
    **dict.fromkeys(("who", "whose"), "name person who whom by customer client member"),
    "since": "since join joined from start started begin began entry",
    "where": "place location shop store seller venue room town city country address site where",
}
"""Heads of columns that answer a question word."""
