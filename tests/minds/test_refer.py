import json
from pathlib import Path

import pytest

from ragweave.minds.contracts import Said
from ragweave.minds.small.core import core
from ragweave.minds.small.question.refer import follow

DATA = Path(__file__).parent / "data"
FLOOR = 0.9
"""Share of the dialogues that have to stand by themselves."""


def asked_after(question, answer, title, turn):
    heart = core(turn)
    return heart.question if heart.fresh else follow(heart.question, Said(question, answer, title), heart.onward)


@pytest.mark.parametrize(("name", "rows"), [("dialogues", 50), ("dialogues_turns", 40)])
def test_dialogues_are_put_into_words(name, rows):
    wrong, count = [], 0
    for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        r = json.loads(line)
        made, answer, title = "", "", ""
        for asked, *told in [*r.get("turns", [[r.get("question"), r.get("answer"), r.get("title")]]), [r["asked"]]]:
            made = asked_after(made, answer, title, asked)
            answer, title = told or ("", "")
        said, count = made.lower(), count + 1
        if not all(w in said for w in r["has"]) or any(w in said for w in r["lacks"]):
            wrong.append((r["asked"], made))
    assert count == rows and len(wrong) <= (1 - FLOOR) * rows, wrong


@pytest.mark.parametrize(
    ("question", "answer", "turn", "made"),
    [
        ("Who founded the Corvane Observatory?", "", "When did it open?", "When did the Corvane Observatory open?"),
        ("Who founded the Corvane Observatory?", "", "What is the capital of Peru?", "What is the capital of Peru?"),
        ("What is the height of Everest?", "", "What about K2?", "What is the height of K2?"),
        (
            "What does the Drowned Bell pay for a litre?",
            "",
            "And within how many days do they have to pay?",
            "within how many days do the Drowned Bell have to pay?",
        ),
        ("Who brings the school class?", "", "How warm is it in the cellar?", "How warm is it in the cellar?"),
        (
            "Where is the Petrel moored?",
            "",
            "How long is it at the waterline?",
            "How long is the Petrel at the waterline?",
        ),
        ("When is Hugo's medical due?", "", "and when is the lorry's own test?", "when is the lorry's own test?"),
        ("What did the permit cost in 2023?", "", "and 2024?", "What did the permit cost in 2024?"),
        ("What stood in the plan of 2019?", "", "And in the newer one?", "What stood in the newest plan?"),
        (
            "What did the rye loaf cost on the list of 2019?",
            "",
            "And the newer one?",
            "What did the rye loaf cost now?",
        ),
        (
            "Which clock is wound on Mondays?",
            "",
            "How heavy is it?",
            "How heavy is the clock that is wound on Mondays?",
        ),
        (
            "Wo singt der Chor?",
            "Der Chor singt in der Kantorei.",
            "Wie viele passen da hinein?",
            "Wie viele passen da hinein? (Chor)",
        ),
        ("How much is the bike shed?", "", "?", "How much is the bike shed?"),
        ("When is Gus's birthday?", "", "and his sister's?", "When is Gus’ sister's birthday?"),
        (
            "How many starters did the race have in 2025?",
            "",
            "how many of them finished?",
            "how many of the starters that the race have in 2025 finished?",
        ),
        (
            "When is the camp in Orme?",
            "",
            "How far do they have to swim for that?",
            "How far do they have to swim for that? (the camp in Orme)",
        ),
        (
            "How old is the boiler?",
            "",
            "What did the club want for their help?",
            "What did the club want for their help?",
        ),
        ("How long do lentils cook?", "", "chickpeas?", "How long do chickpeas cook?"),
        ("What is Mira's room number?", "", "and toms?", "What is tom's room number?"),
        ("Who runs the mill?", "Ada Brook runs the mill.", "Where does she live?", "Where does Ada Brook live?"),
        (
            "Who is the caretaker?",
            "Mr Pell has retired; it is Ms Dagny Oster.",
            "What is her number?",
            "What is Ms Dagny Oster’s number?",
        ),
        ("What is written on the bell of the mill?", "", "When was it cast?", "When was the bell of the mill cast?"),
        (
            "On which hill did Ada work?",
            "Bo Lund says that she worked on Mount Tarn.",
            "How high is it?",
            "How high is Mount Tarn?",
        ),
        (
            "How many boats started in the race?",
            "",
            "how many finished of them?",
            "how many finished of the boats that started in the race?",
        ),
        ("Which firm built it?", "Halvorsen Bau built the hall.", "What did they ask?", "What did Halvorsen Bau ask?"),
        ("When does the bus to Orme go?", "", "Who drives it?", "Who drives the bus?"),
        (
            "How many crews came to the race in 2024?",
            "",
            "And this year?",
            "How many crews came to the race this year?",
        ),
        ("What do we pay for a berth?", "", "and in 2023?", "What do we pay for a berth in 2023?"),
        ("What will Hathersage charge?", "", "And Brackwater's?", "What will Brackwater charge?"),
        ("what does the plan say?", "", "Who replaced the crane?", "Who replaced the crane?"),
        ("谁建立了《青山站》？", "", "它有多高？", "青山站有多高？"),
        ("狗早上几点喂?", "", "晚上呢?", "狗晚上几点喂?"),
    ],
)
def test_a_follow_up_is_resolved_by_rule(question, answer, turn, made):
    assert asked_after(question, answer, "", turn) == made
