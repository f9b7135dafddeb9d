r"""Six long documents with 40 questions, as LaRA asks them: `python benchmarks/long_documents.py FOLDER`.

A register, a log, minutes, a handbook, a chronicle and a bundle of letters, 15,000 to 30,000 characters each,
are drawn from lists of words with a fixed seed. Questions are of four kinds: where one fact stands
(location), what follows from many places (reasoning), what two places say (comparison), and what is not
there. Answers are computed from the facts.

    RAGWEAVE_CHAT=openai:NAME RAGWEAVE_CHAT_URL=http://127.0.0.1:PORT/v1 RAGWEAVE_CHAT_KEY=KEY \
      python benchmarks/against_plain_rag.py ask agent --set FOLDER --each 40 --out OUT.jsonl
    python benchmarks/against_plain_rag.py report --set FOLDER --each 40 --out OUT.jsonl

Records of a played model are in `records/long_documents.jsonl`, for a FOLDER that is named `longdocs`. `--parts` prints
how much of the document that holds the answer a first prompt of the agent shows, without a model.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
from pathlib import Path
from typing import Any

from printed import options

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
    "the slipway", "the night bus", "the swimming bath", "the lime avenue", "the market hall", "the town clock",
    "the school kitchen", "the allotments", "the fire station", "the weir", "the library van", "the cemetery wall",
)  # fmt: skip
PLAYS = ("comedy", "tragedy", "pantomime", "operetta", "puppet play", "revue", "passion play", "farce")
GIFTS = (
    "a jar of quince jelly", "two brass hinges", "a map of the salt road", "seed of the blue poppy", "a lens in a box",
    "the second volume of the almanac", "a pair of skates", "a drawing of the heron", "a bag of plaster",
)  # fmt: skip
MONTHS = "January February March April May June July August September October November December".split()


def name(dice: random.Random) -> str:
    """Return a person's name."""
    return f"{dice.choice(FIRST)} {dice.choice(LAST)}"


def register(dice: random.Random) -> tuple[str, list[dict[str, Any]]]:
    """Return a register of 128 locks."""
    places = dice.sample([b + e for b in BEGIN for e in END], 128)
    depths, years = dice.sample(range(210, 610), 128), dice.sample(range(1761, 1990), 128)
    rows = [
        {"n": n, "place": p, "depth": d, "year": y, "stone": dice.choice(STONES), "keeper": name(dice)}
        for n, (p, d, y) in enumerate(zip(places, depths, years, strict=True), 1)
    ]
    parts = []
    for r in rows:
        head = f"## Reach {(r['n'] - 1) // 16 + 1}\n\n" if r["n"] % 16 == 1 else ""
        parts.append(
            f"{head}Entry {r['n']}: {r['place']}. Built in {r['year']} of {r['stone']}; the chamber is"
            f" {r['depth']} cm deep. Keeper: {r['keeper']}. The gate was last greased by the keeper's own"
            " hand, as the rule demands."
        )
    return "# Register of the locks of the Harrow Navigation\n\n" + "\n\n".join(parts) + "\n", rows


def log(dice: random.Random) -> tuple[str, list[dict[str, Any]]]:
    """Return the log of sixty days of an expedition."""
    cold, miles = dice.sample(range(-44, 20), 60), dice.sample(range(3, 64), 60)
    rows = [
        {
            "n": n,
            "cold": c,
            "miles": m,
            "sky": dice.choice(SKIES),
            "led": name(dice),
            "found": dice.choice(GIFTS),
        }
        for n, (c, m) in enumerate(zip(cold, miles, strict=True), 1)
    ]
    parts = [
        f"## Day {r['n']}\n\nSky: {r['sky']}. At dawn the glass stood at {r['cold']} degrees. {r['led']} went"
        f" ahead with the first sledge, and by dusk we had covered {r['miles']} miles. In the snow beside the"
        f" track lay {r['found']}, which somebody before us must have lost. Tea was rationed, tempers were"
        " not. The dogs slept close to the stove and would not be moved before it was cold."
        for r in rows
    ]
    return "# Log of the Vennet expedition\n\n" + "\n\n".join(parts) + "\n", rows


def minutes(dice: random.Random) -> tuple[str, list[dict[str, Any]]]:
    """Return the minutes of 24 meetings; a later sum for a subject replaces an earlier one."""
    sums = dice.sample(range(1_100, 9_900, 10), 72)
    rows, parts = list[dict[str, Any]](), list[str]()
    for n in range(24):
        chair, items = name(dice), []
        for k, subject in enumerate(dice.sample(SUBJECTS, 3)):
            row = {
                "n": n + 1,
                "month": MONTHS[n % 12],
                "year": 1986 + n // 12,
                "subject": subject,
                "chair": chair,
            }
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
    return "# Minutes of the town council of Sarnmouth\n\n" + "\n\n".join(parts) + "\n", rows


def handbook(dice: random.Random) -> tuple[str, list[dict[str, Any]]]:
    """Return the handbook of a ferry, 40 chapters."""
    codes, minutes_ = dice.sample(range(1_000, 9_999), 40), dice.sample(range(4, 90), 40)
    rows = [
        {
            "n": n,
            "code": c,
            "minutes": m,
            "title": f"{p} drill",
            "who": name(dice),
            "duty": dice.choice(DUTIES),
        }
        for n, (c, m, p) in enumerate(
            zip(codes, minutes_, dice.sample([b + e for b in BEGIN for e in END], 40), strict=True), 1
        )
    ]
    parts = [
        f"## {r['n']}. The {r['title']}\n\nThis drill is written into the plan under code {r['code']} and"
        f" takes {r['minutes']} minutes. {r['duty']}. Who is in doubt asks {r['who']}, who has drawn it up."
        " The drill ends when the bridge has answered twice, and it is begun anew if the answer comes late."
        " Passengers are told in plain words what is going on, and that nothing is wrong."
        for r in rows
    ]
    return "# Handbook of the ferry Marigold\n\n" + "\n\n".join(parts) + "\n", rows


def chronicle(dice: random.Random) -> tuple[str, list[dict[str, Any]]]:
    """Return the chronicle of a theatre, a season a year."""
    seats = dice.sample(range(900, 9_000), 50)
    rows = [
        {"year": 1921 + n, "sold": s, "play": dice.choice(PLAYS), "by": name(dice), "lead": name(dice)}
        for n, s in enumerate(seats)
    ]
    parts = [
        f"## The season of {r['year']}\n\nThe house opened with a {r['play']} by {r['by']}, in which"
        f" {r['lead']} had the leading part. {r['sold']} tickets were sold over the season. The roof let in"
        " water over the third row, and a bucket was put there, which regular visitors took for a part of"
        " the scenery. The stove smoked at the premiere."
        for r in rows
    ]
    return "# Chronicle of the Tern Street Theatre\n\n" + "\n\n".join(parts) + "\n", rows


def letters(dice: random.Random) -> tuple[str, list[dict[str, Any]]]:
    """Return 50 letters of two friends."""
    paid = dice.sample(range(11, 399), 50)
    rows = [
        {"n": n, "from": ("Orla", "Tobias")[n % 2], "gift": dice.choice(GIFTS), "paid": p, "met": name(dice),
         "at": dice.choice(BEGIN) + dice.choice(END)}
        for n, p in enumerate(paid, 1)
    ]  # fmt: skip
    parts = [
        f"## Letter {r['n']}, from {r['from']}\n\nDear friend, I write from {r['at']}, where I met {r['met']}"
        f" on the bridge. With this comes {r['gift']}; I paid {r['paid']} pence for it and was cheated, as"
        " you will say. The evenings are long here, and the lamp is poor. Do not answer before you have"
        f" slept on it. Your servant, {r['from']}."
        for r in rows
    ]
    return "# Letters of Orla and Tobias\n\n" + "\n\n".join(parts) + "\n", rows


WRITERS = {
    "locks": register, "log": log, "minutes": minutes, "handbook": handbook, "theatre": chronicle, "letters": letters
}  # fmt: skip


def asked(of: dict[str, list[dict[str, Any]]]) -> list[tuple[str, str, str, list[str]]]:
    """Return the questions: kind, document, question, answers; no answer where nothing is to be found."""
    locks, days, items, drills, years, post = (of[k] for k in WRITERS)
    deep, old = max(locks, key=lambda r: r["depth"]), min(locks, key=lambda r: r["year"])
    coldest, longest = min(days, key=lambda r: r["cold"]), max(days, key=lambda r: r["miles"])
    dearest, best = max(post, key=lambda r: r["paid"]), max(years, key=lambda r: r["sold"])
    last = {r["subject"]: r for r in items}
    slate = sum(r["stone"] == "slate" for r in locks)
    fog = sum(r["sky"] == "fog until noon" for r in days)
    short = min(drills, key=lambda r: r["minutes"])
    farces = sum(r["play"] == "farce" for r in years)
    by_orla = sum(r["from"] == "Orla" for r in post)
    a, b, d1, d2, y1, y2 = locks[20], locks[97], days[6], days[51], years[9], years[40]

    def more(one: dict[str, Any], other: dict[str, Any], by: str, told: str) -> list[str]:
        return [str(max(one, other, key=lambda r: r[by])[told])]

    told: list[tuple[str, str, str, list[str]]] = [
        ("location", "locks", f"Who keeps the lock at {locks[70]['place']}?", [locks[70]["keeper"]]),
        ("location", "locks", f"In which year was the lock at {locks[111]['place']} built?", [str(locks[111]["year"])]),
        ("location", "log", "How many miles did the Vennet expedition cover on day 33?", [str(days[32]["miles"])]),
        ("location", "log", "What lay in the snow on day 57 of the Vennet expedition?", [days[56]["found"]]),
        ("location", "minutes", "Who was in the chair of the Sarnmouth council in May 1987?", [items[48]["chair"]]),
        ("location", "handbook", f"Under which code is the {drills[30]['title']} of the ferry Marigold written?",
         [str(drills[30]["code"])]),
        ("location", "handbook", f"Who has drawn up the {drills[12]['title']} of the ferry?", [drills[12]["who"]]),
        ("location", "theatre", "Who wrote the play that opened the Tern Street Theatre's season of 1957?",
         [years[36]["by"]]),
        ("location", "theatre", "Who had the leading part at Tern Street in 1938?", [years[17]["lead"]]),
        ("location", "letters", "What did Orla send to Tobias with letter 28?", [post[27]["gift"]]),
        ("location", "letters", "From where was letter 41 of Orla and Tobias written?", [post[40]["at"]]),
        ("location", "letters", "Whom did the writer of letter 15 meet on the bridge?", [post[14]["met"]]),
        ("reasoning", "locks", "Which lock of the Harrow Navigation has the deepest chamber?", [deep["place"]]),
        ("reasoning", "locks", "Which lock of the Harrow Navigation is the oldest?", [old["place"]]),
        ("reasoning", "locks", "How many locks in the whole register are built of slate?", [str(slate)]),
        ("reasoning", "log", "On which day of the Vennet expedition was it coldest at dawn?", [f"{coldest['n']}"]),
        ("reasoning", "log", "On how many days of the Vennet expedition was there fog until noon?", [str(fog)]),
        ("reasoning", "log", "On which day did the expedition cover the most miles?", [str(longest["n"])]),
        ("reasoning", "minutes", f"How much a year is finally set aside for {items[3]['subject']} in Sarnmouth, after "
         "all meetings?", [str(last[items[3]["subject"]]["sum"])]),
        ("reasoning", "minutes", f"Who moved the last change of what is set aside for {items[10]['subject']}?",
         [last[items[10]["subject"]]["moved"]]),
        ("reasoning", "handbook", "Which drill of the ferry Marigold is the shortest?", [short["title"]]),
        ("reasoning", "theatre", "In which season did the Tern Street Theatre sell the most tickets?",
         [str(best["year"])]),
        ("reasoning", "theatre", "How many seasons at Tern Street opened with a farce?", [str(farces)]),
        ("reasoning", "letters", "For which of the letters' gifts was most paid, and how many pence?",
         [str(dearest["paid"])]),
        ("reasoning", "letters", "How many of the letters are from Orla?", [str(by_orla)]),
        ("comparison", "locks", f"Which chamber is deeper, that of {a['place']} or of {b['place']}?",
         more(a, b, "depth", "place")),
        ("comparison", "log", "Was it colder at dawn on day 7 or on day 52?",
         [f"day {min(d1, d2, key=lambda r: r['cold'])['n']}"]),
        ("comparison", "minutes", "Who had more votes, the mover of the first item of February 1986 or that of the "
         "first item of November 1987?", more(items[3], items[66], "votes", "moved")),
        ("comparison", "handbook", f"Which takes longer, the {drills[4]['title']} or the {drills[35]['title']}?",
         more(drills[4], drills[35], "minutes", "title")),
        ("comparison", "theatre", "Were more tickets sold at Tern Street in 1930 or in 1961?",
         more(y1, y2, "sold", "year")),
        ("comparison", "letters", "Which gift was dearer, that of letter 5 or of letter 36?",
         more(post[4], post[35], "paid", "gift")),
        ("comparison", "log", "On which of the days 12 and 44 did the expedition go farther?",
         [f"day {max(days[11], days[43], key=lambda r: r['miles'])['n']}"]),
        ("comparison", "locks", f"Which lock is older, {locks[5]['place']} or {locks[120]['place']}?",
         [str(min(locks[5], locks[120], key=lambda r: r["year"])["place"])]),
        ("comparison", "theatre", "Which opened with the larger audience over the season, 1925 or 1969?",
         more(years[4], years[48], "sold", "year")),
        ("not there", "locks", f"How wide is the lock at {locks[33]['place']}?", []),
        ("not there", "log", "What did the Vennet expedition eat on day 20?", []),
        ("not there", "minutes", "How many members does the town council of Sarnmouth have?", []),
        ("not there", "handbook", "How many passengers may the ferry Marigold carry?", []),
        ("not there", "theatre", "How many seats does the Tern Street Theatre have?", []),
        ("not there", "letters", "What is the family name of Orla?", []),
    ]  # fmt: skip
    return told


def bare(answer: str) -> str:
    """Return an answer without its article, which a sentence may say otherwise."""
    return re.sub(r"^(?:an?|the) ", "", answer)


def write(folder: Path) -> list[dict[str, Any]]:
    """Write the library and its questions; return the questions."""
    (folder / "library").mkdir(parents=True, exist_ok=True)
    facts: dict[str, list[dict[str, Any]]] = {}
    for n, (stem, make) in enumerate(WRITERS.items()):
        text, facts[stem] = make(random.Random(n))
        (folder / "library" / f"{stem}.md").write_text(text, encoding="utf-8")
    rows = [
        {"id": f"q{n:02}", "question": question, "kind": kind, "answers": [bare(a) for a in answers],
         "gold_files": [f"{stem}.md"], "hops": 1, "answerable": bool(answers), "previous": []}
        for n, (kind, stem, question, answers) in enumerate(asked(facts), 1)
    ]  # fmt: skip
    lines = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows)
    (folder / "questions.jsonl").write_text(lines, encoding="utf-8")
    return rows


async def parts(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Print by kind how much of its document the first prompt of a question shows, and how long the prompt is."""
    from ragweave import Context
    from ragweave.app.api import aindex, astate
    from ragweave.models.chat import override
    from ragweave.tests.support import ScriptedChat

    os.environ["RAGWEAVE_HOME"] = str(folder / "home")
    await aindex(folder / "library", "long")
    print(f"{'':12}  questions  share shown  answer shown  prompt, characters")
    for kind in dict.fromkeys(r["kind"] for r in rows):
        shares, held, lengths = list[float](), list[bool](), list[int]()
        for r in (r for r in rows if r["kind"] == kind):
            model = ScriptedChat(react=lambda _: "Final Answer: UNKNOWN.")
            with override(writer=model):
                await astate(r["question"], context=Context(library="long"))
            prompt, text = model.calls[0].prompt, (folder / "library" / r["gold_files"][0]).read_text("utf-8")
            lines = [line for line in text.split("\n\n") if line and not line.startswith("#")]
            shares.append(sum(line.strip() in prompt for line in lines) / len(lines))
            held.append(all(any(a in prompt for a in one.split("|")) for one in r["answers"]))
            lengths.append(len(prompt))
        n = len(shares)
        print(f"{kind:12}  {n:9}  {sum(shares) / n:11.2f}  {sum(held) / n:12.2f}  {sum(lengths) / n:18.0f}")


def main() -> None:
    """Read the command line."""
    parser = options(__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parts", action="store_true")
    given = parser.parse_args()
    rows = write(given.folder)
    if given.parts:
        asyncio.run(parts(given.folder, rows))


if __name__ == "__main__":
    main()
