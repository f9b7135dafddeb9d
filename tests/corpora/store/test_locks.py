import subprocess
import sys

import pytest

from ragweave.corpora.store import locks
from ragweave.models.errors import LibraryError

pytestmark = pytest.mark.both

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


def test_a_second_writer_says_who_holds_the_library(home, holder):
    waited = []
    with (
        pytest.raises(LibraryError, match=rf"'notes' is being written by process {holder.pid}\b"),
        locks.writer("lib", "notes", 0.1, waited.append),
    ):
        pass
    assert len(waited) == 1 and str(holder.pid) in waited[0]


def test_the_lock_of_a_killed_process_is_not_held(home, engine, holder):
    holder.kill()
    holder.wait()
    assert engine == "postgres" or (home / "locks" / "lib.json").exists()
    waited = []
    with locks.writer("lib", "notes", 0, waited.append):
        pass
    assert waited == []


@pytest.mark.sqlite
def test_a_home_that_cannot_be_made_gets_a_sentence(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(LibraryError, match="RAGWEAVE_HOME"), locks.names(tmp_path / "file" / "home"):
        pass


def test_whether_a_lock_is_held_is_told_and_what_is_left_of_one_that_is_not_goes(home):
    with locks.held(home, "server 1", 0, "", ""):
        assert locks.is_held(home, "server 1")
    (home / "locks" / "server 1.json").write_text("{}")  # as a killed process leaves it
    assert not locks.is_held(home, "server 1") and not list((home / "locks").iterdir())
