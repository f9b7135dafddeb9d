from __future__ import annotations

import time

import pytest

from ragweave.minds.evidence import Strip
from ragweave.minds.small.answer.gather import choose
from ragweave.minds.small.answer.sentences import rank
from ragweave.minds.small.doubt import another, doubted, to_come
from ragweave.minds.small.question.asked import asked_of
from ragweave.minds.small.question.value import affirms, lacks, unidentified
from tests.minds.test_sentences import one, strip


def doubts(question: str, *strips: Strip) -> bool:
    ranked = rank(question, strips, one)
    return doubted(question, ranked[0], choose(ranked, question, one, 1))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who built it?", "A mason built it."),
        ("What did the cloak cost?", "The cloak of 1911 is of velvet."),
        ("How long does the play take?", "The play drew 803 spectators."),
        ("How long was his apprenticeship?", "The punch is that of the year 1791."),
        ("How heavy is the boat?", "The boat was lent in 2019."),
        ("What does a club pay per lane?", "The price per lane is the one that the meeting has set."),
        ("Who mended the stone frog?", "Beside it there is a pool with the stone frog."),
    ],
)
def test_what_holds_no_value_of_the_kind_lacks_it(question: str, text: str) -> None:
    assert lacks(asked_of(question), text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How much deposit does Kenji pay?", "He pays 410 a month and 500 deposit."),
        ("How long is the comet?", "It is 11 kilometres long."),
        ("How long has she been chair?", "She has been chair since 1990."),
        ("What does the cloak cost?", "The cloak costs 5 pounds."),
        ("How much are small chips?", "Chips, small: price 2.70"),
        ("What share of the huts has a bell?", "Nine out of ten have one."),
        ("What share of the huts has a bell?", "One in five has one."),
    ],
)
def test_a_value_may_be_told_by_its_noun_or_its_unit(question: str, text: str) -> None:
    assert not lacks(asked_of(question), text)


def test_what_is_not_so_is_told_by_what_denies() -> None:
    asked = asked_of("Which members did not come to the meeting?")
    assert affirms(asked, "Rufus Tenby, cook at the meeting.")
    assert not affirms(asked, "Ada Brook did not come.")
    assert not affirms(asked_of("How warm is the hall, not the bays?"), "The hall: 17 degrees")
    assert not affirms(asked_of("Why can't we use the kitchen?"), "It is closed until May because of damp.")
    assert affirms(asked_of("Why can't we use the kitchen?"), "We use the kitchen for the soup.")
    assert not affirms(asked_of("When do we not meet?"), "There is a break from 1 to 15 August.")
    assert affirms(asked_of("When do we not meet?"), "We meet on Mondays at 8 pm.")
    assert not affirms(asked_of("How long do cats go without food?"), "Cats: eight hours")
    assert not affirms(asked_of("What do I owe if I can't find my key any more?"), "Whoever loses one pays 35 pounds.")


@pytest.mark.parametrize(
    ("question", "text", "without"),
    [
        ("How many minutes does the soup cook?", "1.5 kg of rhubarb and 250 g of sugar", True),
        ("How many minutes does the soup cook?", "It cooks for 40 minutes.", False),
        ("How much deposit does he pay?", "He pays 410 a month and 500 deposit.", False),
        ("What is her telephone number?", "She is from Harrow.", True),
        ("When does it open?", "It is behind the mill.", True),
        ("When will the stop close?", "It closes at the end of next summer.", False),
        ("Who built it?", "Nobody knows.", False),
        ("Below which temperature do we stop?", "Below minus four you may sharpen tools.", False),
        ("For how long does Brown Hob keep after picking?", "5 Oct. Brown Hob.", True),
        ("For how long does Brown Hob keep?", "It keeps for three months.", False),
        ("Within how many days do they have to pay?", "Price £2.48 a litre.", True),
        ("Within how many days do they have to pay?", "Payment within 21 days.", False),
    ],
)
def test_a_value_that_is_asked_for_has_to_be_there(question: str, text: str, without: bool) -> None:
    assert lacks(asked_of(question), text) is without


@pytest.mark.parametrize(
    ("question", "text", "without"),
    [
        ("What is Ada's passport number?", "Her passport of 12 May 2025 cost 37 euros, as she is under 24.", True),
        ("What is Ada's passport number?", "Ada: passport, Number C4F88121", False),
        ("what is the number of Ada's passport", "The passport runs out on 12 May 2025.", True),
        ("What is Ada's telephone number?", "Ada takes 500 euros a day for 2 days.", True),
        ("What is the phone number of the mill?", "Call the mill on 29 April at 10:00, by phone.", True),
        ("phone number of the mill", "The mill: 0331 8080", False),
        ("Which number do I ring in an emergency?", "Ring 112.", False),
        ("What is our member number?", "Our member number is 2044.", False),
        ("What is our member number?", "We have been members since 2019.", True),
        ("What is the number of visitors?", "Some 120 came.", False),
        ("In which locker number are the keys?", "They hang in locker 12.", False),
        ("What is the house number of the mill?", "The mill, Ferry Lane 14", False),
        ("Who has the phone number of the mill?", "Ada has it.", False),
        ("What do I do when I have lost my phone number?", "Ask in the office.", False),
        ("What is a prime number?", "It has no divisor but one and itself.", False),
        ("What theorem tells of primes in number theory?", "The fundamental theorem tells of primes.", False),
        ("What numbers can only be divided by one?", "Primes can.", False),
        ("What number plate has the van?", "The van has the plate of our club.", False),
        ("What is Ada's e-mail address?", "Ada, 22 Mill Street", True),
        ("what is the email of the mill", "The mill: office@mill.example", False),
        ("What is the email about?", "It is about the new rules.", False),
        ("Welche Telefonnummer hat die Mühle?", "Die Mühle ist seit dem 1. Mai 2021 offen.", True),
        ("Welche Telefonnummer hat die Mühle?", "Die Mühle: 0331 8080", False),
        ("Quel est le numéro de téléphone du moulin ?", "Il est ouvert depuis 3 ans.", True),
        ("What is the PIN of the card?", "The PIN was sent on 3 May 2025 and costs 10 euros.", True),
        ("What is the password of the guests?", "The password is mill-2025.", False),
        ("What is the combination of the safe?", "Ada knows the combination.", True),
        ("What is the combination of the safe?", "The combination is 40-12-7.", False),
        ("What is the password of the gate?", "Say “Pelican”.", False),
        ("What is the code word of the gate?", "From May on it is Pelican.", False),
        ("What is the wifi password?", "The wifi password is sunflower.", False),
        (
            "What is the wifi password?",
            "The password for the wifi is Sunflower-Nine and seldom changes.",
            False,
        ),
        ("What is the wifi password?", "The wifi password is written on the router.", True),
        ("What is the wifi password?", "The password is secret.", True),
        ("What is the code of the gate?", "The gate code is kept by Jan.", True),
        ("What is the dress code for the ball?", "The dress code for the ball is black tie.", False),
        ("What is the best combination of colours?", "Red goes with green.", False),
    ],
)
def test_a_number_or_an_address_that_is_asked_for_is_no_day_and_no_amount(
    question: str, text: str, without: bool
) -> None:
    assert unidentified(asked_of(question), text) is without


@pytest.mark.parametrize("sum_", ["2.6 million crowns", "300 kronor", "40 rupees", "12 CHF", "9,000 yen"])
def test_what_something_costs_may_be_said_in_any_currency(sum_: str) -> None:
    assert not lacks(asked_of("What does the new pier cost?"), f"The work costs {sum_}.")


@pytest.mark.parametrize(
    ("question", "place", "told", "is_another"),
    [
        ("What did the service cost in 2025?", "log 2024", "The service cost 350 euros.", True),
        ("What did the service cost in 2025?", "log 2025", "The service of 2024 cost 350 euros.", False),
        ("What score did it get in October?", "Tasting, April 2026", "It got 83 points.", True),
        ("Who was chair in 1962?", "chairs", "Ada Lund was chair from 1958 to 1970.", False),
        ("When did the meeting of 2025 begin?", "log 2024", "It began at ten.", False),
        ("What does the man earn who came in 2019?", "pay 2024", "He earns 20 euros.", False),
        ("How heavy is Ferry 5?", "Ferry 15", "It weighs 40 tonnes.", True),
        ("How heavy is Ferry 5?", "Ferry 5", "It weighs 40 tonnes.", False),
        ("What happens on May 5?", "May 15", "The fair opens.", False),
        ("what does hut 5 cost", "huts", "Hut number 4 costs 55 euros a night.", True),
        ("what does hut number 4 cost", "huts", "Hut 4 costs 55 euros a night.", False),
        ("Was kostet Hütte 5?", "Preise", "Hütte Nr. 4 kostet 55 Euro.", True),
        ("who has plot 3", "Bees on plot 2", "I moved the hive on 3 May.", True),
        ("what does the hut cost for 2 days", "huts", "The hut costs 55 euros for 4 days.", False),
        ("who may use the pool under 12", "rules", "Children under 14 may use the pool.", False),
        ("What do you charge after 8 pm?", "prices", "After 9 the hall is closed.", False),
    ],
)
def test_what_is_told_of_another_year_month_or_number_is_of_another(
    question: str, place: str, told: str, is_another: bool
) -> None:
    assert another(asked_of(question), f"{place} {told}", place) is is_another


def test_a_sentence_that_dates_itself_by_another_year_is_doubted_whatever_its_title_says() -> None:
    question, title = "How many people came to the night swim in 2026?", "Night swim, plan for 2026"
    assert doubts(question, strip("Last time (2024) 240 people came to the night swim.", title))
    assert not doubts(question, strip("Some 240 people came to the night swim.", title))
    assert not doubts(question, strip("Since 2024 some 240 people have come to each night swim.", title))


def test_what_something_has_is_no_question_for_what_came_to_be() -> None:
    told = strip("The map of the harbour has maybe two hundred marks.")
    assert not doubts("How many marks does the map of the harbour have?", told)
    assert doubts("How many marks has the map of the harbour had?", told)


def test_an_amount_that_is_asked_for_by_the_hour_has_to_be_told_by_the_hour() -> None:
    question = "What does the electrician Ada Brook charge per hour?"
    for text, without in (
        ("The electrician Ada Brook charged 412 pounds for the rings.", True),
        ("The electrician Ada Brook charges 38 pounds an hour.", False),
        ("Electrician Ada Brook: charge £38/h", False),
    ):
        best = rank(question, [strip(text)], one)
        assert doubted(question, best[0], best[:1]) is without


@pytest.mark.parametrize(
    ("question", "text", "without"),
    [
        ("How expensive is the sauna per month?", "The sauna costs 9 euros an hour.", True),
        ("How expensive is the sauna per hour?", "The sauna costs 9 euros an hour.", False),
        ("how much is the sauna a month", "The sauna: 9 euros an hour", True),
        ("How much per month is the sauna?", "The sauna costs 90 euros a year.", True),
        ("What does the sauna cost yearly?", "The sauna costs 90 euros a year.", False),
        ("Was kostet das Essen im Monat?", "Das Essen kostet 4,20 Euro am Tag.", True),
        ("Was kostet das Essen am Tag?", "Das Essen kostet 4,20 Euro am Tag.", False),
        ("Was kostet das Essen pro Monat?", "Das Essen kostet monatlich 84 Euro.", False),
        ("Combien coûte le repas par mois ?", "Le repas coûte 4 euros par jour.", True),
        ("What did we pay for the sauna a year ago?", "We paid 90 euros for the sauna.", False),
    ],
)
def test_what_is_asked_for_by_the_month_is_not_told_by_the_hour_in_any_language(
    question: str, text: str, without: bool
) -> None:
    best = rank(question, [strip(text)], one)
    assert doubted(question, best[0], best[:1]) is without


@pytest.mark.parametrize(
    ("question", "text", "title", "doubted_"),
    [
        ("How much did the boat cost?", "Idea in May: we buy a boat, about 1,450 euros.", "Boats", True),
        ("How much did the boat cost?", "A boat would cost 1,450 euros.", "Boats", True),
        ("How much would the boat cost?", "A boat would cost 1,450 euros.", "Boats", False),
        ("How much did the boat cost?", "The boat cost 1,450 euros.", "Boats", False),
        ("How much did the boat cost?", "The boat is 1,450 euros. Ada would like to rent it.", "Boats", True),
        ("How much did the boat cost?", "The boat is 1,450 euros. We did not buy it.", "Boats", True),
        ("How much does the boat cost?", "The boat is 1,450 euros. Ada would like to rent it.", "Boats", False),
        ("How much did the boat cost?", "The boat cost 1,450 euros. It did not rain.", "Boats", False),
        ("How many guests came to the fair?", "We hope for 200 guests at the fair.", "The fair", True),
        ("Which hotel did we stay at in Pell?", "In Pell the Swan Hotel has rooms at 90 euros.", "Trip (draft)", True),
        ("Who came to the meeting?", "Ada Lund came to the meeting.", "Minutes (draft, not approved)", False),
        ("Was kostete das Boot?", "Ein Boot würde 1450 Euro kosten.", "Boote", True),
    ],
)
def test_what_was_is_not_told_by_an_idea_a_plan_or_what_came_to_nothing(
    question: str, text: str, title: str, doubted_: bool
) -> None:
    assert doubts(question, strip(text, title)) is doubted_


def test_a_code_that_is_asked_of_has_to_stand_in_the_text() -> None:
    boiler = strip("Code E09 of the boiler means that the pump is stuck.", "The boiler")
    assert doubts("What does code E11 of the boiler mean?", boiler)
    assert not doubts("What does code E09 of the boiler mean?", boiler)


def test_a_number_in_groups_that_is_asked_of_has_to_stand_in_the_text() -> None:
    paid = strip("The invoice 2025-004 was paid on 18 April.", "Invoices")
    assert doubts("When was invoice 2025-006 paid?", paid)
    assert not doubts("When was invoice 2025-004 paid?", paid)
    season = strip("In 2024 the invoice of the season was paid on 18 April.", "Invoices")
    assert not doubts("When was the invoice of the season 2024-2025 paid?", season)


def test_who_tells_of_the_subject_and_little_of_what_is_asked_of_it_is_doubted() -> None:
    text = (
        "Ada Lund climbed the Grey Widow as the first woman. She played as a goalkeeper in the village team of Harrow."
    )
    assert doubts("Whom did Ada Lund marry?", strip(text, "Ada Lund"))
    assert doubts("What position did Ada Lund hold in the first parliament?", strip(text, "Ada Lund"))
    assert not doubts("What did Ada Lund climb as the first woman?", strip(text, "Ada Lund"))


def test_what_is_told_of_another_is_doubted_but_not_in_a_recording_where_names_are_seldom_said() -> None:
    question, told = "When was the crane of Pell built?", "The crane of Vellmouth was built in 1900."
    assert doubts(question, strip(told))
    assert not doubts("When was the crane of Vellmouth built?", strip(told))
    assert not doubts(question, {**strip(told), "locator": {"kind": "time", "start": 0.0, "end": 5.0}})


def test_how_wide_a_thing_is_tells_nobody_how_long_it_is() -> None:
    asked = asked_of("How long is the yard?")
    assert lacks(asked, "The yard is 11 metres wide.")
    assert not lacks(asked, "The yard is 40 metres long and 11 metres wide.")


def test_a_value_may_stand_in_the_passage_that_is_shown() -> None:
    question = "Who makes tools that construct synthetic datasets?"
    told = "They have tools that construct synthetic datasets by programs."
    ranked = rank(question, [strip(told)], one)
    assert doubted(question, ranked[0], ranked[:1])
    assert not doubted(question, ranked[0], ranked[:1], passage=f"One of those firms is Tessel. {told}")


def test_what_is_measured_across_is_read_in_words_figures_and_signs() -> None:
    asked = asked_of("How long is the yard?")
    for across in ("11 m", "11m", "11′", '11 "', "eleven feet"):
        assert lacks(asked, f"The yard is {across} wide."), across


@pytest.mark.parametrize("question", ["When is the fair?", "How long is the yard?", "How many seats has the hall?"])
@pytest.mark.parametrize("unit", ["1", "一", "a", "a.", "1,", "1-"])
def test_whether_a_long_text_holds_a_value_is_told_in_a_moment(question: str, unit: str) -> None:
    asked, text = asked_of(question), unit * (4_000 // len(unit))
    began = time.process_time()
    assert (lacks(asked, text), unidentified(asked, text)) is not None
    assert time.process_time() - began < 1


def test_all_days_of_a_month_that_are_listed_are_days() -> None:
    asked = asked_of("How many seats has the hall?")
    assert lacks(asked, f"The hall is let on {', '.join(map(str, range(1, 31)))} and 31 August.")


def test_a_day_that_is_still_to_come_tells_nobody_when_something_was() -> None:
    asked, told = "When was the boiler last serviced?", "Service of the boiler: Start: Thursday 3 December 2126"
    assert to_come(asked, told) and doubts(asked, strip(told))
    assert not to_come(asked, "The boiler was serviced on 3 December 2020, next on 3 December 2126.")
    assert not to_come("When is the boiler serviced?", told)
