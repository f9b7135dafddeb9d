"""Moving a library from files into a database and back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import move
from ragweave.corpora.store.stores import close_stores, stores
from ragweave.tests.conftest import Main
from ragweave.tests.support.library import build_library
from ragweave.tests.support.postgres import Postgres

TEXTS = {
    "lighthouse.md": "# The lighthouse\n\nThe lamp of the lighthouse was first lit in 1874.\n",
    "ferry.md": "# The ferry\n\nThe ferry sails four times a day.\n",
}
QUESTION = "When was the lamp of the lighthouse first lit?"


def over(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Let this process use another database, or none."""
    monkeypatch.setenv("RAGWEAVE_DATABASE_URL", url)
    corpora_settings.cache_clear()
    close_stores()


@pytest.mark.cluster
def test_a_moved_library_answers_as_before_and_comes_back(
    postgres: Postgres, home: Path, tmp_path: Path, main: Main, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(build_library(tmp_path / "notes", TEXTS))
    row = stores().catalog.library("default")
    before = main("search", QUESTION, "--json")[1]
    with postgres.database() as url:
        code, out, err = main("library", "move", "default", "--to", url)
        assert code == 0 and "2 sources" in out, err
        assert not list(home.rglob("catalog.sqlite*"))
        assert "There is no library" in main("library", "list")[1]
        over(monkeypatch, url)
        assert stores().catalog.library("default") == row
        assert main("search", QUESTION, "--json")[1] == before
        assert "2 unchanged" in "".join(main("index", str(tmp_path / "notes"))[1:])
        assert main("library", "move", "default", "--to", url)[0] == 2
        assert main("library", "move", "default", "--to", "home")[0] == 0
        assert "There is no library" in main("library", "list")[1]
        over(monkeypatch, "")
        assert main("search", QUESTION, "--json")[1] == before
        close_stores()


@pytest.mark.cluster
def test_a_move_that_was_stopped_goes_on_also_where_the_library_was_written_since(
    postgres: Postgres, home: Path, tmp_path: Path, main: Main, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(build_library(tmp_path / "notes", TEXTS))

    def killed(place: object, library: str) -> None:
        raise KeyboardInterrupt

    with postgres.database() as url:
        with monkeypatch.context() as stopped:
            stopped.setattr(move.Libraries, "release", killed)
            with pytest.raises(KeyboardInterrupt):
                move._move("default", url)
        asyncio.run(build_library(tmp_path / "notes", {"tea.md": "# Tea\n\nTea is brewed at ninety degrees.\n"}))
        code, out, err = main("library", "move", "default", "--to", url)
        assert code == 0 and "3 sources" in out, err
        over(monkeypatch, url)
        assert "ninety" in main("search", "How hot is tea?")[1]
        over(monkeypatch, "")


@pytest.mark.parametrize("to", ["mysql://x", "home"])
def test_a_place_that_is_none_is_refused(home: Path, tmp_path: Path, main: Main, to: str) -> None:
    asyncio.run(build_library(tmp_path / "notes", TEXTS))
    code, _, err = main("library", "move", "default", "--to", to)
    assert code == 2 and err.count("\n") == 1
    assert main("library", "list")[1] == "default\n"
