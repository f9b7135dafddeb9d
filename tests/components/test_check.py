from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.components.check import (
    FAILED,
    WHOLE,
    CheckedAnswer,
    CheckSource,
    Claim,
    check,
    judged,
    others,
)
from ragweave.components.grounds import find, lacking, underivable
from ragweave.components.run_context import RunContext, TurnState
from ragweave.components.sentence_cut import cut
from ragweave.components.verdicts import Verdict
from ragweave.models import tables
from ragweave.models.chat import override
from ragweave.models.meter import Meter
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.knobs import context as knobs_of
from ragweave.tests.support.reading import asked, reader

MILL = CheckSource(
    "m",
    "Mill (mill.md)",
    "Ada Quill opened the mill in 1931. It has four floors. Bert Osk runs it.",
    "2020-01-01",
)
NEWER = CheckSource(
    "n", "Mill today", "The mill has six floors since the flood. Its door is green.", "2024-01-01"
)
QUESTION = "How many floors does the mill have?"


async def checked(
    said: list[Claim], sources: list[CheckSource], checker: Any
) -> tuple[CheckedAnswer, ScriptedChat]:
    model = ScriptedChat(checker=checker)
    run = RunContext("check", knobs_of(), TurnState(Meter()))
    with override(writer=model):
        return await check(run, QUESTION, said, sources), model


def mark(sentence: str, *rows: dict[str, Any], sources: tuple[CheckSource, ...] = (MILL, NEWER)) -> Any:
    verdicts = [Verdict.model_validate({"n": 1, **row}) for row in rows]
    return judged(Claim(sentence, (1,)), verdicts, sources, QUESTION)


async def test_a_sentence_that_a_passage_says_is_verified_with_the_words_of_it() -> None:
    made, model = await checked([Claim("It has four floors.", (1,))], [MILL], reader())
    assert [m.support for m in made.marks] == ["verified"]
    assert made.marks[0].rests[0].text == "It has four floors."
    assert len(model.checks) == 1


async def test_the_whole_answer_goes_into_one_call_with_two_controls_among_it() -> None:
    said = [
        Claim("It is old:", frame=True),
        Claim("It has four floors.", (1,)),
        Claim("It is of 1950.", (1,)),
    ]
    made, model = await checked(said, [MILL, NEWER], reader())
    passages, lines = asked(model.checks[0].messages)
    own = [line for line in lines.values() if line in {s.text for s in said}]
    assert own == [s.text for s in said]
    assert len(lines) == len(said) + 2
    assert list(passages.values())[:2] == [f"{s.title}\n{s.text}" for s in (MILL, NEWER)]
    assert [m.support for m in made.marks] == ["unchecked", "verified", "unverified"]


@pytest.mark.parametrize("verdict", ["supported", "not stated", "contradicted"])
async def test_a_model_that_says_one_thing_of_all_fails_its_controls_twice_and_counts_for_nothing(
    verdict: str,
) -> None:
    def lazy(messages: Any) -> Any:
        _, lines = asked(messages)
        words = "" if verdict == "not stated" else "It has four floors."
        return {"verdicts": [{"n": n, "verdict": verdict, "passage": 1, "words": words} for n in lines]}

    made, model = await checked([Claim("It has four floors.", (1,))], [MILL], lazy)
    assert (made.void, [m.support for m in made.marks]) == (FAILED, ["unchecked"])
    controls = [set(asked(c.messages)[1].values()) - {"It has four floors."} for c in model.checks]
    assert len(controls) == 2 and controls[0].isdisjoint(controls[1])


async def test_a_reply_that_cannot_be_read_checks_nothing() -> None:
    made, _ = await checked(
        [Claim("It has four floors.", (1,))], [MILL], lambda _: "I agree with everything."
    )
    assert [m.support for m in made.marks] == ["unchecked"] and "could not be read" in made.void


@pytest.mark.parametrize("words", ["", "It has five floors.", "Yes", "floors"])
def test_supported_without_words_that_stand_there_is_no_verdict(words: str) -> None:
    assert (
        mark("It has four floors.", {"verdict": "supported", "passage": 1, "words": words}).support
        == "unverified"
    )


def test_words_of_a_passage_that_say_something_else_verify_nothing() -> None:
    made = mark(
        "Ada Quill opened the mill in 1950.",
        {"verdict": "supported", "passage": 1, "words": "Ada Quill opened the mill in 1931."},
    )
    assert (made.support, made.why) == ("unverified", "1950")


def test_what_follows_is_never_verified() -> None:
    rows = [
        {"verdict": "follows", "passage": 1, "words": "Ada Quill opened the mill in 1931."},
        {"verdict": "follows", "passage": 2, "words": "The mill has six floors since the flood."},
    ]
    assert mark("The mill of 1931 has six floors.", *rows).support == "follows"
    assert mark("The mill of 1931 has 77 floors.", *rows).support == "unverified"


def test_the_worst_of_several_verdicts_counts() -> None:
    rows = [
        {"verdict": "supported", "passage": 1, "words": "It has four floors."},
        {"verdict": "contradicted", "passage": 2, "words": "The mill has six floors since the flood."},
    ]
    made = mark("It has four floors.", *rows)
    assert (made.support, made.against[0].passage) == ("contradicted", 2)


DISPUTE = {"verdict": "disputed", "passage": 1, "words": "It has four floors.", "against": 2}


def test_a_newer_source_disputes_what_an_older_one_says_and_never_the_other_way_round() -> None:
    said = {**DISPUTE, "says": "The mill has six floors since the flood."}
    made = mark("It has four floors.", said)
    assert (made.support, made.rests[0].passage, made.against[0].passage) == ("disputed", 1, 2)
    turned = (MILL._replace(date="2025-01-01"), NEWER)
    assert mark("It has four floors.", said, sources=turned).support == "verified"


def test_a_dispute_without_words_is_no_verdict() -> None:
    assert mark("It has four floors.", {**DISPUTE, "says": "It has nine floors."}).support == "unverified"


@pytest.mark.parametrize(
    ("text", "support"), [("See http://mill.example/a.", "verified"), ("See http://x.example.", "unverified")]
)
def test_an_address_counts_only_letter_by_letter(text: str, support: str) -> None:
    source = CheckSource("w", "Web", "See http://mill.example/a for the mill. It is open.")
    row = {"verdict": "supported", "passage": 1, "words": "See http://mill.example/a for the mill."}
    assert mark(text, row, sources=(source,)).support == support


def test_what_is_only_said_of_the_sources_bears_no_mark() -> None:
    assert mark("The documents do not tell who paid.", {"verdict": "about sources"}).support == "unchecked"


def test_a_long_passage_is_cut_at_sentences_and_keeps_what_is_said() -> None:
    filler = "\n\n".join(f"Nothing of note was done in the garden of plot {n}." for n in range(400))
    text = (
        f"{filler}\n\nHer hull is 41.6 metres.\n\n{filler}\n\nShip | 2022 | 2023\nHeron | $60 |"
        f" $56\n\n{filler}"
    )
    short = cut(
        text, ["The hull has 41.6 metres.", "The Heron earned $56 in 2023."], "What of the Heron?", WHOLE
    )
    assert "Her hull is 41.6 metres." in short and "Ship | 2022 | 2023\nHeron | $60 | $56" in short
    assert len(short) <= WHOLE + 100 and "[…]" in short
    lines = {line for line in short.splitlines() if line and line != "[…]"}
    assert lines <= set(text.splitlines())


def test_three_to_five_others_are_read_and_none_twice() -> None:
    ranked = [CheckSource(str(n), f"T{n}", f"Passage number {n} says this. " * 15) for n in range(9)]
    assert [s.id for s in others(ranked, [ranked[0]])] == ["1", "2", "3", "4", "5"]
    long = [s._replace(text=s.text * 10) for s in ranked]
    assert [s.id for s in others(long, [])] == ["0", "1", "2"]
    twice = [ranked[1], ranked[1]._replace(id="again"), ranked[2]]
    assert [s.id for s in others(twice, [])] == ["1", "2"]


@pytest.mark.parametrize(("at", "support"), [("1:05", "verified"), ("45:10", "unverified")])
def test_a_clock_time_may_be_a_place_within_the_recording(at: str, support: str) -> None:
    clip = CheckSource("c", "Talk", "The comet came. Nobody slept that night.", span=(60.0, 90.0))
    row = {"verdict": "supported", "passage": 1, "words": "The comet came."}
    assert mark(f"At {at} the comet came.", row, sources=(clip,)).support == support


def test_what_only_a_model_remembers_is_its_own_knowledge() -> None:
    memory = CheckSource("r", "From memory", "The mayor of Pell is Jonna Reef.", memory=True)
    row = {"verdict": "supported", "passage": 1, "words": "The mayor of Pell is Jonna Reef."}
    assert mark("The mayor is Jonna Reef.", row, sources=(memory,)).support == "model"


SHOP = (
    "Prices (shop.md; 2024-06-01)",
    "The drill costs 90 kr. a day. The saw costs 120 kr. a day.\n\n"
    "Ada Quill opened the shop in 1931. Bert Osk closed it in 1950. It was red. It stood in Pell.\n\n"
    "Item | Length (m) | Price\nHose | 25 | 40\nRope | 30 | 55\n",
)
OTHER = ("Works", "Cy Dorn built the kiln in 1940. He lent Ada Quill 3 tools.")
TEXTS = [SHOP[1], OTHER[1]]


def held(sentence: str, *words: str, question: str = "") -> str:
    grounds = [g for w in words if (g := find(w, TEXTS, 1)) is not None]
    assert len(grounds) == len(words)
    return lacking(sentence, grounds, [SHOP, OTHER], question)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("the saw  costs\n120 KR. a day", "The saw costs 120 kr. a day."),
        ("Ada Quill opened ... in 1931.", "Ada Quill opened the shop in 1931."),
        ("“Ada Quill opened the shop”", "Ada Quill opened the shop in 1931."),
        ("Hose | 25 | 40", "Item | Length (m) | Price\nHose | 25 | 40"),
        ("Cy Dorn built the kiln", "Cy Dorn built the kiln in 1940."),
    ],
)
def test_copied_words_are_found_with_the_sentence_or_row_around_them(words: str, found: str) -> None:
    grounds = find(words, TEXTS, 1)
    assert grounds is not None and grounds.text == found


@pytest.mark.parametrize(
    "words",
    [
        "",
        "...",
        "The saw costs 90 kr.",
        "saw",
        "The drill ... 1999",
        SHOP[1],
        "osts 120 kr. a da",
        "Ada … Bert … Pell.",
    ],
)
def test_words_that_do_not_stand_there_or_span_too_much_are_not_found(words: str) -> None:
    assert find(words, TEXTS, 1) is None


@given(st.data())
def test_every_sentence_of_a_passage_is_found_where_it_stands(data: st.DataObject) -> None:
    spans = [s for s in tables.spans(SHOP[1]) if len(SHOP[1][slice(*s)].split()) > 1]
    start, end = data.draw(st.sampled_from(spans))
    found = find(SHOP[1][start:end], TEXTS, 1)
    assert found is not None and SHOP[1][found.start : found.end].strip() == SHOP[1][start:end].strip()


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("The saw is 120 kr. per day.", "The saw costs 120 kr. a day."),
        ("In 1931 Quill's shop was opened.", "Ada Quill opened the shop in 1931."),
        ("The hose is 25 metres long.", "Hose | 25 | 40"),
        ("By the prices of 1 June 2024, the hose is 40.", "Hose | 25 | 40"),
        ("Dorn lent three tools.", "He lent Ada Quill 3 tools."),
    ],
)
def test_words_and_titles_hold_what_a_sentence_states(sentence: str, words: str) -> None:
    assert held(sentence, words, question="What did Dorn lend?") == ""


@pytest.mark.parametrize(
    ("sentence", "words", "missing"),
    [
        ("The drill costs 120 kr.", "The drill costs 90 kr. a day.", "120"),
        ("The saw costs 120 euros.", "The saw costs 120 kr. a day.", "120"),
        ("The hose is 25 cm long.", "Hose | 25 | 40", "25"),
        ("The shop was opened by Cy Dorn in 1931.", "Ada Quill opened the shop in 1931.", "Cy Dorn"),
        ("It was opened on 3 May 1931.", "Ada Quill opened the shop in 1931.", "3"),
    ],
)
def test_a_value_of_something_else_is_missing(sentence: str, words: str, missing: str) -> None:
    assert held(sentence, words) == missing


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Together they cost 210 kr.", ["The drill costs 90 kr. a day.", "The saw costs 120 kr. a day."]),
        ("The saw costs 30 kr. more.", ["The drill costs 90 kr. a day.", "The saw costs 120 kr. a day."]),
        (
            "It stood open for 19 years.",
            ["Ada Quill opened the shop in 1931.", "Bert Osk closed it in 1950."],
        ),
        ("The hose is about 82 ft long.", ["Hose | 25 | 40"]),
        ("The hose and the rope are 55 m long.", ["Hose | 25 | 40", "Rope | 30 | 55"]),
    ],
)
def test_what_follows_by_arithmetic_is_derived(sentence: str, words: list[str]) -> None:
    grounds = [g for w in words if (g := find(w, TEXTS, 1)) is not None]
    assert underivable(sentence, grounds, [SHOP, OTHER], "") == ""


@pytest.mark.parametrize(
    "sentence", ["Together they cost 310 kr.", "The saw costs 120 euros.", "It costs 7 kr."]
)
def test_what_no_arithmetic_gives_is_not(sentence: str) -> None:
    grounds = [
        g for w in ("The drill costs 90 kr.", "The saw costs 120 kr.") if (g := find(w, TEXTS, 1)) is not None
    ]
    assert underivable(sentence, grounds, [SHOP, OTHER], "") != ""


def test_a_name_in_another_script_or_language_is_no_fault() -> None:
    passages = [("茶", "青山茶产于北坡的茶园,每年四月采摘。")]
    grounds = find("青山茶产于北坡的茶园", [passages[0][1]], 1)
    assert grounds is not None
    assert lacking("Qingshan tea grows on the northern slope.", [grounds], passages, "") == ""
