"""The process that writes the collections of a library into a folder, from what it is sent over its standard input.

Chroma writes its index with unused memory as it finds it: the parent knows questions and keys, this process knows the
rows alone. Messages are pickled (see `ragweave.corpora.store.chroma`): for each collection its head, its rows, None;
at the end the names of all that stay.

Chroma takes the vectors. What stands beside them goes into its tables in one statement a column, where the collection
is new: it would send five statements a row from thread to thread, which take twice as long as the graph.
"""

from __future__ import annotations

import gc
import pickle
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from ragweave.corpora.store.chroma_client import client_of


def write(folder: str, given: Any) -> None:
    """Bring the collections in a folder to what the messages of `given` say."""
    client = client_of(folder)
    while isinstance(head := pickle.load(given), dict):
        hnsw, name = head["hnsw"], head["name"]
        if head["old"]:
            collection = client.get_collection(name, embedding_function=None)
            collection.modify(configuration={"hnsw": hnsw})
        else:
            collection = client.create_collection(
                name, configuration={"hnsw": hnsw}, metadata=head["metadata"], embedding_function=None
            )
        if head["alive"] is not None:
            gone = [id_ for id_ in collection.get(include=[])["ids"] if id_ not in head["alive"]]
            for at in range(0, len(gone), head["batch"]):
                collection.delete(ids=gone[at : at + head["batch"]])
        while rows := pickle.load(given):
            ids, embeddings, metadatas, documents = rows
            # A graph goes to the disk with its second change: else each reader would write one, with its own memory.
            for _ in range(2 if len(ids) == 1 else 1):
                if head["old"]:
                    collection.upsert(ids=ids, embeddings=embeddings, metadatas=metadatas, documents=documents)
                else:
                    collection.upsert(ids=ids, embeddings=embeddings)
            if not head["old"] and not _beside(folder, str(collection.id), ids, metadatas, documents):
                collection.update(ids=ids, metadatas=metadatas, documents=documents)
    for left in {collection.name for collection in client.list_collections()}.difference(head):
        client.delete_collection(left)
    client.close()


def _beside(
    folder: str, collection: str, ids: Sequence[str], metadatas: Sequence[dict[str, str]], documents: Sequence[str]
) -> bool:
    """Write what stands beside new vectors as Chroma does, and return whether its tables are those that are known."""
    segment = "SELECT id FROM segments WHERE collection = ? AND scope = 'METADATA'"
    # The plus keeps the index of the segment out of it: the last rows are those that were just written.
    placed = "SELECT embedding_id, id FROM embeddings WHERE +segment_id = ? ORDER BY id DESC LIMIT ?"
    said = "INSERT INTO embedding_metadata(id, key, string_value) VALUES (?, ?, ?)"
    try:
        with closing(sqlite3.connect(f"{folder}/chroma.sqlite3", timeout=60)) as connection, connection:
            [own] = connection.execute(segment, (collection,)).fetchone()
            rows = dict(connection.execute(placed, (own, len(ids))))
            at = [rows[id_] for id_ in ids]
            beside = [meta | {"chroma:document": text} for meta, text in zip(metadatas, documents, strict=True)]
            connection.executemany(said, ((n, *p) for n, row in zip(at, beside, strict=True) for p in row.items()))
            found = "INSERT INTO embedding_fulltext_search(rowid, string_value) VALUES (?, ?)"
            connection.executemany(found, zip(at, documents, strict=True))
    except (sqlite3.Error, TypeError, KeyError):  # of another Chroma
        return False
    return True


if __name__ == "__main__":
    gc.disable()  # it lives for one snapshot, and what it reads holds no cycles
    write(sys.argv[1], sys.stdin.buffer)
