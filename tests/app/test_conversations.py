"""Conversations of the command line, over a file and over a database."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

import pytest

from ragweave.app.threads import conversations, list_threads
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.folders import of_the_disk
from ragweave.corpora.store.stores import close_stores
from ragweave.models.errors import LibraryError
from ragweave.tests.conftest import Main
from ragweave.tests.support.library import build_library
from ragweave.tests.support.postgres import binaries, private_postgres

TEXTS = {"lighthouse.md": "# The lighthouse\n\nThe lamp of the lighthouse was first lit in 1874.\n"}


@pytest.mark.both
def test_a_conversation_is_listed_and_gone_on_with(
    engine: str, home: Path, tmp_path: Path, main: Main, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(build_library(tmp_path / "notes", TEXTS))
    for given in ((), ("--continue",)):
        monkeypatch.setattr("sys.stdin", io.StringIO("When was the lamp of the lighthouse first lit?\n"))
        code, out, err = main("chat", *given)
        assert (code, "1874" in out) == (0, True), err
    code, out, _ = main("chat", "--list")
    assert (code, out.count("When was the lamp")) == (0, 1)
    with conversations() as (runner, saver):
        [thread] = runner.run(list_threads(saver))
    assert thread.turns == 2
    assert (home / "threads.sqlite").exists() == (engine == "embedded")


@pytest.mark.cluster
def test_a_lost_database_is_one_sentence_and_once_it_is_back_the_conversation_continues(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = binaries()
    if found is None:
        pytest.skip("no PostgreSQL is installed (Debian: apt install postgresql-15)")
    with private_postgres(found) as server:
        monkeypatch.setenv("RAGWEAVE_DATABASE_URL", server.url("postgres"))
        corpora_settings.cache_clear()
        with conversations() as (runner, saver):
            assert runner.run(list_threads(saver)) == []
            server.stop()
            with pytest.raises(Exception) as caught:
                runner.run(list_threads(saver))
            assert "database cannot be used" in str(of_the_disk(caught.value))
            server.start()
            assert runner.run(list_threads(saver)) == []
        server.stop()
        with pytest.raises(LibraryError, match="database cannot be used"), conversations():
            pass
        close_stores()
        server.start()
