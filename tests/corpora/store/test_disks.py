"""A disk that is really full, and one that may really not be written: both bind root as well, unlike permissions."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ragweave.corpora.store import locks
from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.folders import of_the_disk
from ragweave.corpora.store.private import make_home
from ragweave.corpora.store.temporary import forsaken, temporary
from ragweave.models.errors import LibraryError

ALONE = ["unshare", "--map-root-user", "--mount"]
"""A name space of one's own, in which anybody may mount a disk in memory."""

SCRIPT = """
import asyncio, json, os, sys
from pathlib import Path
from ragweave.corpora.ingest.run import index
from ragweave.app.api import aask
from ragweave.app.commands.doctor import examine
from ragweave.corpora.store.stores import close_stores
from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.store.repair import repair
from ragweave.corpora.ingest.stages import prepare
from ragweave.models.errors import RagweaveError
from ragweave.serve.store import Store

Readers.read = lambda self, path, source, words, *more, **_: prepare(Path(path), source, words, *more)
home, notes = Path(os.environ["RAGWEAVE_HOME"]), Path(sys.argv[1])

def tell(what, found):
    try:
        outcome = asyncio.run(found())
    except RagweaveError as error:
        outcome = f"{type(error).__name__}: {error}"
    close_stores()
    print(json.dumps([what, outcome]), flush=True)

async def run():
    return (await index([notes])).indexed

async def ask():
    answer = await aask("Where was the lighthouse of Alexandria built?")
    return answer.citations[0].title

async def sound():
    return (await repair()).sound

async def doctor():
    return [found.area for found in await examine() if found.state == "bad"]

if sys.argv[2:] == ["read-only"]:
    tell("doctor", doctor)
    (notes / "petra.md").write_text("# Petra\\n\\nPetra was carved from sandstone.")
    tell("run on the disk that may not be written", run)
    tell("ask it", ask)
    sys.exit()
tell("run", run)
Store(home / "serve.sqlite").close()
ballast = home / "ballast"
with open(ballast, "wb", buffering=0) as out:
    try:
        while True:
            out.write(bytes(4096))
    except OSError:
        pass
(notes / "rome.md").write_text("# Rome\\n\\n" + "The catacombs lie below the Appian Way. " * 100)
tell("run on the full disk", run)
tell("ask on the full disk", ask)
ballast.unlink()
tell("ask", ask)
tell("run with room again", run)
tell("sound", sound)
"""

ON_A_DISK = """
mount -t tmpfs -o size=24m tmpfs "$RAGWEAVE_HOME" && "$@" &&
mount -o remount,ro "$RAGWEAVE_HOME" && "$@" read-only
"""


@pytest.fixture
def alone():
    """What runs a command twice with a disk of 24 MB as its home, which may not be written the second time."""
    if (
        not all(map(shutil.which, ("unshare", "mount")))
        or subprocess.run([*ALONE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode
    ):
        pytest.skip("this system lets nobody mount a disk of his own")
    return [*ALONE, "sh", "-c", ON_A_DISK, "sh"]


def test_a_full_and_a_read_only_disk_are_stated_and_the_library_answers_on_both(home, tmp_path, alone):
    home.mkdir()
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "alexandria.md").write_text(
        "# Alexandria\n\nThe lighthouse of Alexandria was built on Pharos.\n"
    )
    (notes / "rome.md").write_text("# Rome\n\nThe aqueducts carried water to the fountains of Rome.\n")
    done = subprocess.run(
        [*alone, sys.executable, "-c", SCRIPT, str(notes)],
        env={**os.environ, "RAGWEAVE_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    told = dict(map(json.loads, done.stdout.splitlines()))
    assert len(told) == 9, (told, done.stderr[-3000:])
    refused = r"(Storage|Library)Error: The (catalog|vector store|library folder).*cannot be.*RAGWEAVE_HOME"
    assert told["run"] == 2
    assert re.match(refused, told["run on the full disk"])
    assert (told["ask"], told["run with room again"], told["sound"]) == ("Alexandria", 1, True)
    assert re.match(refused, told["run on the disk that may not be written"])
    assert told["doctor"] == ["home"]
    assert told["ask on the full disk"] == told["ask it"] == "Alexandria", "nothing is written to read"


USED, HELD = "cannot be used", "is held by another process"
SQLITE = {"FULL": USED, "IOERR_WRITE": USED, "BUSY_SNAPSHOT": HELD, "PROTOCOL": HELD}


def test_what_a_disk_refuses_has_a_sentence_and_what_it_does_not_has_none():
    for number in (errno.ENOSPC, errno.EROFS, errno.EIO):
        told = of_the_disk(OSError(number, os.strerror(number)))
        assert told.what == f"The disk cannot be used ({os.strerror(number)})" and told.remedy
    for name, how in SQLITE.items():
        error = sqlite3.OperationalError("it says so")
        error.sqlite_errorname = f"SQLITE_{name}"
        told = of_the_disk(error)
        assert told.what == f"The disk {how} (it says so)" and told.remedy
    ours = (
        OSError(errno.ENOENT, "gone"),
        sqlite3.ProgrammingError("a fault of ours"),
        ValueError("something else"),
    )
    assert [of_the_disk(error) for error in ours] == [None] * 3


HOLD = (
    "import sys; from ragweave.corpora.store import locks\n"
    "with locks.writer('lib', 'notes', 0, print):\n"
    "    print('held', flush=True); sys.stdin.read()\n"
)


@pytest.fixture
def holder(home):
    """Another process that holds the writer lock until it is told or killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


@pytest.mark.both
def test_a_second_writer_says_who_holds_the_library(home, holder):
    waited = []
    with (
        pytest.raises(LibraryError, match=rf"'notes' is being written by process {holder.pid}\b"),
        locks.writer("lib", "notes", 0.1, waited.append),
    ):
        pass
    assert len(waited) == 1 and str(holder.pid) in waited[0]


@pytest.mark.both
def test_the_lock_of_a_killed_process_is_not_held(home, engine, holder):
    holder.kill()
    holder.wait()
    assert engine == "postgres" or (home / "locks" / "lib.json").exists()
    waited = []
    with locks.writer("lib", "notes", 0, waited.append):
        pass
    assert waited == []


@pytest.mark.both
@pytest.mark.sqlite
def test_a_home_that_cannot_be_made_gets_a_sentence(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(LibraryError, match="RAGWEAVE_HOME"), locks.names(tmp_path / "file" / "home"):
        pass


@pytest.mark.both
def test_whether_a_lock_is_held_is_told_and_what_is_left_of_one_that_is_not_goes(home):
    with locks.held(home, "server 1", 0, "", ""):
        assert locks.is_held(home, "server 1")
    (home / "locks" / "server 1.json").write_text("{}")  # as a killed process leaves it
    assert not locks.is_held(home, "server 1") and not list((home / "locks").iterdir())


KEEP = (
    "import sys; from pathlib import Path; from ragweave.corpora.store import temporary\n"
    "temporary.hold(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()\n"
)


@contextmanager
def living(code: str, *arguments: object) -> Iterator[str]:
    """Run code in a process until it is killed, and return what it tells first."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def test_a_half_made_library_goes_when_its_process_is_dead_and_not_before(home):
    half = home / "libraries" / ".0123456789abcdef.part"
    half.mkdir(parents=True)
    with living(KEEP, half) as told:
        assert told == "held"
        Catalog(home).create("first", "tiny", 4)
        assert half.is_dir() and not forsaken(half)
    assert forsaken(half)
    Catalog(home).create("second", "tiny", 4)
    assert not half.exists() and len(list(half.parent.iterdir())) == 2


LENT = (
    "import sys; from ragweave.corpora.store.temporary import temporary\nwith temporary() as folder: (folder"
    " / 'catalog').write_text('words'); print(folder, flush=True); sys.stdin.read()"
)


def test_a_temporary_folder_goes_with_its_process_or_with_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with living(LENT) as told, temporary() as mine:
        lent = Path(told)
        assert lent.is_dir() and mine.parent == lent.parent == tmp_path
    assert (lent / "catalog").exists()
    with temporary() as mine:
        assert [*tmp_path.iterdir()] == [mine]
    assert not [*tmp_path.iterdir()]


@pytest.mark.cluster
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_library_whose_rows_a_database_had_taken_gets_its_folder_though_its_maker_was_killed(
    home: Path,
) -> None:
    row = Catalog(home).create("notes", "tiny", 4)
    folder = home / "libraries" / row.id
    (folder / "thumbnail").write_bytes(b"jpeg")
    folder.rename(folder.with_name(f".{row.id}.part"))  # as it stands before the last rename
    Catalog(home).create("others", "tiny", 4)
    assert (folder / "thumbnail").exists()


@pytest.mark.both
def test_a_library_whose_folder_cannot_take_its_place_is_not_there(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*paths: object) -> None:
        raise OSError(errno.EIO, "no")

    with monkeypatch.context() as failing:
        failing.setattr("os.rename", refuse)
        with pytest.raises(LibraryError):
            Catalog(home).create("notes", "tiny", 4)
    assert Catalog(home).libraries() == []
    Catalog(home).create("notes", "tiny", 4)


@pytest.mark.both
def test_a_library_whose_deletion_was_killed_is_gone_with_all_that_it_held(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = Catalog(home)
    row = catalog.create("notes", "tiny", 4)

    def killed(library: str) -> None:
        raise SystemExit

    with monkeypatch.context() as dying:
        dying.setattr(catalog.kept, "drop", killed)
        with pytest.raises(SystemExit):
            catalog.delete(row.id)
    assert not (home / "libraries" / row.id).exists()
    assert Catalog(home).libraries() == [] == Catalog(home).kept.ids()


def open_to_others(home: Path) -> list[str]:
    found = [home, *home.rglob("*")]
    return [f"{oct(p.lstat().st_mode)} {p}" for p in found if not p.is_symlink() and p.stat().st_mode & 0o077]


def command(*given: str) -> None:
    # The usual umask of a system, under which whoever likes may read what is written.
    words = ["sh", "-c", 'umask 022; exec "$0" -m ragweave "$@"', sys.executable, *given]
    subprocess.run(words, check=True, capture_output=True)


@pytest.mark.skipif(os.name != "posix", reason="other systems have other rights")
def test_what_commands_write_is_their_users_alone(home: Path, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nThe harbour was built in 1874.\n")
    command("index", str(tmp_path / "a.md"))
    command("keys", "create", "me", "--all")
    assert (home / "serve.sqlite").exists() and list(home.glob("libraries/*/catalog.sqlite"))
    assert open_to_others(home) == []


@pytest.mark.skipif(os.name != "posix", reason="other systems have other rights")
def test_a_home_that_others_could_read_is_closed_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    home, outside = tmp_path / "old", tmp_path / "outside.md"
    (home / "media").mkdir(parents=True)
    outside.write_text("mine")
    (home / "media" / "link.md").symlink_to(outside)
    (home / "media" / "page.png").write_bytes(b"x")
    for path in (outside, home / "media" / "page.png"):
        path.chmod(0o644)
    for path in (home, home / "media"):
        path.chmod(0o755)
    make_home(home)
    make_home(home)
    assert open_to_others(home) == [] and len(caplog.records) == 1
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644  # what a link leads to is not the home's
