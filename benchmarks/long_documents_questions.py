"""The 40 questions about the six long documents of `long_documents.py`, with their answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from long_documents_data import Row

Asked = tuple[str, str, str, list[str]]
"""A question: kind, document, text, answers; no answer if it is not in the document."""


def asked(of: dict[str, list[Row]]) -> list[Asked]:
    """Return the questions, by kind."""
    kinds = {
        "location": locations(of),
        "reasoning": conclusions(of),
        "comparison": comparisons(of),
        "not there": missing(of),
    }
    found: list[Asked] = []
    for kind, questions in kinds.items():
        for stem, question, *answers in questions:
            found.append((kind, stem, question, list(map(str, answers))))
    return found


Questions = Iterator[tuple[Any, ...]]
"""Questions of one kind: document, text, and the answer if there is one."""


def locations(of: dict[str, list[Row]]) -> Questions:
    """Yield questions for one fact in one place."""
    locks, days, drills, years, post = of["locks"], of["log"], of["handbook"], of["theatre"], of["letters"]
    lock, drill, other_drill = locks[111], drills[30], drills[12]
    yield "locks", f"Who keeps the lock at {locks[70]['place']}?", locks[70]["keeper"]
    yield "locks", f"In which year was the lock at {lock['place']} built?", lock["year"]
    yield "log", "How many miles did the Vennet expedition cover on day 33?", days[32]["miles"]
    yield "log", "What lay in the snow on day 57 of the Vennet expedition?", days[56]["found"]
    chair = of["minutes"][48]["chair"]
    yield "minutes", "Who was in the chair of the Sarnmouth council in May 1987?", chair
    title = drill["title"]
    yield "handbook", f"Under which code is the {title} of the ferry Marigold written?", drill["code"]
    yield "handbook", f"Who has drawn up the {other_drill['title']} of the ferry?", other_drill["who"]
    author = years[36]["by"]
    yield "theatre", "Who wrote the play that opened the Tern Street Theatre's season of 1957?", author
    yield "theatre", "Who had the leading part at Tern Street in 1938?", years[17]["lead"]
    yield "letters", "What did Orla send to Tobias with letter 28?", post[27]["gift"]
    yield "letters", "From where was letter 41 of Orla and Tobias written?", post[40]["at"]
    yield "letters", "Whom did the writer of letter 15 meet on the bridge?", post[14]["met"]


def conclusions(of: dict[str, list[Row]]) -> Questions:
    """Yield questions whose answers follow from many places."""
    locks, days, items = of["locks"], of["log"], of["minutes"]
    deepest, oldest = highest(locks, "depth"), lowest(locks, "year")
    yield "locks", "Which lock of the Harrow Navigation has the deepest chamber?", deepest["place"]
    yield "locks", "Which lock of the Harrow Navigation is the oldest?", oldest["place"]
    slate = count(locks, "stone", "slate")
    yield "locks", "How many locks in the whole register are built of slate?", slate
    coldest = lowest(days, "cold")["n"]
    yield "log", "On which day of the Vennet expedition was it coldest at dawn?", coldest
    fog = count(days, "sky", "fog until noon")
    yield "log", "On how many days of the Vennet expedition was there fog until noon?", fog
    longest = highest(days, "miles")["n"]
    yield "log", "On which day did the expedition cover the most miles?", longest
    last = {row["subject"]: row for row in items}
    subject = items[3]["subject"]
    question = f"How much a year is finally set aside for {subject} in Sarnmouth, after all meetings?"
    yield "minutes", question, last[subject]["sum"]
    subject = items[10]["subject"]
    question = f"Who moved the last change of what is set aside for {subject}?"
    yield "minutes", question, last[subject]["moved"]
    shortest = lowest(of["handbook"], "minutes")["title"]
    yield "handbook", "Which drill of the ferry Marigold is the shortest?", shortest
    best = highest(of["theatre"], "sold")["year"]
    yield "theatre", "In which season did the Tern Street Theatre sell the most tickets?", best
    farces = count(of["theatre"], "play", "farce")
    yield "theatre", "How many seasons at Tern Street opened with a farce?", farces
    dearest = highest(of["letters"], "paid")["paid"]
    yield "letters", "For which of the letters' gifts was most paid, and how many pence?", dearest
    yield "letters", "How many of the letters are from Orla?", count(of["letters"], "from", "Orla")


def comparisons(of: dict[str, list[Row]]) -> Questions:
    """Yield questions that compare two places."""
    locks, days, items = of["locks"], of["log"], of["minutes"]
    drills, years, post = of["handbook"], of["theatre"], of["letters"]
    a, b = locks[20], locks[97]
    question = f"Which chamber is deeper, that of {a['place']} or of {b['place']}?"
    yield "locks", question, highest([a, b], "depth")["place"]
    colder = lowest([days[6], days[51]], "cold")["n"]
    yield "log", "Was it colder at dawn on day 7 or on day 52?", f"day {colder}"
    question = (
        "Who had more votes, the mover of the first item of February 1986 or that of the first item of"
        " November 1987?"
    )
    yield "minutes", question, highest([items[3], items[66]], "votes")["moved"]
    a, b = drills[4], drills[35]
    question = f"Which takes longer, the {a['title']} or the {b['title']}?"
    yield "handbook", question, highest([a, b], "minutes")["title"]
    better = highest([years[9], years[40]], "sold")["year"]
    yield "theatre", "Were more tickets sold at Tern Street in 1930 or in 1961?", better
    dearer = highest([post[4], post[35]], "paid")["gift"]
    yield "letters", "Which gift was dearer, that of letter 5 or of letter 36?", dearer
    farther = highest([days[11], days[43]], "miles")["n"]
    yield "log", "On which of the days 12 and 44 did the expedition go farther?", f"day {farther}"
    a, b = locks[5], locks[120]
    older = lowest([a, b], "year")["place"]
    yield "locks", f"Which lock is older, {a['place']} or {b['place']}?", older
    larger = highest([years[4], years[48]], "sold")["year"]
    yield "theatre", "Which opened with the larger audience over the season, 1925 or 1969?", larger


def missing(of: dict[str, list[Row]]) -> Questions:
    """Yield questions without an answer in the documents."""
    yield "locks", f"How wide is the lock at {of['locks'][33]['place']}?"
    yield "log", "What did the Vennet expedition eat on day 20?"
    yield "minutes", "How many members does the town council of Sarnmouth have?"
    yield "handbook", "How many passengers may the ferry Marigold carry?"
    yield "theatre", "How many seats does the Tern Street Theatre have?"
    yield "letters", "What is the family name of Orla?"


def highest(rows: list[Row], key: str) -> Row:
    """Return the first row with the largest value."""
    return max(rows, key=lambda row: row[key])


def lowest(rows: list[Row], key: str) -> Row:
    """Return the first row with the smallest value."""
    return min(rows, key=lambda row: row[key])


def count(rows: list[Row], key: str, value: str) -> int:
    """Return how many rows have a value."""
    return [row[key] for row in rows].count(value)
