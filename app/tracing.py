"""Traces go to an address that answers, or nowhere: what sends them would keep a command from ending."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlsplit

SECONDS = 1.0
"""Seconds in which the address must take a connection."""
_ON = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGCHAIN_TRACING")
_ENDPOINTS = ("LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT")
_OTLP = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy")
_HOSTED = "https://api.smith.langchain.com"


def stop_unless_answered() -> str:
    """Turn tracing off for this process if its address does not answer; return what to tell of it, or ""."""
    if not any(os.environ.get(name, "").lower() in ("true", "1") for name in _ON):
        return ""
    if any(os.environ.get(name) for name in _PROXIES):  # what answers behind a proxy cannot be told from here
        return ""
    otlp = os.environ.get("LANGSMITH_TRACING_MODE", "").lower() == "otel"
    named = next(
        (os.environ[name] for name in (_OTLP if otlp else _ENDPOINTS) if os.environ.get(name)), _HOSTED
    )
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


def _answers(address: str) -> bool:
    try:
        parts = urlsplit(address)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        with socket.create_connection((parts.hostname or "", port), SECONDS):
            return True
    except (OSError, ValueError):
        return False
