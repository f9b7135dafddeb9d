"""The Chroma collections of all libraries in one database of a Chroma server, named `LIBRARY-CORPUS`.

By its HTTP API (version 2) and httpx: Chroma's own client has no limit of time, so that a server which hangs
would hang every answer, and importing it takes longer than asking. A collection is changed in place: until
the catalog says so, readers take what is newer from its rows, and leave out what those do not hold.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import httpx
from sqlalchemy import Connection

from ragweave.corpora.settings import CorporaSettings
from ragweave.corpora.store.blobs import Matrix
from ragweave.corpora.store.chroma import Broken, Index, IndexLost, Near, near_of
from ragweave.corpora.store.chroma_rows import BATCH, HNSW, CollectionChange, CollectionRows, collection_of
from ragweave.corpora.store.schema import in_parts
from ragweave.models.chat_client import address
from ragweave.models.errors import LibraryError

_ASK, _WRITE = httpx.Timeout(10.0, connect=2.0), httpx.Timeout(300.0, connect=5.0)
_PATIENCE = 5.0
"""Seconds for which a server that did not answer is not asked again."""
_PAGE = 200


class ServerIndexes:
    """The collections of every library that lie in one database of a Chroma server."""

    in_place = True

    def __init__(self, settings: CorporaSettings) -> None:
        url, self._tenant, self._database = settings.chroma
        token = settings.chroma_token.get_secret_value()
        self.at = address(url)
        """Host and port, for messages."""
        self._stranger = f"what answers at {self.at} is no Chroma server"
        self._base = (
            f"/tenants/{quote(self._tenant, safe='')}/databases/{quote(self._database, safe='')}/collections"
        )
        # Chroma Cloud reads the one header, a proxy before a server of one's own the other.
        headers = {"x-chroma-token": token, "Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(base_url=f"{url}/api/v2", headers=headers, timeout=_ASK)
        self._ids: dict[tuple[str, str], str] = {}
        self._resting, self._why = 0.0, ""

    def query(
        self, library: str, index: Index, unit: Matrix, most: int, sources: Sequence[str]
    ) -> list[Near]:
        """Return up to `most` (chunk id, cosine) for each query vector.

        Raises:
            IndexLost: the server holds no such collection.
            Broken: it does not answer, or not with what was asked for.
        """
        if time.monotonic() < self._resting:
            raise Broken(self._why)
        name = _named(library, collection_of(index["space"], index["corpus"]))
        if index["name"] != name:
            raise IndexLost(f"the Chroma server at {self.at} has no index")
        body = {"query_embeddings": unit.tolist(), "n_results": most, "include": ["distances"]}
        if sources:
            body["where"] = {"source": {"$in": list(sources)}}
        try:
            return near_of(self._call("POST", f"{self._at(library, name)}/query", body))
        except IndexLost:
            self.let_go(library, name)
            raise
        except (Broken, KeyError, TypeError, ValueError) as error:
            self._resting, self._why = time.monotonic() + _PATIENCE, str(error)
            raise Broken(self._why) from error

    def usable(self, library: str, rows: Sequence[Index]) -> list[Index]:
        """Return the rows whose collections hold as many vectors as the catalog says."""
        there = self.there(library)
        kept: list[Index] = []
        for row in rows:
            if row["name"] in there and self._count(library, row["name"]) == row["count"]:
                kept.append(row)
        return kept

    def there(self, library: str) -> set[str]:
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
        kept: set[str] = set()
        for name in found:
            if name.startswith(_named(library, "")):
                kept.add(name)
        return kept

    def write(
        self,
        library: str,
        connection: Connection,
        changes: Sequence[CollectionChange],
        old: Sequence[Index],
    ) -> tuple[str, str]:
        """Update collections to what a transaction of the catalog sees; return their prefix, and no digest.

        Raises:
            LibraryError: the server does not take it.
        """
        try:
            with suppress(Broken):  # they are there, or the server has its own way of making them
                self._call("POST", "/tenants", {"name": self._tenant})
                self._call(
                    "POST", self._base.rpartition("/databases/")[0] + "/databases", {"name": self._database}
                )
            there = self.there(library)
            for change in changes:
                self._bring(library, connection, change, there)
        except Broken as error:
            what = f"The index cannot be made ({error})"
            raise LibraryError(what, "check RAGWEAVE_CHROMA_URL, and index again") from error
        self._resting = 0.0
        return _named(library, ""), ""

    def keep(self, library: str, kept: set[str]) -> None:
        """Remove the collections of a library except the named ones, if the server can be reached."""
        with suppress(Broken):
            for name in self.there(library) - kept:
                self._delete(library, name)

    def let_go(self, library: str, name: str) -> None:
        """Forget one collection."""
        self._ids.pop((library, name), None)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _bring(self, library: str, connection: Connection, change: CollectionChange, there: set[str]) -> None:
        name = _named(library, change.collection)
        if not change.after:
            if name in there:
                self._delete(library, name)
            made = {"name": name, "metadata": {"encoder": change.space}, "configuration": {"hnsw": HNSW}}
            self._ids[library, name] = self._id_in(self._call("POST", self._base, made))
        at = self._at(library, name)
        if change.gone:
            gone = sorted(self._held(at) - change.alive(connection))
            for some in in_parts(gone, BATCH):
                self._call("POST", f"{at}/delete", {"ids": some})
        for rows in change.rows(connection) if change.new else ():
            self._call("POST", f"{at}/upsert", _body(rows))

    def _held(self, at: str) -> set[str]:
        found: set[str] = set()
        while True:
            page = self._call("POST", f"{at}/get", {"include": [], "limit": BATCH, "offset": len(found)})[
                "ids"
            ]
            found.update(map(str, page))
            if len(page) < BATCH:
                return found

    def _count(self, library: str, name: str) -> int:
        try:
            return int(self._call("GET", f"{self._at(library, name)}/count"))
        except (TypeError, ValueError) as error:
            raise Broken(self._stranger) from error

    def _delete(self, library: str, name: str) -> None:
        self.let_go(library, name)
        self._call("DELETE", f"{self._base}/{name}")

    def _at(self, library: str, name: str) -> str:
        if (library, name) not in self._ids:
            self._ids[library, name] = self._id_in(self._call("GET", f"{self._base}/{name}"))
        return f"{self._base}/{self._ids[library, name]}"

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        asks = method == "GET" or path.endswith("/query")
        try:
            reply = self._http.request(method, path, json=body, timeout=_ASK if asks else _WRITE)
        except httpx.HTTPError as error:
            raise Broken(
                f"the Chroma server at {self.at} cannot be reached ({type(error).__name__})"
            ) from error
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


def _named(library: str, collection: str) -> str:
    return f"{library}-{collection}"


def _body(rows: CollectionRows) -> dict[str, Any]:
    embeddings = [base64.b64encode(row.astype("<f4").tobytes()).decode() for row in rows.embeddings]
    return {"ids": rows.ids, "embeddings": embeddings, "metadatas": rows.metadatas}
