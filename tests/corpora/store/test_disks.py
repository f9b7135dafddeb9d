"""A disk that is really full, and one that may really not be written: both bind root as well, unlike permissions."""

import errno
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys

import pytest

from ragweave.corpora.store.folders import of_the_disk

ALONE = ["unshare", "--map-root-user", "--mount"]
"""A name space of one's own, in which anybody may mount a disk in memory."""

SCRIPT = """
import asyncio, json, os, sys
from pathlib import Path
from ragweave.corpora.ingest.run import index
from ragweave.app.api import aask
from ragweave.corpora.store.stores import close_stores
from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.store.repair import repair
from ragweave.corpora.ingest.stages import prepare
from ragweave.models.errors import RagweaveError

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

if sys.argv[2:] == ["read-only"]:
    (notes / "petra.md").write_text("# Petra\\n\\nPetra was carved from sandstone.")
    tell("run on the disk that may not be written", run)
    tell("ask it", ask)
    sys.exit()
tell("run", run)
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
    assert len(told) == 8, (told, done.stderr[-3000:])
    refused = r"(Storage|Library)Error: The (catalog|vector store|library folder).*cannot be.*RAGWEAVE_HOME"
    assert told["run"] == 2
    assert re.match(refused, told["run on the full disk"])
    assert (told["ask"], told["run with room again"], told["sound"]) == ("Alexandria", 1, True)
    assert re.match(refused, told["run on the disk that may not be written"])
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
