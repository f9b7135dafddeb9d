"""Index files, with models for captions and entities if these are set."""

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
"""Characters that a caption keeps."""


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
    """Index files and folders; an unchanged file costs only a hash.

    Args:
        paths: files and folders, or a single one.
        library: name of the library.
        documents: documents of a LangChain loader; their text is stored in the library's own folder.
        on_event: takes the events of the run.
        loader: a key of `ragweave.corpora.loaders.LOADERS`, if the files are exports of that kind.
        encoder: replaces the library's text encoder, named as in RAGWEAVE_EMBED; all vectors are computed
            again from the stored text.
        forgets: whether files that are gone are dropped even if they are most of a folder's.

    Raises:
        InputError: a path is not text.
    """
    from ragweave.corpora.ingest.documents import kept
    from ragweave.corpora.ingest.run import index as run_index

    several = _as_paths(paths)
    if documents:
        several += await kept(documents, library)
    models = at_indexing()
    return await run_index(
        several, library, on_event=on_event, models=models, loader=loader, encoder=encoder, forgets=forgets
    )


def _as_paths(paths: str | Path | Sequence[str | Path]) -> list[Path]:
    """Return one or several paths as a list.

    Raises:
        InputError: a path is not text.
    """
    given = [paths] if isinstance(paths, str) or not isinstance(paths, Iterable) else [*paths]
    for path in given:
        if not isinstance(path, str | Path):
            raise InputError(
                f"a path is no text but {type(path).__name__}", "name files and folders by their paths"
            )
    return [Path(path) for path in given]


def captioner(meter: Meter | None = None) -> Captioner | None:
    """Return a writer of captions within the limits of a meter, or None if RAGWEAVE_VISION is not set.

    Pictures and frames are never sent to a chat model that is set for answers only.
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
        messages = load(
            "caption",
            context=quote(context or "(nothing)"),
            language=language or "the language of the quoted context",
        )
        reply = await model.text(messages, node="caption", meter=meter, images=images)
        return clip(" ".join(reply.split()), LONGEST) or None

    async def check() -> None:
        grey = jpeg(np.full((16, 16, 3), 128, dtype=np.uint8))
        # The time makes the prompt new, so that a cached reply cannot answer for the server.
        words = f"It is {datetime.now(UTC).isoformat()}. Say: ready."
        await model.text([("user", words)], node="caption", meter=Meter(), images=[grey])

    return Captioner(f"{model.name} at {model.host}", ask, check)


def at_indexing() -> Models:
    """Return the models for captions and entities that are set, with one limit of calls for both."""
    from ragweave.components.entities import extractor
    from ragweave.corpora.ingest.run import Models
    from ragweave.corpora.settings import corpora_settings
    from ragweave.models.meter import Limits, Meter

    meter = Meter(Limits(calls=corpora_settings().index_calls or -1))
    return Models(captioner(meter), extractor(meter), meter)
