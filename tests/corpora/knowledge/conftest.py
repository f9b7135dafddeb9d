"""Recordings of one sentence each, and what the library holds of their entities."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from ragweave.corpora.knowledge.graph import EntityGraph, entity_graph
from ragweave.corpora.knowledge.search import search
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.blobs import entity_space
from ragweave.corpora.store.schema import stages
from ragweave.corpora.store.stores import stores
from ragweave.models.embed import encoder


@pytest.fixture
def talks(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for recordings, in a home where entities are extracted."""
    monkeypatch.setenv("RAGWEAVE_ENTITIES", "llm")
    corpora_settings.cache_clear()
    folder = tmp_path / "talks"
    folder.mkdir()
    return folder


def write(folder: Path, **said: str) -> None:
    """Write transcripts by their names; each line of a text is said for twenty seconds."""
    for name, text in said.items():
        cues = [
            f"00:{n // 3:02}:{n % 3 * 20:02}.000 --> 00:{n // 3:02}:{n % 3 * 20 + 19}.000\n{line}\n"
            for n, line in enumerate(text.splitlines())
        ]
        (folder / f"{name}.vtt").write_text("WEBVTT\n\n" + "\n".join(cues), encoding="utf-8")


def graph(library: str = "default") -> EntityGraph:
    """Return the entity graph of a library."""
    return entity_graph(stores().catalog, stores().catalog.library(library).id)


def entities(library: str = "default") -> list[set[str]]:
    """Return the names of each entity."""
    return [{m.name for m in own} for _, own in graph(library).nodes(data="mentions")]


def vectors(library: str = "default") -> set[str]:
    """Return the ids of the vectors of entities."""
    row = stores().catalog.library(library)
    return {*stores().vectors.ids(row.id, "clip", entity_space(row.encoder))}


def noted(stage: str) -> list[str]:
    """Return what the ledger holds of a stage."""
    catalog = stores().catalog
    with catalog.reading(catalog.library("default").id) as connection:
        return [*connection.execute(select(stages.c.params_hash).where(stages.c.stage == stage)).scalars()]


def led_to(asked: str, *sources: str, by_vectors: bool = False) -> list[tuple[str, str]]:
    """Return (recording, text) of the clips that a question is led to, by names alone or by vectors as well."""
    held = stores()
    row = held.catalog.library("default")
    like = encoder().queries([asked]) * (1 if by_vectors else 0)
    found = search(held, row, asked, like, 10, sources)
    items = held.catalog.items(row.id, [id for id, _ in found])
    return [(Path(items[id].locator["file"]).stem, items[id].text) for id, _ in found]
