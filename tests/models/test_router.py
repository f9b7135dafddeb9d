"""The embedded router: what it reads of a question, its head, and the choice among corpora."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragweave.corpora.types import CORPORA, LABELS
from ragweave.models import router
from ragweave.models.errors import WeightsError
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
