"""A small model hub on loopback, with redirects to a store, ranges and scripted failures."""

from __future__ import annotations

import hashlib
import json
import re
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ScriptedHub:
    """A model hub for tests; give its `url` as HF_ENDPOINT.

    Args:
        files: bytes by path in the repository, the same at every revision.
        repo: its name.
    """

    def __init__(self, files: dict[str, bytes], repo: str = "owner/model") -> None:
        self.files, self.repo = files, repo
        self.cut_after: list[int] = []
        """Bytes after which the next downloads break off, one entry a request."""
        self.fail_with: list[int] = []
        """Statuses for the next downloads."""
        self.delay = 0.0
        """Seconds before each answer."""
        self.ranges = True
        """Whether a part of a file can be requested."""
        self.asked: list[tuple[str, str, str]] = []
        """(method, path, range) of each request."""
        self.commit = "c0ffee" * 6 + "cafe"
        """Commit that the hub states for every revision."""

    def __enter__(self) -> ScriptedHub:
        hub = self

        class Handler(_Handler):
            pass

        Handler.hub = hub
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Address of the hub."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def sha256(self, path: str) -> str:
        """Return the sha256 of a file in hex."""
        return hashlib.sha256(self.files[path]).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    hub: ScriptedHub

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test output clean."""

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        time.sleep(self.hub.delay)
        self.hub.asked.append((self.command, self.path, self.headers.get("range", "")))
        if re.fullmatch(rf"/api/models/{self.hub.repo}(?:/(?:revision|tree)/[^/?]+)?(?:\?.*)?", self.path):
            self._list("/tree/" in self.path)
            return
        pointed = re.fullmatch(rf"/{self.hub.repo}/resolve/[^/]+/(.+)", self.path)
        stored = re.fullmatch(r"/store/(.+)", self.path)
        found = pointed or stored
        if found is None or found[1] not in self.hub.files:
            self._head(404, {"Content-Length": "0"})
        elif pointed:
            data = self.hub.files[pointed[1]]
            self._head(
                302,
                {
                    "Location": f"/store/{pointed[1]}",
                    "X-Repo-Commit": self.hub.commit,
                    "X-Linked-Etag": f'"{hashlib.sha256(data).hexdigest()}"',
                    "X-Linked-Size": str(len(data)),
                    "Content-Length": "0",
                },
            )
        elif self.hub.fail_with:
            self._head(self.hub.fail_with.pop(0), {"Content-Length": "0", "Retry-After": "0"})
        else:
            self._send(self.hub.files[found[1]])

    def _list(self, tree: bool) -> None:
        """List the files of the repository, which the hub's client requests before it downloads a model."""
        files = sorted(self.hub.files.items())
        rows = [
            {"type": "file", "path": n, "size": len(d), "oid": hashlib.sha1(d).hexdigest()} for n, d in files
        ]
        held = [{"rfilename": n, "size": len(d), "lfs": self._stored(d)} for n, d in files]
        card = {"license": "apache-2.0"}
        model = {"id": self.hub.repo, "sha": self.hub.commit, "siblings": held, "cardData": card}
        body = json.dumps(rows if tree else model).encode()
        self._head(200, {"Content-Type": "application/json", "Content-Length": str(len(body))})
        self.wfile.write(body)

    def _stored(self, data: bytes) -> dict[str, object] | None:
        """Return the entry of the large-file store for a file, or None if the file is small."""
        large = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 100}
        return large if len(data) > 1_000 else None

    def _send(self, data: bytes) -> None:
        start = 0
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("range", ""))
        if asked and self.hub.ranges:
            start = int(asked[1])
            if start >= len(data):
                self._head(416, {"Content-Range": f"bytes */{len(data)}", "Content-Length": "0"})
                return
            self._head(
                206,
                {
                    "Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}",
                    "Content-Length": str(len(data) - start),
                },
            )
        else:
            etag = f'"{hashlib.sha256(data).hexdigest()}"'
            self._head(
                200, {"Content-Length": str(len(data)), "ETag": etag, "X-Repo-Commit": self.hub.commit}
            )
        body = data[start:] if self.command == "GET" else b""
        if self.hub.cut_after and self.command == "GET":
            self.wfile.write(body[: self.hub.cut_after.pop(0)])
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self.wfile.write(body)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
