import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.settings import CorporaSettings
from ragweave.models.errors import LibraryError, SourceError

WALL, LONG = "ragweave.corpora.ingest.readers.WALL", 2000
"""Where starting a process on a busy machine must not count."""
WORKER = """
import json, os, struct, sys, time
from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.ingest import worker
from ragweave.corpora.ingest.worker import LENGTH, answer
for line in sys.stdin.buffer:
    request = json.loads(line)
    name = os.path.basename(request["path"])
    worker._within(request["seconds"])
    if name == "slow.md":
        time.sleep(1.5 * request["seconds"])
    if name in ("spin.md", "hang.md"):
        while name == "spin.md":
            pass
        time.sleep(60)
    if name == "die.md":
        os._exit(9)
    worker._within(60)
    reply, _ = answer(request, 64)
    if name == "flood.md":
        sys.stdout.buffer.write(LENGTH.pack(10**15))
    else:
        sys.stdout.buffer.write(LENGTH.pack(len(reply)) + reply)
    sys.stdout.buffer.flush()
"""


@pytest.fixture
def folder(tmp_path):
    for name in ("good", "slow", "spin", "hang", "die", "flood"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nSome text about {name} files.\n")
    (tmp_path / "empty.md").write_text("")
    return tmp_path


@pytest.fixture(scope="module")
def readers(tmp_path_factory):
    """One process that spins, hangs, dies or floods where a file's name says so, and is started again then."""
    script = tmp_path_factory.mktemp("worker") / "worker.py"
    script.write_text(WORKER)
    found = Readers(CorporaSettings(parse_seconds=1, parse_workers=1), [sys.executable, str(script)])
    yield found
    found.close()


@pytest.mark.parametrize(
    "name, said",
    [
        ("spin.md", r"longer than 1 seconds of the processor.*RAGWEAVE_PARSE_SECONDS"),
        ("hang.md", r"not ended after 5 seconds.*the disk.*RAGWEAVE_PARSE_SECONDS"),
        ("die.md", r"ended the reading process.*RAGWEAVE_PARSE_MEMORY_MB"),
        ("flood.md", r"more than 256 MiB"),
        ("empty.md", r"\S"),
        ("gone.md", r"\S"),
    ],
)
def test_one_bad_file_gets_its_sentence_and_the_next_file_is_read(readers, folder, name, said, monkeypatch):
    if name != "hang.md":
        monkeypatch.setattr(WALL, LONG)
    with pytest.raises(SourceError, match=said):
        readers.read(str(folder / name), "s", 300)
    monkeypatch.setattr(WALL, LONG)
    assert readers.read(str(folder / "good.md"), "s", 300).title == "good"


def test_a_file_that_waits_longer_than_it_may_use_the_processor_is_read(readers, folder, monkeypatch):
    monkeypatch.setattr(WALL, LONG)
    assert readers.read(str(folder / "slow.md"), "s", 300).title == "slow"


def test_the_real_reading_process_ends_by_its_own_processor_time_however_slow_the_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(WALL, LONG)
    (tmp_path / "long.txt").write_text("Some words that are read. " * 200_000)
    readers = Readers(CorporaSettings(parse_workers=1, parse_seconds=0.05))
    try:
        with pytest.raises(SourceError, match=r"longer than 0\.05 seconds of the processor"):
            readers.read(str(tmp_path / "long.txt"), "s", 300)
    finally:
        readers.close()


DYING = """
import json, os, signal, sys
from pathlib import Path
from ragweave.corpora.ingest.worker import LENGTH, answer
for line in sys.stdin.buffer:
    request = json.loads(line)
    died = Path(request["path"] + ".died")
    times = len(died.read_text()) if died.exists() else 0
    if times < {times}:
        died.write_text("x" * (times + 1))
        Path(request["media"]).mkdir(exist_ok=True)
        Path(request["media"], "half.webp").write_text("half")
        {how}
    reply, _ = answer(request, 64)
    sys.stdout.buffer.write(LENGTH.pack(len(reply)) + reply)
    sys.stdout.buffer.flush()
"""


@pytest.mark.parametrize(
    "how, times, tries, said",
    [
        ("os._exit(1)", 1, 1, ""),
        ("os.kill(os.getpid(), signal.SIGSEGV)", 1, 1, ""),
        ("os._exit(1)", 9, 2, "ended the reading process"),
        ("os.kill(os.getpid(), signal.SIGALRM)", 9, 1, "not ended after 600 seconds"),
        ("os.kill(os.getpid(), signal.SIGPROF)", 9, 1, "longer than 120 seconds of the processor"),
    ],
)
def test_a_file_whose_reading_process_dies_without_a_limit_is_tried_once_more(
    tmp_path, folder, how, times, tries, said
):
    script, media = tmp_path / "worker.py", tmp_path / "media"
    script.write_text(DYING.replace("{times}", str(times)).replace("{how}", how))
    readers = Readers(CorporaSettings(parse_workers=1), [sys.executable, str(script)])
    try:
        if not said:
            assert readers.read(str(folder / "good.md"), "s", 300, media).title == "good"
            assert not media.exists()
        else:
            with pytest.raises(SourceError, match=said):
                readers.read(str(folder / "good.md"), "s", 300, media)
        assert len((folder / "good.md.died").read_text()) == tries
    finally:
        readers.close()


def test_the_real_reading_process_answers_with_items_chunks_and_terms(folder):
    readers = Readers(CorporaSettings(parse_workers=1))
    try:
        made = readers.read(str(folder / "good.md"), "s", 300)
        assert made.kind == "markdown"
        assert {i.corpus for i in made.items} == {"paragraph", "document"}
        assert len(made.items) == len(made.chunks) == len(made.terms)
        assert made.terms[0][2].split() == ["some", "text", "about", "good", "file"]
    finally:
        readers.close()


def test_a_reading_process_that_cannot_be_started_is_a_sentence(folder):
    readers = Readers(CorporaSettings(parse_workers=1), [str(folder / "no such program")])
    try:
        with pytest.raises(SourceError, match="ended the reading process"):
            readers.read(str(folder / "good.md"), "s", 300)
    finally:
        readers.close()


def test_the_reading_process_knows_no_keys(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGWEAVE_CHAT_KEY", "sk-something")
    monkeypatch.setenv("HARMLESS", "1")
    script = tmp_path / "worker.py"
    script.write_text(
        "import json, os, sys\nfrom ragweave.corpora.ingest.worker import LENGTH\n"
        "for line in sys.stdin.buffer:\n"
        "    reply = json.dumps({'what': ' '.join(sorted(os.environ)), 'remedy': ''}).encode()\n"
        "    sys.stdout.buffer.write(LENGTH.pack(len(reply)) + reply); sys.stdout.buffer.flush()\n"
    )
    readers = Readers(CorporaSettings(parse_workers=1), [sys.executable, str(script)])
    try:
        with pytest.raises(SourceError) as said:
            readers.read("x", "s", 300)
        assert "HARMLESS" in str(said.value) and "RAGWEAVE_CHAT_KEY" not in str(said.value)
    finally:
        readers.close()


def test_the_memory_limit_holds_in_the_real_reading_process(tmp_path):
    (tmp_path / "big.txt").write_text("word " * 12_000_000)
    (tmp_path / "good.txt").write_text("A few words.")
    readers = Readers(CorporaSettings(parse_workers=1, parse_memory_mb=256))
    try:
        with pytest.raises(SourceError, match="memory"):
            readers.read(str(tmp_path / "big.txt"), "s", 300)
        assert readers.read(str(tmp_path / "good.txt"), "s", 300).items
    finally:
        readers.close()


def test_a_reading_process_of_another_version_ends_the_run_with_a_sentence(folder, monkeypatch):
    monkeypatch.setattr("ragweave.corpora.ingest.readers.VERSION", 10**6)
    readers = Readers(CorporaSettings(parse_workers=1))
    try:
        with pytest.raises(LibraryError, match="was upgraded while it was at work"):
            readers.read(str(folder / "good.md"), "s", 300)
    finally:
        readers.close()


ORPHAN = """
import os, signal, sys
from pathlib import Path
from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.settings import CorporaSettings
readers = Readers(CorporaSettings(parse_workers=1))
readers.read(sys.argv[1], "s", 300)
print(readers._all[0]._process.pid, readers._scratch.name, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_reading_process_ends_with_a_run_that_is_killed_and_takes_its_temporary_files_with_it(folder):
    run = subprocess.run(
        [sys.executable, "-c", ORPHAN, str(folder / "good.md")], capture_output=True, text=True, timeout=60
    )
    pid, scratch = run.stdout.split()

    def left():
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
        except FileNotFoundError:
            return Path(scratch).exists()

    for _ in range(300):
        if not left():
            break
        time.sleep(0.1)
    assert not left() and not Path(scratch).exists()


def test_the_temporary_folder_of_a_run_that_was_killed_goes_with_the_next_and_that_of_a_living_one_stays(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    killed = subprocess.run(
        [sys.executable, "-c", "import os, signal; from ragweave.corpora.settings import corpora_settings\n"
         "from ragweave.corpora.ingest.readers import Readers\n"
         "kept = Readers(corpora_settings()); os.kill(os.getpid(), signal.SIGKILL)"],
        env={**os.environ, "TMPDIR": str(tmp_path)}, check=False,
    )  # fmt: skip
    [left] = tmp_path.iterdir()
    assert killed.returncode == -9 and left.is_dir()
    living = Readers(CorporaSettings())
    [its] = tmp_path.iterdir()
    assert its != left
    Readers(CorporaSettings()).close()
    assert list(tmp_path.iterdir()) == [its]
    living.close()
    assert not list(tmp_path.iterdir())
