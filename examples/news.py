"""Make a small library of invented news: the same facts change over the dates, others never do.

    python examples/news.py FOLDER

FOLDER/files holds one Markdown file per report, each with its date; FOLDER/questions.jsonl what to ask. Three
kinds: `latest` asks for the state of a fact that changed, `timeless` for one that never did and stands in an
old report, and `old` asks for the latest of something that only an old report tells. Equal on every machine.

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
"""Times that each fact is reported."""

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
    """Return a text with its first letter large."""
    return text[0].upper() + text[1:]


def make(folder: Path) -> None:
    """Write the reports and the questions."""
    rng = random.Random(7)
    (folder / "files").mkdir(parents=True, exist_ok=True)
    questions: list[dict[str, object]] = []
    written = 0

    def report(day: date, title: str, text: str) -> str:
        nonlocal written
        written += 1
        name = f"{written:04}.md"
        page = f"---\ndate: {day.isoformat()}\n---\n\n# {title}\n\n{text}\n"
        (folder / "files" / name).write_text(page, encoding="utf-8")
        return name

    def ask(kind: str, question: str, answer: str, gold: str) -> None:
        questions.append(
            {
                "id": f"news-{len(questions):03}",
                "kind": kind,
                "question": question,
                "answers": [answer],
                "gold": [gold],
            }
        )

    def changing(title: str, question: str, forms: tuple[str, ...], values: list[str]) -> None:
        day, gold = FIRST + timedelta(days=rng.randrange(40)), ""
        for value in values:
            gold = report(day, title, rng.choice(forms).replace("{value}", value))
            day += timedelta(days=rng.randrange(9, 60))
        ask("latest", question, values[-1], gold)

    for place in PLACES:
        for subject, question, forms, pool in FACTS:
            now = rng.choice(NOW[question.split()[0]])
            filled = tuple(f.replace("{place}", place) for f in forms)
            asked = question.replace("{place}", place).replace("{now}", now)
            changing(titled(subject.format(place=place)), asked, filled, rng.sample(pool, REPORTS))
        for n, (question, form) in enumerate(TIMELESS):
            value = str(rng.randrange(1790, 1890)) if n == 0 else rng.choice(FACTS[1][3])
            day = FIRST - timedelta(days=rng.randrange(400, 3000))
            gold = report(day, f"From the history of {place}", form.format(place=place, value=value))
            ask("timeless", question.format(place=place), value, gold)
        cargo = rng.choice(CARGO)
        day = FIRST - timedelta(days=rng.randrange(400, 2000))
        ask(
            "old",
            OLD[0].format(place=place),
            cargo,
            report(day, f"Wreck off {place}", OLD[1].format(place=place, value=cargo)),
        )
        for form in OTHER:
            report(
                FIRST + timedelta(days=rng.randrange(300, 420)),
                f"News from {place}",
                form.format(place=place),
            )
    for question, form, names in CHINESE:
        changing("青山镇新闻", question, (form,), list(names))
    lines = [json.dumps(q, ensure_ascii=False) for q in questions]
    (folder / "questions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python examples/news.py FOLDER")
    make(Path(sys.argv[1]))
    print(f"written to {sys.argv[1]}; index {sys.argv[1]}/files")
