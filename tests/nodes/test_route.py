from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from langgraph.runtime import Runtime

from ragweave.components import run_context as runs
from ragweave.components.context import Context
from ragweave.graphs.agent import graph
from ragweave.models import chat, checkpoint, router
from ragweave.models.settings import model_settings
from ragweave.nodes.route import route
from ragweave.nodes.state import State
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.knobs import context as knobs_of
from ragweave.tests.support.states import a_turn
from ragweave.tests.support.talks import KITCHEN, TALK, vtt

HELD = {"paragraph": 9, "document": 4, "image": 3, "clip": 0, "video": 0}
EVERYTHING = ["paragraph", "document", "image"]


@pytest.fixture
def _library(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that holds text and pictures."""

    class Held:
        async def counts(self) -> dict[str, int]:
            return HELD

    async def opened(name: str) -> Held:
        return Held()

    monkeypatch.setattr(runs, "open_library", opened)


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Lets the head or the checkpoint give these probabilities."""

    def made(**probabilities: float) -> None:
        monkeypatch.setattr(router, "predict", lambda question: probabilities)

    return made


def checkpoint_says(
    monkeypatch: pytest.MonkeyPatch, probabilities: Mapping[str, float], independent: bool = False
) -> list[tuple[str, str]]:
    """Put a trained router in the place of RAGWEAVE_ROUTER; return what it will have been asked."""
    asked: list[tuple[str, str]] = []

    class Opened:
        def __init__(self, path: str, labels: object = ()) -> None:
            self.path, self.independent = path, independent

        def __call__(self, question: str) -> Mapping[str, float]:
            asked.append((self.path, question))
            return probabilities

    monkeypatch.setenv("RAGWEAVE_ROUTER", "my/router")
    model_settings.cache_clear()
    monkeypatch.setattr(checkpoint, "router", Opened)
    return asked


@contextmanager
def writer(*replies: str) -> Iterator[ScriptedChat]:
    model = ScriptedChat(replies=list(replies))
    with chat.override(writer=model):
        yield model


_turns = iter(range(10_000))


async def routed(query: str, hop: int = 1, **context: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the row of the trace, and the notes."""
    runtime = Runtime(context=knobs_of(**context), stream_writer=lambda event: None)
    state: State = {"turn": a_turn(), "hop": hop, "query": query}
    update: Any = await route(state, runtime)
    return update["routes"][0], update.get("notes", [])


@pytest.mark.usefixtures("_library")
async def test_the_head_masks_what_the_library_lacks_and_none(says: Any) -> None:
    says(none=0.5, video=0.3, image=0.18, paragraph=0.02, document=0.0, clip=0.0)
    row, notes = await routed("what is on the poster", form="universal-rag")
    assert row["corpora"] == ["image"]
    assert row["confidence"] == {"paragraph": 0.1, "document": 0.0, "image": 0.9}
    assert row["by"] == "local" and not notes


@pytest.mark.usefixtures("_library")
async def test_a_checkpoint_may_say_none_only_in_the_first_hop_and_with_a_writer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checkpoint_says(monkeypatch, {"none": 0.9, "image": 0.1})
    with writer():
        first, _ = await routed("what is energy", route_by="checkpoint")
        later, _ = await routed("what is energy", hop=2, route_by="checkpoint")
        small, _ = await routed("what is energy", route_by="checkpoint", mode="extractive")
    assert first["corpora"] == ["none"] and first["confidence"]["none"] == 0.9
    assert later["corpora"] == small["corpora"] == ["image"]


@pytest.mark.usefixtures("_library")
async def test_a_checkpoint_that_cannot_be_used_costs_a_note_and_the_head_decides(
    monkeypatch: pytest.MonkeyPatch, says: Any
) -> None:
    says(paragraph=0.9, image=0.1)
    monkeypatch.setenv("RAGWEAVE_ROUTER", "/nowhere/at/all")
    model_settings.cache_clear()
    row, notes = await routed("who signed it", route_by="checkpoint")
    assert (row["corpora"], row["by"]) == (["paragraph", "image", "document"], "local, checkpoint failed")
    assert "there is no checkpoint folder '/nowhere/at/all'" in notes[0]


@pytest.mark.usefixtures("_library")
@pytest.mark.parametrize("has_checkpoint", [True, False])
@pytest.mark.parametrize(("sure", "corpora", "asked"), [(0.9, ["image"], False), (0.5, ["paragraph"], True)])
async def test_the_ensemble_takes_a_sure_trained_router_at_its_word_and_asks_the_model_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
    says: Any,
    has_checkpoint: bool,
    sure: float,
    corpora: list[str],
    asked: bool,
) -> None:
    probabilities = {"image": sure, "document": 1 - sure}
    says(**{"paragraph": 0.99, "image": 0.01} if has_checkpoint else probabilities)
    if has_checkpoint:
        checkpoint_says(monkeypatch, probabilities)
    with writer("paragraph"):
        row, _ = await routed("who signed it", route_by="ensemble")
    trained = "checkpoint" if has_checkpoint else "local"
    assert (row["corpora"], row["by"]) == (corpora, "llm" if asked else trained)


@pytest.mark.usefixtures("_library")
async def test_a_sure_head_may_say_none_in_the_ensemble(says: Any) -> None:
    says(none=0.9, image=0.1)
    with writer():
        row, _ = await routed("what is energy", route_by="ensemble")
    assert row["corpora"] == ["none"]


@pytest.mark.usefixtures("_library")
async def test_corpora_that_the_caller_names_are_taken_without_asking_anyone() -> None:
    row, notes = await routed("who signed it", corpora=("image", "video"))
    assert (row["corpora"], row["by"]) == (["image"], "asked")
    assert "nothing in its video corpus" in notes[0]


@pytest.mark.usefixtures("_library")
@pytest.mark.parametrize(
    ("question", "by", "corpora"),
    [
        ("What colour is the valve above the boiler?", "local", EVERYTHING),
        ("What colour is the valve on the photo?", "local", EVERYTHING),
        ("Which photo does the report mention?", "local", EVERYTHING),
    ],
)
async def test_a_library_of_several_media_is_searched_whole(
    says: Any, question: str, by: Any, corpora: list[str]
) -> None:
    says(paragraph=0.02, document=0.02, image=0.96)
    row, _ = await routed(question, route_by=by)
    assert sorted(row["corpora"]) == sorted(corpora) and row["corpora"][0] == "image"
    assert row["why"] == (
        "the question does not tell what holds its answer"
        if corpora == EVERYTHING
        else "so the question reads"
    )


@pytest.mark.usefixtures("_library")
@pytest.mark.parametrize(
    ("by", "corpora"), [("llm", ["document", "paragraph"]), ("ensemble", ["document", "paragraph"])]
)
async def test_a_further_query_searches_every_granularity_of_what_is_chosen(
    says: Any, by: Any, corpora: list[str]
) -> None:
    says(paragraph=0.02, document=0.96, image=0.02)
    with writer("document"):
        row, _ = await routed("Ilse Marwen place of birth", hop=2, route_by=by)
    assert row["corpora"] == corpora


@pytest.mark.usefixtures("_library")
async def test_a_language_model_may_name_two_corpora_of_different_matter() -> None:
    with writer("image+paragraph") as model:
        row, _ = await routed("What is on the photo, and when was it taken?", route_by="llm")
    assert set(row["corpora"]) == {"image", "paragraph"}
    assert "joined by +" in model.calls[0].prompt and "clip:" not in model.calls[0].prompt


@pytest.mark.usefixtures("_library")
async def test_independent_scores_of_a_checkpoint_are_read_by_the_sigmoid_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checkpoint_says(
        monkeypatch,
        {"none": 0.95, "paragraph": 0.81, "document": 0.9, "image": 0.85, "clip": 0.99},
        independent=True,
    )
    row, _ = await routed("What does the plan show, and why?", route_by="checkpoint")
    assert row["corpora"] == ["document", "image"], (
        "none falls away, one of the text corpora stays, clips are not held"
    )


@pytest.mark.usefixtures("_library")
@pytest.mark.parametrize(
    ("by", "probabilities", "corpora"),
    [
        ("local", {"paragraph": 0.5, "image": 0.4, "none": 0.1}, ["paragraph"]),
        ("local", {"none": 0.5, "paragraph": 0.3, "image": 0.2}, ["none"]),
        ("checkpoint", {"paragraph": 0.5, "image": 0.4, "none": 0.1}, ["paragraph"]),
        ("llm", {"document": 0.5, "image": 0.5}, ["document"]),
    ],
)
async def test_as_published_a_router_names_one_corpus_or_none(
    monkeypatch: pytest.MonkeyPatch, says: Any, by: Any, probabilities: dict[str, float], corpora: list[str]
) -> None:
    says(**probabilities)
    checkpoint_says(monkeypatch, probabilities)
    with writer(*["image+paragraph"] * 2) as model:
        row, _ = await routed("what is on the poster", route_by=by, form="universal-rag")
    assert row["corpora"] == corpora
    assert not any("joined by +" in c.prompt for c in model.calls)


@pytest.mark.usefixtures("_library")
async def test_as_published_independent_scores_name_one_corpus_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checkpoint_says(monkeypatch, {"document": 0.9, "image": 0.85}, independent=True)
    row, _ = await routed("What does the plan show?", route_by="checkpoint", form="universal-rag")
    assert row["corpora"] == ["document"]


QUESTION = "When does the ferry sail in winter?"
FILES = {
    "ferry.md": "# Ferry\n\nIn winter the ferry sails at nine.",
    "comet.vtt": vtt(TALK),
    "bread.vtt": vtt(KITCHEN),
}


async def _ran(
    monkeypatch: pytest.MonkeyPatch, share: float, question: str = QUESTION, **knobs: Any
) -> set[str]:
    """Return the nodes that ran beside a router which gives recordings a share of its confidence."""
    rest = {"paragraph": 1 - share, "document": 0.0, "none": 0.0, "image": 0.0, "table": 0.0}
    monkeypatch.setattr("ragweave.models.router.predict", lambda *_: {"clip": share, "video": 0.0, **rest})
    ran = set[str]()
    async for event in graph.astream({"question": question}, context=Context(**knobs), stream_mode="updates"):
        ran |= event.keys()
    return ran


async def test_recordings_that_are_not_in_question_are_searched_like_any_other_corpus(
    stock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(FILES)
    assert "retrieve_video" not in await _ran(monkeypatch, 0.1)


@pytest.mark.parametrize(
    ("share", "question", "knobs"),
    [
        (0.3, QUESTION, {}),
        (0.1, QUESTION, {"sources": ("comet.vtt",)}),
        (0.1, QUESTION, {"from_time": 1.0}),
        (0.1, "What is said in comet.vtt about the tail?", {}),
    ],
)
async def test_recordings_in_question_are_searched_by_their_retrievers(
    stock: Any, monkeypatch: pytest.MonkeyPatch, share: float, question: str, knobs: dict[str, Any]
) -> None:
    stock(FILES)
    assert "retrieve_video" in await _ran(monkeypatch, share, question, **knobs)
