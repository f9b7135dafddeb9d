"""The neighbourhood of one entity."""

from __future__ import annotations

from pathlib import Path

from ragweave.corpora.ingest.run import index
from ragweave.corpora.knowledge.facts import Entity, Relation, facts_of, key_of
from ragweave.corpora.knowledge.neighbours import around, most_joined
from ragweave.corpora.knowledge.store import put
from ragweave.corpora.store.stores import stores


async def test_neighbours_come_by_how_strongly_they_are_joined_over_all_chunks(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nOtto mended the crane.\n", encoding="utf-8")
    await index([tmp_path], "default")
    catalog = stores().catalog
    row = next(r for r in catalog.libraries() if r.name == "default")
    source, *_ = catalog.sources(row.id)
    otto = [Entity("Otto", "person", "A builder.", (("i1", 1),)), Entity("Crane", "thing", "", (("i1", 1),))]
    again = [Entity("OTTO", "", "He came from the north in spring.", (("i2", 3),)), Entity("Otto", "person")]
    put(catalog, row.id, source.id, "c1", facts_of(otto, [Relation("Otto", "Crane", "He mended it.", 1)]), "")
    more = [Relation("Pier", "Otto", "", 1.5), Relation("Crane", "Otto", "", 1)]
    put(catalog, row.id, source.id, "c2", facts_of(again, more), "")

    found = around(catalog, row.id, key_of("Otto"))
    assert found is not None
    middle, beside, items = found
    assert (middle.kind, middle.description) == ("person", "A builder. He came from the north in spring.")
    assert [(n.name, n.weight, n.description) for n in beside] == [("Crane", 2.0, "He mended it."), ("Pier", 1.5, "")]
    assert items == ["i2", "i1"]
    assert [n.name for n in around(catalog, row.id, key_of("Otto"), k=1)[1]] == ["Crane"]  # type: ignore[index]
    first, *_ = most_joined(catalog, row.id)
    assert (first.key, first.weight) == (key_of("Otto"), 2.0)
    assert around(catalog, row.id, key_of("nobody")) is None
