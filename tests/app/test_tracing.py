"""A command warns if the tracing server does not answer, and ends without waiting for it."""

from __future__ import annotations

import os
import socket

import pytest

from ragweave.app.tracing import stop_unless_answered


@pytest.fixture(autouse=True)
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
