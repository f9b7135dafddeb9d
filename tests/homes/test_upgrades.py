"""Homes that earlier versions wrote: one that can be opened holds all it held, any other is refused and left alone."""

from __future__ import annotations

import hashlib
import sqlite3
import zipfile
from pathlib import Path

import pytest

from ragweave.corpora.store.repair import repair
from ragweave.serve.app import create_app
from ragweave.serve.settings import ServeSettings
from ragweave.tests.homes.write import QUESTION
from ragweave.tests.support.serving import direct_client, in_process

HERE = Path(__file__).parent
OPENED = sorted(HERE.glob("schema-*.zip"))


def laid(name: Path, home: Path) -> Path:
    with zipfile.ZipFile(name) as archive:
        archive.extractall(home)
    return home


def digests(home: Path) -> dict[str, str]:
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(home.rglob("*")) if p.is_file()}


@pytest.fixture(params=OPENED, ids=lambda path: path.stem)
def earlier(request: pytest.FixtureRequest, home: Path) -> Path:
    return laid(request.param, home)


def test_there_is_a_home_to_open() -> None:
    assert OPENED


def test_its_library_answers_and_its_conversation_goes_on(earlier: Path, main, monkeypatch) -> None:
    code, out, _ = main("ask", QUESTION)
    assert code == 0 and "Pharos" in out
    code, out, _ = main("chat", "--list")
    assert code == 0 and "20260101-abcdef" in out and "1 turn" in out
    said = iter(["And when?", "/quit"])
    monkeypatch.setattr("builtins.input", lambda prompt="": next(said))
    code, out, _ = main("chat", "--thread", "20260101-abcdef")
    assert code == 0 and "280 BC" in out


def test_its_bundle_is_imported(earlier: Path, main) -> None:
    code, out, err = main("import", str(earlier / "default.ragweave"), "--library", "carried")
    assert code == 0, err
    code, out, _ = main("search", "obelisk", "--library", "carried")
    assert code == 0 and "Heliopolis" in out


async def test_it_is_sound(earlier: Path) -> None:
    assert (await repair()).sound


async def test_its_server_knows_its_keys_and_conversations(earlier: Path) -> None:
    app, secret = create_app(ServeSettings()), (earlier / "secret.txt").read_text()
    async with in_process(app) as nobody, direct_client(app, headers={"authorization": f"Bearer {secret}"}) as client:
        [thread] = (await client.get("/api/threads")).json()["threads"]
        [turn] = (await client.get(f"/api/threads/{thread['id']}")).json()["turns"]
        assert turn["status"] == "done" and "Pharos" in turn["answer"]["text"]
        assert (await nobody.get("/api/threads")).status_code == 401


def test_a_home_of_the_first_edition_is_refused_with_what_to_do_and_left_as_it_is(home: Path, main) -> None:
    before = digests(laid(HERE / "first-edition.zip", home))
    for command in (["ask", QUESTION], ["search", "obelisk"], ["library", "list"], ["doctor", "--repair"]):
        code, _, err = main(*command)
        assert code == 2 and err.count("\n") == 1 and "earlier Ragweave" in err and "RAGWEAVE_HOME" in err, command
    after = digests(home)
    assert {path: after[path] for path in before} == before


def test_a_library_of_a_schema_in_between_is_refused_with_what_to_do(home: Path, main) -> None:
    laid(OPENED[0], home)
    [catalog] = home.glob("libraries/*/catalog.sqlite")
    for version, told in ((1, "earlier Ragweave"), (99, "newer Ragweave")):
        with sqlite3.connect(catalog) as raw:
            raw.execute(f"PRAGMA user_version = {version}")
        code, _, err = main("ask", QUESTION)
        assert code == 2 and told in err and "RAGWEAVE_HOME" in err
