"""Vectors of pictures by an image-text encoder, made of the pictures that are kept with their sources.

They stand beside the text vectors of the same items, in a space of their own (one per corpus and image
encoder), and are made after the commit, so that another encoder, or one that is set later, needs no file read
again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

import numpy as np

from ragweave.corpora.store.blobs import Matrix, visual_space
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.prepared import chunk_id
from ragweave.corpora.store.stores import Stores
from ragweave.corpora.store.words import Ranking
from ragweave.corpora.types import Corpus, Item
from ragweave.models.errors import LibraryError, RagweaveError
from ragweave.models.image_text import image_encoder
from ragweave.models.pictures import Pixels, load

logger = logging.getLogger(__name__)

SEEN: tuple[Corpus, ...] = ("image", "clip", "video")
"""Corpora whose items have pictures."""
_NORMAL = 1.4826
"""Standard deviations to one median deviation of a normal distribution."""
_ALIKE = 1e-6
_THINGS = """
a cat on a sofa; a bowl of soup; two people shaking hands; a map of the underground; a bar chart of sales; a
football match; a page of handwriting; a bridge over a river; the inside of a church; a bunch of tulips; a
motorcycle in the rain; a diagram of a machine; a snowy mountain; a child with a kite; a screenshot of a settings
window; a pair of shoes; an X-ray of a hand; a row of shops at night; a horse in a meadow; a galaxy in the sky; a
wooden table with tools; a beach with umbrellas; an airplane on a runway; a portrait of an old man
"""
UNRELATED = tuple(f"Which picture shows {thing}?" for thing in " ".join(_THINGS.split()).split("; "))
"""Questions about many things, beside which a question is seen to fit a picture or not."""
_AT_ONCE = 64
"""Pictures that are encoded and made known together."""


def is_blind() -> bool:
    """Tell whether no image encoder is set; one that cannot be loaded is."""
    try:
        return image_encoder() is None
    except RagweaveError:
        return False


def pictures_of(item: Item) -> list[str]:
    """Return the media ids of an item's pictures: `meta["pictures"]` where it has several, else the one it shows."""
    listed = item.meta.get("pictures")
    if isinstance(listed, list):
        return [str(one) for one in listed]
    shown = item.locator.get("image")
    return [shown] if shown else []


def catch_up(held: Stores, row: LibraryRow, media: Media, stop: threading.Event) -> tuple[int, str]:
    """Encode the pictures that the image encoder of the settings has not seen; the caller holds the writer lock.

    Returns:
        How many it saw now, and why it could not see any, in words, or "".
    """
    try:
        encoder = image_encoder()
    except RagweaveError as error:
        return 0, str(error)
    if encoder is None:
        return 0, ""
    space = visual_space(encoder.name)
    seen = 0
    try:
        for corpus in SEEN:
            stored = set(held.vectors.ids(row.id, corpus, space))
            pages = held.catalog.pages(row.id, corpus)
            unseen = [
                (chunk_id(item.id, n), item.source, shown)
                for page in pages
                for item in page
                for n, shown in enumerate(_seen_as_one(item, encoder.frames))
                if chunk_id(item.id, n) not in stored
            ]
            step = max(1, _AT_ONCE // encoder.frames)
            for at in range(0, len(unseen), step):
                if stop.is_set():
                    return seen, ""
                some = [(i, s, _open(media, names)) for i, s, names in unseen[at : at + step]]
                opened = [(i, s, pixels) for i, s, pixels in some if pixels is not None]
                if opened:
                    ids, sources, shown = zip(*opened, strict=True)
                    seen += held.vectors.put(row.id, corpus, space, ids, sources, encoder.images(shown))
    except RagweaveError as error:
        return seen, str(error)
    return seen, ""


def _seen_as_one(item: Item, frames: int) -> list[list[str]]:
    """Return the media ids that are seen together: each picture, or `frames` of a clip evenly spread over it."""
    pictures = pictures_of(item)
    if frames == 1 or item.corpus == "image":
        return [[picture] for picture in pictures]
    whole = [picture for _, picture in item.frames] or pictures
    return [[whole[n * len(whole) // frames] for n in range(frames)]] if whole else []


def _open(media: Media, names: Sequence[str]) -> Pixels | None:
    """Return one picture, or the frames of a clip as (frames, height, width, 3)."""
    try:
        shown = [load(media.path(name).read_bytes()) for name in names]
        return shown[0] if len(shown) == 1 else np.stack(shown)
    except (RagweaveError, OSError) as error:
        logger.warning("a stored picture cannot be seen: %s", error)
        return None


def look(
    held: Stores,
    row: LibraryRow,
    corpus: Corpus,
    queries: Sequence[str],
    k: int,
    sources: Sequence[str],
    *found: Sequence[Ranking],
) -> tuple[list[Ranking], str]:
    """Return the pictures that each query finds, by cosine, and why none were looked for, in words, or "".

    A list holds the k best pictures, and every picture of the items that the text lists found: an item that
    is missing has no picture at all, which the mixing of both sides rests on.
    """
    nothing: list[Ranking] = [[] for _ in queries]
    if corpus not in SEEN:
        return nothing, ""
    try:
        encoder = image_encoder()
        if encoder is None:
            return nothing, ""
        space = visual_space(encoder.name)
        if not held.vectors.has(row.id, corpus, space):
            seen_by = ", ".join(held.vectors.image_encoders(row.id))
            why = (
                f"pictures were searched by their text only: they were seen by {seen_by}, and {encoder.name}"
                " is set. Run `ragweave index` again to have them seen by it"
            )
            return nothing, why if seen_by else ""
        vectors = encoder.texts(queries)
    except LibraryError:
        raise
    except RagweaveError as error:
        return nothing, f"pictures were searched by their text only: {error}"
    best = held.vectors.query(row.id, corpus, space, vectors, k, sources)
    lacking = [
        list(dict.fromkeys(i for ranking in lists for i, _ in ranking)) for lists in zip(*found, strict=True)
    ]
    return completed(held, row, corpus, space, vectors, best, lacking), ""


def stand_out(held: Stores, row: LibraryRow, query: str, pictures: Sequence[str]) -> dict[str, float]:
    """Return by how many standard deviations pictures are nearer to a query than to UNRELATED questions, by item id.

    Middle and spread are the median and the median deviation, so that an unrelated question that a picture
    happens to answer counts for little.
    """
    try:
        encoder = image_encoder()
        if encoder is None:
            return {}
        asked = encoder.texts([query, *UNRELATED])
    except RagweaveError as error:
        logger.info("what pictures show was not graded: %s", error)
        return {}
    space = visual_space(encoder.name)
    got = held.vectors.of_items(row.id, "image", space, pictures)
    return {item: deviations(*np.split((own @ asked.T).max(axis=0), [1])) for item, own in got.items()}


def deviations(cosine: Matrix, others: Matrix) -> float:
    """Return how far a cosine lies above others, in their standard deviations; 0 where these do not differ."""
    middle = float(np.median(others))
    spread = _NORMAL * float(np.median(np.abs(others - middle)))
    return float(cosine[0] - middle) / spread if spread > _ALIKE else 0.0


def completed(
    held: Stores,
    row: LibraryRow,
    corpus: Corpus,
    space: str,
    vectors: Matrix,
    lists: Sequence[Ranking],
    wanted: Sequence[Sequence[str]],
) -> list[Ranking]:
    """Return lists with the cosine of the items wanted beside them, from their own vectors in a space."""
    out: list[Ranking] = []
    for vector, ranking, ids in zip(vectors, lists, wanted, strict=True):
        best = dict(ranking)
        lacking = [i for i in ids if i not in best]
        if lacking:
            got = held.vectors.of_items(row.id, corpus, space, lacking)
            best.update({item: float(np.max(own @ vector)) for item, own in got.items()})
        out.append(sorted(best.items(), key=lambda hit: (-hit[1], hit[0])))
    return out
