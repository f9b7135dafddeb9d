"""Indexing with the models that it asks, where they are set: for captions and entities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ragweave.models.errors import InputError

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from ragweave.corpora.ingest.run import Event, Models, Report
    from ragweave.models.caption import Captioner
    from ragweave.models.meter import Meter

LONGEST = 1_500
"""Characters of a caption that are kept."""


async def aindex(
    paths: str | Path | Sequence[str | Path] = (),
    library: str = "default",
    *,
    documents: Sequence[Document] = (),
    on_event: Callable[[Event], None] | None = None,
    loader: str = "",
    encoder: str = "",
    forgets: bool = False,
) -> Report:
    """Index files and folders, or a single one; what is unchanged costs a hash.

    `documents` are those of a LangChain loader; their text is kept in the library's own folder. With a
    `loader`, a key of `ragweave.corpora.loaders.LOADERS`, the files are exports of that kind. An `encoder`,
    named as RAGWEAVE_EMBED names it, takes the place of the library's, and its vectors are made anew of the
    stored text. A run that `forgets` drops files that are gone even if they are most of a folder's.
    """
    from ragweave.corpora.ingest.documents import kept
    from ragweave.corpora.ingest.run import index as run_index

    given = [*paths] if isinstance(paths, Iterable) and not isinstance(paths, str) else [paths]
    if strange := [p for p in given if not isinstance(p, str | Path)]:
        raise InputError(
            f"a path is no text but {type(strange[0]).__name__}", "name files and folders by their paths"
        )
    several = [Path(p) for p in given]
    if documents:
        several += await kept(documents, library)
    models = at_indexing()
    return await run_index(
        several, library, on_event=on_event, models=models, loader=loader, encoder=encoder, forgets=forgets
    )


def captioner(meter: Meter | None = None) -> Captioner | None:
    """Return what writes captions within the limits of a meter, or None where RAGWEAVE_VISION is not set.

    A chat model that is set for answers alone is never sent the frames of a video, or pictures.
    """
    from ragweave.models.chat import chat
    from ragweave.models.settings import model_settings

    model = chat("vision") if model_settings().vision else None
    if model is None:
        return None
    import numpy as np

    from ragweave.models.caption import Captioner
    from ragweave.models.meter import Meter
    from ragweave.models.pictures import jpeg
    from ragweave.models.text import clip
    from ragweave.prompts import load, quote

    meter = meter or Meter()

    async def ask(images: Sequence[bytes], context: str, language: str) -> str | None:
        known, spoken = quote(context or "(nothing)"), language or "the language of the quoted context"
        asked = load("caption", context=known, language=spoken)
        said = await model.text(asked, node="caption", meter=meter, images=images)
        return clip(" ".join(said.split()), LONGEST) or None

    async def check() -> None:
        grey = jpeg(np.full((16, 16, 3), 128, dtype=np.uint8))
        # With the time, so that no reply that was kept stands in for the server.
        words = f"It is {datetime.now(UTC).isoformat()}. Say: ready."
        await model.text([("user", words)], node="caption", meter=Meter(), images=[grey])

    return Captioner(f"{model.name} at {model.host}", ask, check)


def at_indexing() -> Models:
    """Return what indexing asks for captions and entities, as the settings have it, within one limit of calls."""
    from ragweave.components.entities import extractor
    from ragweave.corpora.ingest.run import Models
    from ragweave.corpora.settings import corpora_settings
    from ragweave.models.meter import Limits, Meter

    meter = Meter(Limits(calls=corpora_settings().index_calls or -1))
    return Models(captioner(meter), extractor(meter), meter)
