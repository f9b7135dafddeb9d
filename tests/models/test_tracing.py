"""Spans of runs: named by the conventions, joined into one trace, without a word of what was asked unless asked for."""

import pytest
from opentelemetry import trace as api
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from ragweave.components.context import Context
from ragweave.graphs.run import astream
from ragweave.models import tracing
from ragweave.models.chat import override
from ragweave.models.settings import model_settings
from ragweave.tests.support.scripted import ScriptedChat

TEXTS = {"lamp.md": "# The lighthouse\n\nThe lamp of the lighthouse was first lit on 3 October 1874.\n"}
QUESTION = "When was the lamp of the lighthouse first lit?"


@pytest.fixture
def spans(monkeypatch):
    """Every span that ends, under a provider that the program around Ragweave has set up."""
    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(api, "get_tracer_provider", lambda: provider)
    tracing.provider.cache_clear()
    tracing._handler.cache_clear()
    yield kept.get_finished_spans
    tracing.provider.cache_clear()
    tracing._handler.cache_clear()


def asked_for(monkeypatch, level):
    monkeypatch.setenv("RAGWEAVE_OTEL", level)
    model_settings.cache_clear()


async def answer(question=QUESTION, **given):
    *_, last = [event async for event in astream(question, **given)]
    return last["state"].get("answer")


async def with_model(reply, **given):
    with override(writer=ScriptedChat(react=lambda messages: reply)):
        return await answer(context=Context(mode="llm", **given))


async def test_a_run_is_one_trace_with_a_span_for_each_node_and_search(stock, spans, monkeypatch):
    stock(TEXTS)
    asked_for(monkeypatch, "traces")
    told = await answer(thread="t1")
    [root] = [s for s in spans() if s.parent is None]
    assert root.name == "invoke_agent agent"
    assert root.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert root.attributes["gen_ai.conversation.id"] == "t1"
    assert {format(s.context.trace_id, "032x") for s in spans()} == {told.trace}
    nodes = [s.attributes["ragweave.node"] for s in spans() if s is not root]
    assert {"condense", "route", "plan", "retrieve", "fuse", "grade", "reason", "generate", "check"} <= set(nodes)
    assert len(nodes) == len(set(nodes)), "a runnable inside a node has a span of its own"
    [search] = [s for s in spans() if s.attributes.get("gen_ai.operation.name") == "retrieval"]
    assert search.name == "retrieval paragraph" and search.parent.span_id == root.context.span_id


async def test_a_model_call_has_a_span_with_its_tokens_under_its_node(stock, spans, monkeypatch):
    stock(TEXTS)
    asked_for(monkeypatch, "traces")
    await with_model("The lamp was first lit on 3 October 1874 [1].")
    calls = [s for s in spans() if s.attributes.get("gen_ai.operation.name") == "chat"]
    assert calls
    nodes = {s.context.span_id: s for s in spans() if "ragweave.node" in s.attributes}
    for call in calls:
        node = nodes[call.parent.span_id]
        assert call.kind is api.SpanKind.CLIENT and call.name == f"chat {call.attributes['gen_ai.request.model']}"
        assert call.attributes["gen_ai.usage.input_tokens"] > 0 and call.attributes["gen_ai.usage.output_tokens"] > 0
        assert node.attributes["ragweave.calls"] >= 1


@pytest.mark.parametrize(("level", "there"), [("traces", False), ("texts", True)])
async def test_texts_are_told_only_where_they_are_asked_for(stock, spans, monkeypatch, level, there):
    stock(TEXTS)
    asked_for(monkeypatch, level)
    await with_model("The lamp was first lit on 3 October 1874 [1].")
    told = "".join(span.to_json() for span in spans())
    assert ("3 October 1874" in told, "lamp of the lighthouse" in told) == (there, there)


async def test_a_failure_is_told_by_its_kind_and_not_in_its_words(stock, spans, monkeypatch):
    stock(TEXTS)
    asked_for(monkeypatch, "traces")
    await with_model(ValueError("the secret of the lighthouse"))
    failed = [s for s in spans() if s.status.status_code is StatusCode.ERROR]
    assert failed and all(s.attributes["error.type"] for s in failed)
    assert "secret" not in "".join(span.to_json() for span in spans())


async def test_nothing_is_left_open_after_a_run_that_nobody_reads_to_its_end(stock, spans, monkeypatch):
    stock(TEXTS)
    assert (await answer()).trace == "" and spans() == (), "it is off unless it is asked for"
    asked_for(monkeypatch, "traces")
    events = astream(QUESTION)
    await anext(events)
    await events.aclose()
    await answer()
    assert tracing._handler(False)._open == {}
