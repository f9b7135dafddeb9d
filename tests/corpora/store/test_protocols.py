"""What the stores are to others: nothing of SQLite or Chroma crosses, and the stores here keep them."""

import inspect

import pytest

from ragweave.corpora.store import protocols
from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.lexical import Lexical
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.vectors import Vectors

KEPT = [
    (protocols.CatalogStore, Catalog),
    (protocols.LexicalStore, Lexical),
    (protocols.VectorStore, Vectors),
    (protocols.MediaStore, Media),
]


def methods(kind):
    return {name: member for name, member in vars(kind).items() if inspect.isfunction(member) and name[0] != "_"}


@pytest.mark.parametrize(("protocol", "kept"), KEPT)
def test_the_stores_here_keep_their_protocols_to_the_letter(protocol, kept):
    for name, method in methods(protocol).items():
        there = inspect.signature(getattr(kept, name))
        asked = inspect.signature(method)
        assert list(there.parameters) == list(asked.parameters), name


def test_nothing_of_sqlite_or_chroma_crosses_them():
    source = inspect.getsource(protocols).split('"""', 2)[2].lower()
    assert not any(word in source for word in ("sqlite", "chroma", "engine", "pragma"))
