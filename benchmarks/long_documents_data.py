"""Write the six long documents of `long_documents.py`, and return the facts in them."""

from __future__ import annotations

import random
from typing import Any

FIRST = "Ada Bruno Celia Dorian Edda Fabian Greta Hollis Ines Joram Katja Linus Mira Nils Odile Piet".split()
LAST = (
    "Askew Brandt Corvin Delgast Ennis Farrow Gantry Hulme Ibsley Jarrow Kestrel Lomas Marwick Norden".split()
)
BEGIN = (
    "Amber Birch Copper Drift Elder Fallow Grey Hazel Iron Juniper Kiln Lark Mill North Otter Pike".split()
)
END = "ford gate hurst lock mead ness pool reach".split()
STONES = ("limestone", "granite", "brick", "oak", "slate", "sandstone")
SKIES = ("clear", "overcast", "fog until noon", "sleet", "steady rain", "a high thin haze")
DUTIES = (
    "The watch checks both bilge pumps and writes the level into the green book",
    "A deckhand walks the car deck with a lamp and counts the lashings aloud",
    "The purser seals the strongbox in the presence of a second member of the crew",
    "The engineer tastes the coolant for salt and notes the pressure of the header tank",
    "Every fire door is opened and shut once, and its bell is listened for",
    "The mate reads the tide table aloud to the helmsman, who repeats it",
)
SUBJECTS = (
    "the slipway", "the night bus", "the swimming bath", "the lime avenue", "the market hall",
    "the town clock", "the school kitchen", "the allotments", "the fire station", "the weir",
    "the library van", "the cemetery wall",
)  # fmt: skip
PLAYS = ("comedy", "tragedy", "pantomime", "operetta", "puppet play", "revue", "passion play", "farce")
GIFTS = (
    "a jar of quince jelly", "two brass hinges", "a map of the salt road", "seed of the blue poppy",
    "a lens in a box", "the second volume of the almanac", "a pair of skates", "a drawing of the heron",
    "a bag of plaster",
)  # fmt: skip
Row = dict[str, Any]
MONTHS = "January February March April May June July August September October November December".split()


def name(dice: random.Random) -> str:
    """Return a person's name."""
    return f"{dice.choice(FIRST)} {dice.choice(LAST)}"


def places() -> list[str]:
    """Return all names of places."""
    names: list[str] = []
    for begin in BEGIN:
        names += [begin + end for end in END]
    return names


def document(title: str, parts: list[str]) -> str:
    """Return a document under its title."""
    return f"# {title}\n\n" + "\n\n".join(parts) + "\n"


def register(dice: random.Random) -> tuple[str, list[Row]]:
    """Return a register of 128 locks."""
    names = dice.sample(places(), 128)
    depths, years = dice.sample(range(210, 610), 128), dice.sample(range(1761, 1990), 128)
    rows: list[Row] = []
    parts: list[str] = []
    for n, (place, depth, year) in enumerate(zip(names, depths, years, strict=True), 1):
        row: Row = {"n": n, "place": place, "depth": depth, "year": year}
        row |= {"stone": dice.choice(STONES), "keeper": name(dice)}
        rows.append(row)
        head = f"## Reach {(n - 1) // 16 + 1}\n\n" if n % 16 == 1 else ""
        parts.append(
            f"{head}Entry {n}: {place}. Built in {year} of {row['stone']}; the chamber is"
            f" {depth} cm deep. Keeper: {row['keeper']}. The gate was last greased by the keeper's own"
            " hand, as the rule demands."
        )
    return document("Register of the locks of the Harrow Navigation", parts), rows


def log(dice: random.Random) -> tuple[str, list[Row]]:
    """Return the log of sixty days of an expedition."""
    cold, miles = dice.sample(range(-44, 20), 60), dice.sample(range(3, 64), 60)
    rows: list[Row] = []
    parts: list[str] = []
    for n, (degrees, distance) in enumerate(zip(cold, miles, strict=True), 1):
        row: Row = {"n": n, "cold": degrees, "miles": distance}
        row |= {"sky": dice.choice(SKIES), "led": name(dice), "found": dice.choice(GIFTS)}
        rows.append(row)
        parts.append(
            f"## Day {n}\n\nSky: {row['sky']}. At dawn the glass stood at {degrees} degrees. {row['led']}"
            f" went ahead with the first sledge, and by dusk we had covered {distance} miles. In the snow"
            f" beside the track lay {row['found']}, which somebody before us must have lost. Tea was"
            " rationed, tempers were not. The dogs slept close to the stove and would not be moved before it"
            " was cold."
        )
    return document("Log of the Vennet expedition", parts), rows


def minutes(dice: random.Random) -> tuple[str, list[Row]]:
    """Return the minutes of 24 meetings; a later sum for a subject replaces an earlier one."""
    sums = dice.sample(range(1_100, 9_900, 10), 72)
    rows, parts = list[Row](), list[str]()
    for n in range(24):
        chair, items = name(dice), []
        for k, subject in enumerate(dice.sample(SUBJECTS, 3)):
            row: Row = {"n": n + 1, "subject": subject, "chair": chair}
            row |= {"sum": sums[3 * n + k], "moved": name(dice), "votes": dice.randint(6, 15)}
            rows.append(row)
            items.append(
                f"Item {k + 1}. {row['moved']} moved that {row['sum']} crowns a year be set aside for"
                f" {subject}, in place of what was set aside before. It was carried by {row['votes']} votes."
                " The clerk was told to write to the county about it, and to keep a copy where it can be"
                " found."
            )
        parts.append(
            f"## Meeting of {MONTHS[n % 12]} {1986 + n // 12}\n\nIn the chair: {chair}.\n\n"
            + "\n\n".join(items)
        )
    return document("Minutes of the town council of Sarnmouth", parts), rows


def handbook(dice: random.Random) -> tuple[str, list[Row]]:
    """Return the handbook of a ferry, 40 chapters."""
    codes, minutes_ = dice.sample(range(1_000, 9_999), 40), dice.sample(range(4, 90), 40)
    names = dice.sample(places(), 40)
    rows: list[Row] = []
    parts: list[str] = []
    for n, (code, duration, place) in enumerate(zip(codes, minutes_, names, strict=True), 1):
        row: Row = {"n": n, "code": code, "minutes": duration, "title": f"{place} drill"}
        row |= {"who": name(dice), "duty": dice.choice(DUTIES)}
        rows.append(row)
        parts.append(
            f"## {n}. The {row['title']}\n\nThis drill is written into the plan under code {code} and"
            f" takes {duration} minutes. {row['duty']}. Who is in doubt asks {row['who']}, who has drawn it"
            " up. The drill ends when the bridge has answered twice, and it is begun anew if the answer comes"
            " late. Passengers are told in plain words what is going on, and that nothing is wrong."
        )
    return document("Handbook of the ferry Marigold", parts), rows


def chronicle(dice: random.Random) -> tuple[str, list[Row]]:
    """Return the chronicle of a theatre, a season a year."""
    seats = dice.sample(range(900, 9_000), 50)
    rows: list[Row] = []
    parts: list[str] = []
    for year, sold in enumerate(seats, 1921):
        row: Row = {"year": year, "sold": sold}
        row |= {"play": dice.choice(PLAYS), "by": name(dice), "lead": name(dice)}
        rows.append(row)
        parts.append(
            f"## The season of {year}\n\nThe house opened with a {row['play']} by {row['by']}, in which"
            f" {row['lead']} had the leading part. {sold} tickets were sold over the season. The roof let in"
            " water over the third row, and a bucket was put there, which regular visitors took for a part of"
            " the scenery. The stove smoked at the premiere."
        )
    return document("Chronicle of the Tern Street Theatre", parts), rows


def letters(dice: random.Random) -> tuple[str, list[Row]]:
    """Return 50 letters of two friends."""
    paid = dice.sample(range(11, 399), 50)
    rows: list[Row] = []
    parts: list[str] = []
    for n, pence in enumerate(paid, 1):
        row: Row = {"n": n, "from": ("Orla", "Tobias")[n % 2], "gift": dice.choice(GIFTS), "paid": pence}
        row |= {"met": name(dice), "at": dice.choice(BEGIN) + dice.choice(END)}
        rows.append(row)
        parts.append(
            f"## Letter {n}, from {row['from']}\n\nDear friend, I write from {row['at']}, where I met"
            f" {row['met']} on the bridge. With this comes {row['gift']}; I paid {pence} pence for it and was"
            " cheated, as you will say. The evenings are long here, and the lamp is poor. Do not answer"
            f" before you have slept on it. Your servant, {row['from']}."
        )
    return document("Letters of Orla and Tobias", parts), rows


WRITERS = {
    "locks": register,
    "log": log,
    "minutes": minutes,
    "handbook": handbook,
    "theatre": chronicle,
    "letters": letters,
}
