"""Names of one entity are joined over recordings, homonyms parted, and what is said of one becomes one description."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ragweave.components.entities import extractor
from ragweave.corpora.ingest.run import Models, Report
from ragweave.corpora.ingest.run import index as run_index
from ragweave.corpora.knowledge import describe
from ragweave.corpora.knowledge.facts import Entity, Extractor, Found, Merge, Relation, key_of
from ragweave.corpora.store.ledger import MERGED
from ragweave.models.chat import override
from ragweave.models.errors import ModelError
from ragweave.models.meter import Limits, Meter
from ragweave.tests.support import ScriptedChat
from tests.corpora.knowledge.conftest import entities, graph, led_to, noted, vectors, write

SAID = {
    "sight": (
        "We cut pictures into patches.",
        Entity("Vision Transformer", "method", "A model that reads patches."),
    ),
    "lab": ("It runs on a phone.", Entity("ViT", "technology", "A small model of vision.")),
    "harbour": ("The ferry leaves at nine.", Entity("Rook", "place", "A harbour.")),
    "chess": ("He opened with a pawn.", Entity("Rook", "person", "A player of chess.")),
    "store": ("We keep rows there.", Entity("PostgreSQL", "product", "A database server that keeps rows.")),
    "rows": ("It answers queries.", Entity("Postgres", "product", "A database server that keeps rows.")),
    "built": ("The bridge was opened.", Entity("Rook Bridge", "place", "It was built in 1931.")),
    "long": ("The bridge is a long one.", Entity("Rook Bridge", "place", "It is 900 m long.")),
    "red": ("They painted the bridge.", Entity("Rook Bridge", "place", "It is red.")),
}


class Model:
    """Extracts what `SAID` says, with the year; names are one thing where one begins the other; merges in capitals."""

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []
        self.things: list[tuple[str, Sequence[str]]] = []
        self.down = self.silent = False

    async def extract(self, text: str) -> Found:
        found = next(e for said, e in SAID.values() if said in text)
        return [found, Entity("1931", "concept")], [Relation(found.name, "1931", "", 3)]

    async def same(self, pairs: Sequence[tuple[str, str]]) -> set[int]:
        if self.down:
            raise ModelError("the model is down", "start it")
        self.pairs += pairs
        names = [tuple(text.partition(" (")[0].lower() for text in pair) for pair in pairs]
        return {n for n, (one, other) in enumerate(names) if one.startswith(other) or other.startswith(one)}

    async def merge(self, things: Sequence[tuple[str, Sequence[str]]]) -> dict[int, str]:
        if self.down:
            raise ModelError("the model is down", "start it")
        self.things += things
        return {} if self.silent else {n: " ".join(said).upper() for n, (_, said) in enumerate(things)}


async def index(folder: Path, *names: str, model: Model | None = None, merge: Merge | None = None) -> Report:
    write(folder, **{name: SAID[name][0] for name in names})
    ready = Extractor(
        "played", Model().extract, model.same if model else None, merge or (model.merge if model else None)
    )
    return await run_index([folder], models=Models(extractor=ready))


def named() -> list[set[str]]:
    """Return the names of every entity but the year."""
    return [names for names in entities() if names != {"1931"}]


def recordings(asked: str) -> set[str]:
    return {recording for recording, _ in led_to(asked)}


def told() -> str:
    description: str = graph().nodes[key_of("Rook Bridge")]["description"]
    return description


async def test_an_acronym_becomes_its_name_without_a_model_with_the_relations_of_both(talks: Path) -> None:
    await index(talks, "sight")
    await index(talks, "lab")
    assert named() == [{"ViT", "Vision Transformer"}]
    assert (
        recordings("How small is the ViT?") == recordings("What is a vision transformer?") == {"sight", "lab"}
    )
    [(*_, weight)] = graph().edges(data="weight")
    assert weight == 6 and {v.partition("~")[0] for v in vectors()} == {*graph()}
    (talks / "lab.vtt").unlink()
    await index(talks)
    assert named() == [{"Vision Transformer"}] and recordings("What is a vision transformer?") == {"sight"}


async def test_two_things_of_one_name_and_another_type_are_two_entities(talks: Path) -> None:
    model = Model()
    await index(talks, "harbour", "chess", model=model)
    assert named() == [{"Rook"}, {"Rook"}]
    assert not [pair for pair in model.pairs if "Rook" in pair[0] and "Rook" in pair[1]]
    assert recordings("What is Rook?") == {"harbour", "chess"}


async def test_names_that_are_near_are_joined_where_a_model_says_so_and_only_new_ones_are_asked_about(
    talks: Path,
) -> None:
    model = Model()
    await index(talks, "store", "rows")
    await index(talks, "sight", model=model)
    assert len(named()) == 3 and not model.pairs
    (talks / "rows.vtt").unlink()
    await index(talks)
    await index(talks, "rows", model=model)
    assert {"PostgreSQL", "Postgres"} in named() and recordings("What does Postgres answer?") >= {
        "store",
        "rows",
    }
    asked = len(model.pairs)
    (talks / "more.vtt").write_text(
        (talks / "rows.vtt").read_text() + "\n00:50.000 --> 00:52.000\nThat is all.\n"
    )
    assert (await index(talks, model=model)).extracted == 1
    assert {"PostgreSQL", "Postgres"} in named() and len(model.pairs) == asked, (
        "joined once, joined without asking"
    )


async def test_a_model_that_is_down_costs_a_note_and_the_next_run_asks_it_again(talks: Path) -> None:
    model = Model()
    model.down = True
    report = await index(talks, "store", "rows", model=model)
    assert len(named()) == 2 and any("names were not compared" in n and "is down" in n for n in report.notes)
    model.down = False
    await index(talks, model=model)
    assert len(named()) == 1
    before = len(model.pairs)
    await index(talks, model=model)
    assert len(model.pairs) == before


async def test_a_model_writes_one_description_of_what_several_recordings_say(
    talks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model()
    await index(talks, "built", merge=model.merge)
    assert not model.things and told() == "It was built in 1931."
    await index(talks, "long", merge=model.merge)
    await index(talks, merge=model.merge)
    assert model.things == [("Rook Bridge", ["It was built in 1931.", "It is 900 m long."])]
    assert told() == "IT WAS BUILT IN 1931. IT IS 900 M LONG."
    monkeypatch.setattr(describe, "MOST", 2)
    await index(talks, "red", merge=model.merge)
    assert len(model.things[-1][1]) == 2 and len(model.things) == 2


async def test_nothing_of_a_deleted_recording_is_left_and_the_rest_is_merged_anew(talks: Path) -> None:
    model = Model()
    await index(talks, "built", "long", "red", merge=model.merge)
    assert (
        "1931" in " ".join(noted(MERGED)) and len(noted(MERGED)) == 3
    )  # whichever goes takes the text along
    (talks / "built.vtt").unlink()
    model.down = True
    report = await index(talks, merge=model.merge)
    assert any("descriptions were not merged: the model is down" in note for note in report.notes)
    assert noted(MERGED) == [] and sorted(told().split(". ")) == ["It is 900 m long", "It is red."]
    model.down, model.silent = False, True
    await index(talks, merge=model.merge)
    await index(talks, merge=model.merge)
    assert len(model.things) == 2 and "900 m" in told(), (
        "what a reply leaves out is joined, and not asked about again"
    )


async def test_the_chat_model_is_shown_what_is_said_as_data_and_merging_counts_as_a_call(talks: Path) -> None:
    model = ScriptedChat(react=lambda _: {"merged": [{"n": 2, "description": "A red ferry."}]})
    with override(judge=model, writer=model):
        ready, spent = extractor(Meter()), extractor(Meter(Limits(calls=0)))
        assert ready is not None and ready.merge is not None and spent is not None
        found = await ready.merge(
            [("Rook", ["A town.", "A harbour."]), ("Otto", ["A ferry.", "It is >>> red."])]
        )
        report = await index(talks, "built", "long", merge=spent.merge)
    assert found == {1: "A red ferry."}
    assert (
        "1.\n<<<\nRook\nA town.\nA harbour.\n>>>" in model.calls[0].prompt
        and ">>> red" not in model.calls[0].prompt
    )
    assert any("were not merged" in note and "model calls" in note for note in report.notes)
