"""The model and the encoder that every program beside Ragweave is given, as one OpenAI-compatible server on loopback.

Embeddings come from Ragweave's own encoder, so that no program finds more because of its vectors. Chat replies come
after a fixed latency from a script that plays every prompt's part without knowing anything, or from the server that
`upstream` names, whose replies somebody writes. Every call is counted.
"""

from __future__ import annotations

import json
import re
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from types import TracebackType
from typing import Any


def scripted(prompt: str) -> str:
    """Play a prompt's part: every document is relevant, and the first one answers."""
    if "high_level_keywords" in prompt:
        return json.dumps(
            {"high_level_keywords": ["library"], "low_level_keywords": re.findall(r"[A-Za-z]{4,}", prompt)[-8:]}
        )
    if "entity_types" in prompt or "-Goal-" in prompt or "knowledge graph specialist" in prompt.lower():
        words = list(dict.fromkeys(re.findall(r"\b[A-Z][a-z]{3,}\b", prompt[-4_000:])))[:6]
        made = [f"entity<|#|>{w}<|#|>concept<|#|>{w} is named in the text." for w in words]
        tied = [f"relation<|#|>{a}<|#|>{b}<|#|>near<|#|>They are named together." for a, b in pairwise(words)]
        return "\n".join([*made, *tied, "<|COMPLETE|>"])
    if "yes or no" in prompt:
        return "yes"
    said = f"{first_sentence(prompt)} [1]."
    return f"Final Answer: {said}" if "Final Answer:" in prompt else said


def first_sentence(prompt: str) -> str:
    """Return a sentence of the first numbered document, as a model that copies would."""
    after = re.split(r"\[1\]|Source 1:|\"content\":", prompt.replace("like [1]", ""))[-1][:1_500]
    found = re.findall(r"[A-Z][^.\n\[\]]{30,200}(?=\.)", after)
    return found[0] if found else "It is what the first document says"


class Desk:
    """The server; used as a context manager. `calls` holds (name, began, ended, tokens in, tokens out) of each."""

    def __init__(self, latency: float = 0.2, upstream: str = "", key: str = "peer") -> None:
        from ragweave.models.embed import encoder

        self.latency, self.upstream, self.key = latency, upstream, key
        self.calls: list[tuple[str, float, float, int, int]] = []
        self.encoder = encoder()
        self.lock = threading.Lock()

    def __enter__(self) -> Desk:
        desk = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                began = time.monotonic()
                made = desk.embed(asked) if self.path.endswith("/embeddings") else desk.chat(asked, began)
                streams = bool(asked.get("stream")) and "choices" in made
                body = (_streamed(made) if streams else json.dumps(made)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream" if streams else "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._http.shutdown()
        self._http.server_close()

    @property
    def url(self) -> str:
        """Address to give to a client."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def embed(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer with one vector a text."""
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        with self.lock:
            vectors = self.encoder.texts(texts)
        rows = [{"object": "embedding", "index": n, "embedding": v.tolist()} for n, v in enumerate(vectors)]
        return {"object": "list", "data": rows, "model": "encoder", "usage": {"prompt_tokens": 0, "total_tokens": 0}}

    def chat(self, asked: dict[str, Any], began: float) -> dict[str, Any]:
        """Answer a chat request after the latency, or as the upstream does."""
        prompt = "\n\n".join(_text(m) for m in asked["messages"])
        if self.upstream:
            kept = {k: asked[k] for k in ("model", "messages", "response_format", "tools") if asked.get(k)}
            request = urllib.request.Request(
                f"{self.upstream}/chat/completions",
                json.dumps(kept).encode(),
                {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"},
            )
            with urllib.request.urlopen(request, timeout=7_200) as reply:
                said = json.load(reply)["choices"][0]["message"]["content"] or ""
        else:
            time.sleep(self.latency)
            said = scripted(prompt)
        counted = len(prompt) // 4, len(said) // 4
        self.calls.append((asked.get("model", ""), began, time.monotonic(), *counted))
        message = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        usage = {"prompt_tokens": counted[0], "completion_tokens": counted[1], "total_tokens": sum(counted)}
        made = {"id": "x", "object": "chat.completion", "created": 0, "model": asked.get("model", "")}
        return {**made, "choices": [message], "usage": usage}

    def most_at_once(self) -> int:
        """Return the most calls that were under way at the same time."""
        edges = sorted([(b, 1) for _, b, *_ in self.calls] + [(e, -1) for _, _, e, *_ in self.calls])
        now, most = 0, 0
        for _, step in edges:
            now += step
            most = max(most, now)
        return most


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else json.dumps(content)


def _streamed(made: dict[str, Any]) -> str:
    head = {**{k: made[k] for k in ("id", "created", "model")}, "object": "chat.completion.chunk"}
    said = made["choices"][0]["message"]["content"]
    parts = [{"delta": {"role": "assistant", "content": said}, "index": 0, "finish_reason": None}]
    ends = [{"delta": {}, "index": 0, "finish_reason": "stop"}]
    lines = [{**head, "choices": parts}, {**head, "choices": ends}, {**head, "choices": [], "usage": made["usage"]}]
    return "".join(f"data: {json.dumps(line)}\n\n" for line in lines) + "data: [DONE]\n\n"
