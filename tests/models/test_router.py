"""The embedded router: what it reads of a question, its head, and the choice among corpora."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragweave.corpora.types import CORPORA, LABELS
from ragweave.models import router
from ragweave.models.doubt import is_bound, is_plain
from ragweave.models.errors import WeightsError
from ragweave.models.relevance import HEAD, LOWER, UPPER, WEIGHTS, Passage, head, kind_of, score
from ragweave.models.relevance_features import FEW, OWN, deviations, look
from ragweave.models.router_features import clean, read, skeleton


def test_options_and_white_space_are_left_out_and_the_skeleton_drops_the_subject():
    assert clean("What  is \t shown?\nA. a cat\nB. a dog") == "What is shown?"
    assert clean("About the lecture:\nwhen does it start?") == "About the lecture: when does it start?"
    assert clean("A. is the first option") == "A. is the first option"
    long = clean("start " + "middle " * 5000 + "end")
    assert long.startswith("start") and long.endswith("end") and len(long) < 1000
    assert skeleton("Who wrote Dune in 1965?") == ["^who", "_ote", "CAP", "in", "YEAR", "?"]


def test_places_of_phrases_do_not_depend_on_the_process():
    # Python's own hash() changes from run to run; stored weights need the same places for ever.
    assert read(["two words"]).bags["words"][0].tolist() == [2662, 3669, 7820]


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("What is the notice period in my rental contract?", "paragraph"),
        ("Compare both offers and tell me which one is cheaper overall", "document"),
        ("What colour is the car in the photo?", "image"),
        ("At what point in the recording does she mention the budget?", "clip"),
        ("Summarise the whole webinar", "video"),
        ("Write a poem about autumn", "none"),
        ("Welche Farbe hat die Tür auf dem Foto?", "image"),
        ("¿En qué minuto habla el profesor del presupuesto?", "clip"),
        ("Résume tout l'enregistrement", "video"),
        ("比较这两份合同有什么不同", "document"),
    ],
)
def test_plain_cases_reach_the_corpus_that_their_words_name(question, label):
    p = router.predict(question)
    assert max(p, key=lambda k: p[k]) == label


@settings(deadline=None, max_examples=40)
@given(st.text(max_size=300))
def test_any_text_gets_probabilities_and_the_same_ones_twice(text):
    p = router.predict(text)
    assert set(p) == set(LABELS) and all(0 <= v <= 1 for v in p.values())
    assert router.predict(text) == p


def test_a_file_that_is_no_head_or_one_for_other_features_is_refused_with_a_sentence(tmp_path):
    with np.load(router.HEAD, allow_pickle=False) as file:
        old = {k: file[k] for k in file.files}
    old["starts_words"] = old["starts_words"][:-1]
    path = tmp_path / "router.npz"
    path.write_bytes(b"not a zip")
    with pytest.raises(WeightsError, match="cannot be read"):
        router.predict("hi", path)
    pickled = {"labels": np.array([{}], object)}
    for n, (arrays, said) in enumerate(
        ((pickled, "cannot be read"), ({}, "cannot be read"), (old, "other features"))
    ):
        np.savez(tmp_path / f"{n}.npz", **arrays)
        with pytest.raises(WeightsError, match=said):
            router.head(tmp_path / f"{n}.npz")


P = {"none": 0.5, "paragraph": 0.2, "document": 0.1, "image": 0.15, "clip": 0.03, "video": 0.02}
ALL = set(CORPORA)


@pytest.mark.parametrize(
    ("probabilities", "available", "options", "chosen"),
    [
        (P, ALL, {"second_below": 0}, ["paragraph"]),
        (P, ALL, {"second_below": 0, "none_allowed": True}, ["none"]),
        (P, ALL, {"second_below": 0.9}, ["paragraph", "image"]),
        (P, {"image", "clip"}, {"second_below": 0.8}, ["image"]),
        (P, {"image", "clip"}, {"second_below": 0.9}, ["image", "clip"]),
        (P, set(), {"second_below": 1.0}, []),
        (P, {"table"}, {"second_below": 1.0}, []),
        ({"video": 0.5, "clip": 0.5}, {"video", "clip"}, {"second_below": 0}, ["clip"]),
        ({"none": 1.0, "image": 0.0, "clip": 0.0}, {"image", "clip"}, {}, ["clip", "image"]),
        ({"table": 0.9, "image": 0.1}, {"table", "image"}, {"second_below": 0.5}, ["table"]),
        (
            {"paragraph": 0.5, "none": 0.4, "image": 0.1},
            {"paragraph", "image"},
            {"second_below": 1.0, "none_allowed": True},
            ["paragraph", "image"],
        ),
    ],
)
def test_what_the_library_lacks_is_masked_and_a_second_corpus_joins_an_unsure_first(
    probabilities, available, options, chosen
):
    assert router.choose(probabilities, available, **options) == chosen


@pytest.mark.parametrize(
    ("scores", "labels"),
    [
        ({"paragraph": 0.9, "image": 0.85, "none": 0.95}, ["paragraph", "image"]),
        ({"none": 0.9, "image": 0.2}, ["none"]),
        ({"paragraph": 0.9, "document": 0.95}, ["document"]),
        ({"clip": 0.3, "video": 0.4}, ["video"]),
        ({"clip": 0.9, "video": 0.85, "image": 0.8}, ["clip", "image"]),
        ({"paragraph": 0.85, "document": 0.85}, ["paragraph"]),
        ({}, []),
    ],
)
def test_label_sets_follow_the_sigmoid_rule(scores, labels):
    assert router.label_set(scores) == labels


def test_corpora_are_grouped_by_matter_and_a_new_one_stands_alone():
    assert router.modalities(["clip", "paragraph", "table", "video"]) == [
        ("paragraph",),
        ("clip", "video"),
        ("table",),
    ]


IDF = {"what": 0.1, "year": 1.0, "open": 1.5}


def idf(term: str) -> float:
    return IDF.get(term, 3.0)


def seen(question: str, *passages: Passage):
    return look(question, passages, lambda term: 2.0)


TOWER = Passage("Eiffel Tower", "The Eiffel Tower opened in Paris in 1889. It is 330 metres high.")
OTHERS = [
    Passage("Tokyo Tower", "The Tokyo Tower opened in 1958 as a mast for television."),
    Passage("Cats", "The cat sat on the mat and looked out of the window."),
    Passage("Bread", "Sourdough is fed with flour and water every day."),
    Passage("Harbour", "The ferry leaves at noon from the northern pier."),
]
QUESTION = "In what year did the Eiffel Tower open?"


def test_the_answering_passage_comes_first_and_clears_the_upper_threshold() -> None:
    found = score(QUESTION, [*OTHERS, TOWER], idf)
    assert found.order.argmax() == found.floor.argmax() == 4
    assert found.floor[4] >= UPPER and (found.floor[1:4] < LOWER).all()
    backward = score(QUESTION, [TOWER, *OTHERS[::-1]], idf)
    np.testing.assert_allclose(found.order, backward.order[::-1], atol=1e-6)
    play = Passage("哈姆雷特", "《哈姆雷特》是威廉·莎士比亚创作的悲剧。")
    chinese = score("谁创作了哈姆雷特？", [play, Passage("猫", "猫坐在垫子上。")], idf).floor
    assert chinese[0] >= UPPER and chinese[1] < LOWER


def test_more_of_the_question_never_counts_less() -> None:
    more = ("A building.", "A tower.", "The Eiffel Tower.", "The Eiffel Tower opened.")
    texts = [*more, "The Eiffel Tower opened that year."]
    relevances = [score(QUESTION, [Passage("", t)], idf).floor[0] for t in texts]
    assert relevances == sorted(relevances) and relevances[-1] > relevances[0] + 0.5


@pytest.mark.parametrize("empty", [Passage("", ""), Passage("", " \n "), Passage("", "…")])
def test_an_empty_passage_is_irrelevant(empty: Passage) -> None:
    found = score(QUESTION, [empty, TOWER], idf)
    assert found.floor[0] < LOWER and found.order[0] < found.order[1]


def test_the_second_hop_is_linked_and_lifted_by_the_candidate_that_names_it() -> None:
    film = Passage("Big Stone Gap", "Big Stone Gap is a 2014 film written and directed by Adriana Trigiani.")
    person = Passage("Adriana Trigiani", "Adriana Trigiani is an author who lives in New York City.")
    question = "In which city does the director of Big Stone Gap live?"
    assert {0, 1} == set(np.argsort(-score(question, [film, person, *OTHERS], idf).order)[:2].tolist())
    first, second, other = seen(question, film, person, TOWER).named_by
    assert second > 0.5 and first == other == 0


@pytest.mark.parametrize("text", [None, HEAD.read_text("utf-8")[:40], "{}", "[]"])
def test_a_broken_scale_is_named_with_a_remedy(text: str | None, tmp_path: Path) -> None:
    path = tmp_path / "relevance.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(WeightsError, match="Install Ragweave again"):
        head(path=path)


def test_a_passage_whose_vector_is_near_comes_first_where_no_words_meet() -> None:
    near = Passage("Practice", "Kittens get no food before surgery.")
    strange = "Should a kitty fast ahead of an operation?"
    by_words = score(strange, [*OTHERS, near], idf)
    found = score(strange, [*OTHERS, near], idf, [0.0, 0.1, -0.3, 0.2, 3.0])
    assert found.order.argmax() == found.floor.argmax() == 4
    assert found.floor[4] > by_words.floor[4] and by_words.floor.max() < LOWER


def test_each_kind_of_encoder_has_its_weights_and_its_scale() -> None:
    assert [kind_of(n) for n in ("wordllama", "fastembed:BAAI/bge-small-en-v1.5", "openai:x")] == [
        "static", "transformer", "transformer",
    ]  # fmt: skip
    assert head("static").weights == WEIGHTS["static"] and head("static") != head("transformer")


def test_nearness_is_told_in_deviations_of_the_library_and_counts_little_among_few() -> None:
    many = np.tile([0.1, 0.3], 1_000)
    assert deviations(np.array([0.2, 0.5]), many) == pytest.approx([0.0, 3.0], rel=0.03)
    few = np.tile([0.1, 0.3], FEW // 2)
    assert deviations(np.array([0.5]), few) == pytest.approx([1.5])
    for flat in ([], [0.4] * 5):
        assert deviations(np.array([0.5]), np.array(flat)).tolist() == [0.0]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_part_of_what_was_read_is_as_if_the_rest_had_not_been(data: st.DataObject) -> None:
    words = st.sampled_from("tower harbour keeper lamp opened 1889 Pell Ostrand the of".split())
    made = st.builds(
        Passage, st.lists(words, max_size=2).map(" ".join), st.lists(words, max_size=8).map(" ".join)
    )
    passages = data.draw(st.lists(made, min_size=1, max_size=6))
    places = data.draw(st.lists(st.integers(0, len(passages) - 1), min_size=1, unique=True))
    part, alone = (
        seen("When did the tower of Pell open?", *passages).of(places),
        [passages[n] for n in places],
    )
    other = seen("When did the tower of Pell open?", *alone)
    np.testing.assert_allclose(part.own, other.own, atol=1e-6)
    np.testing.assert_allclose(part.named_by, other.named_by, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    st.text(max_size=60),
    st.lists(st.tuples(st.text(max_size=20), st.text(max_size=120)), min_size=1, max_size=4),
)
def test_any_text_gives_finite_features(question: str, passages: list[tuple[str, str]]) -> None:
    found = seen(question, *(Passage(*p) for p in passages))
    assert np.isfinite(found.own).all() and np.isfinite(found.named_by).all()
    assert (
        found.own[:, : OWN.index("near")].min() >= 0 and found.own[:, : OWN.index("near")].max() <= 1 + 1e-9
    )


@pytest.mark.parametrize(
    "text",
    [
        "The tower is not 90 m high.",
        "The shop may close early.",
        "It doesn't open.",
        "Der Turm ist nie geöffnet.",
        "Le pont pourrait fermer.",
        "Se cree que la torre es alta.",
        "The hall will open in 2027.",
    ],
)
def test_a_sentence_that_denies_doubts_plans_or_reports_is_not_plain(text: str) -> None:
    assert not is_plain(text)


@pytest.mark.parametrize(
    "text", ["The tower opened in May 1931.", "Der Turm ist 90 m hoch.", "La tour est haute."]
)
def test_a_statement_is_plain(text: str) -> None:
    assert is_plain(text)


@pytest.mark.parametrize(
    ("before", "bound"),
    [("It holds more than ", True), ("Es fasst mindestens ", True), ("It holds ", False), ("", False)],
)
def test_words_before_a_number_make_it_a_bound(before: str, bound: bool) -> None:
    assert is_bound(before) is bound
