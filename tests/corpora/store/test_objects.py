"""Media in an object store: what lies there counts, whatever a home has copies of."""

import tracemalloc
from pathlib import Path

import pytest

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.bundle import export_library, import_library
from ragweave.corpora.store.library import delete_library, open_library
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.objects import Objects, folders_among, objects
from ragweave.corpora.store.repair import repair
from ragweave.corpora.store.stores import close_stores
from ragweave.models.errors import InputError, LibraryError, MissingExtra, StorageError
from ragweave.tests.support.objects import bucket

A, B = "a" * 24, "b" * 24


@pytest.fixture(params=["file", "s3"])
def url(request, tmp_path, monkeypatch):
    if request.param == "file":
        yield f"file://{tmp_path}/bucket"
    else:
        with bucket(monkeypatch) as address:
            yield address


@pytest.fixture
def at_home(url, tmp_path, monkeypatch):
    """Become the machine of a number: each has a disk of its own, at the same path as the others see theirs."""
    kept, home = tmp_path / "machines", tmp_path / "home"
    now = [1]

    def become(machine: int) -> None:
        close_stores()
        for here, there in ((home, kept / str(now[0])), (kept / str(machine), home)):
            there.parent.mkdir(parents=True, exist_ok=True)
            if here.exists():
                here.rename(there)
        now[0] = machine

    monkeypatch.setenv("RAGWEAVE_MEDIA_URL", url)
    corpora_settings.cache_clear()
    return become


def staged(media: Media, source: str, **files: bytes) -> None:
    folder = media.staging(source)
    folder.mkdir()
    for name, data in files.items():
        (folder / f"{name}.jpg").write_bytes(data)


def test_what_one_machine_publishes_another_opens(at_home):
    staged(Media.of("lib"), A, one=b"1", two=b"22")
    assert Media.of("lib").files(A) == []
    Media.of("lib").publish(A)
    at_home(2)
    media = Media.of("lib")
    assert media.files(A) == [f"{A}/one.jpg", f"{A}/two.jpg"]
    assert media.path(f"{A}/two.jpg").read_bytes() == b"22"
    assert media.orphans([B]) == [A]


def test_what_is_dropped_on_one_machine_no_copy_of_another_brings_back(at_home):
    for source in (A, B):
        staged(Media.of("lib"), source, one=b"1")
        Media.of("lib").publish(source)
    at_home(2)
    copy = Media.of("lib").path(f"{A}/one.jpg")
    at_home(1)
    Media.of("lib").drop([A, "../../elsewhere"])
    at_home(2)
    assert copy.exists() and Media.of("lib").files(A) == [] and Media.of("lib").files(B) == [f"{B}/one.jpg"]
    with pytest.raises(LibraryError, match="not there"):
        Media.of("lib").path(f"{A}/one.jpg")


def test_what_is_published_again_takes_the_place_of_what_was_there(at_home):
    staged(Media.of("lib"), A, one=b"1", two=b"2")
    Media.of("lib").publish(A)
    staged(Media.of("lib"), A, two=b"larger", three=b"3")
    Media.of("lib").publish(A)
    at_home(2)
    media = Media.of("lib")
    assert [media.path(m).read_bytes() for m in media.files(A)] == [b"3", b"larger"]


def test_an_object_that_has_grown_is_copied_anew(at_home, home):
    staged(Media.of("lib"), A, one=b"1")
    Media.of("lib").publish(A)
    at_home(2)
    assert Media.of("lib").path(f"{A}/one.jpg").read_bytes() == b"1"
    at_home(1)
    staged(Media.of("lib"), A, one=b"11")
    Media.of("lib").publish(A)
    at_home(2)
    assert Media.of("lib").path(f"{A}/one.jpg").read_bytes() == b"11"
    assert not list(home.rglob("*.part"))


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


async def test_a_library_goes_into_a_bundle_and_comes_back_with_its_pictures(at_home, notes, tmp_path):
    library = await open_library("default")
    source = (await library.sources())[0].id
    staged(Media.of(library.id), source, one=b"1")
    Media.of(library.id).publish(source)
    await export_library("default", tmp_path / "bundle.zip")
    await import_library(tmp_path / "bundle.zip", "copy")
    copy = await open_library("copy")
    assert objects().names(Media.of(copy.id).root) == [source]
    assert (await repair("copy")).without_media == 0
    await delete_library("copy")
    assert objects().names(Media.of(copy.id).root) == [] != objects().names(Media.of(library.id).root)


def test_a_store_that_is_away_is_told_in_a_sentence(monkeypatch, tmp_path):
    pytest.importorskip("obstore", reason="the extra `objects` is not installed")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    with pytest.raises(StorageError, match="RAGWEAVE_MEDIA_URL") as refused:
        Objects("s3://away/x", tmp_path).names(tmp_path / "libraries")
    assert refused.value.status == 503


@pytest.mark.parametrize(("address", "error"), [("nosuch://x", InputError), ("adl://x/y", MissingExtra)])
def test_an_address_of_no_store_is_refused(address, error, tmp_path):
    with pytest.raises(error):
        Objects(address, tmp_path)


def test_folders_among_long_names_take_no_more_memory_than_the_names():
    names = {"", "a", "a/b", *(f"{n:06d}/" + "/".join("a" * 400) for n in range(100)), "a/b/c", "ab"}
    tracemalloc.start()
    try:
        assert folders_among(names) == {"", "a", "a/b"}
        assert tracemalloc.get_traced_memory()[1] < sum(map(len, names))
    finally:
        tracemalloc.stop()
