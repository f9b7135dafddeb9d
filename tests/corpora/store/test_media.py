"""Pictures and clips that are kept with their source."""

import os
from pathlib import Path

import pytest

from ragweave.corpora.store.media import Media
from ragweave.models.errors import InputError, LibraryError

A, B = "a" * 24, "b" * 24


@pytest.fixture
def media(tmp_path: Path) -> Media:
    return Media(tmp_path / "media" / "library")


def staged(media: Media, source: str, **files: bytes) -> None:
    folder = media.staging(source)
    folder.mkdir()
    for name, data in files.items():
        (folder / f"{name}.jpg").write_bytes(data)


def test_what_was_staged_is_there_once_it_is_published(media):
    staged(media, A, one=b"1", two=b"22")
    assert media.files(A) == []
    media.publish(A)
    assert media.files(A) == [f"{A}/one.jpg", f"{A}/two.jpg"]
    assert media.path(f"{A}/two.jpg").read_bytes() == b"22"


def test_publishing_again_replaces_what_was_there(media):
    staged(media, A, one=b"1")
    media.publish(A)
    staged(media, A, two=b"2")
    media.publish(A)
    assert media.files(A) == [f"{A}/two.jpg"]
    media.staging(A).mkdir()
    media.publish(A)
    assert media.files(A) == []
    assert os.listdir(media.root) == []


def test_what_was_staged_before_is_gone(media):
    staged(media, A, one=b"1")
    assert not media.staging(A).exists()


@pytest.mark.parametrize("moment", ["before the first rename", "between the two", "before the clearing"])
def test_after_a_kill_there_is_one_whole_set_of_files(media, moment, monkeypatch):
    staged(media, A, one=b"1")
    media.publish(A)
    staged(media, A, two=b"2")
    left = {"before the first rename": 0, "between the two": 1, "before the clearing": 2}[moment]
    rename = os.rename

    class Killed(BaseException):
        pass

    def dying(*names):
        nonlocal left
        if not left:
            raise Killed
        left -= 1
        rename(*names)

    def killed(folder):
        if folder.exists():
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", dying)
        if moment == "before the clearing":
            patch.setattr("shutil.rmtree", killed)
        with pytest.raises(Killed):
            media.publish(A)
    media.recover()
    assert media.files(A) == ([f"{A}/two.jpg"] if moment == "before the clearing" else [f"{A}/one.jpg"])
    assert os.listdir(media.root) == [A]


def test_dropping_a_source_takes_its_files_and_leaves_those_of_others(media):
    for source in (A, B):
        staged(media, source, one=b"1")
        media.publish(source)
    staged(media, A, two=b"2")
    media.drop([A, "c" * 24, "not an id"])
    assert media.orphans([B]) == []
    assert media.orphans([]) == [B] and media.files(B) == [f"{B}/one.jpg"]


def test_files_of_unknown_sources_are_named(media):
    staged(media, A, one=b"1")
    media.publish(A)
    staged(media, B, one=b"1")
    assert media.orphans([]) == [A, B]
    assert media.orphans([A]) == [B]


@pytest.mark.parametrize(
    "media_id",
    ["", A, f"{A}/", f"{A}/../x.jpg", "../x.jpg", f"{A}/a/b.jpg", f"{A}/.hidden", f"/{A}/x.jpg", f"{A}\\x.jpg",
     f"{A}/x\0.jpg", f"{A.upper()}/x.jpg", f"{A}/x.jpg\n", f"{A}.part/x.jpg", f"{A}/" + "x" * 200],
)  # fmt: skip
def test_what_is_no_media_id_is_refused(media, media_id):
    with pytest.raises(InputError):
        media.path(media_id)


def test_a_link_in_place_of_a_file_or_of_its_folder_is_never_followed(media, tmp_path):
    (tmp_path / "secret.jpg").write_bytes(b"secret")
    folder = media.staging(A)
    folder.mkdir()
    (folder / "file.jpg").symlink_to(tmp_path / "secret.jpg")
    (folder / "good.jpg").write_bytes(b"1")
    media.publish(A)
    with pytest.raises(LibraryError, match="not there"):
        media.path(f"{A}/file.jpg")
    (media.root / B).symlink_to(media.root / A)
    with pytest.raises(LibraryError, match="not there"):
        media.path(f"{B}/good.jpg")
    assert media.files(A) == [f"{A}/good.jpg"]


def test_a_file_that_is_missing_is_said_with_a_remedy(media):
    with pytest.raises(LibraryError, match="is not there"):
        media.path(f"{A}/x.jpg")


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LibraryError, match="cannot be written"):
        Media(tmp_path / "file").staging(A)
