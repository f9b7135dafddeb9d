"""Question sets: a library of documents, and questions about it.

    python -m ragweave.evals.sets pack FOLDER        write benchmarks/sets/NAME.zip and NAME.jsonl
    python -m ragweave.evals.sets unpack NAME TO     write the set NAME into the folder TO, to read or edit it

A set is a folder with `library/` and `questions.jsonl`. The repository has two files for each set: the
library in a zip, and the questions as text.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from platformdirs import user_cache_path

from ragweave.models.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "benchmarks" / "sets"
OUTSIDE = user_cache_path("ragweave")
"""Folder for libraries of evaluations.

It is outside the checkout, because indexing follows the checkout's .gitignore.
"""
CACHE = OUTSIDE / "sets"
QUESTIONS, LIBRARY = "questions.jsonl", "library"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a zip, so that the same files make the same bytes."""


def names() -> list[str]:
    """Return the names of the sets that the repository keeps."""
    return sorted(path.stem for path in KEPT.glob("*.zip"))


def folder_of(given: str | Path, kept: Path = KEPT, cache: Path = CACHE) -> Path:
    """Return the folder of a set, given the folder itself or the name of a kept set.

    A kept set is unpacked once into the cache, and again when its files change.

    Raises:
        InputError: there is no such folder and no such set.
    """
    given = Path(given)
    if (given / QUESTIONS).is_file():
        return given.resolve()
    library, questions = kept / f"{given}.zip", kept / f"{given}.jsonl"
    if not (library.is_file() and questions.is_file()):
        raise InputError(
            f"{given} is neither a folder with {QUESTIONS} nor a kept set",
            f"name one of {', '.join(names())}",
        )
    digest = hashlib.sha256(library.read_bytes() + questions.read_bytes()).hexdigest()[:12]
    folder = cache / digest / given.name
    if not folder.exists():
        _unpack(library, questions, folder)
    return folder


def _unpack(library: Path, questions: Path, folder: Path) -> None:
    """Unpack into a temporary folder first, so that two processes never see half a set."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as made:
        part = Path(made) / folder.name
        with zipfile.ZipFile(library) as archive:
            archive.extractall(part)
        shutil.copy(questions, part / QUESTIONS)
        try:
            part.rename(folder)
        except OSError:
            if not folder.exists():
                raise


def pack(folder: Path, kept: Path = KEPT) -> Path:
    """Keep a set as two files, the same bytes for the same files; return the zip.

    Raises:
        InputError: the folder is no set.
    """
    if not ((folder / QUESTIONS).is_file() and (folder / LIBRARY).is_dir()):
        raise InputError(f"{folder} is no set", f"give a folder with {LIBRARY}/ and {QUESTIONS}")
    kept.mkdir(parents=True, exist_ok=True)
    name = folder.resolve().name
    with zipfile.ZipFile(kept / f"{name}.zip", "w") as archive:
        for path in sorted((folder / LIBRARY).rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), EPOCH)
                entry.external_attr = 0o644 << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, path.read_bytes(), compresslevel=9)
    shutil.copy(folder / QUESTIONS, kept / f"{name}.jsonl")
    return kept / f"{name}.zip"


def main(words: list[str]) -> None:
    """Pack or unpack a set."""
    if len(words) == 2 and words[0] == "pack":
        pack(Path(words[1]))
    elif len(words) == 3 and words[0] == "unpack":
        shutil.copytree(folder_of(words[1]), Path(words[2]) / words[1])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
