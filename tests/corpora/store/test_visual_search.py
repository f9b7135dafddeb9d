"""Vectors of pictures: made of what is kept, found beside the text, gone with their source."""

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store import visual_search
from ragweave.corpora.store.blobs import visual_space
from ragweave.corpora.store.commit import Committer, FileOutcome
from ragweave.corpora.store.files import File, Stat
from ragweave.corpora.store.library import Library, open_library
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.prepared import Prepared, chunked, terms_of
from ragweave.corpora.store.stores import stores
from ragweave.corpora.types import Item
from ragweave.models.embed import encoder
from ragweave.models.errors import ModelError
from ragweave.models.pictures import jpeg

pytestmark = pytest.mark.both

A, B = "a" * 24, "b" * 24
COLOURS = {"red": (250, 0, 0), "green": (0, 250, 0), "blue": (0, 0, 250)}


class Colours:
    """An image encoder whose space is the mean colour; texts are words for colours."""

    dim, frames = 3, 1

    def __init__(self, name: str = "colours") -> None:
        self.name = name

    def images(self, images: Sequence[np.ndarray]) -> np.ndarray:
        means = np.array([i.reshape(-1, 3).mean(0) for i in images], dtype=np.float32)
        return means / np.linalg.norm(means, axis=1, keepdims=True)

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.array(
            [np.sum([COLOURS.get(w, (1, 1, 1)) for w in t.split()], 0) for t in texts], dtype=np.float32
        )
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch):
    def use(made: object) -> None:
        def current(name: str | None = None) -> object:
            if isinstance(made, Exception):
                raise made
            return made

        monkeypatch.setattr(visual_search, "image_encoder", current)

    use(Colours())
    return use


def store(pictures: dict[str, dict[str, str]]) -> None:
    """Commit image items: source id to {colour: text}."""
    held, own_encoder = stores(), encoder()
    try:
        row = held.catalog.library("default")
    except Exception:
        row = held.catalog.create("default", own_encoder.name, own_encoder.dim)
    media, outcomes = Media.of(row.id), []
    for source, shown in pictures.items():
        folder = media.staging(source)
        folder.mkdir()
        items = []
        for n, (colour, text) in enumerate(shown.items()):
            (folder / f"{colour}.jpg").write_bytes(jpeg(np.full((8, 8, 3), COLOURS[colour], dtype=np.uint8)))
            locator = {"kind": "image", "file": f"/{source}.png", "image": f"{source}/{colour}.jpg"}
            items.append(Item(f"{source}{colour}", "image", source, "", text, locator, ordinal=n))
        chunks = tuple(((0, len(i.text)),) if i.text else () for i in items)
        made = Prepared("image", "", "", "", None, (), tuple(items), chunks, terms_of(items))
        file = File(f"/{source}.png", source, "0" * 64, Stat(1, 1, 1, 1, 1.0))
        outcomes.append(FileOutcome(file, made, own_encoder.texts(chunked(made.items, made.chunks).texts)))
    Committer(held.catalog, row, "p").store(outcomes)


def catch_up() -> tuple[int, str]:
    row = stores().catalog.library("default")
    return visual_search.catch_up(stores(), row, Media.of(row.id), threading.Event())


async def library() -> Library:
    return await open_library("default")


def names(hits) -> list[str]:
    return [h.id[24:] for h in hits]


async def test_pictures_are_found_by_what_they_show(home, look):
    store({A: {"red": "", "green": "a meadow"}, B: {"blue": "the sea"}})
    assert catch_up() == (3, "")
    assert catch_up() == (0, "")
    [lists] = await (await library()).search("image", ["green"], k=2)
    assert names(lists.visual)[0] == "green"
    assert lists.visual[0].score == pytest.approx(1, abs=1e-3)
    assert lists.note == ""


def test_an_encoder_of_video_sees_a_clip_as_one_and_a_picture_by_itself() -> None:
    frames = [[2.0 * n, f"{A}/{n}.jpg"] for n in range(15)]
    clip = Item(
        "c",
        "clip",
        A,
        "",
        "",
        {"kind": "video"},
        meta={"frames": frames, "pictures": [f"{A}/0.jpg", f"{A}/9.jpg"]},
    )
    whole = Item("v", "video", A, "", "", {"kind": "video"}, meta={"pictures": [f"{A}/0.jpg"]})
    image = Item("i", "image", A, "", "", {"kind": "image", "image": f"{A}/0.jpg"})
    assert visual_search._seen_as_one(clip, 4) == [[f"{A}/{n}.jpg" for n in (0, 3, 7, 11)]]
    assert visual_search._seen_as_one(whole, 4) == [[f"{A}/0.jpg"] * 4]
    assert visual_search._seen_as_one(image, 4) == visual_search._seen_as_one(whole, 1) == [[f"{A}/0.jpg"]]
    assert visual_search._seen_as_one(clip, 1) == [[f"{A}/0.jpg"], [f"{A}/9.jpg"]]


async def test_another_encoder_or_one_that_fails_is_said_and_the_next_run_makes_its_vectors(home, look):
    store({A: {"red": "sea"}})
    catch_up()
    for other, why in (
        (ModelError("it is broken"), "it is broken"),
        (Colours("others"), "seen by colours, and others is set"),
    ):
        look(other)
        [lists] = await (await library()).search("image", ["sea"])
        assert lists.visual == () and lists.lexical and why in lists.note
        made, note = catch_up()
        assert (made, note) == (1, "") or why in note
    assert names((await (await library()).search("image", ["red"]))[0].visual) == ["red"]


async def test_what_was_seen_outlives_compaction_and_another_text_encoder(home, look, turned):
    store({A: {"red": "sea"}, B: {"blue": "sea"}})
    catch_up()
    held = stores()
    row = held.catalog.library("default")
    held.catalog.kept.compact(row.id)
    assert catch_up() == (0, "")
    await index([], encoder="turned")
    assert catch_up() == (0, "") and len(held.vectors.ids(row.id, "image", visual_space("colours"))) == 2


def test_a_picture_that_is_missing_or_damaged_is_left_out(home, look):
    store({A: {"red": "sea", "green": "sea"}})
    row = stores().catalog.library("default")
    media = Media.of(row.id)
    media.path(f"{A}/red.jpg").unlink()
    Path(media.root, A, "green.jpg").write_bytes(b"no picture")
    assert catch_up() == (0, "")
