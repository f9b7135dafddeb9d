"""Whatever is done to a folder, and wherever a run breaks off, the next run brings the library up to date."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.ingest.run import index
from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.store import blobs, commit, ledger
from ragweave.corpora.store.blobs import item_of
from ragweave.corpora.store.stores import close_stores, stores
from ragweave.models.settings import model_settings

pytestmark = pytest.mark.hard

NAMES = ["a.md", "b.md", "c.txt"]
TEXTS = ["The lighthouse stood on Pharos.", "Aqueducts carried water.", "# Forum\n\nA market.", "%PDF-1.4 no", ""]
write = st.tuples(st.just("write"), st.sampled_from(NAMES), st.sampled_from(TEXTS))
remove = st.tuples(st.just("remove"), st.sampled_from(NAMES), st.none())
run = st.tuples(st.just("run"), st.none(), st.none())
broken = st.tuples(st.just("broken"), st.integers(0, 25), st.none())


class PowerCut(BaseException):
    """Nothing catches it, as nothing catches a power cut."""


def countdown(patch: pytest.MonkeyPatch, left: int) -> None:
    """Break off at the n-th call of any function that changes a store."""
    remaining = [left]
    for owner, name in [
        (blobs, "put"),
        (blobs, "forget_texts"),
        (commit, "bump"),
        (ledger, "put_pictures"),
        (commit, "upsert"),
        (commit.Committer, "_put_paths"),
    ]:
        real = getattr(owner, name)

        def counted(*args: object, _real: object = real, **options: object) -> object:
            remaining[0] -= 1
            if remaining[0] < 0:
                raise PowerCut
            return _real(*args, **options)

        patch.setattr(owner, name, counted)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.one_of(write, write, remove, run, broken), max_size=12))
def test_every_history_ends_in_agreement(steps: list[tuple[str, object, object]]) -> None:
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        folder = Path(place) / "notes"
        folder.mkdir()
        patch.setenv("RAGWEAVE_HOME", str(Path(place) / "home"))
        patch.setattr(
            Readers, "read", lambda self, path, source, words, *more: prepare(Path(path), source, words, *more)
        )
        model_settings.cache_clear()
        try:
            for what, first, second in steps:
                if what == "write":
                    (folder / str(first)).write_text(str(second))
                elif what == "remove":
                    (folder / str(first)).unlink(missing_ok=True)
                elif what == "run":
                    asyncio.run(index([folder]))
                else:
                    with pytest.MonkeyPatch.context() as cut:
                        countdown(cut, int(str(first)))
                        try:
                            asyncio.run(index([folder]))
                        except PowerCut:
                            close_stores()
            asyncio.run(index([folder]))
            check(folder)
        finally:
            close_stores()
            model_settings.cache_clear()


def check(folder: Path) -> None:
    """Assert that the library holds the folder, and both stores the same."""
    held = stores()
    [row] = held.catalog.libraries()
    sources = held.catalog.sources(row.id)
    assert sorted(p for s in sources for p in s.paths) == sorted(str(p) for p in folder.iterdir())
    for source in sources:
        good = Path(source.path).read_text() not in ("", "%PDF-1.4 no")
        assert (source.status == "failed") != good
        assert bool(source.items) == good
    with held.catalog.reading(row.id) as connection:
        items = set(connection.exec_driver_sql("SELECT id FROM items").scalars())
    stored = [held.vectors.ids(row.id, corpus, row.encoder) for corpus in ("paragraph", "document")]
    assert {item_of(i) for ids in stored for i in ids} == items
