"""What the stores are to everybody else: whatever keeps a library keeps these, and no type of a database crosses them.

The stores of this package are the first implementation: SQLite for catalog and lexical index, vectors in the catalog
with Chroma as their index, media in a folder. The commit of a source, the knowledge graph and the care of a library
write several of them in one transaction of SQL (`Catalog.writing`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection

from ragweave.corpora.store.blobs import Matrix
from ragweave.corpora.store.libraries import LibraryRow
from ragweave.corpora.store.rows import Recording, Source
from ragweave.corpora.types import Corpus, Item

Ranking = list[tuple[str, float]]
"""(item id, score), best first."""


class Catalog(Protocol):
    """Libraries by name and id, their sources and items. A deleted library is a LibraryNotFound everywhere."""

    def libraries(self) -> list[LibraryRow]:
        """Return every library, by name."""

    def library(self, name: str) -> LibraryRow:
        """Return the library of that name."""

    def row(self, library: str) -> LibraryRow:
        """Return a library by id; its generation grows with every change, for every process at once."""

    def create(self, name: str, encoder: str, dim: int) -> LibraryRow:
        """Make an empty library."""

    def rename(self, name: str, to: str) -> None:
        """Give a library another name."""

    def reading(self, library: str) -> AbstractContextManager[Connection]:
        """Begin a transaction of SQL that sees one state of a library."""

    def writing(self, library: str) -> AbstractContextManager[Connection]:
        """Begin a transaction of SQL that changes a library, for the holder of its writer lock."""

    def set_ageing(self, name: str, recency: str | None, half_life: float | None) -> LibraryRow:
        """Say how the documents of a library age."""

    def delete(self, library: str) -> None:
        """Remove a library with everything it holds."""

    def compact(self, library: str) -> None:
        """Let what was deleted leave the disk."""

    def files(self, library: str) -> int:
        """Return the number of sources that hold anything to find."""

    def counts(self, library: str) -> dict[Corpus, int]:
        """Return the number of items in each corpus that holds any."""

    def items(self, library: str, ids: Iterable[str]) -> dict[str, Item]:
        """Return the items of these ids, in the order asked."""

    def items_of(self, library: str, source: str, corpus: Corpus) -> list[Item]:
        """Return the items of a source in one corpus, in order."""

    def beside(self, library: str, id: str, most: int) -> list[Item]:
        """Return an item among its neighbours."""

    def pages(self, library: str, corpus: Corpus, size: int = 500) -> Iterator[list[Item]]:
        """Go through the items of a corpus, some at a time."""

    def known(self, library: str, ids: Sequence[str]) -> tuple[int, set[str]]:
        """Return the generation, and which of these items are held in it."""

    def recordings(self, library: str) -> list[Recording]:
        """Return every recording, in the order of the titles."""

    def sources(self, library: str, ids: Sequence[str] | None = None) -> list[Source]:
        """Return sources in the order of their paths: all, or those of the given ids."""

    def languages(self, library: str) -> dict[str, int]:
        """Return the number of sources in each language, the most frequent first."""

    def sources_of(self, library: str, ids: Sequence[str]) -> dict[str, Source]:
        """Return the source of each item id."""

    def close(self) -> None:
        """Close every connection."""


class Lexical(Protocol):
    """Search by words, with the frequencies that it rests on."""

    def search(
        self, library: str, corpus: Corpus, queries: Sequence[str], k: int, sources: Sequence[str] = ()
    ) -> list[Ranking]:
        """Return up to k items for each query."""

    def counted(self, library: str, corpora: Sequence[Corpus], terms: Sequence[str]) -> tuple[int, dict[str, int]]:
        """Return the number of items, and in how many of them each stemmed term stands."""


class Vectors(Protocol):
    """Vectors of chunks, `<item>~<n>`, by corpus and space (the encoder that made them)."""

    def query(
        self, library: str, corpus: Corpus, space: str, asked: Matrix, k: int, sources: Sequence[str] = ()
    ) -> list[Ranking]:
        """Return up to k items for each query vector, by cosine; all that is committed is found."""

    def put(
        self, library: str, corpus: Corpus, space: str, ids: Sequence[str], sources: Sequence[str], rows: Matrix
    ) -> int:
        """Write chunk vectors; return how many were written, which zeros are not."""

    def discard(self, library: str, corpus: Corpus, space: str, ids: Sequence[str]) -> None:
        """Remove chunks by id."""

    def ids(self, library: str, corpus: Corpus, space: str) -> list[str]:
        """Return the ids of every chunk, in order."""

    def of_items(self, library: str, corpus: Corpus, space: str, items: Sequence[str]) -> dict[str, Matrix]:
        """Return the vectors of items; without those that have none."""

    def has(self, library: str, corpus: Corpus, space: str) -> bool:
        """Say whether there are vectors of a corpus in a space."""

    def image_encoders(self, library: str) -> list[str]:
        """Return the names of the image encoders that have vectors."""

    def tidy(self, library: str, *, anew: bool = False) -> str:
        """Bring the indexes up to date; return why one could not be, or ""."""

    def forget_indexes(self, library: str) -> None:
        """Let deleted vectors leave the indexes now."""

    def drop(self, library: str) -> None:
        """Forget a library that was deleted."""

    def close(self) -> None:
        """Let go of memory, files and connections."""


class Media(Protocol):
    """Files of one library that belong to its sources: thumbnails, pictures of pages, frames, clips."""

    def staging(self, source: str) -> Path:
        """Return an empty folder that the files of a source are to be written into."""

    def publish(self, source: str) -> None:
        """Put the staged files of a source in place of those it had."""

    def discard(self, source: str) -> None:
        """Remove what was staged for a source."""

    def path(self, media_id: str) -> Path:
        """Return a file of a media id that can be read."""

    def files(self, source: str) -> list[str]:
        """Return the media ids of a source, in order."""

    def write(self, media_id: str, pieces: Iterable[bytes]) -> None:
        """Write one file as it is, for an import."""

    def drop(self, sources: Iterable[str]) -> None:
        """Remove the files of sources."""

    def orphans(self, sources: Iterable[str]) -> list[str]:
        """Return the sources that have files and are not among those given."""

    def recover(self) -> None:
        """Finish what a killed run was about to put in place."""
