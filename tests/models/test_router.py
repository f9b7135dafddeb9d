import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ragweave.corpora.types import CORPORA, LABELS
from ragweave.models import router
from ragweave.models.errors import WeightsError


def test_the_head_knows_the_labels_of_the_corpora():
    assert set(router.head().labels) == set(LABELS)


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


def test_answer_options_on_further_lines_change_nothing():
    stem = "What does the man hold when the bell rings?"
    assert router.predict(f"{stem}\nA. a rope\nB) a cup\n(C) a hat") == router.predict(stem)


@hypothesis_settings(deadline=None, max_examples=40)
@given(st.text(max_size=300))
def test_any_text_gets_probabilities_and_the_same_ones_twice(text):
    p = router.predict(text)
    assert all(0 <= v <= 1 for v in p.values())
    assert router.predict(text) == p


def test_a_file_that_is_no_head_is_refused_with_a_sentence(tmp_path):
    broken = tmp_path / "router.npz"
    broken.write_bytes(b"not a zip")
    with pytest.raises(WeightsError, match="cannot be read"):
        router.predict("hi", broken)
    for name, arrays in {"other": {"labels": np.array(["a"])}, "pickled": {"cues": np.array([{}], object)}}.items():
        np.savez(tmp_path / f"{name}.npz", **arrays)
        with pytest.raises(WeightsError, match="cannot be read"):
            router.head(tmp_path / f"{name}.npz")


def test_a_head_for_other_cues_is_refused(tmp_path):
    with np.load(router.HEAD, allow_pickle=False) as file:
        arrays = {k: file[k] for k in file.files}
    arrays["cues"] = arrays["cues"][:-1]
    np.savez(tmp_path / "old.npz", **arrays)
    with pytest.raises(WeightsError, match="other features"):
        router.head(tmp_path / "old.npz")


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
        ({"table": 0.9, "image": 0.1}, {"table", "image"}, {"second_below": 0.5}, ["table"]),
        ({"none": 1.0, "image": 0.0, "clip": 0.0}, {"image", "clip"}, {}, ["clip", "image"]),
    ],
)
def test_what_the_library_lacks_is_masked_and_a_second_corpus_joins_an_unsure_first(
    probabilities, available, options, chosen
):
    assert router.choose(probabilities, available, **options) == chosen


def test_none_never_joins_as_second():
    p = {"paragraph": 0.5, "none": 0.4, "image": 0.1}
    assert router.choose(p, {"paragraph", "image"}, second_below=1.0, none_allowed=True) == ["paragraph", "image"]


@pytest.mark.parametrize(
    ("scores", "labels"),
    [
        ({"paragraph": 0.9, "image": 0.85, "none": 0.95}, ["paragraph", "image"]),
        ({"none": 0.9, "image": 0.2}, ["none"]),
        ({"paragraph": 0.9, "document": 0.95}, ["document"]),
        ({"clip": 0.9, "video": 0.85, "image": 0.8}, ["clip", "image"]),
        ({"clip": 0.3, "video": 0.4}, ["video"]),
        ({"paragraph": 0.85, "document": 0.85}, ["paragraph"]),
        ({}, []),
    ],
)
def test_label_sets_follow_the_sigmoid_rule(scores, labels):
    assert router.label_set(scores) == labels


def test_corpora_are_grouped_by_matter_and_a_new_one_stands_alone():
    assert router.modalities(["clip", "paragraph", "table", "video"]) == [("paragraph",), ("clip", "video"), ("table",)]
