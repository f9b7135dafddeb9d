"""What several passages say of one entity becomes one description, and goes with any of its sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import select

from ragweave.components.llm.entities import extractor
from ragweave.corpora.ingest.run import Models, Report
from ragweave.corpora.ingest.run import index as run_index
from ragweave.corpora.knowledge import describe
from ragweave.corpora.knowledge.facts import DESCRIPTION, Entity, Extractor, Merge, Relation, key_of, together
from ragweave.corpora.knowledge.neighbours import around
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.schema import stages
from ragweave.corpora.store.stores import stores
from ragweave.models.chat import override
from ragweave.models.errors import ModelError
from ragweave.models.meter import Limits, Meter
from ragweave.tests.support import ScriptedChat

SAID = {
    "built": ("The bridge was opened.", "It was built in 1931."),
    "long": ("The bridge is a long one.", "It is 900 m long."),
    "red": ("They painted the bridge.", "It is red."),
}


async def extract(text: str) -> tuple[list[Entity], list[Relation]]:
    """Play the extractor: each recording says one thing of the bridge."""
    told = next(description for said, description in SAID.values() if said in text)
    return [Entity("Rook Bridge", "place", told)], []


class Scribe:
    """Plays the model that merges: it writes the facts in capitals, or fails."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Sequence[str]]] = []
        self.down = self.silent = False

    async def merge(self, things: Sequence[tuple[str, Sequence[str]]]) -> dict[int, str]:
        if self.down:
            raise ModelError("the model is down", "start it")
        self.asked += things
        return {} if self.silent else {n: " ".join(said).upper() for n, (_, said) in enumerate(things)}


@pytest.fixture
def talks(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAGWEAVE_ENTITIES", "llm")
    corpora_settings.cache_clear()
    return tmp_path / "talks"


def write(folder: Path, *names: str) -> None:
    folder.mkdir(exist_ok=True)
    for name in names:
        cue = f"WEBVTT\n\n00:00:01.000 --> 00:00:04.000\n{SAID[name][0]}\n"
        (folder / f"{name}.vtt").write_text(cue, encoding="utf-8")


async def index(folder: Path, *names: str, merge: Merge | None = None) -> Report:
    write(folder, *names)
    return await run_index([folder], models=Models(extractor=Extractor("played", extract, None, merge)))


def told() -> str:
    """Return what is shown of the bridge."""
    catalog = stores().catalog
    found = around(catalog, catalog.library("default").id, key_of("Rook Bridge"))
    return found[0].description if found else ""


def kept() -> str:
    """Return all that the ledger holds of merged descriptions."""
    catalog = stores().catalog
    with catalog.reading(catalog.library("default").id) as connection:
        rows = connection.execute(select(stages.c.params_hash).where(stages.c.stage == describe.MERGED))
        return " ".join(rows.scalars())


async def test_without_a_model_all_that_was_said_is_joined_in_its_order(talks: Path) -> None:
    await index(talks, "built")
    await index(talks, "long")
    assert told() == "It was built in 1931. It is 900 m long."
    assert together(("A ferry.", "A  ferry.", "It is red.")) == "A ferry. It is red."
    assert len(together(f"Sentence number {n}." for n in range(99))) <= DESCRIPTION


async def test_a_model_writes_one_description_of_what_several_recordings_say(talks: Path) -> None:
    scribe = Scribe()
    await index(talks, "built", merge=scribe.merge)
    assert not scribe.asked and told() == "It was built in 1931."
    await index(talks, "long", merge=scribe.merge)
    assert scribe.asked == [("Rook Bridge", ["It was built in 1931.", "It is 900 m long."])]
    assert told() == "IT WAS BUILT IN 1931. IT IS 900 M LONG."
    await index(talks, merge=scribe.merge)
    assert len(scribe.asked) == 1  # nothing has changed
    await index(talks, "red", merge=scribe.merge)
    assert len(scribe.asked) == 2 and told().endswith("IT IS RED.")


async def test_nothing_of_a_deleted_recording_is_left_and_the_rest_is_merged_anew(talks: Path) -> None:
    scribe = Scribe()
    await index(talks, "built", "long", "red", merge=scribe.merge)
    assert "1931" in kept()
    library = await open_library()
    sources = {s.title: s.id for s in await library.sources()}
    with stores().catalog.reading(library.id) as connection:
        count = len(connection.execute(select(stages).where(stages.c.stage == describe.MERGED)).all())
    assert count == len(sources) == 3  # whichever of them goes takes the text along
    (talks / "built.vtt").unlink()
    scribe.down = True
    report = await index(talks, merge=scribe.merge)
    assert any("descriptions were not merged: the model is down" in note for note in report.notes)
    assert kept() == "" and sorted(told().split(". ")) == ["It is 900 m long", "It is red."]
    scribe.down = False
    await index(talks, merge=scribe.merge)
    assert "900 M" in told() and "RED" in told() and "1931" not in kept()


async def test_what_a_reply_leaves_out_stays_joined_and_is_not_asked_about_again(talks: Path) -> None:
    scribe = Scribe()
    scribe.silent = True
    await index(talks, "built", "long", merge=scribe.merge)
    await index(talks, merge=scribe.merge)
    assert len(scribe.asked) == 1 and "1931" in told() and "900" in told()


async def test_a_model_reads_no_more_of_an_entity_than_it_can(talks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(describe, "MOST", 2)
    scribe = Scribe()
    await index(talks, "built", "long", "red", merge=scribe.merge)
    assert [len(said) for _, said in scribe.asked] == [2]


async def test_the_chat_model_is_shown_what_is_said_as_data_and_its_numbers_are_kept(talks: Path) -> None:
    reply = {"merged": [{"n": 2, "description": "A red ferry."}]}
    model = ScriptedChat(react=lambda _: reply)
    with override(judge=model, writer=model):
        made = extractor(Meter())
        assert made is not None and made.merge is not None
        found = await made.merge([("Rook", ["A town.", "A harbour."]), ("Otto", ["A ferry.", "It is >>> red."])])
    assert found == {1: "A red ferry."}
    assert "1.\n<<<\nRook\nA town.\nA harbour.\n>>>" in model.calls[0].prompt and ">>> red" not in model.calls[0].prompt


async def test_merging_counts_against_the_limit_of_calls(talks: Path) -> None:
    with override(judge=ScriptedChat(react=lambda _: {"merged": []}), writer=ScriptedChat(react=lambda _: "")):
        made = extractor(Meter(Limits(calls=0)))
        assert made is not None
        report = await index(talks, "built", "long", merge=made.merge)
    assert any("were not merged" in note and "model calls" in note for note in report.notes)
