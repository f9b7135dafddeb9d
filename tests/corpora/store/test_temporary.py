"""What a process that was killed leaves goes with the next one, and nothing of one that lives."""

from __future__ import annotations

import errno
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.temporary import forsaken, temporary
from ragweave.models.errors import LibraryError

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
