from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.minds.chain import Chain, chain, hop_rank, links, spread
from ragweave.minds.evidence import Evidence, Hop
from ragweave.minds.small.question.asked import share
from ragweave.minds.small.reason import enough, has_clause, lead, missing_words, open_words


def idf(term: str) -> float:
    return 1.0


def row(name: str, title: str, text: str, score: float = 0.0) -> Evidence:
    return {
        "id": name,
        "corpus": "paragraph",
        "origin": "library",
        "title": title,
        "text": text,
        "locator": {},
        "query": "",
        "hop": 1,
        "score": score,
        "relevance": 0.0,
        "date": "",
    }


MILL = row("mill", "Tarn Mill", "The Tarn Mill was set up by Ilse Marwen in 1871. It closed in 1963.")
ILSE = row("ilse", "Ilse Marwen (founder)", "Ilse Marwen was born in Norway and painted ships.")
PAPER = row("paper", "Paper", "Paper is made of fibres.")
QUESTION = "In which country was the person who set up the Tarn Mill born?"


def test_far_item_earns_from_the_item_that_led_to_it() -> None:
    own = {"near": 1.0, "far": 0.1, "noise": 0.2}
    ranked = hop_rank(own, [("near", ["far", "noise"])], {}, weight=0.6)
    assert ranked["far"] == pytest.approx(0.1 + 0.6)
    assert ranked["noise"] == pytest.approx(0.2 + 0.3)
    assert ranked["near"] == 1.0


def test_a_score_passes_on_from_hop_to_hop() -> None:
    own = {"a": 1.0, "b": 0.2, "c": 0.0}
    ranked = hop_rank(own, [("a", ["b"]), ("b", ["c"])], {}, weight=0.6)
    assert ranked["c"] == pytest.approx(0.6 * min(ranked["b"], 1.0))


def test_poor_lead_passes_on_little() -> None:
    own = {"a": 1.0, "b": 0.0, "c": 0.5}
    assert hop_rank(own, [("b", ["c"])], {}, weight=0.6)["c"] == 0.5


def test_query_without_a_known_lead_counts_in_full() -> None:
    assert hop_rank({"a": 1.0, "b": 0.0}, [("", ["b"])], {}, weight=0.6)["b"] == pytest.approx(0.6)


def test_lead_earns_nothing_from_its_own_query() -> None:
    assert hop_rank({"a": 0.5, "b": 0.0}, [("a", ["a", "b"])], {}, weight=0.6) == {"a": 0.5, "b": pytest.approx(0.3)}


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1), min_size=1),
    st.lists(
        st.tuples(st.sampled_from(["", *"abcdef"]), st.lists(st.sampled_from("abcdefg"), unique=True)), max_size=4
    ),
    st.dictionaries(st.sampled_from("abcdef"), st.sets(st.sampled_from("abcdefg"))),
    st.floats(0, 2),
)
def test_nobody_loses_and_nobody_gains_more_than_the_weight(own, fetched, named, weight) -> None:  # type: ignore[no-untyped-def]
    ranked = hop_rank(own, fetched, named, weight)
    assert ranked.keys() == own.keys()
    assert all(own[i] <= ranked[i] <= own[i] + weight + 1e-9 for i in own)


def test_titles_named_in_a_text_are_links_unless_the_question_names_them() -> None:
    assert links(QUESTION, [MILL, ILSE, PAPER]) == {"mill": {"ilse"}, "ilse": set(), "paper": set()}


def test_scores_are_spread_over_the_unit_interval() -> None:
    assert spread({"a": 3.0, "b": -1.0, "c": 1.0}) == {"a": 1.0, "b": 0.0, "c": 0.5}
    assert spread({"a": 2.0}) == {"a": 1.0}
    assert spread({}) == {}


def test_next_query_holds_a_new_name_and_the_words_that_are_missing() -> None:
    query, item = lead(QUESTION, [MILL, ILSE, PAPER], [], idf)
    assert item == "mill"
    assert "Ilse Marwen" in query
    assert "Tarn" not in query
    assert query.endswith("country person born")


def test_item_that_led_to_a_query_leads_to_no_other() -> None:
    assert lead(QUESTION, [MILL, ILSE], ["mill"], idf)[1] == "ilse"


def test_nothing_named_means_no_query() -> None:
    assert lead("What is paper made of?", [row("p", "Paper", "it is made of fibres.")], [], idf) == ("", "")


@pytest.mark.parametrize(
    ("question", "clause"),
    [
        ("Who founded the firm that built the telescope?", True),
        ("What is the capital of the country in which he was born?", True),
        ("In which year did it open?", False),
        ("Who was the director?", False),
        ("When was the Corvane Observatory opened?", False),
        ("青山茶什么时候采摘?", False),
    ],
)
def test_relative_clause_is_told_from_an_opening_question_word(question: str, clause: bool) -> None:
    assert has_clause(question) is clause


@pytest.mark.parametrize(
    ("question", "gap", "stops"),
    [
        ("When was the Tarn Mill set up?", 0.0, True),
        ("When was the Tarn Mill closed by Norway?", 0.5, True),
        ("Which Norway country painted the Tarn Mill closed?", 0.5, False),
        ("Which Norway country painted the Tarn Mill closed?", 2.0, True),
        ("Who painted the ships of the person that set up the Tarn Mill?", 9.0, False),
    ],
)
def test_stop_needs_coverage_or_coverage_with_a_lead(question: str, gap: float, stops: bool) -> None:
    assert enough(question, [MILL], gap, idf) is stops


def test_two_items_are_enough_together_after_a_second_hop_only() -> None:
    question = "Where was Marwen, who set up the Tarn Mill, born?"
    assert not enough(question, [MILL, ILSE], 9.0, idf, searched=1)
    assert enough(question, [MILL, ILSE], 0.0, idf, searched=2)
    assert not enough(question, [MILL, PAPER], 0.0, idf, searched=2)


def test_open_words_are_those_no_text_has() -> None:
    assert open_words("Which ships did Ilse paint in Oslo?", ["Ilse painted a ship"]) == ["Oslo"]


def test_share_of_nothing_is_zero() -> None:
    assert share([], ["a"], lambda term: 1.0) == 0.0


def hop(n: int, leads: str = "") -> Hop:
    return {
        "n": n, "query": "", "corpora": [], "evidence": [], "action": "", "learnt": "", "missing": "",
        "next": "", "lead": leads, "by": "",
    }  # fmt: skip


def test_chain_names_what_led_on_what_is_named_and_what_is_still_open() -> None:
    rows: list[Evidence] = [
        {**MILL, "global_score": 1.2},
        {**ILSE, "global_score": 0.9},
        {**PAPER, "global_score": 0.1},
    ]
    found = chain(QUESTION, rows, [hop(1, "mill"), hop(2)])
    assert found.led == {"mill"}
    assert found.named == {"ilse"}
    assert "born" in found.open and "mill" not in found.open


def test_without_rounds_of_reasoning_there_is_no_chain() -> None:
    assert chain(QUESTION, [MILL, ILSE], []) == Chain()
    assert chain(QUESTION, [], [hop(1, "gone")]) == Chain()


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("Wem gehört die Bäckerei auf dem Festland?", ["gehört", "Bäckerei"]),
        ("Qui possède la boulangerie du continent ?", ["possède", "boulangerie", "continent"]),
        ("谁拥有灯塔的面包店？", ["面包店"]),
        ("What did the baker keep in her war hat?", ["baker", "keep", "war", "hat"]),
    ],
)
def test_what_is_missing_is_told_without_the_words_that_only_ask_or_join(question: str, missing: list[str]) -> None:
    assert missing_words(question, ["Die Fähre zum Festland.", "灯塔茶室开在石屋里。"]) == missing
