"""Write a small library of invented news, in which some facts change over time and others never do.

    python examples/news.py FOLDER

FOLDER/files holds one dated Markdown file for each report, FOLDER/questions.jsonl the questions. They are
of three kinds: `latest` asks for the state of a fact that changed, `timeless` for a fact that never did and
is in an old report, and `old` for the latest about something that only an old report mentions. The files are
the same on every machine.

    ragweave index FOLDER/files
    ragweave ask "What is the current fare of the Pell ferry?"
"""

from __future__ import annotations

import json
import random
import sys
from datetime import date, timedelta
from pathlib import Path

FIRST = date(2023, 2, 6)
REPORTS = 6
"""Reports about each fact that changes."""

PLACES = (
    "Pell",
    "Corvane",
    "Ostrand",
    "Helder",
    "Marrow",
    "Tessin",
    "Quillon",
    "Vanderby",
    "Lorne",
    "Asketh",
)

FACTS = (
    (
        "fare of the {place} ferry",
        "What is the {now} fare of the {place} ferry?",
        (
            "The fare of the {place} ferry is {value} crowns, the ferry company said.",
            "Passengers pay {value} crowns on the {place} ferry. The company spoke of a fair fare.",
            "The company set the fare of the {place} ferry at {value} crowns.",
        ),
        tuple(f"{n / 10:.2f}" for n in range(21, 90, 3)),
    ),
    (
        "mayor of {place}",
        "Who is the {now} mayor of {place}?",
        (
            "{value} is the mayor of {place}, the council announced.",
            "The council of {place} elected {value} as mayor.",
            "{value} took office as mayor of {place} in front of a small crowd.",
        ),
        tuple(
            f"{first} {last}"
            for first in ("Ada", "Bruno", "Clara", "Dario", "Edda", "Falk", "Greta", "Hanno")
            for last in ("Wint", "Sorel", "Maric", "Tolland", "Brack", "Uhlen")
        ),
    ),
    (
        "members of the {place} rowing club",
        "How many members does the {place} rowing club have {now}?",
        (
            "The {place} rowing club has {value} members, its chair told the meeting.",
            "The chair counted {value} members in the {place} rowing club.",
            "With {value} members the {place} rowing club filled the hall.",
        ),
        tuple(str(n) for n in range(112, 400, 7)),
    ),
)
NOW = {
    "What": ("latest", "current", "most recent"),
    "Who": ("current", "newest"),
    "How": ("now", "at the moment", "currently"),
}

TIMELESS = (
    (
        "In which year was the {place} ferry founded?",
        "The {place} ferry was founded in {value} by fishermen.",
    ),
    (
        "Which architect built the town hall of {place}?",
        "The town hall of {place} was built by the architect {value}.",
    ),
)
OLD = (
    "What is the latest finding about the wreck off {place}?",
    "Divers found that the wreck off {place} carried a cargo of {value}.",
)
CARGO = ("amber", "slate", "copper", "salt", "barley", "marble", "tar", "indigo", "cork", "tin")

OTHER = (
    "The {place} summer fair drew a large crowd. The band played until midnight and the ferry ran late.",
    "A storm closed the road to {place} for two days. The mayor thanked the volunteers, and nobody was hurt.",
    "The school of {place} opened a garden. The rowing club lent its boats for the day.",
)
CHINESE = (
    (
        "青山镇现任镇长是谁？",
        "{value}担任青山镇镇长。镇政府发布了这一消息。",
        ("王建国", "李秀兰", "张志远", "陈美玲", "刘海波", "赵文静"),
    ),
    (
        "青山茶目前每斤多少元？",
        "青山茶每斤售价{value}元。合作社公布了价格。",
        ("86", "92", "105", "118", "124", "137"),
    ),
)


def titled(text: str) -> str:
    """Return a text with its first letter in upper case."""
    return text[0].upper() + text[1:]


class Writer:
    """Writes reports and collects questions, with dates and words chosen by a seeded generator."""

    def __init__(self, folder: Path) -> None:
        self.rng = random.Random(7)
        self.folder = folder
        self.questions: list[dict[str, object]] = []
        self._written = 0

    def report(self, day: date, title: str, text: str) -> str:
        """Write one report, and return the name of its file."""
        self._written += 1
        name = f"{self._written:04}.md"
        page = f"---\ndate: {day.isoformat()}\n---\n\n# {title}\n\n{text}\n"
        (self.folder / "files" / name).write_text(page, encoding="utf-8")
        return name

    def ask(self, kind: str, question: str, answer: str, gold: str) -> None:
        """Add a question with its answer and the file that holds it."""
        self.questions.append(
            {
                "id": f"news-{len(self.questions):03}",
                "kind": kind,
                "question": question,
                "answers": [answer],
                "gold": [gold],
            }
        )

    def changing(self, title: str, question: str, forms: tuple[str, ...], values: list[str]) -> None:
        """Report a fact once for each of its values; the question asks for the last one."""
        day, gold = FIRST + timedelta(days=self.rng.randrange(40)), ""
        for value in values:
            gold = self.report(day, title, self.rng.choice(forms).replace("{value}", value))
            day += timedelta(days=self.rng.randrange(9, 60))
        self.ask("latest", question, values[-1], gold)

    def facts(self, place: str) -> None:
        """Report the facts of a place that change."""
        for subject, question, forms, pool in FACTS:
            now = self.rng.choice(NOW[question.split()[0]])
            filled = tuple([form.replace("{place}", place) for form in forms])
            asked = question.replace("{place}", place).replace("{now}", now)
            self.changing(titled(subject.format(place=place)), asked, filled, self.rng.sample(pool, REPORTS))

    def history(self, place: str) -> None:
        """Report the facts of a place that never change, and its wreck."""
        rng = self.rng
        for n, (question, form) in enumerate(TIMELESS):
            value = str(rng.randrange(1790, 1890)) if n == 0 else rng.choice(FACTS[1][3])
            day = FIRST - timedelta(days=rng.randrange(400, 3000))
            gold = self.report(day, f"From the history of {place}", form.format(place=place, value=value))
            self.ask("timeless", question.format(place=place), value, gold)
        cargo = rng.choice(CARGO)
        day = FIRST - timedelta(days=rng.randrange(400, 2000))
        gold = self.report(day, f"Wreck off {place}", OLD[1].format(place=place, value=cargo))
        self.ask("old", OLD[0].format(place=place), cargo, gold)

    def other(self, place: str) -> None:
        """Report news of a place that no question asks for."""
        for form in OTHER:
            day = FIRST + timedelta(days=self.rng.randrange(300, 420))
            self.report(day, f"News from {place}", form.format(place=place))


def make(folder: Path) -> None:
    """Write the reports and the questions."""
    (folder / "files").mkdir(parents=True, exist_ok=True)
    writer = Writer(folder)
    for place in PLACES:
        writer.facts(place)
        writer.history(place)
        writer.other(place)
    for question, form, names in CHINESE:
        writer.changing("青山镇新闻", question, (form,), list(names))
    lines = [json.dumps(question, ensure_ascii=False) for question in writer.questions]
    (folder / "questions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python examples/news.py FOLDER")
    make(Path(sys.argv[1]))
    print(f"written to {sys.argv[1]}; index {sys.argv[1]}/files")
