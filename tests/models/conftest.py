"""What the tests of models share: settings by keyword, and a server of JSON with scripted replies."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from ragweave.models.settings import model_settings

Put = Callable[..., None]


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch) -> Put:
    """Set RAGWEAVE_ variables, named in small letters."""

    def made(**variables: str) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(f"RAGWEAVE_{name.upper()}", value)
        model_settings.cache_clear()

    return made


class JsonServer:
    """Answers on loopback with its replies in turn, the last one over and over, and keeps what it was asked."""

    def __init__(self) -> None:
        self.key = ""
        self.replies: list[tuple[int, Any]] = []
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None: ...

            def do_GET(self) -> None:
                self._answer(200, {"data": []})

            def do_POST(self) -> None:
                outer.asked.append(
                    (self.path, dict(self.headers), self.rfile.read(int(self.headers["content-length"])))
                )
                self._answer(*(outer.replies.pop(0) if len(outer.replies) > 1 else outer.replies[0]))

            def _answer(self, status: int, body: Any) -> None:
                if outer.key and self.headers.get("authorization") != f"Bearer {outer.key}":
                    status, body = 401, {"error": "no"}
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                if status == 307:
                    self.send_header("location", "http://127.0.0.1:9/elsewhere")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()


@pytest.fixture
def json_server() -> Iterator[JsonServer]:
    """A server of JSON with scripted replies."""
    made = JsonServer()
    yield made
    made.http.shutdown()
    made.http.server_close()
