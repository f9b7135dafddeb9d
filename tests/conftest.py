"""Fixtures for every room: an empty home, a closed network, the public data where it is present."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings

from ragweave.corpora.ingest import readers
from ragweave.corpora.store import index_upkeep, vectors
from ragweave.tests.support import forked_readers
from ragweave.tests.support.postgres import Postgres, binaries, private_postgres

# Enough to catch what breaks; `--hypothesis-profile=long` searches further.
settings.register_profile("short", deadline=None, max_examples=30)
settings.register_profile("long", deadline=None, max_examples=500)
settings.load_profile("short")

ROOT = Path(__file__).resolve().parent.parent

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
os.environ["ANONYMIZED_TELEMETRY"] = "False"
os.environ["LANGSMITH_TRACING"] = "false"
for _name in [
    n for n in os.environ if n == "TAVILY_API_KEY" or (n.startswith("RAGWEAVE_") and n != "RAGWEAVE_DATA")
]:
    del os.environ[_name]

# A shell that runs the tests in the background has them ignore Ctrl-C, and what they start would inherit
# that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

index_upkeep.INDEX_FROM = sys.maxsize

_LOOPBACK = {"127.0.0.1", "::1", "localhost", "0.0.0.0", ""}


@pytest.fixture(autouse=True)
def _closed_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection that leaves this machine, so that no test depends on a network."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if (
            isinstance(address, tuple)
            and str(address[0]) not in _LOOPBACK
            and not str(address[0]).startswith("127.")
        ):
            raise OSError(f"a test tried to reach {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what measures and trains, which only a checkout uses."""
    for item in items:
        if (ROOT / "tests" / "evals") in item.path.parents:
            item.add_marker("evals")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests of modules and functions marked `both` over either implementation of the stores."""
    if metafunc.definition.get_closest_marker("both"):
        server = pytest.param("postgres", marks=pytest.mark.cluster)
        of_a_file = metafunc.definition.get_closest_marker("sqlite")
        metafunc.parametrize("engine", ["embedded"] if of_a_file else ["embedded", server], indirect=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL of this run's own, or a skip that says why there is none."""
    found = binaries()
    if found is None:
        pytest.skip("no PostgreSQL is installed (Debian: apt install postgresql-15)")
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    with private_postgres(found) as server:
        yield server


@pytest.fixture
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """What keeps the catalogs of a test: `embedded` in its home, or `postgres` in a database of its own."""
    name = getattr(request, "param", "embedded")
    if name == "embedded":
        yield name
        return
    with request.getfixturevalue("postgres").database() as url:
        monkeypatch.setenv("RAGWEAVE_DATABASE_URL", url)
        yield name


@pytest.fixture(autouse=True)
def home(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give every test its own empty RAGWEAVE_HOME, no settings of a user, and a working folder without a .env file."""
    folder = tmp_path / "home"
    monkeypatch.setenv("RAGWEAVE_HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    _forget()
    yield folder
    _forget()


@pytest.fixture(autouse=True)
def _exam_passed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare models the exam, which has tests of its own, marked `exam`."""
    if request.node.get_closest_marker("exam"):
        return
    from ragweave.components import exam

    async def passed(run: object, progress: object = None) -> exam.ExamResult:
        return exam.ExamResult(right=40, of=40)

    monkeypatch.setattr(exam, "passed", passed)


def _forget() -> None:
    """Drop settings and open libraries that a test cached."""
    for module, names in {
        "ragweave.models.settings": ("model_settings",),
        "ragweave.corpora.settings": ("corpora_settings",),
        "ragweave.components.run_settings": ("run_settings",),
        "ragweave.serve.settings": ("serve_settings",),
    }.items():
        for name in names:
            found = getattr(sys.modules.get(module), name, None)
            if found is not None:
                found.cache_clear()
    held = sys.modules.get("ragweave.corpora.store.stores")
    if held is not None:
        held.close_stores()


@pytest.fixture(autouse=True)
def _indexed_by_chroma(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give tests marked `chroma` the index of vectors, which takes a process a run to write, and ask it."""
    if request.node.get_closest_marker("chroma"):
        monkeypatch.setattr(index_upkeep, "INDEX_FROM", 1)
        monkeypatch.setattr(vectors.Vectors, "stays", True)


@pytest.fixture(scope="session")
def _forked_readers() -> Iterator[forked_readers.Command]:
    """The command of reading processes that start in milliseconds."""
    # A short path: the one of a socket has 108 characters at the most.
    with TemporaryDirectory() as folder:
        yield forked_readers.command(f"{folder}/fork")
        forked_readers.end()


REAL_READERS = [ROOT / "tests" / "corpora" / "ingest", ROOT / "tests" / "hard"]
"""What tests the reading processes themselves."""


@pytest.fixture(autouse=True)
def _readers_start_fast(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, _forked_readers: forked_readers.Command
) -> None:
    """Fork the reading processes of runs in this process, except in tests of these processes."""
    if not set(REAL_READERS) & set(request.path.parents):
        monkeypatch.setattr(readers, "COMMAND", _forked_readers)


Stock = Callable[[Mapping[str, str]], Path]


@pytest.fixture(scope="session")
def _indexed_once(tmp_path_factory: pytest.TempPathFactory) -> Stock:
    """Index texts by file name, each set once a session; return the home that holds them."""
    homes: dict[tuple[tuple[str, str], ...], Path] = {}

    def indexed(texts: Mapping[str, str]) -> Path:
        from ragweave.tests.support.library import build_library

        key = tuple(sorted(texts.items()))
        if key not in homes:
            folder = tmp_path_factory.mktemp("indexed")
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("RAGWEAVE_HOME", str(folder / "home"))
                _forget()
                # In a thread of its own: a test that is a coroutine may call this too.
                with ThreadPoolExecutor(1) as thread:
                    thread.submit(asyncio.run, build_library(folder / "texts", texts)).result()
                _forget()
            homes[key] = folder / "home"
        return homes[key]

    return indexed


@pytest.fixture
def stock(_indexed_once: Stock, home: Path) -> Stock:
    """Put a library of these texts into the test's own home."""
    return lambda texts: Path(shutil.copytree(_indexed_once(texts), home))


@pytest.fixture
def data_dir() -> Path:
    """The public data sets, or a skip that says why."""
    folder = Path(os.environ.get("RAGWEAVE_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"the public data sets are not at {folder}; set RAGWEAVE_DATA to run this test")
    return folder


Main = Callable[..., tuple[int, str, str]]


@pytest.fixture
def main(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Main:
    """Run a command as the shell would; returns exit code, standard output and standard error."""
    # Wide enough that what is asserted is not wrapped.
    monkeypatch.setenv("COLUMNS", "200")

    def call(*argv: str) -> tuple[int, str, str]:
        from ragweave.app import cli

        code = cli.main(argv)
        out = capsys.readouterr()
        return code, out.out, out.err

    return call
