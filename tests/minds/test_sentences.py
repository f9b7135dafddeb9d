from __future__ import annotations

from dataclasses import replace

import pytest

from ragweave.minds.chain import Chain
from ragweave.minds.evidence import Strip
from ragweave.minds.small.answer.gather import choose
from ragweave.minds.small.answer.sentences import SIGNS, asked_part, parts_of, rank
from ragweave.minds.small.write import ANSWERABLE


def one(term: str) -> float:
    return 1.0


def strip(text: str, title: str = "The tower", name: str = "a") -> Strip:
    return {
        "id": f"{name}#0-{len(text)}",
        "evidence": name,
        "text": text,
        "title": title,
        "locator": {},
        "origin": "library",
        "query": "q",
        "hop": 1,
        "score": 0.5,
    }


def test_best_sentence_answers_and_says_where_it_stands() -> None:
    text = "The tower is red. It was built in 1874 by masons from the mainland. Sheep graze around it all year."
    best = rank("When was the tower built?", [strip(text)], one)[0]
    assert best.text.startswith("It was built in 1874")
    assert text[best.start : best.end] == best.text


def test_sentence_is_read_with_its_title() -> None:
    there = strip("It was built in 1874 by masons.", title="The Corvane tower", name="a")
    elsewhere = strip("It was built in 1911 by masons.", title="The town hall", name="b")
    ranked = rank("When was the Corvane tower built?", [elsewhere, there], one)
    assert "1874" in ranked[0].text


def test_under_a_title_that_says_all_that_is_asked_the_text_is_read_from_its_start() -> None:
    text = "Nine tenths come from wind, sun and tide. The price is low. The power that is sold pays for the cable."
    best = rank("How does Corvane get its electricity?", [strip(text, title="Electricity on Corvane")], one)[0]
    assert best.text.startswith("Nine tenths")


def test_two_parts_of_a_question_get_a_sentence_each_the_first_asked_first() -> None:
    question = "Who designed the lens and when was the tower built?"
    text = "The tower was built in 1874. The lens was designed by Ada Lund. Goats are kept behind the wall of the yard."
    strips = [strip(text)]
    chosen = choose(rank(question, strips, one), question, one, limit=3)
    assert [e.text for e in chosen][:2] == ["The lens was designed by Ada Lund.", "The tower was built in 1874."]
    assert all("Goats" not in e.text for e in chosen)


def test_same_sentence_from_two_places_is_chosen_once() -> None:
    strips = [strip("The tower was built in 1874.", name="a"), strip("The tower was built in 1874.", name="b")]
    question = "When was the tower built?"
    assert len(choose(rank(question, strips, one), question, one, limit=3)) == 1


def test_heading_is_not_a_sentence_of_the_answer() -> None:
    text = "The red tower. It was built in 1874 by masons."
    assert all("1874" in e.text for e in rank("When was the red tower built?", [strip(text, "The red tower")], one))


def test_sentence_that_leans_on_the_one_before_is_told_with_it() -> None:
    text = "Oxygen chambers stand in the yard. They cost 4,000 euros. Goats are kept elsewhere."
    best = rank("What do the oxygen chambers cost?", [strip(text)], one)[0]
    assert best.told == "Oxygen chambers stand in the yard. They cost 4,000 euros."


def test_she_is_who_the_paragraph_speaks_of_however_many_sentences_before() -> None:
    text = "Big Blue is the loom by the door. She was given by the widow of Silas Oddy. By the plate she weighs 140 kg."
    best = rank("How heavy is Big Blue?", [strip(text, "Looms")], one)[0]
    assert best.told == "Big Blue is the loom by the door. By the plate she weighs 140 kg."
    assert best.sure > ANSWERABLE


def test_an_entry_that_opens_with_a_name_speaks_of_it_to_its_end() -> None:
    text = "Heron - the big one. Bed 400 x 400. Plover - same as Dunlin, but enclosed. Chamber goes to 55 °C."
    best = rank("How warm does the chamber of Plover get?", [strip(text, "Printers")], one)[0]
    assert best.told == "Plover - same as Dunlin, but enclosed. Chamber goes to 55 °C."
    other = rank("How warm does the chamber of Heron get?", [strip(text, "Printers")], one)[0]
    assert "heron" not in other.covers or other.end < text.index("Plover")


def test_a_sentence_in_french_leans_on_the_one_before_as_well() -> None:
    text = "Le cours pour débutants a lieu le mercredi. Il coûte 11 livres, fil compris."
    best = rank("Combien coûte le cours pour débutants ?", [strip(text, "Le métier")], one)[0]
    assert best.told == text and best.sure > ANSWERABLE


def test_a_word_stands_in_a_compound_of_its_language() -> None:
    texts = ("Die Höchsttemperatur liegt bei 1.100 Grad.", "Der Deckel bleibt bis 120 Grad zu.")
    best = rank("Welche Temperatur darf der Ofen haben?", [strip(" ".join(texts), "Der Ofen")], one)[0]
    assert best.text == texts[0]


def test_piece_of_a_list_is_told_with_its_heading() -> None:
    notes = strip("Birthday: 3 May\n\nAllergies: kiwi", "People · Gus Penhale")
    best = rank("When is the birthday of Gus Penhale?", [notes], one)[0]
    assert best.told == "Gus Penhale: Birthday: 3 May"


def test_labels_in_one_paragraph_are_sentences_of_their_own() -> None:
    text = "Birthday: 3 May Drinks: rooibos, no milk In an emergency: his sister Dorrit"
    assert [text[a:b] for a, b in parts_of(strip(text))] == [
        "Birthday: 3 May", "Drinks: rooibos, no milk", "In an emergency: his sister Dorrit",
    ]  # fmt: skip


def test_what_a_colon_announces_belongs_to_its_sentence() -> None:
    text = "The committee has three posts:\n- president\n- treasurer\n- captain\n\nMeetings are on Mondays in the barn."
    question = "Which posts has the committee?"
    (chosen,) = choose(rank(question, [strip(text)], one), question, one, 1)
    assert "captain" in chosen.text
    assert "Mondays" not in chosen.text


def test_a_value_of_the_asked_subject_is_surer_than_that_of_its_neighbour() -> None:
    people = [strip("Birthday: 3 May", "People · Gus", "a"), strip("Plays: viola", "People · Leocadia", "b")]
    there = rank("When is the birthday of Gus?", people, one)[0]
    missing = rank("When is the birthday of Leocadia?", people, one)[0]
    assert there.sure > ANSWERABLE > missing.sure


def test_sentences_of_two_items_count_together_where_the_question_has_a_relative_clause() -> None:
    mill = strip("The mill was founded by Ilse Marwen.", "Tarn Mill", "mill")
    ilse = strip("Ilse Marwen was born in Norway.", "Ilse Marwen", "ilse")
    apart = strip("Jon Berg was born in Norway.", "Jon Berg", "jon")
    question = "In which country was the woman who founded the Tarn Mill born?"
    sure = {e.strip["evidence"]: e.sure for e in rank(question, [mill, ilse, apart], one)}
    assert sure["ilse"] > sure["jon"]


def test_heads_of_mails_and_menus_are_no_sentences() -> None:
    text = (
        "From: Ada Lund <ada@example.invalid>\n\nHome · Visit · Tickets · Contact · Imprint\n\nThe tower opens at nine."
    )
    assert [e.text for e in rank("When does the tower open?", [strip(text)], one)] == ["The tower opens at nine."]


def test_rows_of_short_cells_are_read_where_a_description_is_looked_for() -> None:
    text = "name | born | office | boat\nAda Lund | 1960 | president | Grebe\nBo Quill | 1988 | cox | Kittiwake"
    question = "Who is the president?"
    assert rank(question, [strip(text, "members")], one) == []
    assert "Ada Lund" in rank(question, [strip(text, "members")], one, rows=True)[0].text


def test_a_short_sentence_with_a_number_is_no_head_of_its_paragraph() -> None:
    text = "Calf and goat. Delivers in nine days. Smallest order 300 euros."
    assert rank("How many days does it take to deliver?", [strip(text)], one)[0].text == "Delivers in nine days."


def test_links_and_pictures_lose_their_marks() -> None:
    text = "The tower was built in [1874](https://example.invalid/x) by ![masons](m.png)."
    assert rank("When was the tower built?", [strip(text)], one)[0].text == "The tower was built in 1874 by masons."


def test_section_heading_inside_a_long_text_is_not_a_sentence() -> None:
    text = "The island burns wood.\n\nWhat it costs\n\nHouseholds pay a tenth less for what the island burns."
    found = [e.text for e in rank("What do households pay?", [strip(text, "Power")], one)]
    assert "What it costs" not in found
    assert found[0].startswith("Households pay")


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("When was the tower built?", "When was the tower built?"),
        (
            "Ada won her seat because it was given up. Who lent his name to the product?",
            "Who lent his name to the product?",
        ),
        ("In which town does the clan sit?", "which town does the clan sit?"),
        ("Name the town of the clan.", "Name the town of the clan."),
        ("谁建了灯塔？", "谁建了灯塔？"),
        ("", ""),
    ],
)
def test_what_a_question_asks_for_stands_in_its_last_sentence(question: str, asked: str) -> None:
    assert asked_part(question) == asked


def test_answer_stands_at_the_end_of_the_chain() -> None:
    question = "In which country was the person who set up the Tarn Mill born?"
    mill = strip("The Tarn Mill in the country was set up by Ilse Marwen.", "Tarn Mill", "mill")
    ilse = strip("Ilse Marwen, a painter, was born in Norway.", "Ilse Marwen", "ilse")
    other = strip("Jon Berg was born in the country of Sweden.", "Jon Berg", "other")
    ends = Chain(led=frozenset(["mill"]), named=frozenset(["ilse"]), open=("born",))
    assert rank(question, [mill, ilse, other], one)[0].strip["evidence"] != "ilse"
    assert rank(question, [mill, ilse, other], one, ends)[0].strip["evidence"] == "ilse"


def test_nothing_gives_nothing() -> None:
    assert rank("When?", [], one) == []
    assert choose([], "When?", one, 3) == []


def recorded(text: str, score: float = 0.5) -> Strip:
    return {
        "id": f"c#0-{len(text)}", "evidence": "c", "text": text, "title": "Talk", "origin": "library", "query": "q",
        "locator": {"kind": "time", "file": "/t.mp4", "start": 0.0, "end": 30.0}, "hop": 1, "score": score,
    }  # fmt: skip


def test_a_speakers_name_alone_answers_nothing_and_counts_where_it_is_asked_what_somebody_says() -> None:
    strips = [recorded("Ada Ostrander: Right. Ada Ostrander: The comet shines. The comet of Pell returns.")]
    found = [e.text for e in rank("Who is Ada Ostrander?", strips, lambda term: 1.0)]
    assert "Ada Ostrander: Right." not in found
    first = rank("What does Ada Ostrander say about the comet?", strips, lambda term: 1.0)[0]
    assert first.text == "Ada Ostrander: The comet shines. The comet of Pell returns."


FERRY = strip("She was built in 1961 by the Ravnholt shipyard. She is red.", "The ferry Marten", "ferry")
YARD = strip("The Ravnholt shipyard closed in 1987.", "Shipyards", "yard")
CLOSED = "When did the shipyard that built the Marten close?"


def test_two_sentences_that_share_a_name_and_cover_more_together_are_shown_together() -> None:
    ranked = rank(CLOSED, [FERRY, YARD], one)
    partner = ranked[0].partner
    assert partner is not None and partner.strip is not ranked[0].strip
    assert [e.text for e in choose(ranked, CLOSED, one, 3)][:2] == [ranked[0].text, partner.text]
    assert len(choose(ranked, CLOSED, one, 1)) == 1


def test_a_name_of_the_question_or_of_both_titles_or_a_common_word_joins_nothing() -> None:
    assert all(e.partner is None for e in rank(CLOSED + " Ravnholt", [FERRY, YARD], one))
    lists = [
        strip("Birthday: 19 December", "People · Ada", "a"),
        strip("Plays the viola with Denzil", "People · Bo", "b"),
    ]
    assert all(e.partner is None for e in rank("When is the birthday of Denzil?", lists, one))


def test_who_is_only_named_beside_the_value_does_not_share_it() -> None:
    people = [
        strip("Birthday: 27 November", "People · Ilse Marwen", "a"),
        strip("Since 2024 the partners are Ilse Marwen and Denzil Tennick.", "History", "b"),
    ]
    assert all(e.partner is None for e in rank("When is Denzil Tennick's birthday?", people, one))


def test_what_goes_on_in_an_item_of_a_list_is_said_of_what_the_item_begins_with() -> None:
    text = "- Ada Brook, warden of the hut. Baker by trade, born in Ribe.\n- Bo Lund, keeper. Works as a dentist."
    ranked = rank("Where was the warden of the hut born?", [strip(text, "Members")], one)
    assert ranked[0].told == "Ada Brook, warden of the hut. Baker by trade, born in Ribe."
    (other,) = [e for e in ranked if e.text == "Works as a dentist."]
    assert other.told.startswith("Bo Lund")
    assert "warden" not in other.covers


def test_a_number_of_its_form_is_a_telephone_number() -> None:
    ranked = rank("What is Ada Brook's telephone number?", [strip("Ada Brook, vet: 0331 5577", "Contacts")], one)
    assert "telephon" in ranked[0].covers


def test_a_word_made_from_the_same_word_covers_it() -> None:
    [found] = rank("Which lake do Kenyans share?", [strip("Kenya shares one lake with its neighbours.", "Notes")], one)
    assert "kenyan" in found.covers


def test_a_label_line_answers_its_label_only() -> None:
    held = [strip("Plays: viola since 1998", "People · Marsh")]
    asked, other = (rank(q, held, one)[0].sure for q in ("What does Marsh play?", "What is Marsh allergic to?"))
    assert asked > other


def test_of_a_table_only_the_rows_are_chosen_that_hold_most_of_what_is_asked() -> None:
    held = strip("month | rent | heating\nJanuary | 9800 | 1830\nFebruary | 9800 | 1710\nMarch | 9800 | 1290", "Budget")
    question = "How much was heating in February?"
    assert [e.text for e in rank(question, [held], one)] == ["February: rent 9800, heating 1710"]
    assert len(rank("What is the rent?", [held], one)) == 3


def test_what_a_line_states_may_be_one_word() -> None:
    held = strip("Present: Ines, Tomas, Mara. Absent: Olav.", "Board meeting")
    assert "Absent: Olav." in [e.text for e in rank("Who was absent?", [held], one)]


def test_without_a_name_one_word_said_otherwise_does_not_decide() -> None:
    held = strip("Initially the museum was known for its manufactures.", "Notes")
    [found] = rank("Which manufactures was the museum originally known for?", [held], one)
    signs = dict(zip(SIGNS, found.signs, strict=True))
    assert 0 < signs["slot"] < 1
    assert signs["subject"] == signs["slot"]


@pytest.mark.parametrize(("lead", "shown"), [(0.2, 2), (0.5, 1)])
def test_a_second_sentence_is_shown_only_where_the_first_leads_it_by_little(lead: float, shown: int) -> None:
    held = strip("The tower was built in 1874 by masons. Goats graze behind the wall of the yard.")
    first, second = rank("When was the tower built?", [held], one)
    close = [first, replace(second, score=first.score - lead)]
    assert len(choose(close, "When was the tower built?", one, limit=3)) == shown


def test_the_label_of_a_line_is_part_of_what_it_says_and_no_speaker() -> None:
    text = "- Treasurer: Percy Dunn\n- Secretary: Ottoline Fisk"
    best = rank("Who is the treasurer?", [strip(text, title="Committee")], one)[0]
    assert best.text == "Treasurer: Percy Dunn" and "treasur" in best.covers


def test_a_word_that_says_little_counts_less_than_one_that_names_a_thing() -> None:
    text = "From the tower they see far. The parcels lie in the shed."
    ranked = rank("Where can I see the parcels?", [strip(text, title="")], lambda t: 3.0 if t == "see" else 1.0)
    assert ranked[0].text.startswith("The parcels")


def test_a_text_is_read_under_the_headings_that_stand_in_it() -> None:
    text = "Before the show\n\nHorses\n\n- no hay for six hours\n\nGeese\n\n- never lock them in"
    best = rank("What about geese before the show?", [strip(text, title="Before the show")], one)[0]
    assert best.told == "Geese: never lock them in"
    assert best.narrowed["locator"]["chars"] == [text.index("- never"), len(text)]


def test_of_lines_that_days_label_the_one_of_the_day_that_is_asked_answers() -> None:
    text = "- Monday to Thursday: 8:00 to 19:00\n- Friday: 8:00 to 16:30\n- Saturday: closed"
    ranked = rank("When does the shop close on Fridays?", [strip(text, title="Hours of the shop")], one)
    assert [e.text for e in ranked] == ["Friday: 8:00 to 16:30"]


def test_an_entry_of_a_list_is_said_by_nobody() -> None:
    text = "- Out: Thursday, 5:45\n- Driver: Ada Lund\n- Price: 3,480 euros"
    best = rank("Who drives the coach?", [strip(text, title="Your coach")], one)[0]
    assert best.text == "Driver: Ada Lund"


@pytest.mark.parametrize(("asked", "told"), [("december", "3 dec 15:10"), ("on Tuesday", "tue + thu")])
def test_the_short_form_of_a_month_or_day_is_that_day(asked: str, told: str) -> None:
    best = rank(f"dentist time {asked}", [strip(f"- dentist, {told}", title="Scraps")], one)[0]
    assert best.signs[SIGNS.index("subject")] * best.signs[SIGNS.index("slot")] == 1.0


def test_who_is_the_person_whose_name_is_the_heading() -> None:
    staff = strip("Won the northern cup in 2023. Studies in Harrow.", title="Staff · Ada Lund")
    best = rank("Who won the cup?", [staff], one)[0]
    assert best.told == "Ada Lund: Won the northern cup in 2023."
