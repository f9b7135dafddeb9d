"""`/metrics` for Prometheus, counted from the spans of OpenTelemetry, by the names of its conventions.

The workers of one server count in files of a folder, by the multiprocess mode of Prometheus' client, and each shows the
sum of all.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Response
from opentelemetry.sdk.trace import SpanProcessor
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
    multiprocess,
)

from ragweave.models import tracing
from ragweave.serve.access import CallerNow, Slots
from ragweave.serve.app_state import AppStateNow

_SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300)


class Metrics(SpanProcessor):
    """The metrics of one server."""

    def __init__(self, slots: Slots) -> None:
        self.registry = registry = CollectorRegistry()
        if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
            _forget_ended(Path(folder))
            self.registry = CollectorRegistry()
            multiprocess.MultiProcessCollector(self.registry)  # type: ignore[no-untyped-call]
        else:
            ProcessCollector(registry=registry)
            PlatformCollector(registry=registry)

        def durations(name: str, what: str, *labels: str) -> Histogram:
            return Histogram(name, what, labels, registry=registry, buckets=_SECONDS)

        self._requests = durations(
            "http_server_request_duration_seconds",
            "Requests.",
            "http_request_method",
            "http_route",
            "http_response_status_code",
        )
        self._runs = durations("ragweave_run_duration_seconds", "Answers.", "graph", "error_type")
        self._nodes = durations("ragweave_node_duration_seconds", "Nodes of the graph.", "node", "error_type")
        self._calls = durations(
            "gen_ai_client_operation_duration_seconds", "Model calls.", "gen_ai_request_model", "error_type"
        )
        self._tokens = Counter(
            "gen_ai_client_token_usage",
            "Tokens of model calls.",
            ("gen_ai_request_model", "gen_ai_token_type"),
            registry=registry,
        )
        slots.told = Gauge(
            "ragweave_runs_under_way", "Answers under way.", registry=registry, multiprocess_mode="livesum"
        ).set
        self.uploads = Gauge(
            "ragweave_uploads_under_way",
            "Uploads that are indexed or wait, on all servers.",
            registry=registry,
            multiprocess_mode="mostrecent",
        )

    def on_end(self, span: Any) -> None:
        """Count a span that has ended."""
        if span.instrumentation_scope.name != tracing.SCOPE:
            return
        facts, seconds = span.attributes, (span.end_time - span.start_time) / 1e9
        error = facts.get("error.type", "")
        if route := facts.get("http.route"):
            status = facts["http.response.status_code"]
            self._requests.labels(facts["http.request.method"], route, status).observe(seconds)
        elif node := facts.get("ragweave.node"):
            self._nodes.labels(node, error).observe(seconds)
        elif model := facts.get("gen_ai.request.model"):
            self._calls.labels(model, error).observe(seconds)
            for kind in ("input", "output"):
                self._tokens.labels(model, kind).inc(facts.get(f"gen_ai.usage.{kind}_tokens", 0))
        elif graph := facts.get("gen_ai.agent.name"):
            self._runs.labels(graph, error).observe(seconds)


def _forget_ended(folder: Path) -> None:
    """Leave out what workers that have ended had under way; what they counted stays."""
    if os.name != "posix":  # where signal 0 is one
        return
    for file in folder.glob("gauge_live*.db"):
        pid = int(file.stem.rpartition("_")[2])
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            file.unlink(missing_ok=True)


def mount(app: FastAPI, slots: Slots) -> None:
    """Count what is asked of an app, and show it to whoever may change its libraries."""
    metrics = Metrics(slots)
    tracing.provider().add_span_processor(metrics)

    @app.get("/metrics", include_in_schema=False)
    async def shown(caller: CallerNow, app_state: AppStateNow) -> Response:
        caller.require_all()
        metrics.uploads.set(await app_state.jobs.under_way())
        text = await asyncio.to_thread(generate_latest, metrics.registry)
        return Response(text, media_type=CONTENT_TYPE_LATEST)
