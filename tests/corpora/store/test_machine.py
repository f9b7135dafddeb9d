"""The four stores against a model of dictionaries: any order of changes, with the stores closed in between."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.commit import Committer, FileOutcome
from ragweave.corpora.store.files import File, Stat
from ragweave.corpora.store.lexical import Lexical
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.prepared import made_of, source_id
from ragweave.corpora.store.vectors import Vectors
from ragweave.corpora.store.words import indexed
from ragweave.corpora.types import Item
from ragweave.models.errors import LibraryError, LibraryNotFound
from ragweave.models.settings import model_settings

pytestmark = pytest.mark.both

DIM, EYE = 16, np.eye(16, dtype=np.float32)
NAMES, PATHS = st.sampled_from(["atlas", "Notes", "höfe"]), st.sampled_from(["/f/a.md", "/f/b.md", "/f/c.md"])
EXAMPLES = int(os.environ.get("TEST_EXAMPLES", "60"))
VOCABULARY = "aqueduct basilica citadel dolmen esplanade forum granary hippodrome".split()
WORDS = st.sampled_from(VOCABULARY)


@dataclass
class Held:
    """What a library holds: words of sources, source by path, and own vectors and pictures by source."""

    sources: dict[str, list[str]] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)
    other: dict[str, int] = field(default_factory=dict)
    media: dict[str, set[str]] = field(default_factory=dict)
    generation: int = 0

    def forget_unnamed(self) -> None:
        for source in self.sources.keys() - set(self.paths.values()):
            del self.sources[source]
            self.media.pop(source, None)
            self.other = {
                chunk: at for chunk, at in self.other.items() if not chunk.startswith(f"i-{source}")
            }


def place(word: str) -> int:
    """Return the direction of a word's vector."""
    return sum(map(ord, word)) % DIM


class Stores(RuleBasedStateMachine):
    """Every rule changes stores and model alike; the invariants compare all that can be asked."""

    @initialize()
    def open_them(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="machine-"))
        os.environ["RAGWEAVE_HOME"] = str(self.home)
        model_settings.cache_clear()
        self.model: dict[str, Held] = {}
        self.ids: dict[str, str] = {}
        self.open()

    def open(self) -> None:
        self.catalog = Catalog(self.home)
        self.vectors, self.lexical = Vectors(self.catalog, self.home), Lexical(self.catalog)

    def teardown(self) -> None:
        if hasattr(self, "catalog"):
            for library in self.ids.values():
                self.catalog.delete(library)
            self.close_and_open(last=True)
            shutil.rmtree(self.home)

    @rule()
    def close_and_open(self, last: bool = False) -> None:
        self.vectors.close()
        self.catalog.close()
        if not last:
            self.open()

    @rule(name=NAMES)
    def create(self, name: str) -> None:
        if name in self.model:
            with pytest.raises(LibraryError):
                self.catalog.create(name, "enc", DIM)
            return
        self.ids[name] = self.catalog.create(name, "enc", DIM).id
        self.model[name] = Held()

    @rule(name=NAMES, to=NAMES)
    def rename(self, name: str, to: str) -> None:
        if name not in self.model or (to in self.model and to != name):
            with pytest.raises(LibraryError):
                self.catalog.rename(name, to)
            return
        self.catalog.rename(name, to)
        self.model[to], self.ids[to] = self.model.pop(name), self.ids.pop(name)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        if name in self.model:
            gone = self.ids.pop(name)
            self.catalog.delete(gone)
            self.vectors.drop(gone)
            del self.model[name]
            with pytest.raises(LibraryNotFound):
                self.catalog.row(gone)

    @contextmanager
    def chosen(self, name: str) -> Iterator[tuple[Held, str, Committer]]:
        held, library = self.model[name], self.ids[name]
        yield held, library, Committer(self.catalog, self.catalog.row(library), "p")

    def pick(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(sorted(self.model)))

    @precondition(lambda self: self.model)
    @rule(data=st.data(), path=PATHS, words=st.lists(WORDS, min_size=1, max_size=3), picture=st.booleans())
    def store(self, data: st.DataObject, path: str, words: list[str], picture: bool) -> None:
        with self.chosen(self.pick(data)) as (held, library, committer):
            sha256 = "".join(words)
            source = source_id(sha256, "p")
            made = [
                Item(
                    id=f"i-{source}-{n}",
                    source=source,
                    corpus="paragraph",
                    ordinal=n,
                    title="",
                    text=word,
                    locator={},
                )
                for n, word in enumerate(words)
            ]
            file = File(path, source, sha256, Stat(1, 0, 0, 0, 0.0))
            if picture:
                staged = Media.of(library).staging(source)
                staged.mkdir()
                (staged / "p.png").write_bytes(b"p")
            vectors = np.stack([EYE[place(word)] for word in words])
            committer.store([FileOutcome(file, made_of("text", "", made, 100), vectors)])
            held.sources[source], held.paths[path] = words, source
            held.other = {
                c: at for c, at in held.other.items() if not c.startswith(f"i-{source}")
            }  # of another text
            held.media[source] = {f"{source}/p.png"} if picture else set()
            held.forget_unnamed()

    @precondition(lambda self: self.model)
    @rule(data=st.data(), path=PATHS)
    def link(self, data: st.DataObject, path: str) -> None:
        with self.chosen(self.pick(data)) as (held, _, committer):
            known = data.draw(st.sampled_from([*sorted(held.sources), "0" * 24]))
            missing, _ = committer.store([], [File(path, known, "", Stat(1, 0, 0, 0, 0.0))])
            assert bool(missing) == (known not in held.sources)
            if not missing:
                held.paths[path] = known
                held.forget_unnamed()

    @precondition(lambda self: self.model)
    @rule(data=st.data(), path=PATHS)
    def remove(self, data: st.DataObject, path: str) -> None:
        with self.chosen(self.pick(data)) as (held, _, committer):
            committer.remove_paths([path])
            held.paths.pop(path, None)
            held.forget_unnamed()

    @precondition(lambda self: any(held.sources for held in self.model.values()))
    @rule(data=st.data(), at=st.integers(0, DIM - 1), keep=st.booleans())
    def another_space(self, data: st.DataObject, at: int, keep: bool) -> None:
        name = data.draw(st.sampled_from(sorted(n for n, held in self.model.items() if held.sources)))
        with self.chosen(name) as (held, library, _):
            source = data.draw(st.sampled_from(sorted(held.sources)))
            chunk = f"i-{source}-0~0"
            if keep:
                assert self.vectors.put(library, "paragraph", "other", [chunk], [source], EYE[[at]]) == 1
                held.other[chunk] = at
            else:
                self.vectors.discard(library, "paragraph", "other", [chunk])
                held.other.pop(chunk, None)

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def leave_media_behind(self, data: st.DataObject) -> None:
        with self.chosen(self.pick(data)) as (_, library, committer):
            media = Media.of(library)
            media.staging("a" * 24).mkdir()
            media.write(f"{'b' * 24}/x.png", [b"x"])
            assert set(media.orphans(self.model_of(library).sources)) == {"a" * 24, "b" * 24}
            committer.recover()

    def model_of(self, library: str) -> Held:
        return next(self.model[name] for name, id_ in self.ids.items() if id_ == library)

    @invariant()
    def they_agree(self) -> None:
        if not hasattr(self, "model"):
            return
        assert [row.name for row in self.catalog.libraries()] == sorted(self.model)
        for name, held in self.model.items():
            library = self.ids[name]
            row = self.catalog.row(library)
            assert row.generation >= held.generation
            held.generation = row.generation
            assert {s.id: s.paths for s in self.catalog.sources(library)} == {
                source: tuple(sorted(p for p, s in held.paths.items() if s == source))
                for source in held.sources
            }
            texts = {f"i-{s}-{n}": word for s, words in held.sources.items() for n, word in enumerate(words)}
            assert {i.id: i.text for i in self.catalog.items(library, [*texts, "none"]).values()} == texts
            assert self.catalog.counts(library) == ({"paragraph": len(texts)} if texts else {})
            assert self.catalog.known(library, [*texts, "none"]) == set(texts)
            ids = [f"{i}~0" for i in sorted(texts)]
            assert self.vectors.ids(library, "paragraph", "enc") == ids
            assert self.vectors.ids(library, "paragraph", "other") == sorted(held.other)
            counts = Counter(texts.values())
            known = {indexed(word): counts[word] for word in VOCABULARY}
            assert self.lexical.counted(library, ["paragraph"], list(known)) == (len(texts), known)
            for word in sorted(set(texts.values())):
                mine = {i for i, text in texts.items() if text == word}
                [found] = self.lexical.search(library, "paragraph", [word], 50)
                assert {i for i, _ in found} == mine
                [near] = self.vectors.query(library, "paragraph", "enc", EYE[[place(word)]], 50)
                assert {i for i, cosine in near if cosine > 0.99} >= mine and len(near) == len(texts)
            media = Media.of(library)
            assert {s: set(media.files(s)) for s in held.sources} == {s: held.media[s] for s in held.sources}
            assert media.orphans(held.sources) == []


@pytest.mark.parametrize("examples", [10, pytest.param(EXAMPLES, marks=pytest.mark.hard)])
def test_any_order_of_changes_leaves_what_the_model_holds(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, examples: int
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = os.environ["RAGWEAVE_HOME"]
    try:
        how = settings(
            max_examples=examples,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        run_state_machine_as_test(Stores, settings=how)
    finally:
        os.environ["RAGWEAVE_HOME"] = before
        model_settings.cache_clear()
