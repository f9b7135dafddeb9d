import numpy as np
import pytest

from ragweave.models.router_cues import DENSE_NAMES
from ragweave.models.router_features import BLOCKS, WordClasses, clean, content_words, featurise, skeleton


@pytest.fixture
def classes():
    return WordClasses(np.eye(3, 256, dtype=np.float32))


@pytest.mark.parametrize(
    ("question", "routed"),
    [
        ("What is shown?\nA. a cat\nB. a dog", "What is shown?"),
        ("About the lecture:\nwhen does it start?", "About the lecture: when does it start?"),
        ("  spaced \t out  ", "spaced out"),
        ("A. is the first option", "A. is the first option"),
        ("", ""),
    ],
)
def test_options_and_white_space_are_left_out(question, routed):
    assert clean(question) == routed


def test_of_a_very_long_question_both_ends_are_kept():
    text = clean("start " + "middle " * 5000 + "end")
    assert text.startswith("start")
    assert text.endswith("end")
    assert len(text) < 1000


def test_the_skeleton_keeps_the_build_and_drops_the_subject():
    assert skeleton(["Who", "wrote", "Dune", "in", "1965", "?"]) == ["^who", "_ote", "CAP", "in", "YEAR", "?"]
    assert skeleton(["at", "12:40", "NASA", "3"]) == ["^at", "CLOCK", "ACR", "NUM"]


def test_every_block_is_filled_sorted_and_distinct(classes):
    found = featurise("What colour is the car in the photo of Rome?", classes)
    for name in BLOCKS:
        keys = found.keys[name]
        assert len(keys) > 3
        assert (np.diff(keys.astype(np.int64)) > 0).all()
    assert found.dense.shape == (len(DENSE_NAMES),)
    assert np.linalg.norm(found.vector) == pytest.approx(1, abs=1e-4)


def test_an_empty_question_has_empty_bags(classes):
    found = featurise("", classes)
    assert all(len(found.keys[name]) == 0 for name in BLOCKS)
    assert not found.vector.any()


def test_hashes_do_not_depend_on_the_process(classes):
    # Python's own hash() changes from run to run; stored weights need the same keys for ever.
    assert featurise("two words", classes).keys["words"].tolist() == [117706222, 1039293167, 4119384302]


def test_cues_see_the_medium_in_five_languages(classes):
    at = DENSE_NAMES.index("picture")
    for question in ("in the photo", "auf dem Foto", "en la foto", "sur la photo", "照片里有谁"):
        assert featurise(question, classes).dense[at] > 0, question


def test_a_word_falls_in_the_class_of_the_nearest_centre():
    from ragweave.models.router_features import embed

    centres = embed(["violin", "carburettor"])
    classes = WordClasses(centres)
    assert classes.of(["cello", "engine", "cello"]) == {"cello": 0, "engine": 1}
    assert classes.of(["cello"]) == {"cello": 0}


def test_function_words_are_no_content():
    assert content_words("Where is the Violin of my sister?") == ["violin", "sister"]
