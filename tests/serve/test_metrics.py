"""`/metrics`, one trace from the request to its answer, and a log of JSON."""

import json
import logging
import re
from pathlib import Path

import pytest

from ragweave.models.settings import model_settings
from ragweave.serve.app import create_app
from ragweave.serve.settings import ServeSettings
from ragweave.tests.support.serving import ask_over_http, bearer

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "When was the lamp of the lighthouse first lit?"


@pytest.fixture
def app(home, monkeypatch):
    """A server that counts; it sends its spans nowhere."""
    monkeypatch.setenv("RAGWEAVE_OTEL", "metrics")
    model_settings.cache_clear()
    return create_app(ServeSettings())


async def test_metrics_count_by_pattern_for_whoever_may_change_libraries(client, app):
    await ask_over_http(client, QUESTION)
    await client.get("/api/threads/nowhere")
    text = (await client.get("/metrics")).text
    assert re.search(r'ragweave_run_duration_seconds_count\{error_type="",graph="agent"\} 1\.0', text)
    assert re.search(r'ragweave_node_duration_seconds_count\{error_type="",node="retrieve"\} 1\.0', text)
    assert 'http_route="/api/ask"' in text and 'http_response_status_code="202"' in text
    assert 'http_route="/api/threads/{id}"' in text and "nowhere" not in text and "lamp" not in text
    assert "ragweave_runs_under_way 0.0" in text
    bound, every = (app.state.keys.create("one", libraries)[1] for libraries in (("some-library",), None))
    for headers, status in (({}, 401), (bearer(bound), 403), (bearer(every), 200)):
        assert (await client.get("/metrics", headers=headers)).status_code == status


async def test_an_answer_bears_the_trace_of_its_request_and_of_its_caller(client, caplog):
    theirs = "0af7651916cd43dd8448eb211c80319c"
    headers = {"traceparent": f"00-{theirs}-b7ad6b7169203331-01"}
    with caplog.at_level(logging.INFO, "ragweave.serve.guard"):
        begun = await client.post("/api/ask", json={"question": QUESTION}, headers=headers)
    events = await client.get(f"/api/runs/{begun.json()['run']}/events")
    assert f'"trace": "{theirs}"' in events.text
    [line] = [r for r in caplog.records if r.getMessage().startswith("POST /api/ask")]
    assert line.trace == theirs


async def test_the_board_and_the_signals_to_scale_on_ask_for_metrics_that_exist(client):
    board = json.loads((ROOT / "deploy" / "grafana.json").read_text())
    told = " ".join(target["expr"] for panel in board["panels"] for target in panel["targets"])
    guide = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8").partition("Add a server where")[2]
    signals = guide.partition("\n\n")[0]
    assert "ragweave_runs_under_way" in signals
    told += signals
    asked = {
        n for n in re.findall(r"\w+", told) if n.startswith(("ragweave_", "gen_ai_client", "http_server", "process_"))
    }
    there = set(re.findall(r"^# HELP (\w+)", (await client.get("/metrics")).text, re.M))
    assert asked and {re.sub("_(bucket|count)$", "", name) for name in asked} <= there
