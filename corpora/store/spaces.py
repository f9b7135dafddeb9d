"""Names of collections and of the spaces they hold, and how they are found in a client of Chroma."""

from __future__ import annotations

import hashlib
from typing import Any

from ragweave.corpora.store.chroma import as_library_error
from ragweave.corpora.types import Corpus

_BESIDE = " beside "

HNSW = {"space": "cosine", "ef_construction": 500, "ef_search": 500, "max_neighbors": 32}
"""With Chroma's defaults about 1 % of the vectors of an edited collection are not found by themselves."""


def item_of(chunk: str) -> str:
    """Return the item that a chunk id `<item>~<n>` belongs to."""
    return chunk.rpartition("~")[0]


def name_of(library: str, corpus: Corpus, space: str) -> str:
    """Return the name of a collection."""
    return f"{library}-{corpus}-{hashlib.sha256(space.encode()).hexdigest()[:8]}"


def visual_space(encoder: str, space: str) -> str:
    """Return the space of an image encoder's vectors, which stand beside those of the text encoder in `space`."""
    return f"see {encoder}{_BESIDE}{space}"


def entity_space(space: str) -> str:
    """Return the space of the knowledge graph's entities, by the text encoder of `space`."""
    return f"entities of {space}"


def beside(client: Any, library: str, space: str) -> tuple[str, ...]:
    """Return a space with all that stand beside it: what image encoders saw, and the entities."""
    return (space, *(visual_space(e, space) for e in image_encoders_of(client, library, space)), entity_space(space))


def image_encoders_of(client: Any, library: str, space: str) -> list[str]:
    """Return the names of the image encoders that have collections of a library beside a space."""
    found = set()
    for collection in client.list_collections():
        named = str((collection.metadata or {}).get("space", ""))
        if str(collection.name).startswith(f"{library}-") and named.endswith(f"{_BESIDE}{space}"):
            found.add(named.removeprefix("see ").removesuffix(f"{_BESIDE}{space}"))
    return sorted(found)


def names_of(client: Any) -> list[str]:
    """Return the names of all collections."""
    return [str(collection.name) for collection in client.list_collections()]


def collection_of(client: Any, library: str, corpus: Corpus, space: str, create: bool = False) -> Any:
    """Return a collection, or None where there is none and none is to be made."""
    from chromadb.errors import NotFoundError

    name = name_of(library, corpus, space)
    with as_library_error("opened"):
        if create:
            return client.get_or_create_collection(
                name, configuration={"hnsw": HNSW}, metadata={"space": space}, embedding_function=None
            )
        try:
            return client.get_collection(name, embedding_function=None)
        except NotFoundError:
            return None
