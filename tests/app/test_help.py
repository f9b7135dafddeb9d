"""What the command line says of itself: help in groups with examples, wrong use, the state of the home."""

from __future__ import annotations

import base64
import gzip
import json
import os
import shlex
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import typer
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ragweave.app.cli import app
from ragweave.app.help import CHECKOUT, EXAMPLES, GROUPS
from ragweave.app.tracing import stop_unless_answered
from ragweave.app.unknown_settings import unknown_settings
from ragweave.tests.docs.test_commands import parse

ROOT: Any = typer.main.get_command(app)


def test_every_command_of_a_user_is_in_a_group_with_its_whole_summary_and_none_of_a_checkout(
    main: Any,
) -> None:
    out = main("--help")[1]
    ours, _, theirs = out.partition(CHECKOUT)
    for names in GROUPS.values():
        for name in names:
            assert f"\n  {name} " in ours, name
    assert (
        "..." not in ours.partition("Options:")[2] and "\n  eval " in theirs and "--install-completion" in out
    )


def test_every_help_of_a_user_has_examples_and_each_of_them_parses(main: Any) -> None:
    for names in GROUPS.values():
        for name in names:
            for words in [[name, sub] for sub in getattr(ROOT.commands[name], "commands", ())] or [[name]]:
                assert " ".join(words) in EXAMPLES, words
    for words in EXAMPLES:
        out = main(*words.split(), "--help")[1]
        assert "\n  Examples:\n" in out and not out.partition("\nCommands:")[2].count("...\n"), words
    for lines in EXAMPLES.values():
        for line in lines:
            parse(ROOT, shlex.split(line.partition(" <")[0]))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ask"], "missing argument 'question'; see `"),
        (["asj"], "Did you mean 'ask'? see `"),
        (["eval"], "a command is missing; see `"),
        (["serve", "--port", "x"], "invalid value for '--port'"),
        (["index", "--nonsense"], "No such option"),
    ],
)
def test_wrong_use_is_one_sentence(main: Any, words: list[str], said: str) -> None:
    code, out, err = main(*words)
    assert (code, out, err.count("\n")) == (2, "", 1) and said.lower() in err.lower()


def test_without_a_command_it_prints_the_state_of_the_home_and_the_next_step(
    main: Any, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = main()
    assert code == 0 and "none yet" in out and "next       ragweave index FOLDER" in out and not home.exists()
    (tmp_path / "a.md").write_text("# A\n\nThe harbour was built in 1874.\n")
    main("index", str(tmp_path / "a.md"))
    out = main()[1]
    assert (
        "default (1 source)" in out and "quotes of the closest passages" in out and "`ragweave setup`" in out
    )
    assert out.count("\n") == 6


def test_what_is_listed_is_listed_for_programs_as_well(main: Any, home: Path) -> None:
    steps = json.loads(main("graph", "crag", "--json")[1])
    assert steps["graph"] == "crag" and {"step", "does", "then"} == set(steps["steps"][0])
    assert json.loads(main("chat", "--list", "--json")[1]) == []
    main("library", "create", "news")
    assert json.loads(main("library", "set", "news", "--json")[1])["library"] == "news"


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("elsewhere")
def test_settings_and_files_of_settings_are_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CHAT", "CHAT_KEY_FILE", "SERVE_PORT", "MAX_FILE_MB", "KNOBS", "DATA"):
        monkeypatch.setenv(f"RAGWEAVE_{name}", "1")
    assert unknown_settings() == ""


@pytest.mark.usefixtures("elsewhere")
def test_a_name_that_is_no_setting_is_reported_with_the_one_that_was_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_GRAPH", "crag")
    (tmp_path / ".env").write_text("RAGWEAVE_MAX_FILES_MB=3\n", encoding="utf-8")
    warning = unknown_settings()
    assert warning.startswith(
        "RAGWEAVE_GRAPH, RAGWEAVE_MAX_FILES_MB (did you mean RAGWEAVE_MAX_FILE_MB?) are no"
    )


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [
        n for n in os.environ if n.startswith(("LANGSMITH_", "LANGCHAIN_", "OTEL_")) or "PROXY" in n.upper()
    ]:
        monkeypatch.delenv(name)
    for name in ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGCHAIN_TRACING"):
        monkeypatch.setenv(name, "")  # so that what the function sets is taken back


@pytest.fixture
def closed() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.mark.usefixtures("variables")
@pytest.mark.parametrize(
    ("mode", "endpoint"),
    [("", "LANGSMITH_ENDPOINT"), ("", "LANGCHAIN_ENDPOINT"), ("otel", "OTEL_EXPORTER_OTLP_ENDPOINT")],
)
def test_an_address_that_does_not_answer_turns_tracing_off(
    monkeypatch: pytest.MonkeyPatch, closed: str, mode: str, endpoint: str
) -> None:
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setenv("LANGSMITH_TRACING_MODE", mode)
    monkeypatch.setenv(endpoint, closed)
    assert "127.0.0.1 does not answer" in stop_unless_answered()
    assert os.environ["LANGSMITH_TRACING"] == "false" and not stop_unless_answered()


@pytest.mark.usefixtures("variables")
def test_one_that_answers_and_one_behind_a_proxy_are_left_alone(
    monkeypatch: pytest.MonkeyPatch, closed: str
) -> None:
    assert not stop_unless_answered()
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        assert not stop_unless_answered()
    monkeypatch.setenv("LANGSMITH_ENDPOINT", closed)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    assert not stop_unless_answered() and os.environ["LANGSMITH_TRACING"] == "true"


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
