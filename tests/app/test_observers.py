"""What services that watch runs are sent, by their own variables: LangSmith, and Langfuse by OTLP."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

QUESTION = "When was the lamp of the lighthouse first lit?"
PASSAGE = "The lamp of the lighthouse was first lit on 3 October 1874."
NODES = {"condense", "route", "plan", "retrieve", "fuse", "grade", "reason", "generate", "check"}


class Collector(ThreadingHTTPServer):
    """Takes whatever is posted to it: path, headers and body, unpacked."""

    def __init__(self) -> None:
        self.received: list[tuple[str, dict[str, str], bytes]] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_GET(self) -> None:
        self._answer(404)  # it does not say what it can

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.received.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        self._answer(200)

    def _answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *told: object) -> None:
        """Print nothing."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def ask(environment: dict[str, str]) -> None:
    """Ask by a command of its own, as these services read their variables once a process."""
    line = [sys.executable, "-m", "ragweave.app.cli", "ask", QUESTION]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LANGSMITH_", "LANGCHAIN_", "OTEL_"))}
    done = subprocess.run(line, env={**kept, **environment}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "3 October 1874" in done.stdout, done.stderr


@pytest.fixture
def lighthouse(stock) -> Path:
    return stock({"lamp.md": f"# The lighthouse\n\n{PASSAGE}\n"})


def langsmith(collector: Collector) -> dict[str, str]:
    made = {"ENDPOINT": collector.url, "API_KEY": "lsv2-secret", "PROJECT": "house", "TRACING": "true"}
    return {f"LANGSMITH_{name}": value for name, value in made.items()}


def test_langsmith_gets_a_run_with_its_nodes_and_all_its_texts(lighthouse, collector) -> None:
    ask(langsmith(collector))
    assert collector.received and all(told["x-api-key"] == "lsv2-secret" for _, told, _ in collector.received)
    runs = [run for path, told, body in collector.received for run in posted(path, told["content-type"], body)]
    assert {run["name"] for run in runs} >= {"agent", *NODES}
    assert len({run["trace_id"] for run in runs}) == 1 and {run["session_name"] for run in runs} == {"house"}
    sent = " ".join(body.decode() for _, _, body in collector.received)
    assert QUESTION in sent and PASSAGE in sent


def posted(path: str, kind: str, body: bytes) -> list[dict[str, Any]]:
    """Return the runs of a batch; what went into them and came out are parts of their own."""
    assert path == "/runs/multipart"
    batch = message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
    parts = {str(part.get_param("name", header="content-disposition")): part for part in batch.get_payload()}
    return [json.loads(p.get_payload()) for name, p in parts.items() if re.fullmatch(r"post\.[\w-]+", name)]


def test_langfuse_gets_spans_without_texts_where_they_are_hidden(lighthouse, collector) -> None:
    pair = base64.b64encode(b"pk-lf-1:sk-lf-22").decode()
    assert pair.endswith("="), "padding must survive the variable"
    ask({
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_TRACING_MODE": "otel",
        "LANGSMITH_HIDE_INPUTS": "true",
        "LANGSMITH_HIDE_OUTPUTS": "true",
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"{collector.url}/api/public/otel",
        "OTEL_EXPORTER_OTLP_HEADERS": f"Authorization=Basic {pair},x-langfuse-ingestion-version=4",
    })  # fmt: skip
    spans = []
    for path, told, body in collector.received:
        assert path == "/api/public/otel/v1/traces" and told["content-type"] == "application/x-protobuf"
        assert told["authorization"] == f"Basic {pair}" and told["x-langfuse-ingestion-version"] == "4"
        parsed = ExportTraceServiceRequest.FromString(body)
        spans += [s for r in parsed.resource_spans for scope in r.scope_spans for s in scope.spans]
    assert {s.name for s in spans} >= {"agent", *NODES}
    assert len({s.trace_id for s in spans}) == 1 and "lamp of the lighthouse" not in str(spans)
