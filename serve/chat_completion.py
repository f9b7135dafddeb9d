"""Write the events of a run as a chat completion of the OpenAI API, whole or streamed."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, ClassVar

from sse_starlette import ServerSentEvent

from ragweave.components.answer import set_out
from ragweave.components.markdown import as_markdown, in_block, in_markdown
from ragweave.components.phrases import SIGNS, counted_marks, mark
from ragweave.models.errors import RagweaveError
from ragweave.serve.chat_request import SOURCES, ChatRequest
from ragweave.serve.direct import Events
from ragweave.serve.problems import openai_error


class ChatCompletionWriter:
    """Write the events of one run as a chat completion; `base` is this server's address, for links.

    `names` are the caller's names for options of chat completions, if they have others.
    """

    names: ClassVar[Mapping[str, str]] = {}

    def __init__(self, request: ChatRequest, base: str) -> None:
        self._request, self._base = request, base
        self._id, self._created = f"chatcmpl-{secrets.token_hex(12)}", int(time.time())
        self._text, self._sign = "", ""
        self._marks: list[tuple[int, int, int]] = []
        self._texts: dict[int, str] = {}
        self._cited: dict[int, dict[str, Any]] = {}
        self.answer: dict[str, Any] = {}

    @property
    def id(self) -> str:
        """The id of the reply."""
        return self._id

    async def deltas(self, events: Events) -> Events:
        """Yield what each event adds to the message, after a first delta with the role."""
        begun = False
        async with aclosing(events):
            async for event in events:
                if not begun:
                    begun = True
                    yield {"role": "assistant", "content": ""}
                if event["type"] == "sentence":
                    yield {"content": self._sentence(event)}
                elif event["type"] == "mark":
                    yield {"content": self._mark(event), "ragweave_marks": [self._marked(event)]}
                elif event["type"] == "plain":
                    self._text += event["text"]
                    yield {"content": event["text"]}
                elif event["type"] == "answer":
                    self.answer = event["answer"]
                elif event["type"] == "step" and self._request.ragweave.steps:
                    yield {"reasoning_content": _step(event)}
        rest = self._close()
        if rest:
            yield {"content": rest}

    async def whole(self, events: Events) -> dict[str, Any]:
        """Return the completion."""
        message: dict[str, Any] = {"content": "", "refusal": None}
        async for delta in self.deltas(events):
            for member, more in delta.items():
                if member in message:
                    message[member] += more
                else:
                    message[member] = more
        message["annotations"] = self.annotations()
        message["ragweave_marks"] = self.all_marks()
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return self._frame("chat.completion", choices=[choice], usage=usage_of(self.answer))

    async def stream(self, first: dict[str, Any], rest: Events) -> AsyncIterator[ServerSentEvent]:
        """Yield the chunks of the completion."""
        yield self._chunk(first)
        try:
            async with aclosing(rest):
                async for delta in rest:
                    yield self._chunk(delta)
        except RagweaveError as error:
            yield ServerSentEvent(json.dumps(openai_error(error)), sep="\n")
            return
        last: dict[str, Any] = {}
        annotations, marks = self.annotations(), self.all_marks()
        if annotations:
            last["annotations"] = annotations
        if marks:
            last["ragweave_marks"] = marks
        yield self._chunk(last, finish="stop")
        if self._request.stream_options and self._request.stream_options.include_usage:
            frame = self._frame("chat.completion.chunk", choices=[], usage=usage_of(self.answer))
            yield ServerSentEvent(json.dumps(frame), sep="\n")
        yield ServerSentEvent("[DONE]", sep="\n")

    def _sentence(self, event: Mapping[str, Any]) -> str:
        """Append a sentence with links to its sources, and return what was appended."""
        begin, sign, text = len(self._text), event["sign"], event["text"]
        self._texts[event["n"]] = text
        self._cite(event["citations"])
        if event["support"] == "quoted":
            return self._quote(event)
        if not sign.startswith("```"):  # code is written as it is
            text = " | ".join(map(in_markdown, text.split(" | ")))
        links = self._links(event)
        end = " ".join(filter(None, (*links, mark(event["support"]))))
        self._text += set_out(sign, self._sign if self._text else None, text, end)
        self._sign = sign
        self._place(event, links, self._text.rindex(end))
        return self._text[begin:]

    def _mark(self, event: Mapping[str, Any]) -> str:
        """Append the objection of the check to an earlier sentence, and return what was appended."""
        begin = len(self._text)
        self._cite(event["citations"])
        objection = mark(event["support"], in_markdown(event["says"]), event["against"])
        if objection and event["support"] not in SIGNS:
            links = self._links(event)
            sentence = f"“{in_markdown(self._texts.get(event['n'], ''))}”"
            self._text += f"\n\n{' '.join([sentence, *links, objection])}"
            self._place(event, links, begin)
            self._sign = "```"  # the next sentence begins a paragraph
        return self._text[begin:]

    def _cite(self, citations: Sequence[dict[str, Any]]) -> None:
        """Record citations by number."""
        for citation in citations:
            self._cited[citation["n"]] = citation

    def _links(self, event: Mapping[str, Any]) -> list[str]:
        """Return the citations of a sentence as linked numbers."""
        return [self._number(citation) for citation in event["citations"]]

    def _number(self, citation: Mapping[str, Any]) -> str:
        url = self._link(citation)
        return f"[[{citation['n']}]]({url})" if url else f"[{citation['n']}]"

    def _place(self, event: Mapping[str, Any], links: Sequence[str], at: int) -> None:
        """Record the places of linked numbers in the text, which begin at or after `at`."""
        for citation, link in zip(event["citations"], links, strict=True):
            at = self._text.index(link, at)
            self._marks.append((citation["n"], at, at + len(link)))

    def _marked(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Return the mark of one sentence as clients receive it."""
        return {
            "n": event["n"],
            "text": self._texts.get(event["n"], ""),
            "support": event["support"],
            "says": event["says"],
            "against": event["against"],
            "citations": [citation["n"] for citation in event["citations"]],
        }

    def all_marks(self) -> list[dict[str, Any]]:
        """Return the marks of all sentences of the answer but quotes."""
        marks = []
        for n, sentence in enumerate(self.answer.get("sentences", []), 1):
            if sentence["support"] == "quoted":
                continue
            row: dict[str, Any] = {"n": n}
            for name in ("text", "support", "says", "against", "citations"):
                row[name] = sentence[name]
            marks.append(row)
        return marks

    def _quote(self, event: Mapping[str, Any]) -> str:
        """Append a quote below the linked title of its source, and return what was appended."""
        begin, cited = len(self._text), event["citations"][0]
        title, url = in_block(in_markdown(cited["title"])), self._link(cited)
        number = self._number(cited)
        if self._text:
            self._text += "\n\n"
        self._text += f"[{title}]({url}) " if url else f"{title} "
        self._marks.append((cited["n"], len(self._text), len(self._text) + len(number)))
        self._text += f"{number}\n\n{as_markdown(event['text'], event.get('marked') or ())}"
        self._sign = event["sign"]
        return self._text[begin:]

    def _close(self) -> str:
        """Append the sources and notes, and return what was appended."""
        begin, answer = len(self._text), self.answer
        if not self._text:
            self._text += in_markdown(answer["text"])
        parts = []
        supports = [sentence["support"] for sentence in answer["sentences"]]
        counts = counted_marks(supports)
        if counts:
            parts.append(counts if SIGNS.keys().isdisjoint(supports) else f"✓ {counts}")
        lines = self._source_lines()
        if lines:
            heading = "Closest found:" if answer["abstained"] else "Sources:"
            parts.append("\n".join([heading, "", *lines]))
        for note in answer["notes"]:
            parts.append(f"Note: {in_markdown(note)}")
        if parts:
            self._text += SOURCES + "\n\n".join(parts)
        return self._text[begin:]

    def _source_lines(self) -> list[str]:
        """Return a numbered line for each cited source."""
        # A number in the text keeps its source, even if the check has moved the sentence to another source.
        self._cite(self.answer["citations"])
        lines = []
        for n, citation in sorted(self._cited.items()):
            text, url = in_markdown(citation["title"]), self._link(citation)
            if "page" in citation["locator"]:
                text += f", page {citation['locator']['page']}"
            lines.append(f"{n}. [{text}]({url})" if url else f"{n}. {text}")
        return lines

    def annotations(self) -> list[dict[str, Any]]:
        """Return each citation with its place in the text and its address."""
        self._cite(self.answer["citations"])
        found = []
        for n, start, end in self._marks:
            cited = self._cited.get(n)
            url = self._link(cited) if cited else ""
            if cited and url:
                place = {"start_index": start, "end_index": end, "url": url, "title": cited["title"]}
                found.append({"type": "url_citation", "url_citation": place})
        return found

    def _link(self, citation: Mapping[str, Any]) -> str:
        opens = citation["open"]
        if opens["view"] == "web":
            return str(opens["url"]).replace("(", "%28").replace(")", "%29").replace(" ", "%20")
        return self._base + opens["href"] if "href" in opens else ""

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> ServerSentEvent:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return ServerSentEvent(json.dumps(self._frame("chat.completion.chunk", choices=[choice])), sep="\n")

    def _frame(self, kind: str, **members: Any) -> dict[str, Any]:
        head = {"id": self._id, "object": kind, "created": self._created, "model": self._request.model}
        return {**head, **members}


def _step(event: Mapping[str, Any]) -> str:
    """Return a step as a line, which clients show as the reasoning before the answer."""
    summary = event.get("summary")
    return f"{event['title']}: {summary}\n" if summary else f"{event['title']}\n"


def usage_of(answer: Mapping[str, Any]) -> dict[str, int]:
    """Return the tokens that chat models read and wrote; 0 without a chat model."""
    read = written = 0
    for row in answer["usage"]:
        read += row["input_tokens"]
        written += row["output_tokens"]
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
