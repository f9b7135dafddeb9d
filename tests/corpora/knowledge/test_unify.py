"""Names of one entity are joined over recordings, and homonyms parted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import select

from ragweave.corpora.ingest.run import Models, Report
from ragweave.corpora.ingest.run import index as run_index
from ragweave.corpora.knowledge.facts import Entity, Extractor, Relation, Same, key_of
from ragweave.corpora.knowledge.search import search
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.blobs import entity_space
from ragweave.corpora.store.schema import mentions, relations
from ragweave.corpora.store.stores import stores
from ragweave.models.embed import encoder
from ragweave.models.errors import ModelError

SAID = {
    "sight": ("We cut pictures into patches.", Entity("Vision Transformer", "method", "A model that reads patches.")),
    "lab": ("It runs on a phone.", Entity("ViT", "technology", "A small model of vision.")),
    "harbour": ("The ferry leaves at nine.", Entity("Rook", "place", "A harbour.")),
    "chess": ("He opened with a pawn.", Entity("Rook", "person", "A player of chess.")),
    "store": ("We keep rows there.", Entity("PostgreSQL", "product", "A database server that keeps rows.")),
    "rows": ("It answers queries.", Entity("Postgres", "product", "A database server that keeps rows.")),
}


async def extract(text: str) -> tuple[list[Entity], list[Relation]]:
    """Play the extractor: each recording speaks of one thing, together with the year."""
    found = next(e for said, e in SAID.values() if said in text)
    return [found, Entity("1931", "concept")], [Relation(found.name, "1931", "", 3)]


class Judge:
    """Plays the model that compares names: one thing where one name begins the other."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.down = False

    async def same(self, pairs: Sequence[tuple[str, str]]) -> set[int]:
        if self.down:
            raise ModelError("the model is down", "start it")
        self.asked += pairs
        names = [tuple(text.partition(" (")[0].lower() for text in pair) for pair in pairs]
        return {n for n, (one, other) in enumerate(names) if one.startswith(other) or other.startswith(one)}


@pytest.fixture
def talks(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAGWEAVE_ENTITIES", "llm")
    corpora_settings.cache_clear()
    return tmp_path / "talks"


def write(folder: Path, name: str, to: str = "") -> None:
    folder.mkdir(exist_ok=True)
    cue = f"WEBVTT\n\n00:00:01.000 --> 00:00:04.000\n{SAID[name][0]}\n"
    (folder / f"{to or name}.vtt").write_text(cue, encoding="utf-8")


async def index(folder: Path, *names: str, same: Same | None = None) -> Report:
    for name in names:
        write(folder, name)
    return await run_index([folder], models=Models(extractor=Extractor("played", extract, same)))


def entities() -> dict[str, set[str]]:
    """Return the names of every entity but the year, by its digest."""
    catalog = stores().catalog
    out: dict[str, set[str]] = {}
    with catalog.reading(catalog.library("default").id) as connection:
        for entity, name in connection.execute(select(mentions.c.entity, mentions.c.name)):
            out.setdefault(entity, set()).add(name)
    return {entity: names for entity, names in out.items() if names != {"1931"}}


def led_to(asked: str) -> set[str]:
    """Return the recordings that a question is led to by names alone."""
    held = stores()
    row = held.catalog.library("default")
    nothing = encoder().queries(["zzz"]) * 0
    found = held.catalog.items(row.id, [i for i, _ in search(held, row, asked, nothing, 10)])
    return {Path(item.locator["file"]).stem for item in found.values()}


async def test_an_acronym_becomes_its_name_without_a_model(talks: Path) -> None:
    await index(talks, "sight", "lab")
    assert [*entities().values()] == [{"ViT", "Vision Transformer"}]
    assert led_to("How small is the ViT?") == led_to("What is a vision transformer?") == {"sight", "lab"}


async def test_what_is_joined_has_the_relations_of_both_and_vectors_of_its_own(talks: Path) -> None:
    await index(talks, "sight")
    await index(talks, "lab")
    [entity] = entities()
    held = stores()
    row = held.catalog.library("default")
    with held.catalog.reading(row.id) as connection:
        ends = [*connection.execute(select(relations.c.head, relations.c.tail))]
    assert ends == [tuple(sorted((entity, key_of("1931"))))] * 2
    kept = {v.partition("~")[0] for v in held.vectors.ids(row.id, "clip", entity_space(row.encoder))}
    assert kept == {entity, key_of("1931")}


async def test_two_things_of_one_name_and_another_type_are_two_entities(talks: Path) -> None:
    judge = Judge()
    await index(talks, "harbour", "chess", same=judge.same)
    assert [*entities().values()] == [{"Rook"}, {"Rook"}]
    assert not [pair for pair in judge.asked if "Rook" in pair[0] and "Rook" in pair[1]]
    assert led_to("What is Rook?") == {"harbour", "chess"}


async def test_names_that_are_near_are_joined_where_a_model_says_so(talks: Path) -> None:
    judge = Judge()
    await index(talks, "store", "rows")
    assert len(entities()) == 2
    await index(talks, "sight", same=judge.same)
    assert len(entities()) == 3 and not judge.asked  # neither is new, and nothing like the new one was there
    (talks / "rows.vtt").unlink()
    await index(talks, "sight", same=judge.same)
    await index(talks, "rows", same=judge.same)
    assert {"PostgreSQL", "Postgres"} in entities().values()
    assert led_to("What does Postgres answer?") >= {"store", "rows"}


async def test_what_was_joined_once_is_joined_without_asking_again(talks: Path) -> None:
    judge = Judge()
    await index(talks, "store", "rows", same=judge.same)
    asked = len(judge.asked)
    write(talks, "rows", "more")
    with (talks / "more.vtt").open("a", encoding="utf-8") as file:
        file.write("\n00:00:05.000 --> 00:00:06.000\nAnd that is all.\n")
    assert (await index(talks, same=judge.same)).extracted == 1
    assert [*entities().values()] == [{"PostgreSQL", "Postgres"}] and len(judge.asked) == asked


async def test_a_source_takes_the_name_along_under_which_it_knew_an_entity(talks: Path) -> None:
    await index(talks, "sight", "lab")
    (talks / "lab.vtt").unlink()
    await index(talks)
    assert [*entities().values()] == [{"Vision Transformer"}]
    assert led_to("What is a vision transformer?") == {"sight"}


async def test_a_model_that_is_down_costs_a_note_and_the_next_run_asks_it_again(talks: Path) -> None:
    judge = Judge()
    judge.down = True
    report = await index(talks, "store", "rows", same=judge.same)
    assert len(entities()) == 2 and any("names were not compared" in n and "is down" in n for n in report.notes)
    judge.down = False
    await index(talks, same=judge.same)
    assert len(entities()) == 1
    before = len(judge.asked)
    await index(talks, same=judge.same)
    assert len(judge.asked) == before
