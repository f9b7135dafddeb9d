import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.settings import CorporaSettings
from ragweave.models.errors import LibraryError, SourceError

WALL, LONG = "ragweave.corpora.ingest.readers.WALL", 2000
"""Where starting a process on a busy machine must not count."""
WORKER = """
import json, os, signal, sys, time
from pathlib import Path
from ragweave.corpora.ingest import worker
from ragweave.corpora.ingest.worker import LENGTH, answer
def serve(request):
    name, died = os.path.basename(request["path"]), Path(request["path"] + ".died")
    worker._within(request["seconds"])
    if name == "slow.md":
        time.sleep(1.5 * request["seconds"])
    while name == "spin.md":
        pass
    if name == "hang.md":
        time.sleep(60)
    if name.startswith("die") and (not died.exists() or "once" not in name):
        with died.open("a") as file:
            file.write("x")
        Path(request["media"] or died.parent / "media").mkdir(exist_ok=True)
        os.kill(os.getpid(), getattr(signal, name.split("-")[1].removesuffix(".md"))) if "SIG" in name else os._exit(9)
    worker._within(60)
    if name == "scan.md":
        sys.stdout.buffer.write(LENGTH.pack(0) * 3)
    if name == "keys.md":
        reply = json.dumps({"what": " ".join(sorted(os.environ)), "remedy": ""}).encode()
    else:
        reply, _ = answer(request, 64)
    sys.stdout.buffer.write(LENGTH.pack(10**15) if name == "flood.md" else LENGTH.pack(len(reply)) + reply)
    sys.stdout.buffer.flush()
for line in sys.stdin.buffer:
    asked = json.loads(line)
    for request in asked if isinstance(asked, list) else [asked]:
        serve(request)
"""
TEXT = "# good\n\nSome text about good files.\n"


@contextmanager
def reading(*command, **settings):
    readers = Readers(CorporaSettings(parse_workers=1, **settings), command)
    try:
        yield readers
    finally:
        readers.close()


@pytest.fixture(scope="module")
def readers(tmp_path_factory):
    """One process that spins, hangs, dies or floods where a file's name says so, and is started again then."""
    script = tmp_path_factory.mktemp("worker") / "worker.py"
    script.write_text(WORKER)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAGWEAVE_CHAT_KEY", "sk-something")
        patch.setenv("HARMLESS", "1")
        with reading(sys.executable, str(script), parse_seconds=1) as found:
            yield found


@pytest.mark.parametrize(
    "name, tries, said",
    [
        ("spin.md", 0, r"longer than 1 seconds of the processor.*RAGWEAVE_PARSE_SECONDS"),
        ("hang.md", 0, r"not ended after 5 seconds.*the disk.*RAGWEAVE_PARSE_SECONDS"),
        ("die.md", 2, r"ended the reading process.*RAGWEAVE_PARSE_MEMORY_MB"),
        ("die-SIGALRM.md", 1, "not ended after"),
        ("die-SIGPROF.md", 1, "longer than 1 seconds of the processor"),
        ("die-SIGSEGV-once.md", 1, ""),
        ("slow.md", 0, ""),
        ("flood.md", 0, r"more than 256 MiB"),
        ("empty.md", 0, r"\S"),
        ("gone.md", 0, r"\S"),
        ("keys.md", 0, r"^(?=.*HARMLESS)(?!.*RAGWEAVE_CHAT_KEY)"),
    ],
)
def test_one_bad_file_gets_its_sentence_and_the_next_file_is_read(
    readers, tmp_path, name, tries, said, monkeypatch
):
    for file in {name, "good.md"} - {"gone.md"}:
        (tmp_path / file).write_text("" if file == "empty.md" else TEXT)
    if name != "hang.md":
        monkeypatch.setattr(WALL, LONG)
    given = (str(tmp_path / name), "s", 300, tmp_path / "media")
    if said:
        with pytest.raises(SourceError, match=said):
            readers.read(*given)
    else:
        assert readers.read(*given).title == "good" and not (tmp_path / "media").exists()
    died = tmp_path / f"{name}.died"
    assert (len(died.read_text()) if died.exists() else 0) == tries, "once more where no limit ended it"
    monkeypatch.setattr(WALL, LONG)
    assert readers.read(str(tmp_path / "good.md"), "s", 300).title == "good"


def test_each_picture_of_a_file_that_was_read_is_told(readers, tmp_path):
    (tmp_path / "scan.md").write_text(TEXT)
    counts = []
    assert (
        readers.read(str(tmp_path / "scan.md"), "s", 300, tmp_path / "media", seen=counts.append).title
        == "good"
    )
    assert counts == [0, 1, 2]


@pytest.mark.parametrize("bad", ["spin.md", "die.md", "flood.md", "empty.md"])
def test_of_files_that_are_read_together_each_gets_its_own_reply(readers, tmp_path, bad, monkeypatch):
    names = ["good.md", bad, "better.md"]
    for name in names:
        (tmp_path / name).write_text("" if name == "empty.md" else TEXT.replace("good", name[:-3]))
    monkeypatch.setattr(WALL, LONG)
    some = [(str(tmp_path / name), "s") for name in names]
    good, failed, better = readers.read_some(some, 300, [tmp_path / name[:-3] for name in names], [])
    assert (good.title, better.title) == ("good", "better") and isinstance(failed, SourceError)


FILLING = """
import json, sys
from pathlib import Path
from ragweave.corpora.ingest.worker import LENGTH, answer
read = 0
for line in sys.stdin.buffer:
    asked = json.loads(line)
    for request in asked if isinstance(asked, list) else [asked]:
        full = "huge" in request["path"] or ("small" in request["path"] and read)
        with open(Path(request["path"]).with_suffix(".tries"), "a") as file:
            file.write("x")
        read += 1
        reply = json.dumps({"what": "Too little memory", "remedy": "r", "ends": True}).encode() if full else b""
        reply = reply or answer(request, 64)[0]
        sys.stdout.buffer.write(LENGTH.pack(len(reply)) + reply)
        sys.stdout.buffer.flush()
        if full:
            sys.exit()
"""
"""A process whose memory is full once it has read a file, and never is enough for one that is called huge."""


@pytest.mark.parametrize("together", [False, True])
def test_what_is_too_much_for_a_used_process_is_read_in_a_new_one_and_once_only(tmp_path, together):
    (tmp_path / "worker.py").write_text(FILLING)
    names = ["good", "small", "huge", "better"]
    for name in names:
        (tmp_path / f"{name}.md").write_text(TEXT.replace("good", name))
    found = []
    with reading(sys.executable, str(tmp_path / "worker.py")) as readers:
        some = [(str(tmp_path / f"{name}.md"), "s") for name in names]
        if together:
            found = readers.read_some(some, 300, [tmp_path / name for name in names], [])
        for given in () if together else some:
            try:
                found.append(readers.read(*given, 300))
            except SourceError as error:
                found.append(error)
    assert [getattr(f, "title", "") for f in found] == ["good", "small", "", "better"]
    assert "Too little memory" in str(found[2])
    assert len((tmp_path / "huge.tries").read_text()) <= 2


def test_the_real_reading_process_keeps_its_limits_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(WALL, LONG)
    (tmp_path / "long.txt").write_text("Some words that are read. " * 200_000)
    (tmp_path / "big.txt").write_text("word " * 12_000_000)
    (tmp_path / "good.txt").write_text(TEXT)
    with reading(parse_seconds=0.05) as readers:
        with pytest.raises(SourceError, match=r"longer than 0\.05 seconds of the processor"):
            readers.read(str(tmp_path / "long.txt"), "s", 300)
    with reading(parse_memory_mb=256) as readers:
        with pytest.raises(SourceError, match="memory"):
            readers.read(str(tmp_path / "big.txt"), "s", 300)
        made = readers.read(str(tmp_path / "good.txt"), "s", 300)
    assert made.kind == "text" and len(made.items) == len(made.chunks) == len(made.terms) == 2


def test_a_reading_process_that_cannot_be_started_or_is_of_another_version_is_a_sentence(
    tmp_path, monkeypatch
):
    (tmp_path / "good.md").write_text(TEXT)
    with (
        reading(str(tmp_path / "no such program")) as readers,
        pytest.raises(SourceError, match="ended the reading"),
    ):
        readers.read(str(tmp_path / "good.md"), "s", 300)
    monkeypatch.setattr("ragweave.corpora.ingest.readers.VERSION", 10**6)
    with reading() as readers, pytest.raises(LibraryError, match="was upgraded while it was at work"):
        readers.read(str(tmp_path / "good.md"), "s", 300)


ORPHAN = """
import os, signal, sys
from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.settings import CorporaSettings
readers = Readers(CorporaSettings(parse_workers=1))
if len(sys.argv) > 1:
    readers.read(sys.argv[1], "s", 300)
    print(readers._all[0]._process.pid, readers._scratch.name, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_reading_process_ends_with_a_run_that_is_killed_and_takes_its_temporary_files_with_it(tmp_path):
    (tmp_path / "good.md").write_text(TEXT)
    run = subprocess.run(
        [sys.executable, "-c", ORPHAN, str(tmp_path / "good.md")], capture_output=True, text=True, timeout=60
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
