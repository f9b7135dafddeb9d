"""Moving a library from files into a database and back."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ragweave.app.api import aask
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import lexical, move
from ragweave.corpora.store.embedded import Files
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.stores import close_stores, stores
from ragweave.tests.conftest import Main
from ragweave.tests.support.library import build_library
from ragweave.tests.support.postgres import Postgres

TEXTS = {
    "lighthouse.md": "# The lighthouse\n\nThe lamp of the lighthouse was first lit in 1874.\n",
    "ferry.md": "# The ferry\n\nThe ferry sails four times a day.\n",
}
QUESTION = "When was the lamp of the lighthouse first lit?"
ROOT = Path(__file__).resolve().parents[3]
ISLES = [f"{a}{b}" for a in ("Hald", "Skar", "Lund", "Brim", "Tor") for b in ("holm", "ey", "vik", "ness", "by", "ask")]
ISLE = """# {0}

{0} has {1} inhabitants. Its harbour was built in {2} by {3}.

## Ferry

The ferry to {0} sails {4} times a week, and a bicycle costs {5} crowns.
"""
ASKED = (
    "When was the harbour of {} built?",
    "How many inhabitants does {} have?",
    "How often does the ferry to {} sail?",
)


def over(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Let this process use another database, or none."""
    monkeypatch.setenv("RAGWEAVE_DATABASE_URL", url)
    corpora_settings.cache_clear()
    close_stores()


def isles() -> dict[str, str]:
    """Return a file about each isle."""
    builders = ("Ines Varga", "Otto Brandt", "the parish", "a company of Bergen")
    return {
        f"{name}.md": ISLE.format(name, 100 + 37 * n, 1800 + 7 * n, builders[n % 4], 2 + n % 12, 20 + n)
        for n, name in enumerate(ISLES)
    }


def answers(questions: list[str]) -> list[dict[str, Any]]:
    """Return what is answered, each with its citations; what it took may differ."""

    async def asked() -> list[dict[str, Any]]:
        return [(await aask(q)).model_dump(exclude={"usage", "trace"}) for q in questions]

    return asyncio.run(asked())


@pytest.mark.cluster
def test_questions_are_answered_alike_before_a_move_after_it_and_back(
    postgres: Postgres, home: Path, tmp_path: Path, main: Main, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "examples" / "library", tmp_path / "notes")
    asyncio.run(build_library(tmp_path / "notes", isles()))
    taken = json.loads((ROOT / "tests" / "golden" / "questions.json").read_text(encoding="utf-8"))["examples"]
    questions = [turns[0] for turns in taken if len(turns) == 1 and turns[0].strip()][:20]
    questions += [ASKED[n % len(ASKED)].format(name) for n, name in enumerate(ISLES)]
    before = answers(questions)
    assert sum(bool(answer["citations"]) for answer in before) > 40
    with postgres.database() as url:
        assert main("library", "move", "default", "--to", url)[0] == 0
        over(monkeypatch, url)
        assert answers(questions) == before
        assert main("library", "move", "default", "--to", "home")[0] == 0
        over(monkeypatch, "")
        assert answers(questions) == before


@pytest.mark.cluster
@pytest.mark.chroma
@pytest.mark.parametrize("back", [False, True])
def test_a_new_vector_is_not_taken_for_one_that_an_index_which_moved_along_still_holds(
    postgres: Postgres, home: Path, tmp_path: Path, main: Main, monkeypatch: pytest.MonkeyPatch, back: bool
) -> None:
    notes = tmp_path / "notes"
    asyncio.run(build_library(notes, isles()))
    new = "Zebras sleep standing in the Serengeti."

    async def nearest() -> str:
        library = await open_library()
        [lists] = await library.search("paragraph", [new], 1)
        return (await library.items([lists.dense[0].id]))[lists.dense[0].id].text

    def index() -> None:
        assert main("index", str(notes))[0] == 0

    with postgres.database() as url:
        if back:
            assert main("library", "move", "default", "--to", url)[0] == 0
            over(monkeypatch, url)
        (last := notes / "last.md").write_text("# Last\n\nA row.\n\n## More\n\nAnother row.\n")
        index()
        stores().vectors.tidy(stores().catalog.library("default").id, anew=True)
        last.unlink()
        index()
        assert main("library", "move", "default", "--to", "home" if back else url)[0] == 0
        over(monkeypatch, "" if back else url)
        (notes / "zebras.md").write_text(new)
        index()
        assert asyncio.run(nearest()) == new
        over(monkeypatch, "")


@pytest.mark.cluster
def test_a_copy_whose_words_are_not_found_is_refused_and_the_library_stays(
    postgres: Postgres, home: Path, tmp_path: Path, main: Main, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(build_library(tmp_path / "notes", TEXTS))
    with postgres.database() as url:
        with monkeypatch.context() as faulty:
            faulty.setattr(lexical, "put", lambda *_: None)
            code, _, err = main("library", "move", "default", "--to", url)
        assert code == 2 and "not the same" in err
        assert "1874" in main("search", QUESTION)[1]
        assert main("library", "move", "default", "--to", url)[0] == 0
        over(monkeypatch, url)
        assert "1874" in main("search", QUESTION)[1]
        over(monkeypatch, "")


@pytest.mark.cluster
def test_a_move_that_was_stopped_goes_on_also_where_the_library_was_written_since(
    postgres: Postgres, home: Path, tmp_path: Path, main: Main, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(build_library(tmp_path / "notes", TEXTS))

    def killed(place: object, library: str) -> None:
        raise KeyboardInterrupt

    with postgres.database() as url:
        with monkeypatch.context() as stopped:
            stopped.setattr(Files, "release", killed)
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
