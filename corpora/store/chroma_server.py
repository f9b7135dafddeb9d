"""Indexes of vectors in a Chroma server: a collection per library, corpus and encoder, made of the catalog's rows.

By its HTTP API (version 2) and httpx: Chroma's own client has no limit of time, so that a server which hangs would
hang every answer, and importing it takes longer than asking.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import httpx
import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from ragweave.corpora.settings import CorporaSettings
from ragweave.corpora.store.chroma import BATCH, Broken, Group, IndexLost, configuration, name_of, rows_of
from ragweave.corpora.store.libraries import Libraries
from ragweave.corpora.store.schema import in_parts, vectors
from ragweave.models.chat_client import address
from ragweave.models.errors import LibraryError

_NUMBERS = 2**21
"""Numbers of one upload; a server refuses bodies of more than 40 MB."""
_ASK, _WRITE = httpx.Timeout(10.0, connect=2.0), httpx.Timeout(300.0, connect=5.0)
_PATIENCE = 5.0
"""Seconds for which a server that did not answer is not asked again."""
_PAGE = 200


class ServerIndexes:
    """The indexes of every library that lie in one database of a Chroma server."""

    def __init__(self, catalog: Libraries, settings: CorporaSettings) -> None:
        url, token = settings.chroma_url.rstrip("/"), settings.chroma_token.get_secret_value()
        self._catalog = catalog
        self.at = address(url)
        """Host and port, for messages."""
        self._stranger = f"what answers at {self.at} is no Chroma server"
        self._tenant, self._database = settings.chroma_tenant, settings.chroma_database
        self._base = f"/tenants/{quote(self._tenant, safe='')}/databases/{quote(self._database, safe='')}/collections"
        # Chroma Cloud reads the one header, a proxy before a server of one's own the other.
        headers = {"x-chroma-token": token, "Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(base_url=f"{url}/api/v2", headers=headers, timeout=_ASK)
        self._ids: dict[str, str] = {}
        self._resting, self._why = 0.0, ""

    def query(
        self, library: str, name: str, digest: str, asked: NDArray[np.float32], most: int, sources: Sequence[str]
    ) -> list[list[tuple[int, float]]]:
        """Return up to `most` (row, cosine) for each query vector.

        Raises:
            Lost: the server holds no such collection.
            Broken: it does not answer, or not with what was asked for.
        """
        if time.monotonic() < self._resting:
            raise Broken(self._why)
        body = {"query_embeddings": asked.tolist(), "n_results": most, "include": ["distances"]}
        if sources:
            body["where"] = {"source": {"$in": list(sources)}}
        try:
            if name not in self._ids:
                self._ids[name] = self._id_in(self._call("GET", f"{self._base}/{name}"))
            return rows_of(self._call("POST", f"{self._base}/{self._ids[name]}/query", body))
        except IndexLost:
            self.let_go(name)
            raise
        except (Broken, KeyError, TypeError, ValueError) as error:
            self._resting, self._why = time.monotonic() + _PATIENCE, str(error)
            raise Broken(self._why) from error

    def build(self, library: str, group: Group) -> tuple[str, str]:
        """Make a collection of the rows of a catalog; return its name, and no digest.

        Raises:
            LibraryError: the server does not take it.
        """
        name = name_of(library, group)
        try:
            with suppress(Broken):  # they are there, or the server has its own way of making them
                self._call("POST", "/tenants", {"name": self._tenant})
                self._call("POST", self._base.rpartition("/databases/")[0] + "/databases", {"name": self._database})
            with self._catalog.reading(library) as connection:
                self._fill(name, group, connection)
        except Broken as error:
            what = f"The index cannot be made ({error})"
            raise LibraryError(what, "check RAGWEAVE_CHROMA_URL, and index again") from error
        self._resting = 0.0
        return name, ""

    def keep(self, library: str, kept: set[str]) -> None:
        """Remove the collections of a library but those that are named; nobody asks for what an absent server holds."""
        with suppress(Broken):
            for name in self.names(library) - kept:
                self.let_go(name)
                self._call("DELETE", f"{self._base}/{name}")

    def names(self, library: str) -> set[str]:
        """Return the names of the collections of a library.

        Raises:
            Broken: the server does not answer.
        """
        found: list[str] = []
        while len(found) % _PAGE == 0:
            try:
                page = self._call("GET", f"{self._base}?limit={_PAGE}&offset={len(found)}")
            except IndexLost:  # not even the database is there
                return set()
            try:
                found += [str(row["name"]) for row in page]
            except (KeyError, TypeError) as error:
                raise Broken(self._stranger) from error
            if not page:
                break
        return {name for name in found if name.startswith(f"{library}-")}

    def let_go(self, name: str) -> None:
        """Forget one collection."""
        self._ids.pop(name, None)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _fill(self, name: str, group: Group, connection: Connection) -> None:
        space, corpus, upto = group
        mine = (vectors.c.space == space, vectors.c.corpus == corpus, vectors.c.n <= upto)
        rows = connection.execute(select(vectors.c.n, vectors.c.source, vectors.c.data).where(*mine)).all()
        made = {"name": name, "metadata": {"space": space}, "configuration": configuration(len(rows))}
        id = self._id_in(self._call("POST", self._base, made))
        size = min(BATCH, max(1, 4 * _NUMBERS // max(4, len(rows[0].data)))) if rows else 1
        for some in in_parts(rows, size):
            body = {
                "ids": [str(row.n) for row in some],
                "embeddings": [base64.b64encode(row.data).decode() for row in some],
                "metadatas": [{"source": row.source} for row in some],
            }
            self._call("POST", f"{self._base}/{id}/upsert", body)

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        asks = method == "GET" or path.endswith("/query")
        try:
            reply = self._http.request(method, path, json=body, timeout=_ASK if asks else _WRITE)
        except httpx.HTTPError as error:
            raise Broken(f"the Chroma server at {self.at} cannot be reached ({type(error).__name__})") from error
        if reply.status_code == 404:
            raise IndexLost(f"the Chroma server at {self.at} has lost an index")
        if reply.is_error:
            raise Broken(f"the Chroma server at {self.at} refuses ({reply.status_code} {reply.text[:200]!r})")
        try:
            return reply.json() if reply.content else None
        except (ValueError, RecursionError) as error:
            raise Broken(self._stranger) from error

    def _id_in(self, reply: Any) -> str:
        if not isinstance(reply, dict) or "id" not in reply:
            raise Broken(self._stranger)
        return str(reply["id"])
