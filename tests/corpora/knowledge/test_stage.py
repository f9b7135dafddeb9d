"""The graph is made chunk by chunk, survives what kills it, and goes with its source."""

from __future__ import annotations

import asyncio
import os
from itertools import pairwise
from pathlib import Path

import pytest

from ragweave.corpora.ingest.run import Models, Report
from ragweave.corpora.ingest.run import index as run_index
from ragweave.corpora.knowledge import unify
from ragweave.corpora.knowledge.facts import Entity, Extractor, Found, Relation, key_of
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.library import delete_library, open_library
from ragweave.models.errors import ModelError
from tests.corpora.knowledge.conftest import entities, graph, led_to, vectors, write

pytestmark = pytest.mark.both

COMET = """Welcome to the talk about the comet of Pell.
It was Ada Ostrander who saw the comet from Mount Helder.
Later Ada Ostrander sold her telescope to the Corvane Observatory."""
BREAD = "Today we bake with Boris Tamm.\nRye bread is what Boris Tamm bakes in Pell."
NAMES = ("Ada Ostrander", "Boris Tamm", "Olga Reuter", "Mount Helder", "Corvane Observatory")


class Model:
    """Extracts the names of a list, each joined with the one before; fails at first as often as it is told to."""

    def __init__(self, fail: int = 0, error: Exception | None = None) -> None:
        self.asked, self.fail = 0, fail
        self.error = error or ModelError("the server refused", "ask again")

    async def ask(self, text: str) -> Found:
        self.asked += 1
        if self.asked <= self.fail:
            raise self.error
        said = [name for name in NAMES if name in text]
        return [Entity(name, "", f"{name} was named.") for name in said], [
            Relation(a, b) for a, b in pairwise(said)
        ]


async def index(folder: Path, model: Model | None = None, library: str = "default") -> Report:
    models = Models(extractor=Extractor("listed", (model or Model()).ask))
    return await run_index([folder], library, models=models)


@pytest.fixture
async def indexed(talks: Path, engine: str) -> Path:
    write(talks, comet=COMET, bread=BREAD)
    assert (await index(talks)).extracted == 2
    return talks


async def test_indexing_keeps_names_and_what_stands_together_and_reads_no_chunk_twice(indexed: Path) -> None:
    assert sorted(map(sorted, entities())) == [[n] for n in sorted(NAMES) if n != "Olga Reuter"]
    assert graph().has_edge(key_of("Ada Ostrander"), key_of("Mount Helder"))
    before, model = (entities(), vectors()), Model()
    assert (await index(indexed, model)).extracted == model.asked == 0 and (entities(), vectors()) == before


async def test_a_changed_recording_says_only_what_it_says_now_and_a_deleted_one_nothing(
    indexed: Path,
) -> None:
    write(indexed, bread="Today we bake with Olga Reuter.")
    await index(indexed)
    assert {"Olga Reuter"} in entities() and {"Boris Tamm"} not in entities()
    (indexed / "bread.vtt").unlink()
    await index(indexed)
    assert {"Olga Reuter"} not in entities() and {"Ada Ostrander"} in entities()
    library = await open_library()
    [left] = await library.sources()
    assert {v.partition("~")[2] for v in vectors()} == {left.id}
    await library.remove(left.id)
    assert entities() == [] and not vectors()
    await delete_library("default")
    assert await asyncio.to_thread(os.listdir, corpora_settings().home / "libraries") == []


async def test_a_run_that_was_killed_before_the_vectors_is_finished_by_the_next(
    talks: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*given: object) -> None:
        raise MemoryError

    write(talks, comet=COMET, bread=BREAD)
    with monkeypatch.context() as patch:
        patch.setattr(unify, "embed_entities", killed)
        with pytest.raises(MemoryError):
            await index(talks)
    assert entities() and not vectors()
    assert (await index(talks)).extracted == 0 and vectors()


async def test_off_makes_no_graph_and_llm_without_a_model_says_so(
    talks: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(talks, comet=COMET)
    assert any("RAGWEAVE_ENTITIES" in n for n in (await run_index([talks], models=Models())).notes)
    monkeypatch.setenv("RAGWEAVE_ENTITIES", "off")
    corpora_settings.cache_clear()
    assert not (await index(talks)).notes and entities() == []


async def test_an_entity_that_the_question_names_leads_to_its_clips_within_the_sources(indexed: Path) -> None:
    recording, text = led_to("What did Ada Ostrander do?", by_vectors=True)[0]
    assert recording == "comet" and "Ada Ostrander" in text
    bread = next(s.id for s in await (await open_library()).sources() if s.path.endswith("bread.vtt"))
    found = led_to("Ada Ostrander and Boris Tamm", bread, by_vectors=True)
    assert {recording for recording, _ in found} == {"bread"}
    assert led_to("zzz") == []
