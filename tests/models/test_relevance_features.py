import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragweave.models.relevance import embed
from ragweave.models.relevance_features import (
    LINKS,
    OWN,
    comparison,
    look,
)
from ragweave.models.relevance_reading import Passage


def seen(question: str, *passages: Passage):
    return look(question, passages, lambda term: 2.0, embed)


def own(question: str, passage: Passage) -> dict[str, float]:
    return dict(zip(OWN, seen(question, passage).own[0].tolist(), strict=True))


def links(question: str, *passages: Passage) -> list[dict[str, float]]:
    return [dict(zip(LINKS, row.tolist(), strict=True)) for row in seen(question, *passages).links]


HAMLET = Passage("Hamlet (play)", "Hamlet is a tragedy. William Shakespeare wrote it about 1600.")


def test_coverage_counts_stems_of_title_and_text() -> None:
    found = own("Which tragedies did Shakespeare perform?", HAMLET)
    assert found["coverage"] == pytest.approx(2 / 3)
    assert own("bananas", HAMLET)["coverage"] == 0


def test_rare_words_weigh_more() -> None:
    weights = {"rare": 9.0}
    rare, common = (
        look("rare common", [Passage("", text)], lambda t: weights.get(t, 1.0), embed).own[0][OWN.index("coverage")]
        for text in ("rare", "common")
    )
    assert rare == pytest.approx(0.9) and common == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("When did it open?", "It opened in 1889.", 1.0),
        ("When did it open?", "It opened.", 0.0),
        ("How many came?", "Three came.", 1.0),
        ("Who came?", "Then Ada Lovelace came.", 1.0),
        ("Why did it open?", "It opened in 1889.", 0.0),
    ],
)
def test_the_answer_type_is_looked_for(question: str, text: str, expected: float) -> None:
    assert own(question, Passage("", text))["answer_type"] == expected


def test_a_passage_named_by_a_strong_candidate_is_linked() -> None:
    bridge = Passage("Big Stone Gap", "Big Stone Gap is a film directed by Adriana Trigiani.")
    second = Passage("Adriana Trigiani", "She lives in New York City.")
    other = Passage("Paris", "Paris is a city.")
    found = links("Where does the director of Big Stone Gap live?", bridge, second, other)
    assert found[1]["named_by"] > 0.5 and found[1]["named_count"] == 0.5
    assert found[2]["named_by"] == 0 and found[0]["names_others"] > 0


def test_passages_of_one_document_do_not_link_each_other() -> None:
    parts = [Passage("Notes", "Notes on the harbour."), Passage("Notes", "More notes on the harbour.")]
    assert not seen("What about the harbour?", *parts).links.any()


def test_a_question_of_function_words_is_blank() -> None:
    assert seen("What is it?", HAMLET).blank and not seen("Who wrote it?", HAMLET).blank


def test_chinese_text_is_covered_by_character_pairs() -> None:
    found = own("谁写了哈姆雷特？", Passage("哈姆雷特", "《哈姆雷特》是莎士比亚创作的悲剧。"))
    assert found["coverage"] == 1.0 and found["title_phrase"] == 1.0


def test_equal_candidates_compare_as_zero() -> None:
    full = comparison(seen("Who wrote Hamlet?", HAMLET, HAMLET, HAMLET))
    np.testing.assert_allclose(full, 0, atol=1e-6)
    assert full.shape == (3, 2 * (len(OWN) + len(LINKS)))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_part_of_what_was_read_is_as_if_the_rest_had_not_been(data: st.DataObject) -> None:
    words = st.sampled_from("tower harbour keeper lamp opened 1889 Pell Ostrand the of".split())
    made = st.builds(Passage, st.lists(words, max_size=2).map(" ".join), st.lists(words, max_size=8).map(" ".join))
    passages = data.draw(st.lists(made, min_size=1, max_size=6))
    places = data.draw(st.lists(st.integers(0, len(passages) - 1), min_size=1, unique=True))
    part, alone = seen("When did the tower of Pell open?", *passages).of(places), [passages[n] for n in places]
    other = seen("When did the tower of Pell open?", *alone)
    np.testing.assert_allclose(part.own, other.own, atol=1e-6)
    np.testing.assert_allclose(part.links, other.links, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=60), st.lists(st.tuples(st.text(max_size=20), st.text(max_size=120)), min_size=1, max_size=4))
def test_any_text_gives_finite_features(question: str, passages: list[tuple[str, str]]) -> None:
    found = seen(question, *(Passage(*p) for p in passages))
    assert np.isfinite(found.own).all() and np.isfinite(found.links).all()
    assert found.own[:, : OWN.index("cosine")].min() >= 0 and found.own[:, : OWN.index("cosine")].max() <= 1 + 1e-9
