from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from ragweave.tests.support import Fault, ScriptedServer, UnconsumedReplies, UnexpectedModelCall

ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "two words"}]}


def post(server: ScriptedServer, **more: Any) -> httpx.Response:
    return httpx.post(f"{server.base_url}/chat/completions", json={**ASK, **more}, timeout=5)


def events(response: httpx.Response) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in response.text.splitlines() if line]
    assert lines.pop() == "[DONE]"
    return [json.loads(line) for line in lines]


def test_models_are_listed() -> None:
    with ScriptedServer(models=["a", "b"]) as server:
        listed = httpx.get(f"{server.base_url}/models").json()
    assert [m["id"] for m in listed["data"]] == ["a", "b"]


def test_a_reply_has_text_and_usage() -> None:
    with ScriptedServer(["It is Paris."]) as server:
        body = post(server).json()
    assert body["choices"][0]["message"] == {"role": "assistant", "content": "It is Paris."}
    assert body["choices"][0]["finish_reason"] == "stop"
    assert body["usage"] == {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}
    server.assert_consumed()


def test_a_stream_has_parts_a_finish_reason_and_usage_when_asked_for() -> None:
    with ScriptedServer([["Par", "is."], "Paris."]) as server:
        told = events(post(server, stream=True, stream_options={"include_usage": True}))
        plain = events(post(server, stream=True))
    assert [e["choices"][0]["delta"].get("content") for e in told[:3]] == ["", "Par", "is."]
    assert told[-2]["choices"][0]["finish_reason"] == "stop"
    assert told[-1]["usage"]["completion_tokens"] == 1
    assert all("usage" not in e for e in plain)


def test_a_structured_reply_is_json_or_a_tool_call_as_asked() -> None:
    tool = {"type": "function", "function": {"name": "grade", "parameters": {}}}
    with ScriptedServer([{"v": 1}, {"v": 2}, {"v": 3}]) as server:
        schema = post(server, response_format={"type": "json_schema", "json_schema": {}}).json()
        called = post(server, tools=[tool]).json()
        streamed = events(post(server, tools=[tool], stream=True))
    assert json.loads(schema["choices"][0]["message"]["content"]) == {"v": 1}
    assert called["choices"][0]["message"]["tool_calls"][0]["function"] == {"name": "grade", "arguments": '{"v": 2}'}
    assert streamed[0]["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] == '{"v": 3}'
    assert [r.method for r in server.requests] == ["json_schema", "function_calling", "function_calling"]


def test_a_function_makes_replies_and_sees_the_request() -> None:
    with ScriptedServer(react=lambda r: f"{r.model} was asked: {r.prompt}") as server:
        assert post(server).json()["choices"][0]["message"]["content"] == "m was asked: two words"


def test_requests_under_way_together_are_counted() -> None:
    together = threading.Barrier(6, timeout=10)

    def latency(request: Any) -> float:
        together.wait()
        return 0.0

    with ScriptedServer(["x"] * 6, latency=latency) as server, ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: post(server), range(6)))
        for _ in range(3_000):  # each reply is there a moment before its end is noted
            if all(r.ended for r in server.requests):
                break
            time.sleep(0.01)
    assert server.max_in_flight == 6
    assert all(r.ended >= r.started for r in server.requests)
    assert len(server.requests) == 6


def test_latency_can_depend_on_the_request() -> None:
    seen: list[str] = []

    def latency(request: Any) -> float:
        seen.append(request.prompt)
        return 0.0

    with ScriptedServer(["x"], latency=latency) as server:
        post(server)
    assert seen == ["two words"]


def test_keys_and_model_names_are_checked_when_given() -> None:
    with ScriptedServer(["x"], key="right", models=["m"]) as server:
        assert post(server).status_code == 401
        headers = {"Authorization": "Bearer right"}
        url = f"{server.base_url}/chat/completions"
        assert httpx.post(url, json={**ASK, "model": "other"}, headers=headers).status_code == 404
        assert httpx.post(url, json=ASK, headers=headers).status_code == 200


def test_faults_over_http() -> None:
    with ScriptedServer([Fault.status(429, "slow down", error="rate", retry_after="3"), Fault.html()]) as server:
        limited, page = post(server), post(server)
    assert (limited.status_code, limited.headers["retry-after"]) == (429, "3")
    assert limited.json()["error"]["code"] == "rate"
    assert page.headers["content-type"] == "text/html"


@pytest.mark.parametrize("fault", [Fault.drop(), Fault.cut(1)])
@pytest.mark.parametrize("stream", [True, False])
def test_faults_that_break_the_connection(fault: Fault, stream: bool) -> None:
    with ScriptedServer([fault]) as server, pytest.raises(httpx.RemoteProtocolError):
        post(server, stream=stream)


def test_a_stalled_request_ends_when_the_server_closes() -> None:
    with ThreadPoolExecutor(1) as pool:
        with ScriptedServer([Fault.stall()]) as server:
            waiting = pool.submit(post, server)
            with pytest.raises(TimeoutError):
                waiting.result(timeout=0.1)
        with pytest.raises(httpx.TransportError):
            waiting.result(timeout=5)


def test_requests_without_a_reply_and_replies_without_a_request_are_told() -> None:
    with ScriptedServer() as server:
        assert post(server).status_code == 400
        with pytest.raises(UnexpectedModelCall, match="two words"):
            server.assert_consumed()
    with ScriptedServer(["x"]) as server, pytest.raises(UnconsumedReplies):
        server.assert_consumed()


def test_unknown_paths_are_404() -> None:
    with ScriptedServer() as server:
        assert httpx.get(f"{server.base_url}/nothing").status_code == 404
        assert httpx.post(f"{server.base_url}/nothing", json={}).status_code == 404


def test_embeddings_depend_on_the_words_only() -> None:
    with ScriptedServer() as server:
        body = httpx.post(f"{server.base_url}/embeddings", json={"model": "e", "input": ["a b", "b a", "c"]}).json()
    first, second, third = (row["embedding"] for row in body["data"])
    assert first == pytest.approx(second)
    assert first != pytest.approx(third)
