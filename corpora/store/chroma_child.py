"""The process that writes the collections of a library into a folder, from messages on standard input.

Chroma writes its index with unused memory as it finds it: the parent knows questions and keys, this process
knows the rows alone. Messages are pickled (see `ragweave.corpora.store.chroma`): for each collection its
head, its rows, None; at the end the names of all that stay.
"""

from __future__ import annotations

import gc
import pickle
import sys
from typing import Any

from ragweave.corpora.store.chroma_client import client_of


def write(folder: str, given: Any) -> None:
    """Bring the collections in a folder to what the messages of `given` say."""
    client = client_of(folder)
    head = pickle.load(given)
    while isinstance(head, dict):
        hnsw, name = head["hnsw"], head["name"]
        if head["old"]:
            collection = client.get_collection(name, embedding_function=None)
            collection.modify(configuration={"hnsw": hnsw})
        else:
            collection = client.create_collection(
                name, configuration={"hnsw": hnsw}, metadata=head["metadata"], embedding_function=None
            )
        if head["alive"] is not None:
            gone = []
            for id_ in collection.get(include=[])["ids"]:
                if id_ not in head["alive"]:
                    gone.append(id_)
            for at in range(0, len(gone), head["batch"]):
                collection.delete(ids=gone[at : at + head["batch"]])
        rows = pickle.load(given)
        while rows:
            ids, embeddings, metadatas = rows
            # A graph goes to the disk with its second change: else each reader would write one, with its own
            # memory.
            for _ in range(2 if len(ids) == 1 else 1):
                collection.upsert(ids=ids, embeddings=embeddings, metadatas=metadatas)
            rows = pickle.load(given)
        head = pickle.load(given)
    for collection in client.list_collections():
        if collection.name not in head:
            client.delete_collection(collection.name)
    client.close()


if __name__ == "__main__":
    gc.disable()  # it lives for one snapshot, and what it reads holds no cycles
    write(sys.argv[1], sys.stdin.buffer)
