"""The model and the encoder that every program beside Ragweave is given, as one OpenAI-compatible server on loopback.

Embeddings come from Ragweave's own encoder, so that no program finds more because of its vectors. Chat
replies come after a fixed latency from a script that plays every prompt's part without knowing anything, or
from the server that `upstream` names, whose replies somebody writes. Every call is counted.
"""

from __future__ import annotations

import json
import re
import threading
import time
from itertools import pairwise
from typing import Any

import httpx

from ragweave.tests.support.server import Received, ScriptedServer


def scripted(prompt: str) -> str:
    """Play a prompt's part: every document is relevant, and the first one answers."""
    if "high_level_keywords" in prompt:
        return json.dumps(
            {
                "high_level_keywords": ["library"],
                "low_level_keywords": re.findall(r"[A-Za-z]{4,}", prompt)[-8:],
            }
        )
    if "executive_summary" in prompt:
        findings = [{"summary": "They are named together.", "explanation": "The texts name them together."}]
        return json.dumps(
            {
                "title": "Names",
                "summary": "Names.",
                "rating": 1,
                "rating_explanation": "None.",
                "findings": findings,
            }
        )
    if "---Data tables---" in prompt:
        return f"{first_sentence(prompt)}."
    if "entity_types" in prompt or "-Goal-" in prompt or "knowledge graph specialist" in prompt.lower():
        return graph_of(prompt)
    if "sub-questions" in prompt:
        asked = prompt.rsplit("<User Question>", 1)[1].split("<Output>")[0].strip()
        return json.dumps({"items": [{"sub_question": asked, "tool_name": "library"}]})
    if "Sentences to judge:" in prompt:  # Ragweave's check: whatever is asked is stated
        numbers = re.findall(r"\d+", prompt.rsplit("Sentences to judge:", 1)[1].partition("\n")[0])
        said = prompt.rsplit("in brackets:", 1)[1].partition("[1]")[0].strip(" .\n")
        stated = {"passage": 1, "words": said, "verdict": "supported"}
        return json.dumps({"verdicts": [{"n": int(n)} | stated for n in numbers]})
    if "yes or no" in prompt:
        return "yes"
    said = f"{first_sentence(prompt)} [1]."
    return f"Final Answer: {said}" if "Final Answer:" in prompt else said


def graph_of(prompt: str) -> str:
    """Return the capitalised words of a passage, each tied to the next, in the form that the prompt asks for."""
    words = list(dict.fromkeys(re.findall(r"\b[A-Z][a-z]{3,}\b", prompt[-4_000:])))[:6]
    if "<|>" in prompt:  # nano-graphrag
        made = [f'("entity"<|>"{w}"<|>"concept"<|>"{w} is named in the text.")' for w in words]
        made += [
            f'("relationship"<|>"{a}"<|>"{b}"<|>"They are named together."<|>5)' for a, b in pairwise(words)
        ]
        return "##\n".join(made) + "<|COMPLETE|>"
    made = [f"entity<|#|>{w}<|#|>concept<|#|>{w} is named in the text." for w in words]
    made += [f"relation<|#|>{a}<|#|>{b}<|#|>near<|#|>They are named together." for a, b in pairwise(words)]
    return "\n".join([*made, "<|COMPLETE|>"])


def first_sentence(prompt: str) -> str:
    """Return a sentence of the first numbered document, as a model that copies would."""
    after = re.split(r"\[1\]|Source 1:|\"content\":|-----Sources-----", prompt.replace("like [1]", ""))[-1]
    after = after.partition("<<<")[2] or after  # where a title stands before the text
    after = after[:1_500]
    found = re.findall(r"[A-Z][^.\n\[\]]{30,200}(?=\.)", after)
    return found[0] if found else "It is what the first document says"


class Desk(ScriptedServer):
    """The server, within `with`.

    `calls` holds (tokens in, tokens out) of each call, at four characters a token.
    """

    def __init__(self, latency: float = 0.2, upstream: str = "", key: str = "peer") -> None:
        from ragweave.models.embed import encoder

        super().__init__(react=self._reply, latency=0.0 if upstream else latency, embed=self._vectors)
        self.calls: list[tuple[int, int]] = []
        self.began: list[float] = []
        """When each call came, by `time.perf_counter`."""
        self._upstream, self._name, self._encoder, self._turn = upstream, key, encoder(), threading.Lock()
        self.encoding = 0.0
        """Seconds of the processor that went into vectors; Ragweave makes its own."""

    def _vectors(self, texts: list[str]) -> list[list[float]]:
        with self._turn:
            began = time.thread_time()
            made = [v.tolist() for v in self._encoder.texts(texts)]
            self.encoding += time.thread_time() - began
            return made

    def _reply(self, request: Received) -> list[str]:
        self.began.append(time.perf_counter())
        said = self._forwarded(request.body) if self._upstream else scripted(request.prompt)
        self.calls.append((len(request.prompt) // 4, len(said) // 4))
        return [said]  # one part: what a stream costs is not what is compared

    def _forwarded(self, asked: dict[str, Any]) -> str:
        """Return the reply of the server upstream, whose key tells who asks."""
        kept = {k: asked[k] for k in ("model", "messages", "response_format", "tools") if asked.get(k)}
        head = {"Authorization": f"Bearer {self._name}"}
        reply = httpx.post(f"{self._upstream}/chat/completions", json=kept, headers=head, timeout=7_200)
        return str(reply.raise_for_status().json()["choices"][0]["message"]["content"] or "")
