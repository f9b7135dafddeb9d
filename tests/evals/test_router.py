"""Routes that an evaluation sets in the place of the router."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from ragweave.components.context import Context
from ragweave.corpora.types import LABELS
from ragweave.evals import router as r
from ragweave.evals.data import RoutedQuestion, read_routed
from ragweave.evals.routes import every, head_alone, one_modality, with_route
from ragweave.evals.templates import template_questions
from ragweave.evals.train_router import Corpus, cross_validate, fit, overlap, save
from ragweave.graphs import universal_rag
from ragweave.graphs.base import Builder
from ragweave.graphs.search import build
from ragweave.models import router
from ragweave.models.chat import override
from ragweave.models.errors import InputError
from ragweave.nodes.state import NO_ROUTER
from ragweave.tests.support import ScriptedChat

QUESTIONS = ["What colour is the car in the photo?", "Summarise the whole webinar", "hm"]


def decision(label, confidence, ms=1.0, calls=0):
    rest = (1 - confidence) / (len(LABELS) - 1)
    return r.RouterDecision(
        {k: confidence if k == label else rest for k in LABELS}, label, confidence, ms, calls
    )


async def test_the_models_word_counts_and_an_unreadable_one_falls_back_to_the_head():
    replies = iter(["clip", None, "banana"])

    async def classify(question):
        return next(replies)

    found = await r.decide(QUESTIONS, r.by_model(classify, LABELS))
    small = await r.decide(QUESTIONS, r.by_head())
    assert (found[0].label, found[0].confidence, found[0].fell_back) == ("clip", 1.0, False)
    assert [d.fell_back for d in found[1:]] == [True, True]
    assert [d.label for d in found[1:]] == [d.label for d in small[1:]]
    assert all(d.calls == 1 for d in found)


def test_figures_of_a_run():
    rows = [
        RoutedQuestion("1", "a", "image", "x"),
        RoutedQuestion("2", "b", "image", "x"),
        RoutedQuestion("3", "c", "clip", "y"),
    ]
    decisions = [decision("image", 1.0, 1), decision("clip", 1.0, 2), decision("clip", 1.0, 3, calls=1)]
    found = r.measure(rows, decisions)
    assert found.flat["accuracy_micro"] == round(2 / 3, 4)
    assert found.flat["accuracy_macro"] == 0.75
    assert found.flat["ece"] == round(1 / 3, 4)
    assert found.flat["ms_per_question"] == 2
    assert found.flat["model_calls_per_question"] == round(1 / 3, 4)
    assert found.per_source == {"x": 0.5, "y": 1.0}
    assert found.confusion["image"] == {"image": 1, "clip": 1}


FILES = {
    "valve.md": "# Valve\n\nThe valve above the boiler is painted green.",
    "talk.vtt": "WEBVTT\n\n00:00:01.000 --> 00:00:09.000\nThe valve of the boiler was painted in spring.\n",
}


async def _searched(choose: Any, builder: Builder | None = None, **knobs: Any) -> dict[str, Any]:
    graph = with_route(builder or build(), choose).compile()
    sent: Any = {"messages": [("human", "What colour is the valve of the boiler?")]}
    return await graph.ainvoke(sent, context=Context(**{"mode": "extractive", **knobs}))


async def test_every_corpus_is_searched_and_ordered_as_one_pool(stock: Any) -> None:
    stock(FILES)
    state = await _searched(every)
    (row,) = state["routes"]
    assert {"paragraph", "document", "clip"} <= {*row["corpora"]} and row["by"] == NO_ROUTER
    assert {e["corpus"] for e in state["evidence"]} >= {"paragraph", "clip"}


async def test_the_head_alone_leaves_out_what_it_does_not_choose(
    stock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(FILES)
    monkeypatch.setattr(router, "predict", lambda question: {"clip": 0.9, "paragraph": 0.1})
    state = await _searched(head_alone)
    assert state["routes"][0]["corpora"] == ["clip"]
    assert {e["corpus"] for e in state["evidence"]} == {"clip"}


async def test_without_granularity_a_label_stands_for_all_corpora_of_its_modality(
    stock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(FILES)
    likely = {"clip": 0.4, "document": 0.35, "paragraph": 0.25}
    monkeypatch.setattr(router, "predict", lambda question: likely)
    state = await _searched(one_modality)
    assert set(state["routes"][0]["corpora"]) == {"paragraph", "document"}
    assert state["routes"][0]["by"] == "local"


async def test_without_granularity_a_model_names_the_modality_and_an_unreadable_reply_leaves_it_to_the_head(
    stock: Any,
) -> None:
    stock(FILES)
    asked = {"preset": "universal-rag-paper", "mode": "llm", "route_by": "llm"}
    with override(writer=ScriptedChat(replies=["video"])):
        state = await _searched(one_modality, **asked)
    assert (set(state["routes"][0]["corpora"]), state["routes"][0]["by"]) == ({"clip", "video"}, "llm")
    with override(writer=ScriptedChat(replies=["perhaps"] * 9)):
        state = await _searched(one_modality, **asked)
    assert state["routes"][0]["by"] == "local, llm unreadable"


async def test_as_published_the_unified_baseline_is_one_space_ordered_by_cosines(stock: Any) -> None:
    stock(FILES)
    state = await _searched(every, universal_rag.build(), preset="universal-rag-paper", top_k=8)
    scores = [row["score"] for row in state["evidence"]]
    assert {"paragraph", "clip"} <= {row["corpus"] for row in state["evidence"]}
    assert scores == sorted(scores, reverse=True) and scores[0] > 0.2, "cosines, not sums of reciprocal ranks"


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
