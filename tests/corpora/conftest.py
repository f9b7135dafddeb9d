"""A small library that was indexed once for the whole run of tests, copied into the home of those that ask for it."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.ingest.run import index
from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.store.prepared import Prepared
from ragweave.corpora.store.stores import close_stores
from ragweave.models import embed
from ragweave.models.encoders import normalise
from ragweave.models.settings import model_settings
from ragweave.tests.support.chroma import chroma_server

TEXTS = {
    "alexandria.md": "# Alexandria\n\nThe lighthouse of Alexandria was built on Pharos.\n",
    "rome.md": "# Rome\n\nThe aqueducts carried water to the fountains of Rome.\n",
    "deeper/长安.md": "# 长安\n\n长安城的大雁塔建于唐朝,玄奘在那里翻译佛经。\n",
}


def _read(self: Readers, path: str, source: str, words: int, *more: Any, **_: Any) -> Prepared:
    return prepare(Path(path), source, words, *more)


@pytest.fixture
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files in this process: what the reading processes do is tested with them, and takes a second to start."""
    monkeypatch.setattr(Readers, "read", _read)


@contextmanager
def in_home(home: Path) -> Iterator[None]:
    """Use a home outside of a test, and read files in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAGWEAVE_HOME", str(home))
        patch.setattr(Readers, "read", _read)
        model_settings.cache_clear()
        yield
        close_stores()
        model_settings.cache_clear()


@pytest.fixture(scope="session")
def _indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("indexed")
    for name, text in TEXTS.items():
        (folder / "notes" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "notes" / name).write_text(text)
    with in_home(folder / "home"):
        asyncio.run(index([folder / "notes"]))
    yield folder


@pytest.fixture
def notes(_indexed: Path, home: Path, engine: str, tmp_path: Path, read_here: None) -> Path:
    """A folder of three notes that the library `default` of this home holds already."""
    shutil.copytree(_indexed / "notes", tmp_path / "notes")
    if engine == "postgres":
        asyncio.run(index([tmp_path / "notes"]))
        return tmp_path / "notes"
    shutil.copytree(_indexed / "home", home)
    import sqlite3

    [catalog] = home.glob("libraries/*/catalog.sqlite")
    with sqlite3.connect(catalog) as connection:
        old, new = str(_indexed / "notes"), str(tmp_path / "notes")
        connection.execute("UPDATE paths SET path = replace(path, ?, ?)", (old, new))
    connection.close()
    return tmp_path / "notes"


@pytest.fixture(scope="session")
def chroma_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Chroma server for the whole run of tests."""
    with chroma_server(tmp_path_factory.mktemp("chroma")) as url:
        yield url


class Turned:
    """Another encoder: the built-in one with its axes in reverse and some left out, so that no two vectors agree."""

    name = "turned"
    dim = 200
    max_words = 60

    def __init__(self) -> None:
        self._inner = embed.encoder("wordllama")
        self.calls = 0

    def texts(self, texts: list[str]) -> np.ndarray:
        """Encode passages."""
        self.calls += 1
        return normalise(self._inner.texts(texts)[:, ::-1][:, : self.dim])

    def queries(self, texts: list[str]) -> np.ndarray:
        """Encode questions."""
        return self.texts(texts)


@pytest.fixture
def turned(monkeypatch: pytest.MonkeyPatch) -> Turned:
    """Make `turned` the name of another encoder, also as RAGWEAVE_EMBED."""
    found, before = Turned(), embed.encoder
    monkeypatch.setattr(
        embed,
        "encoder",
        lambda name=None: found if (name or os.environ.get("RAGWEAVE_EMBED")) == "turned" else before(name),
    )
    return found
