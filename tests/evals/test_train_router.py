import random

import numpy as np
import pytest

from ragweave.evals.data import RoutedQuestion, read_routed
from ragweave.evals.templates import template_questions
from ragweave.evals.train_router import Corpus, cross_validate, fit, overlap, save
from ragweave.models import router
from ragweave.models.errors import InputError

NAMES = ("none", "paragraph", "image", "table")
THINGS = [
    f"{a}{b}{c}"
    for a in ("bo", "la", "mi", "ter")
    for b in ("ra", "sen", "to", "vi")
    for c in ("dul", "pam", "ki", "ne", "sh", "lo", "gra", "wen")
]


def rows():
    """A small public set with a label that the shipped head does not have; no two questions are near-duplicates."""
    words = random.Random(5).sample(THINGS, len(THINGS))
    forms = {
        "none": "Write a poem about a {}",
        "paragraph": "When was the {} bought?",
        "image": "What colour is the {} in the photo?",
        "table": "Which row of the sheet lists the {}?",
    }
    return [
        RoutedQuestion(f"{label}-{i}", form.format(" ".join(words[4 * i : 4 * i + 4])), label, "made")
        for label, form in forms.items()
        for i in range(30)
    ]


@pytest.fixture(scope="module")
def trained():
    return fit(Corpus.of(rows(), [], NAMES))


def test_training_twice_gives_the_same_file(trained, tmp_path):
    save(trained, tmp_path / "a.npz")
    save(fit(Corpus.of(rows(), [], NAMES)), tmp_path / "b.npz")
    with np.load(tmp_path / "a.npz") as a, np.load(tmp_path / "b.npz") as b:
        assert all(np.array_equal(a[k], b[k]) for k in a.files)


async def test_cross_validation_gives_every_row_a_prediction_it_was_not_trained_on():
    found = await cross_validate(rows(), [], NAMES, number=3, progress=lambda line: None)
    assert all(sum(p.values()) == pytest.approx(1) for p in found)
    right = [max(p, key=lambda k: p[k]) == r.label for p, r in zip(found, rows(), strict=True)]
    assert np.mean(right) > 0.9


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (rows()[20:50], "too few"),
        ([RoutedQuestion(str(i), "Who was it?", "ab"[i % 2]) for i in range(90)], "1 questions"),
        ([RoutedQuestion(str(i), f"q {i}", "none") for i in range(90)], "one label only"),
    ],
)
def test_rows_that_cannot_be_learned_from_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        Corpus.of(given, [], (*NAMES, "a", "b"))


@pytest.mark.data
def test_the_shipped_head_was_trained_on_the_public_split_and_never_on_peoples_own_questions(data_dir):
    labels = ("none", "paragraph", "document", "image", "clip", "video")
    public = [r.query for r in read_routed(data_dir / "router/router_dev.jsonl", labels)]
    own = [r.query for r in read_routed(data_dir / "router_own/own_dev.jsonl", labels)]
    templates = [t.query for t in template_questions()]
    head = router.head()
    assert overlap(head, public) == len(public)
    assert overlap(head, own) == 0
    assert overlap(head, templates) == len(templates)
