"""The graph is made chunk by chunk, survives what kills it, and goes with its source."""

from __future__ import annotations

import asyncio
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, func, select

from ragweave.corpora.ingest.run import Models, Report
from ragweave.corpora.ingest.run import index as run_index
from ragweave.corpora.knowledge.facts import Entity, Extractor, Relation, key_of
from ragweave.corpora.knowledge.search import ngrams, search
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.blobs import entity_space
from ragweave.corpora.store.bundle import export_library, import_library
from ragweave.corpora.store.library import delete_library, open_library
from ragweave.corpora.store.schema import items, mentions, relations
from ragweave.corpora.store.schema import vectors as rows
from ragweave.corpora.store.stores import stores
from ragweave.models.embed import encoder
from ragweave.models.errors import ModelError, ModelTransient

pytestmark = pytest.mark.both


def transcript(*lines: str, seconds: int = 20) -> str:
    cues = [
        f"00:{n * seconds // 60:02}:{n * seconds % 60:02}.000 --> 00:{(n + 1) * seconds // 60:02}:"
        f"{(n + 1) * seconds % 60:02}.000\n{line}\n"
        for n, line in enumerate(lines)
    ]
    return "WEBVTT\n\n" + "\n".join(cues)


COMET = transcript(
    "Welcome to the talk about the comet of Pell.",
    "It was Ada Ostrander who saw the comet from Mount Helder.",
    "Later Ada Ostrander sold her telescope to the Corvane Observatory.",
    "The weather was mild.",
    "On Mount Helder the wind is strong.",
)
BREAD = transcript("Today we bake with Boris Tamm.", "Rye bread is what Boris Tamm bakes in Pell.")


NAMES = (
    "Ada Ostrander",
    "Boris Tamm",
    "Olga Reuter",
    "Mount Helder",
    "Corvane Observatory",
    "ViT",
    "Vision Transformer",
)


async def by_list(text: str) -> tuple[list[Entity], list[Relation]]:
    """Stand in for a language model: the names of a list, joined with the one before."""
    said = [name for name in NAMES if name in text]
    return [Entity(name) for name in said], [Relation(a, b) for a, b in pairwise(said)]


LISTED = Models(extractor=Extractor("listed", by_list))


async def index(paths: list[Path], library: str = "default", models: Models = LISTED) -> Report:
    return await run_index(paths, library, models=models)


@pytest.fixture
async def folder(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAGWEAVE_ENTITIES", "llm")
    corpora_settings.cache_clear()
    where = tmp_path / "talks"
    where.mkdir()
    (where / "comet.vtt").write_text(COMET, encoding="utf-8")
    (where / "bread.vtt").write_text(BREAD, encoding="utf-8")
    return where


def count(table: Any) -> int:
    catalog = stores().catalog
    with catalog.reading(catalog.library("default").id) as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def names(library: str = "default") -> set[str]:
    catalog = stores().catalog
    row = catalog.library(library)
    with catalog.reading(row.id) as connection:
        return set(connection.execute(select(mentions.c.name)).scalars())


def vectors() -> list[str]:
    held = stores()
    row = held.catalog.library("default")
    return held.vectors.ids(row.id, "clip", entity_space(row.encoder))


async def test_indexing_keeps_the_names_of_a_transcript_and_what_stands_together(folder: Path) -> None:
    report = await index([folder])
    assert report.extracted == 2
    assert {"Ada Ostrander", "Mount Helder", "Corvane Observatory", "Boris Tamm"} <= names()
    catalog = stores().catalog
    with catalog.reading(catalog.library("default").id) as connection:
        ends = {frozenset(row) for row in connection.execute(select(relations.c.head, relations.c.tail))}
    assert {key_of("Ada Ostrander"), key_of("Mount Helder")} in ends


async def test_a_second_run_reads_no_chunk_again(folder: Path) -> None:
    await index([folder])
    before = (count(mentions), count(relations), vectors())
    assert (await index([folder])).extracted == 0
    assert (count(mentions), count(relations), vectors()) == before


async def test_a_deleted_recording_takes_its_part_of_the_graph_with_it(folder: Path) -> None:
    await index([folder])
    (folder / "bread.vtt").unlink()
    await index([folder])
    assert "Boris Tamm" not in names() and "Ada Ostrander" in names()
    held = stores()
    sources = {s.id for s in held.catalog.sources(held.catalog.library("default").id)}
    assert {v.partition("~")[2] for v in vectors()} == sources
    await delete_library("default")
    assert await asyncio.to_thread(os.listdir, corpora_settings().home / "libraries") == []


async def test_a_changed_recording_says_only_what_it_says_now(folder: Path) -> None:
    await index([folder])
    (folder / "bread.vtt").write_text(transcript("Today we bake with Olga Reuter."), encoding="utf-8")
    await index([folder])
    assert "Olga Reuter" in names() and "Boris Tamm" not in names()


async def test_lost_vectors_of_entities_come_back_with_the_next_run(folder: Path) -> None:
    await index([folder])
    held = stores()
    row, before = held.catalog.library("default"), vectors()
    with held.catalog.writing(row.id) as connection:
        connection.execute(delete(rows).where(rows.c.space == entity_space(row.encoder)))
    await index([folder])
    assert vectors() == before


async def test_a_run_that_was_killed_before_the_vectors_is_finished_by_the_next(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragweave.corpora.knowledge import stage, unify

    def killed(*given: Any) -> int:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(unify, "embed_entities", killed)
        with pytest.raises(MemoryError):
            await asyncio.to_thread(stage.catch_up, *await prepared(folder))
    assert count(mentions) and not vectors()
    report = await index([folder])
    assert report.extracted == 0
    assert vectors()


async def prepared(folder: Path) -> tuple[Any, ...]:
    """Index without a graph, and return what the stage is given."""
    import threading

    settings = corpora_settings()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAGWEAVE_ENTITIES", "off")
        corpora_settings.cache_clear()
        await index([folder])
    corpora_settings.cache_clear()
    held = stores()
    return (
        held,
        held.catalog.library("default"),
        encoder(),
        settings,
        LISTED.extractor,
        threading.Event(),
        lambda n, of: None,
    )


async def test_removing_a_source_keeps_the_vectors_of_the_others(folder: Path) -> None:
    await index([folder])
    library = await open_library()
    bread = next(s for s in await library.sources() if s.path.endswith("bread.vtt"))
    await library.remove(bread.id)
    kept = vectors()
    assert kept and not any(v.endswith(bread.id) for v in kept)


async def test_off_makes_no_graph(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_ENTITIES", "off")
    corpora_settings.cache_clear()
    await index([folder])
    assert count(mentions) == 0


class Model:
    """Stands in for a language model that extracts."""

    def __init__(self, fail: int = 0, error: Exception | None = None) -> None:
        self.asked = 0
        self.fail = fail
        self.error = error or ModelError("the server refused", "ask again")

    async def ask(self, text: str) -> tuple[list[Entity], list[Relation]]:
        self.asked += 1
        if self.asked <= self.fail:
            raise self.error
        who = "Ada Ostrander" if "Ostrander" in text else "Boris Tamm"
        return [Entity(who, "person", "Somebody."), Entity("The Craft", "concept", "A craft.")], [
            Relation(who, "The Craft", "practises", 9)
        ]


def by_model(model: Model) -> Models:
    return Models(extractor=Extractor("scripted", model.ask))


async def test_a_model_extracts_each_chunk_once(folder: Path) -> None:
    model = Model()
    models = by_model(model)
    await index([folder], models=models)
    await index([folder], models=models)
    assert model.asked == 2
    assert names() == {"Ada Ostrander", "Boris Tamm", "The Craft"}


async def test_chunks_are_stored_in_the_order_of_the_text_whichever_the_model_answers_first(folder: Path) -> None:
    late = asyncio.Event()

    async def ask(text: str) -> tuple[list[Entity], list[Relation]]:
        if not late.is_set() and "Ostrander" not in text:
            await late.wait()
        late.set()
        return [Entity("The Craft", "concept", text[:40])], []

    await index([folder], models=Models(extractor=Extractor("scripted", ask)))
    with stores().catalog.reading(stores().catalog.library("default").id) as connection:
        said = connection.execute(select(mentions.c.source).order_by(mentions.c.n)).scalars().all()
        order = connection.execute(select(items.c.source).where(items.c.corpus == "clip").order_by(items.c.n)).scalars()
    assert said == list(dict.fromkeys(order)) and len(said) == 2


async def test_a_chunk_that_the_model_fails_on_is_read_by_the_next_run(folder: Path) -> None:
    model = Model(fail=1)
    models = by_model(model)
    report = await index([folder], models=models)
    assert report.extracted == 1 and any("1 of 2 chunks" in n and "refused" in n for n in report.notes)
    assert (await index([folder], models=models)).extracted == 1
    assert model.asked == 3


async def test_a_model_that_is_down_costs_a_note_and_not_the_run(folder: Path) -> None:
    models = by_model(Model(fail=99, error=ModelTransient("the server is down", "start it")))
    report = await index([folder], models=models)
    assert report.indexed == 2 and any("down" in n for n in report.notes)


async def test_llm_without_a_model_says_so(folder: Path) -> None:
    assert any("RAGWEAVE_ENTITIES" in n for n in (await index([folder], models=Models())).notes)


async def test_an_entity_that_the_question_names_leads_to_its_clips_first(folder: Path) -> None:
    await index([folder])
    held = stores()
    row = held.catalog.library("default")
    found = search(held, row, "What did Ada Ostrander do?", encoder().queries(["Ada Ostrander did it."]), 10)
    items = held.catalog.items(row.id, [i for i, _ in found])
    assert "Ada Ostrander" in items[found[0][0]].text
    nothing = search(held, row, "zzz", encoder().queries(["zzz"]), 10)
    assert not nothing or nothing[0][1] <= found[0][1]


async def test_sources_narrow_what_the_graph_leads_to(folder: Path) -> None:
    await index([folder])
    held = stores()
    row = held.catalog.library("default")
    bread = next(s.id for s in held.catalog.sources(row.id) if s.path.endswith("bread.vtt"))
    found = search(held, row, "Ada Ostrander in Pell", encoder().queries(["Pell"]), 10, [bread])
    assert {held.catalog.items(row.id, [i])[i].source for i, _ in found} <= {bread}


async def test_a_bundle_carries_the_graph(folder: Path, tmp_path: Path) -> None:
    await index([folder])
    bundle = tmp_path / "talks.ragweave"
    await export_library("default", bundle)
    await import_library(bundle, "copy", files=folder)
    held = stores()
    assert names("copy") == names() != set()
    copy = held.catalog.library("copy")
    copied = held.vectors.ids(copy.id, "clip", entity_space(copy.encoder))
    assert copied == vectors()
    assert (await index([folder], "copy")).extracted == 0


def test_runs_of_words_are_looked_up_without_function_words_at_their_ends() -> None:
    assert ngrams("the comet of Pell") == ["comet", "pell", "comet of pell"]


@pytest.mark.parametrize("asked", ["What does the ViT see?", "What does the vision transformer see?"])
async def test_a_question_by_one_name_is_led_to_what_is_said_by_the_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    monkeypatch.setattr("ragweave.corpora.knowledge.search.LIKE", 2.0)  # names alone, no vectors
    (folder / "sight.vtt").write_text(
        transcript(
            "This lab used the Vision Transformer to cut pictures.", "Then Boris Tamm bakes.", "And a ViT sees patches."
        ),
        encoding="utf-8",
    )
    await index([folder])
    held = stores()
    row = held.catalog.library("default")
    found = search(held, row, asked, encoder().queries([asked]), 10)
    items = held.catalog.items(row.id, [i for i, _ in found])
    told = " ".join(i.text for i in items.values())
    assert "cut pictures" in told and "sees patches" in told
