"""What runs tell OpenTelemetry: a span a run, node, search and model call, by its conventions for generative AI.

The spans are made of the callbacks that LangGraph and LangChain emit, so no node knows of them. They hold names, counts
and times; questions, passages and replies only where `RAGWEAVE_OTEL=texts` asks for them. Where spans go, and how many
of them, the variables of OpenTelemetry say (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER, OTEL_SERVICE_NAME).
"""

from __future__ import annotations

import json
from asyncio import CancelledError
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.context import register_configure_hook
from langgraph.errors import GraphBubbleUp

from ragweave.models.errors import MissingExtra
from ragweave.models.settings import model_settings

SCOPE = "ragweave"
"""Name of the instrumentation."""
SEARCHES = ("retrieve", "retrieve_clips", "search_web")
"""Nodes whose span is that of a search."""

_spans: ContextVar[BaseCallbackHandler | None] = ContextVar("ragweave_spans", default=None)
_trace: ContextVar[str] = ContextVar("ragweave_trace", default="")
register_configure_hook(_spans, inheritable=True)


def begin() -> None:
    """Have the runs that are started in this context make spans, where the settings ask for them.

    Raises:
        MissingExtra: the extra `otel` is not installed.
    """
    if (level := model_settings().otel) != "off":
        _spans.set(_handler(level == "texts"))


def trace() -> str:
    """Return the id of the trace that this code runs in, 32 hexadecimal digits, or ""."""
    return _trace.get()


def answered(span: Any, method: str, route: str, status: int) -> None:
    """Say how a request was answered: by the pattern of its path, not by the path."""
    span.update_name(f"{method} {route}")
    span.set_attributes({"http.route": route, "http.response.status_code": status})


def request(method: str, headers: Mapping[str, str]) -> AbstractContextManager[Any]:
    """Return the span of a request to a server, which goes on with the trace of its caller, or nothing."""
    if model_settings().otel == "off":
        return nullcontext()
    from opentelemetry import propagate
    from opentelemetry import trace as api

    tracer = provider().get_tracer(SCOPE)
    made = {"http.request.method": method}
    span = tracer.start_span(method, propagate.extract(headers), api.SpanKind.SERVER, made)
    _trace.set(_id(span))
    return api.use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False)


@lru_cache(maxsize=1)
def provider() -> Any:
    """Return what makes the spans: the provider of the program that uses Ragweave, else one that sends them by OTLP.

    Raises:
        MissingExtra: the extra `otel` is not installed.
    """
    try:
        from opentelemetry import trace as api
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.sampling import AlwaysRecordSampler

        there = api.get_tracer_provider()
        if isinstance(there, TracerProvider):
            return there
        made = TracerProvider()
        # What is not sampled is not sent, and yet counted by the metrics.
        made.sampler = AlwaysRecordSampler(made.sampler)
        if model_settings().otel != "metrics":
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.trace.export import BatchSpanProcessor

            made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    except ImportError as error:
        raise MissingExtra("RAGWEAVE_OTEL", "otel") from error
    api.set_tracer_provider(made)
    return made


@lru_cache(maxsize=2)
def _handler(texts: bool) -> Spans:
    return Spans(provider(), texts)


class Spans(BaseCallbackHandler):
    """Makes spans of callbacks; those of runnables inside a node, which have none, are counted to the node."""

    run_inline = True

    def __init__(self, provider: Any, texts: bool = False) -> None:
        self._tracer = provider.get_tracer(SCOPE)
        self._texts = texts
        self._open: dict[UUID, tuple[Any, bool]] = {}

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        """Open the span of a run, of a node or of a search."""
        name, told = str(more.get("name") or ""), metadata or {}
        if parent_run_id not in self._open:
            made = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
            if thread := told.get("thread_id"):
                made["gen_ai.conversation.id"] = str(thread)
            _trace.set(_id(self._start(run_id, None, f"invoke_agent {name}", made)))
        elif not any(tag.startswith("graph:step:") for tag in tags or ()):
            self._open[run_id] = (self._open[parent_run_id][0], False)
        else:
            made = {"ragweave.node": name}
            task = inputs if name in SEARCHES and isinstance(inputs, dict) else {}
            if task:
                name = f"retrieval {task.get('corpus') or task.get('retriever') or 'web'}"
                made |= {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": name.partition(" ")[2]}
                if self._texts:
                    asked = task.get("queries") or [task.get("query") or task.get("question") or ""]
                    made["gen_ai.retrieval.query.text"] = "\n".join(map(str, asked))
            self._start(run_id, parent_run_id, name, made)

    def on_chat_model_start(
        self,
        serialized: Any,
        messages: Sequence[Sequence[Any]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        """Open the span of a model call."""
        told, asked = metadata or {}, more.get("invocation_params") or {}
        model = str(told.get("ls_model_name") or asked.get("model") or asked.get("model_name") or "unknown")
        made = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model}
        made["gen_ai.provider.name"] = str(told.get("ls_provider") or "unknown")
        if self._texts:
            said = [{"role": m.type, "parts": [{"type": "text", "content": m.text}]} for row in messages for m in row]
            made["gen_ai.input.messages"] = json.dumps(said, ensure_ascii=False)
        self._start(run_id, parent_run_id, f"chat {model}", made)

    def on_llm_end(self, response: Any, *, run_id: UUID, **more: Any) -> None:
        """Close the span of a model call with its tokens."""
        said = getattr(response.generations[0][0], "message", None) if response.generations else None
        made: dict[str, Any] = {}
        if used := getattr(said, "usage_metadata", None):
            made = {f"gen_ai.usage.{way}_tokens": used[f"{way}_tokens"] for way in ("input", "output")}
        facts = getattr(said, "response_metadata", {})
        if finish := facts.get("finish_reason"):
            made["gen_ai.response.finish_reasons"] = [str(finish)]
        if self._texts and said is not None:
            reply = {"role": "assistant", "parts": [{"type": "text", "content": said.text}]}
            made["gen_ai.output.messages"] = json.dumps([reply], ensure_ascii=False)
        self._end(run_id, made)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **more: Any) -> None:
        """Close the span of a run or node with what it spent."""
        usage = outputs.get("usage") if isinstance(outputs, dict) else None
        self._end(run_id, _spent(getattr(usage, "value", usage) or ()))  # the first node sets it by an Overwrite

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **more: Any) -> None:
        """Close a span with the kind of error that ended it; its words may quote texts."""
        self._end(run_id, {}, error)

    on_llm_error = on_chain_error

    def _start(self, run: UUID, parent: UUID | None, name: str, made: Mapping[str, Any]) -> Any:
        from opentelemetry import trace as api

        above = self._open.get(parent) if parent else None
        around = api.set_span_in_context(above[0]) if above else None
        kind = api.SpanKind.CLIENT if name.startswith("chat ") else api.SpanKind.INTERNAL
        span = self._tracer.start_span(name, around, kind, made)
        self._open[run] = (span, True)
        return span

    def _end(self, run: UUID, made: Mapping[str, Any], error: BaseException | None = None) -> None:
        span, own = self._open.pop(run, (None, False))
        if span is None or not own:
            return
        if made:
            span.set_attributes(made)
        if error is not None:
            span.set_attribute("error.type", type(error).__name__)
            # A run that waits for consent, or that nobody reads any more, has not failed.
            if not isinstance(error, GraphBubbleUp | CancelledError | GeneratorExit):
                from opentelemetry.trace import StatusCode

                span.set_status(StatusCode.ERROR)
        span.end()


def _spent(usage: Iterable[Any]) -> dict[str, float]:
    """Return what a node, or all of a run, spent on models; the tokens of a call are in its own span."""
    # Few nodes ask a model, and every node comes through here.
    if not (rows := [row for row in usage if row.calls or row.cached or row.cost]):
        return {}
    total = {f"ragweave.{name}": sum(getattr(row, name) for row in rows) for name in ("calls", "cached", "cost")}
    return {name: value for name, value in total.items() if value}


def _id(span: Any) -> str:
    return f"{span.get_span_context().trace_id:032x}"
