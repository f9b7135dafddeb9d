"""Links to pictures: inside the indexed folders, and never over a network."""

import base64
import os

import pytest

from ragweave.corpora.images.links import linked
from ragweave.models.errors import SourceError
from tests.corpora.images.conftest import picture  # type: ignore[import-not-found]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs" / "img").mkdir(parents=True)
    (tmp_path / "docs" / "img" / "a b.png").write_bytes(picture())
    (tmp_path / "outside.png").write_bytes(picture())
    (tmp_path / "docs" / "note.md").write_text("x")
    return tmp_path / "docs"


@pytest.mark.parametrize(
    "ref", ["img/a b.png", "img/a%20b.png", "./img/../img/a b.png", "img\\a b.png", "img/a b.png#x"]
)
def test_local_links_are_opened(folder, ref):
    assert linked(folder / "note.md", ref, [str(folder)], {}) == (picture(), "a b.png")
    assert linked(folder / "note.md", "../outside.png", [str(folder), str(folder.parent)], {})[1] == "outside.png"


def test_a_picture_written_into_the_text_is_read():
    url = "data:image/png;base64," + base64.b64encode(picture()).decode()
    assert linked(None, url, [], {}) == (picture(), "")


@pytest.mark.parametrize(
    ("ref", "why"),
    [
        ("http://example.org/a.png", "not fetched"),
        ("HTTPS://example.org/a.png", "not fetched"),
        ("//example.org/a.png", "not fetched"),
        ("ftp://example.org/a.png", "not fetched"),
        ("file:///etc/passwd", "not fetched"),
        ("javascript:alert(1)", "not fetched"),
        ("C:/Windows/a.png", "not fetched"),
        ("../outside.png", "outside the indexed folders"),
        ("/etc/passwd", "outside the indexed folders"),
        ("..%2foutside.png", "outside the indexed folders"),
        ("img/none.png", "does not exist"),
        ("img", "does not exist"),
        ("#only", "is empty"),
        ("img/\0.png", "is empty"),
        ("data:image/png;base64,A", "damaged"),
        ("a" * 300 + ".png", "does not exist"),
        ("a/" * 1_000 + "b.png", "too long"),
        ("\udc80\ud800.png", "not valid Unicode"),
    ],
)
def test_every_other_link_gets_its_reason(folder, ref, why):
    with pytest.raises(SourceError, match=why):
        linked(folder / "note.md", ref, [str(folder)], {})


def test_a_link_that_leads_outside_is_not_followed(folder, tmp_path):
    (folder / "img" / "sly.png").symlink_to(tmp_path / "outside.png")
    with pytest.raises(SourceError, match="outside"):
        linked(folder / "note.md", "img/sly.png", [str(folder)], {})


def test_a_picture_whose_file_has_a_name_that_cannot_be_stored_is_not_opened(folder):
    (folder / os.fsdecode(b"p\xff.png")).write_bytes(picture())
    (folder / "ok.png").symlink_to(os.fsdecode(b"p\xff.png"))
    found = {}
    with pytest.raises(SourceError, match="not valid Unicode"):
        linked(folder / "note.md", "ok.png", [str(folder)], found)
    assert found == {}
