"""A scripted server that speaks the OpenAI chat protocol on loopback, for end-to-end tests and benchmarks."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from ragweave.tests.support.faults import Fault
from ragweave.tests.support.reading import honest, is_check
from ragweave.tests.support.replies import as_parts, as_text, count_tokens

_STREAMED = ("cut", "error_event", "stall", "odd")
"""Faults in the middle of a stream; they need a request for a stream."""


@dataclass
class Received:
    """One chat request the server received."""

    messages: list[dict[str, Any]]
    model: str
    method: str
    """`text` or `json_schema`."""
    stream: bool
    body: dict[str, Any]
    started: float
    """When it arrived, in seconds of `time.monotonic`."""
    ended: float = 0.0
    """When its last byte was written; 0 before that."""

    @property
    def prompt(self) -> str:
        """All messages as one text."""
        texts: list[str] = []
        for message in self.messages:
            content = message.get("content")
            texts.append(content if isinstance(content, str) else str(message))
        return "\n\n".join(texts)


class ScriptedServer:
    """An OpenAI-compatible server with queued replies, or with a function that makes them.

    A reply is a string, a dict (sent as JSON), a list of strings (the parts of a stream), or a `Fault`. It
    serves `/v1/models`, `/v1/chat/completions` and `/v1/embeddings` on 127.0.0.1 while used as a context
    manager.

    Args:
        replies: replies in the order of the requests.
        react: returns the reply when the queue is empty.
        latency: seconds before each reply, or a function of the request.
        part_delay: seconds between the parts of a stream.
        models: names the server knows; any name when empty.
        embed: returns the vectors of texts; by default they depend on the words.
        reads: whether it answers requests to check sentences honestly; these do not take from the replies.
    """

    def __init__(
        self,
        replies: Sequence[Any] = (),
        react: Callable[[Received], Any] | None = None,
        *,
        latency: float | Callable[[Received], float] = 0.0,
        part_delay: float = 0.0,
        models: Sequence[str] = (),
        embed: Callable[[list[str]], Sequence[Sequence[float]]] | None = None,
        reads: bool = True,
    ) -> None:
        self.reads = reads
        self.checks: list[Received] = []
        self.embed = embed or (lambda texts: [_vector(t) for t in texts])
        self._queue: deque[Any] = deque(replies)
        self._react = react
        self.latency = latency
        self.part_delay = part_delay
        self.key = ""
        """Key that requests must carry; others get 401."""
        self.models = tuple(models)
        self.pulled: list[dict[str, Any]] = []
        """Rows that `/api/pull` returns; after a success the model is available."""
        self.context = 0
        """Tokens of four bytes that it reads of a prompt; it cuts longer prompts without an error."""
        self.pages: dict[str, Any] = {}
        """JSON responses of further paths, such as `/props`."""
        self.requests: list[Received] = []
        """Chat requests in order of arrival."""
        self.max_in_flight = 0
        """Most chat requests that ran at the same time."""
        self._in_flight = 0
        self._unexpected: list[Received] = []
        self._lock = threading.Lock()
        self.closing = threading.Event()
        self._http: _Server | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> ScriptedServer:
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.scripted = self
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        if self._http and self._thread:
            self._http.shutdown()
            self._http.server_close()
            self._http.hang_up()
            self._thread.join()

    @property
    def base_url(self) -> str:
        """Address to give to a client, ending in /v1."""
        if self._http is None:
            raise RuntimeError("the scripted server runs only inside its `with` block")
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def queue(self, *replies: Any) -> None:
        """Add replies at the end of the queue."""
        self._queue.extend(replies)

    def assert_consumed(self) -> None:
        """Check that every reply was used, and that no request lacked one.

        Raises:
            AssertionError: replies are left, or there was no reply for a request.
        """
        assert not self._unexpected, f"no scripted reply was left for:\n{self._unexpected[0].prompt[-2000:]}"
        assert not self._queue, f"{len(self._queue)} scripted replies were never asked for"

    def begin(self, request: Received) -> Any:
        """Note a request and return its reply."""
        if self.reads and is_check(request.messages):
            with self._lock:
                self.checks.append(request)
                self._in_flight += 1
            # One part, so that a slow stream does not slow the check down.
            return [as_text(honest(request.messages))]
        with self._lock:
            self.requests.append(request)
            self._in_flight += 1
            self.max_in_flight = max(self.max_in_flight, self._in_flight)
            if self._queue:
                return self._queue.popleft()
            if self._react is None:
                self._unexpected.append(request)
                return Fault.status(400, "no scripted reply is left")
        return self._react(request)

    def end(self, request: Received) -> None:
        """Note that a request has been answered."""
        with self._lock:
            self._in_flight -= 1
            request.ended = time.monotonic()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256
    scripted: ScriptedServer

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection, so that closing the server also ends connections that are kept alive."""
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget and close the connection."""
        self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End every connection that is still open."""
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect, as they do in tests of timeouts."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the test output clean."""

    def do_GET(self) -> None:
        if self.path in self.server.scripted.pages:
            if self._allowed():
                self._json(200, self.server.scripted.pages[self.path])
        elif self.path != "/v1/models":
            self._error(404, "no such path")
        elif self._allowed():
            names = self.server.scripted.models or ("scripted",)
            self._json(200, {"object": "list", "data": [{"id": n, "object": "model"} for n in names]})

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers.get("content-length") or 0))
        if not self._allowed():
            return
        if self.path in self.server.scripted.pages:
            self._json(200, self.server.scripted.pages[self.path])
            return
        body = json.loads(sent)
        if self.path == "/v1/chat/completions":
            self._chat(body)
        elif self.path == "/v1/embeddings":
            self._embed(body)
        elif self.path == "/api/pull":
            self._pull(body["model"])
        else:
            self._error(404, "no such path")

    def _allowed(self) -> bool:
        key = self.server.scripted.key
        if key and self.headers.get("authorization") != f"Bearer {key}":
            self._error(401, "incorrect key")
            return False
        return True

    def _chat(self, body: dict[str, Any]) -> None:
        scripted = self.server.scripted
        if scripted.models and body.get("model") not in scripted.models:
            self._error(404, f"the model {body.get('model')} does not exist", "model_not_found")
            return
        method = (body.get("response_format") or {}).get("type", "text")
        request = Received(
            body["messages"], body.get("model", ""), method, bool(body.get("stream")), body, time.monotonic()
        )
        reply = scripted.begin(request)
        try:
            wait = scripted.latency(request) if callable(scripted.latency) else scripted.latency
            scripted.closing.wait(wait)
            if isinstance(reply, Fault) and reply.kind == "length":
                (self._stream if request.stream else self._whole)(request, reply.message, "length")
            elif isinstance(reply, Fault) and not (request.stream and reply.kind in _STREAMED):
                self._fail(reply)
            elif request.stream:
                self._stream(request, reply)
            else:
                self._whole(request, reply)
        finally:
            scripted.end(request)

    def _whole(self, request: Received, reply: Any, finish: str = "stop") -> None:
        text = as_text(reply)
        message: dict[str, Any] = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        self._json(
            200,
            {**_head(request, "chat.completion"), "choices": [choice], "usage": self._usage(request, text)},
        )

    def _stream(self, request: Received, reply: Any, finish: str = "stop") -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        fault = reply if isinstance(reply, Fault) else None
        parts = [*fault.parts] or [f"part{i} " for i in range(fault.after)] if fault else as_parts(reply)
        head = _head(request, "chat.completion.chunk")
        if fault and fault.kind == "odd":
            for event in fault.events:
                self._event({**head, **event})
            self._chunk(b"data: [DONE]\n\n")
            self._chunk(b"")
            return
        # Some servers send no role in a stream.
        deltas: list[dict[str, Any]] = [{"content": ""}, *({"content": p} for p in parts)]
        for i, delta in enumerate(deltas):
            if i > 1:
                self.server.scripted.closing.wait(self.server.scripted.part_delay)
            self._event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        if fault and fault.kind == "stall":
            self.server.scripted.closing.wait()
        if fault and fault.kind == "error_event":
            self._event({"error": {"message": fault.message, "type": "server_error", "code": fault.code}})
        elif fault and not fault.clean:
            self._hang_up()
            return
        elif not fault:
            self._event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
            if (request.body.get("stream_options") or {}).get("include_usage"):
                self._event({**head, "choices": [], "usage": self._usage(request, "".join(parts))})
            self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _embed(self, body: dict[str, Any]) -> None:
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        made = self.server.scripted.embed(texts)
        rows = [{"object": "embedding", "index": i, "embedding": list(v)} for i, v in enumerate(made)]
        read = sum(map(count_tokens, texts))
        usage = {"prompt_tokens": read, "total_tokens": read}
        self._json(200, {"object": "list", "data": rows, "model": body.get("model", ""), "usage": usage})

    def _pull(self, name: str) -> None:
        """Answer as Ollama does when it downloads a model."""
        rows = self.server.scripted.pulled
        self._send(200, "".join(json.dumps(row) + "\n" for row in rows).encode(), "application/x-ndjson")
        if rows and rows[-1].get("status") == "success":
            self.server.scripted.models += (name,)

    def _usage(self, request: Received, text: str) -> dict[str, int]:
        asked, said = count_tokens(request.prompt), count_tokens(text)
        context = self.server.scripted.context
        if context:
            asked = min(context, len(request.prompt.encode()) // 4)
        return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}

    def _fail(self, fault: Fault) -> None:
        if fault.kind == "status":
            self._error(fault.code, fault.message, fault.error, fault.retry_after)
        elif fault.kind == "html":
            self._send(200, b"<!doctype html><html><body>Welcome to nginx</body></html>", "text/html")
        else:
            if fault.kind == "stall":
                self.server.scripted.closing.wait()
            self._hang_up()

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _error(self, status: int, message: str, code: str = "", retry_after: str = "") -> None:
        body = {"error": {"message": message, "type": "invalid_request_error", "code": code or None}}
        self._json(status, body, {"Retry-After": retry_after} if retry_after else {})

    def _json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(value).encode(), "application/json", headers)

    def _send(self, status: int, data: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _event(self, value: Any) -> None:
        self._chunk(b"data: " + json.dumps(value).encode() + b"\n\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


def _head(request: Received, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-scripted", "object": kind, "created": int(time.time()), "model": request.model}


def _vector(text: str) -> list[float]:
    """Return eight numbers that depend on the words only."""
    out = [0.0] * 8
    for word in text.lower().split():
        digest = hashlib.sha256(word.encode()).digest()
        out = [value + (byte - 127.5) / 127.5 for value, byte in zip(out, digest, strict=False)]
    return out
