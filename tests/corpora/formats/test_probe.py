"""The kind of a file by its content, and a sentence for every file that has none."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ragweave.corpora.formats.probe import PICTURE, probe
from ragweave.models.errors import SourceError
from ragweave.tests.support.zips import zip_bytes

Write = Callable[[str, str | bytes], Path]
DRAWING = zip_bytes({"mimetype": "application/vnd.oasis.opendocument.graphics", "content.xml": "<x/>"})


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.pdf", "a.docx", "a", "a.html"])
@pytest.mark.parametrize("body", [b"", b" \n\t \r\n ", b"\xef\xbb\xbf", b"\xff\xfe", b"\0\0\0\0"])
def test_empty_files_are_said_to_be_empty(write: Write, name: str, body: bytes) -> None:
    with pytest.raises(SourceError, match=f"{name} is empty"):
        probe(write(name, body))


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (bytes(range(256)) * 50, "binary"),
        (os.urandom(4096).replace(b"PK", b"xx") + b"\0\1\2", "binary"),
        (b"\x7fELF\x02\x01\x01" + b"\0" * 200, "a program"),
        (b"RIFF\x00\x00\x00\x00WAVEfmt " + b"\0\1" * 50, "a recording"),
        (b"\0\0\0\x18ftypmp42" + b"\0" * 99, "a video"),
        (b"\x1f\x8b\x08" + b"\0\xff" * 99, "gzip"),
        (b"SQLite format 3\0" + b"\0\1" * 99, "an SQLite database"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "before 2007"),
        (b"PK\x03\x04 this is no zip", "damaged or truncated zip"),
        (zip_bytes({"readme.txt": "x"}), "(?i)unpack it"),
        (DRAWING, "an OpenDocument file of a kind that is not read"),
    ],
)
def test_what_is_no_text_is_named_for_what_it_is(write: Write, body: bytes, sentence: str) -> None:
    with pytest.raises(SourceError, match=sentence) as found:
        probe(write("notes.md", body))
    assert found.value.remedy and "\n" not in str(found.value)


def test_names_of_every_kind_are_told_by_content_not_by_extension(write: Write) -> None:
    found = {
        name: probe(write(name, body))
        for name, body in {
            "pdf.txt": b"%PDF-1.7\n",
            "docx.pdf": zip_bytes({"word/document.xml": "x"}),
            "page.md": "<!DOCTYPE html>\n<html><body><p>x</p></body></html>",
            "page2.txt": '<?xml version="1.0"?><!-- a --><!-- b -->\n<html xmlns="x"><body>x</body></html>',
            "plain.html": "no markup at all, 3 < 4",
            "notes.rst": "Title\n=====\n",
            "notes.markdown": "# x",
            "README": "plain words",
            "BM.txt": "BM is how this text begins",
        }.items()
    }
    assert found == {
        "pdf.txt": "pdf",
        "docx.pdf": "docx",
        "page.md": "html",
        "page2.txt": "html",
        "plain.html": "text",
        "notes.rst": "rst",
        "notes.markdown": "markdown",
        "README": "text",
        "BM.txt": "text",
    }


def test_folders_pipes_and_missing_files_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, sentence in (
        (tmp_path, "regular file"),
        (tmp_path / "pipe", "regular file"),
        (tmp_path / "no", "exist"),
    ):
        with pytest.raises(SourceError, match=sentence):
            probe(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(write: Write) -> None:
    path = write("a.md", "x")
    path.chmod(0)
    with pytest.raises(SourceError, match="may not be read"):
        probe(path)


def test_a_sparse_giant_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with path.open("wb") as file:
        file.write(b"words ")
        file.truncate(1 << 30)
    with pytest.raises(SourceError):
        probe(path)
    with path.open("r+b") as file:
        file.write(b"words " * 20_000)
    with pytest.raises(SourceError, match="1024 MB"):
        probe(path)


def test_a_protected_zip_is_said_to_be_protected(write: Write) -> None:
    data = bytearray(zip_bytes({"word/document.xml": "x"}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    with pytest.raises(SourceError, match="password"):
        probe(write("a.docx", bytes(data)))


@pytest.mark.parametrize(
    "body",
    [
        b"\x89PNG\r\n\x1a\n" + b"\0" * 200,
        b"\xff\xd8\xff\xe0" + b"\0\x10JFIF" * 20,
        b"GIF89a" + b"\0\xff" * 50,
        b"II*\0" + b"\0\xff" * 50,
        b"RIFF\0\0\0\0WEBPVP8 " + b"\0\xff" * 50,
        b"BM" + b"\0\xff" * 50,
    ],
)
@pytest.mark.parametrize("name", ["a.png", "a.txt", "a.md"])
def test_pictures_are_known_by_their_content_whatever_their_name(
    write: Write, body: bytes, name: str
) -> None:
    assert probe(write(name, body)) == PICTURE
