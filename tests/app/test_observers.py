"""Traces sent to LangSmith, and by OTLP to Langfuse, as their own variables say."""

from __future__ import annotations

import base64
import gzip
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

QUESTION = "When was the lamp of the lighthouse first lit?"
PASSAGE = "The lamp of the lighthouse was first lit on 3 October 1874."
NODES = {"condense", "route", "retrieve", "fuse", "grade", "reason", "generate", "check"}


class Collector(ThreadingHTTPServer):
    """Keeps the path, headers and unpacked body of each POST request."""

    received: list[tuple[str, dict[str, str], bytes]]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_GET(self) -> None:
        self._answer(404)

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

    def log_message(self, *words: object) -> None: ...


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector(("127.0.0.1", 0), _Handler) as found:
        found.received = []
        threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield found
        found.shutdown()


def ask(environment: dict[str, str]) -> None:
    """Ask in a new process, because the services read their variables once in a process."""
    line = [sys.executable, "-m", "ragweave.app.cli", "ask", QUESTION]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LANGSMITH_", "LANGCHAIN_", "OTEL_"))}
    done = subprocess.run(line, env={**kept, **environment}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "3 October 1874" in done.stdout, done.stderr


@pytest.fixture
def lighthouse(stock) -> Path:
    return stock({"lamp.md": f"# The lighthouse\n\n{PASSAGE}\n"})


def test_langsmith_gets_the_nodes_and_no_texts_if_its_variables_hide_them(lighthouse, collector) -> None:
    made = {"ENDPOINT": collector.url, "API_KEY": "lsv2-secret", "PROJECT": "house", "TRACING": "true"}
    ask({f"LANGSMITH_{k}": v for k, v in {**made, "HIDE_INPUTS": "true", "HIDE_OUTPUTS": "true"}.items()})
    assert collector.received and all(
        headers["x-api-key"] == "lsv2-secret" for _, headers, _ in collector.received
    )
    sent = " ".join(body.decode() for _, _, body in collector.received)
    assert all(f'"{node}"' in sent for node in NODES) and '"house"' in sent
    assert "lamp of the lighthouse" not in sent and "3 October" not in sent


def test_langfuse_gets_spans_without_texts_if_they_are_hidden(lighthouse, collector) -> None:
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
    for path, headers, body in collector.received:
        assert path == "/api/public/otel/v1/traces" and headers["content-type"] == "application/x-protobuf"
        assert headers["authorization"] == f"Basic {pair}" and headers["x-langfuse-ingestion-version"] == "4"
        parsed = ExportTraceServiceRequest.FromString(body)
        spans += [s for r in parsed.resource_spans for scope in r.scope_spans for s in scope.spans]
    assert {s.name for s in spans} >= {"agent", *NODES}
    assert len({s.trace_id for s in spans}) == 1 and "lamp of the lighthouse" not in str(spans)
