"""Search by pictures: vectors that an image-text encoder computes from the stored pictures of items.

The vectors have a space of their own for each corpus and image encoder. They are computed after the commit,
so that a new image encoder does not require reading the files again.
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
from ragweave.models.image_text import ImageEncoder, image_encoder
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
motorcycle in the rain; a diagram of a machine; a snowy mountain; a child with a kite; a screenshot of a
settings window; a pair of shoes; an X-ray of a hand; a row of shops at night; a horse in a meadow; a galaxy
in the sky; a wooden table with tools; a beach with umbrellas; an airplane on a runway; a portrait of an old
man
"""
UNRELATED = tuple([f"Which picture shows {thing}?" for thing in " ".join(_THINGS.split()).split("; ")])
"""Questions about unrelated things; a query fits a picture if it scores well above these."""
_AT_ONCE = 64
"""Pictures that are encoded and committed together."""


def is_blind() -> bool:
    """Tell whether no image encoder is set; one that cannot be loaded counts as set."""
    try:
        return image_encoder() is None
    except RagweaveError:
        return False


def pictures_of(item: Item) -> list[str]:
    """Return the media ids of an item's pictures: `meta["pictures"]` if it has several, else its one."""
    listed = item.meta.get("pictures")
    if isinstance(listed, list):
        return [str(one) for one in listed]
    shown = item.locator.get("image")
    return [shown] if shown else []


def catch_up(held: Stores, row: LibraryRow, media: Media, stop: threading.Event) -> tuple[int, str]:
    """Encode the pictures that have no vector of the image encoder; the caller holds the writer lock.

    Returns:
        The number of pictures encoded, and the reason why encoding failed, or "".
    """
    try:
        encoder = image_encoder()
    except RagweaveError as error:
        return 0, str(error)
    if encoder is None:
        return 0, ""
    encoded = 0
    step = max(1, _AT_ONCE // encoder.frames)
    try:
        for corpus in SEEN:
            unseen = _unseen(held, row, corpus, encoder)
            for at in range(0, len(unseen), step):
                if stop.is_set():
                    return encoded, ""
                encoded += _encode(held, row, corpus, encoder, media, unseen[at : at + step])
    except RagweaveError as error:
        return encoded, str(error)
    return encoded, ""


Unseen = tuple[str, str, list[str]]
"""Chunk id, source, and the media ids of the pictures that are encoded together."""


def _unseen(held: Stores, row: LibraryRow, corpus: Corpus, encoder: ImageEncoder) -> list[Unseen]:
    """Return the pictures of a corpus that have no vector of the encoder."""
    stored = set(held.vectors.ids(row.id, corpus, visual_space(encoder.name)))
    found: list[Unseen] = []
    for page in held.catalog.pages(row.id, corpus):
        for item in page:
            for n, names in enumerate(_seen_as_one(item, encoder.frames)):
                id_ = chunk_id(item.id, n)
                if id_ not in stored:
                    found.append((id_, item.source, names))
    return found


def _encode(
    held: Stores,
    row: LibraryRow,
    corpus: Corpus,
    encoder: ImageEncoder,
    media: Media,
    unseen: Sequence[Unseen],
) -> int:
    """Encode and store pictures; return how many were stored. Pictures that cannot be opened are left out."""
    ids: list[str] = []
    sources: list[str] = []
    opened: list[Pixels] = []
    for id_, source, names in unseen:
        pixels = _open(media, names)
        if pixels is not None:
            ids.append(id_)
            sources.append(source)
            opened.append(pixels)
    if not opened:
        return 0
    space = visual_space(encoder.name)
    return held.vectors.put(row.id, corpus, space, ids, sources, encoder.images(opened))


def _seen_as_one(item: Item, frames: int) -> list[list[str]]:
    """Return the media ids to encode together: single pictures, or `frames` spread over a clip."""
    pictures = pictures_of(item)
    if frames == 1 or item.corpus == "image":
        return [[picture] for picture in pictures]
    whole = [picture for _, picture in item.frames] or pictures
    if not whole:
        return []
    spread = [whole[n * len(whole) // frames] for n in range(frames)]
    return [spread]


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
    """Return the pictures that each query finds, by cosine, and the reason if they were not searched, or "".

    A list holds the k best pictures, and every picture of the items that the text lists found. So an item
    that is missing from it has no picture; the fusion of the lists relies on that.
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
            return nothing, _seen_by_others(held, row, encoder)
        vectors = encoder.texts(queries)
    except LibraryError:
        raise
    except RagweaveError as error:
        return nothing, f"pictures were searched by their text only: {error}"
    best = held.vectors.query(row.id, corpus, space, vectors, k, sources)
    wanted = []
    for rankings in zip(*found, strict=True):
        ids: dict[str, None] = {}
        for ranking in rankings:
            for id_, _ in ranking:
                ids[id_] = None
        wanted.append(list(ids))
    return completed(held, row, corpus, space, vectors, best, wanted), ""


def _seen_by_others(held: Stores, row: LibraryRow, encoder: ImageEncoder) -> str:
    """Return a note if only other image encoders have encoded the pictures of a library, or ""."""
    others = ", ".join(held.vectors.image_encoders(row.id))
    if not others:
        return ""
    return (
        f"pictures were searched by their text only: they were seen by {others}, and {encoder.name}"
        " is set. Run `ragweave index` again to have them seen by it"
    )


def stand_out(held: Stores, row: LibraryRow, query: str, pictures: Sequence[str]) -> dict[str, float]:
    """Score how much nearer pictures are to a query than to UNRELATED, in standard deviations, by item id.

    The median and the median deviation are used, so that one question of UNRELATED that a picture happens to
    answer changes the score little.
    """
    try:
        encoder = image_encoder()
        if encoder is None:
            return {}
        vectors = encoder.texts([query, *UNRELATED])
    except RagweaveError as error:
        logger.info("what pictures show was not graded: %s", error)
        return {}
    space = visual_space(encoder.name)
    scores = {}
    for item, own in held.vectors.of_items(row.id, "image", space, pictures).items():
        cosines = (own @ vectors.T).max(axis=0)
        scores[item] = deviations(cosines[:1], cosines[1:])
    return scores


def deviations(cosine: Matrix, others: Matrix) -> float:
    """Return how far a cosine lies above others, in their standard deviations; 0 if these do not differ."""
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
    """Return lists with the wanted items added, each with the cosine of its nearest vector in a space."""
    out: list[Ranking] = []
    for vector, ranking, ids in zip(vectors, lists, wanted, strict=True):
        best = dict(ranking)
        lacking = []
        for i in ids:
            if i not in best:
                lacking.append(i)
        if lacking:
            for item, own in held.vectors.of_items(row.id, corpus, space, lacking).items():
                best[item] = float(np.max(own @ vector))
        out.append(sorted(best.items(), key=lambda hit: (-hit[1], hit[0])))
    return out
