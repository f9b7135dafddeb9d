"""The contract of media, over every place they lie in: a folder, and an object store on a disk and behind S3."""

import os
from pathlib import Path

import pytest

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.objects import Objects, objects
from ragweave.corpora.store.stores import close_stores
from ragweave.models.errors import InputError, LibraryError, MissingExtra, StorageError
from ragweave.tests.support.objects import bucket

A, B = "a" * 24, "b" * 24
stored = pytest.mark.parametrize("place", ["file", "s3"], indirect=True)


@pytest.fixture(params=["folder", "file", "s3"])
def place(request, tmp_path, monkeypatch):
    if request.param == "s3":
        with bucket(monkeypatch) as address:
            yield address
    else:
        yield f"file://{tmp_path}/bucket" if request.param == "file" else ""


@pytest.fixture
def at_home(place, tmp_path, monkeypatch):
    """Become the machine of a number: each has a disk of its own, where there is a store beside it."""
    kept, home, now = tmp_path / "machines", tmp_path / "home", [1]

    def become(machine: int) -> Media:
        close_stores()
        if place:
            for here, there in ((home, kept / str(now[0])), (kept / str(machine), home)):
                there.parent.mkdir(parents=True, exist_ok=True)
                if here.exists():
                    here.rename(there)
        now[0] = machine
        return Media.of("lib")

    monkeypatch.setenv("RAGWEAVE_MEDIA_URL", place)
    corpora_settings.cache_clear()
    return become


def publish(media: Media, source: str, **files: bytes) -> None:
    stage(media, source, **files)
    media.publish(source)


def stage(media: Media, source: str, **files: bytes) -> None:
    folder = media.staging(source)
    folder.mkdir()
    for name, data in files.items():
        (folder / f"{name}.jpg").write_bytes(data)


def test_what_is_published_is_seen_replaced_and_dropped_everywhere(at_home, home):
    media = Media.of("lib")
    stage(media, A, one=b"1", two=b"22")
    assert media.files(A) == []
    media.publish(A)
    stage(media, B, one=b"1")
    assert media.orphans([]) == [A, B]
    media.publish(B)
    media = at_home(2)
    assert media.files(A) == [f"{A}/one.jpg", f"{A}/two.jpg"] and media.orphans([B]) == [A]
    copy = media.path(f"{A}/two.jpg")
    assert copy.read_bytes() == b"22"
    publish(at_home(1), A, two=b"larger", three=b"3")
    media = at_home(2)
    assert [media.path(m).read_bytes() for m in media.files(A)] == [b"3", b"larger"]
    at_home(1).drop([A, "../../elsewhere", "not an id"])
    media = at_home(2)
    assert media.files(A) == [] and media.files(B) == [f"{B}/one.jpg"]
    with pytest.raises(LibraryError, match="not there"):
        media.path(f"{A}/two.jpg")
    assert not list(home.rglob("*.part"))


@pytest.fixture
def media(tmp_path: Path) -> Media:
    return Media(tmp_path / "media" / "library")


@pytest.mark.parametrize("moment", ["before the first rename", "between the two", "before the clearing"])
def test_after_a_kill_there_is_one_whole_set_of_files(media, moment, monkeypatch):
    publish(media, A, one=b"1")
    stage(media, A, two=b"2")
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
    stage(media, A, good=b"1")
    (media.root / f"{A}.part" / "file.jpg").symlink_to(tmp_path / "secret.jpg")
    media.publish(A)
    (media.root / B).symlink_to(media.root / A)
    for id_ in (f"{A}/file.jpg", f"{B}/good.jpg"):
        with pytest.raises(LibraryError, match="not there"):
            media.path(id_)
    assert media.files(A) == [f"{A}/good.jpg"]


@stored
def test_an_object_is_read_in_the_pieces_that_are_asked_for(at_home, home, monkeypatch):
    monkeypatch.setattr("ragweave.corpora.store.objects._PIECE", 4)
    path = home / "uploads" / "lib" / "a [1].md"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"0123456789")
    store = objects()
    store.put(path, path)
    store.put(path.with_name("a 1.md"), path)
    assert list(store.pieces(path, 1, 8)) == [b"1234", b"567"]
    store.remove(path)
    assert store.size(path) is None and store.size(path.with_name("a 1.md")) == 10
    assert store.size(Path("/etc/passwd")) is None and store.size(path.parent) is None


def test_a_store_that_is_away_or_none_is_told_in_a_sentence(monkeypatch, tmp_path):
    for address, error in (("nosuch://x", InputError), ("adl://x/y", MissingExtra)):
        with pytest.raises(error):
            Objects(address, tmp_path)
    pytest.importorskip("obstore", reason="the extra `objects` is not installed")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    with pytest.raises(StorageError, match="RAGWEAVE_MEDIA_URL") as refused:
        Objects("s3://away/x", tmp_path).names(tmp_path / "libraries")
    assert refused.value.status == 503
