"""Turn tracing off if its server does not answer, because its client would keep a command from ending."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

SECONDS = 1.0
"""Seconds in which the server must accept a connection."""
_ON = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGCHAIN_TRACING")
_ENDPOINTS = ("LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT")
_OTLP = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy")
_HOSTED = "https://api.smith.langchain.com"


def stop_unless_answered() -> str:
    """Turn tracing off for this process if its server does not answer.

    Returns:
        A sentence for the user, or an empty string if nothing was turned off.
    """
    switches = [os.environ.get(name, "").lower() for name in _ON]
    if "true" not in switches and "1" not in switches:
        return ""
    # A proxy accepts the connection itself, so that the server behind it cannot be probed.
    if _first_value(_PROXIES):
        return ""
    otlp = os.environ.get("LANGSMITH_TRACING_MODE", "").lower() == "otel"
    named = _first_value(_OTLP if otlp else _ENDPOINTS) or _HOSTED
    if _answers(named):
        return ""
    for name in _ON:
        os.environ[name] = "false"
    variable = _OTLP[1] if otlp else _ENDPOINTS[0]
    host = urlsplit(named).hostname or named
    return (
        f"No traces are sent, because {host[:100]} does not answer: set {variable}, or unset"
        " LANGSMITH_TRACING."
    )


def _first_value(names: Sequence[str]) -> str:
    """Return the value of the first variable that is set, or an empty string."""
    for name in names:
        if os.environ.get(name):
            return os.environ[name]
    return ""


def _answers(address: str) -> bool:
    """Return whether a server accepts a connection at a URL."""
    try:
        parts = urlsplit(address)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        with socket.create_connection((parts.hostname or "", port), SECONDS):
            return True
    except (OSError, ValueError):
        return False
