"""Requests that are nearly right, for every route that the server tells of, and for the doors beside them."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from hypothesis import strategies as st

from ragweave.tests.hard.fuzz import Found, until
from ragweave.tests.hard.mutated import files

LONGEST = 60.0
"""Seconds for one request; questions are answered without a language model."""
NOTES = {
    "lamp.md": "# The lamp\n\nThe lamp of Arnholt was lit in 1874.\n",
    "wall.md": "# The wall\n\nBuilt in 1702.\n",
}
_DOORS = (
    "/mcp",
    "/langserve/agent/invoke",
    "/langserve/agent/batch",
    "/langserve/agent/stream",
    "/nothing/here",
)
_ASKED = {"question": {"type": "string"}, "history": {"type": "array"}, "messages": {"type": "array"}}
_INPUT = {"type": "object", "properties": _ASKED}
_PARTS = {
    "input": _INPUT,
    "inputs": {"type": "array", "items": _INPUT},
    "config": {"type": "object", "properties": {"configurable": {"type": "object"}}},
}
_PARTS |= {
    "jsonrpc": {"enum": ["2.0"]},
    "id": {"type": "integer"},
    "method": {"enum": ["tools/call", "tools/list", "initialize"]},
    "params": {"type": "object"},
}
_DOOR = {
    "requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": _PARTS}}}}
}
_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters(), max_size=20),
    st.sampled_from(
        ("\ud800", "\0", "../..", "default", "agent", "x" * 3000, "1e999", -1, 2**63, 10**400, "\u202e", "")
    ),
)
JUNK = st.recursive(
    _SCALARS, lambda of: st.lists(of, max_size=4) | st.dictionaries(st.text(max_size=9), of, max_size=4)
)
_WAITS = ("/events",)
"""Streams that go on for as long as their run, which may wait for consent."""


class Target:
    """A server in this process over two notes, and what its routes take."""

    def __init__(self, client: httpx.AsyncClient, form: dict[str, Any], known: list[str]) -> None:
        self.client, self.form, self.known = client, form, known
        self.routes = [
            (m.upper(), path, told) for path, ways in form["paths"].items() for m, told in ways.items()
        ]
        self.routes += [("POST", path, _DOOR) for path in _DOORS]

    @st.composite
    @staticmethod
    def requests(draw: st.DrawFn, self: Target) -> tuple[str, str, dict[str, Any]]:
        """Draw a request: method, address, and what httpx is given with it."""
        method, path, told = draw(st.sampled_from(self.routes))
        words = st.one_of(
            st.sampled_from([*self.known, "..", "%2e%2e", "\0", "a\r\nb", "\\", "9" * 30, "-1"]),
            st.text(max_size=12),
        )
        query = {}
        for one in told.get("parameters", ()):
            value = draw(words)
            if one["in"] == "path":
                whole = quote(value, safe="", errors="replace")
                path = path.replace("{" + one["name"] + "}", whole or "x")
            elif draw(st.integers(0, 5)):
                query[one["name"]] = value.encode("utf-8", "replace").decode()
        kinds = told.get("requestBody", {}).get("content", {})
        given: dict[str, Any] = {"params": query}
        if "multipart/form-data" in kinds:
            sent = draw(st.lists(files(), max_size=3))
            given["files"] = [("files", (draw(words), data)) for _, data in sent] or None
            given["data"] = {"library": draw(words)} if draw(st.integers(0, 4)) else {}
        elif method in ("POST", "PATCH"):
            schema = kinds.get("application/json", {}).get("schema", {})
            if not draw(st.integers(0, 15)):
                body = draw(st.binary(max_size=60))
            else:  # half characters and numbers without end are written as Python writes them
                body = json.dumps(
                    draw(self.valid(schema, 0)) if draw(st.integers(0, 9)) else draw(JUNK)
                ).encode()
            given |= {
                "content": body,
                "headers": {
                    "content-type": draw(st.sampled_from(("application/json",) * 9 + ("text/plain",)))
                },
            }
        return method, path, given

    def valid(self, schema: dict[str, Any], depth: int) -> st.SearchStrategy[Any]:
        """Return what a schema allows, with a stranger here and there."""
        while "$ref" in schema:
            schema = self.form["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        if options := schema.get("anyOf") or schema.get("oneOf"):
            return st.one_of([self.valid(o, depth + 1) for o in options])
        if "enum" in schema or "const" in schema:
            return st.sampled_from(schema.get("enum", [schema.get("const")])) | JUNK
        kind = schema.get("type")
        if kind == "object" and "properties" in schema and depth < 6:
            parts = {
                n: st.integers(0, 7).flatmap(lambda k, s=s: JUNK if k == 0 else self.valid(s, depth + 1))
                for n, s in schema["properties"].items()
            }
            must = {n: parts.pop(n) for n in schema.get("required", ()) if n in parts}
            return st.fixed_dictionaries(must, optional=parts)
        if kind == "object":
            knobs = st.dictionaries(st.sampled_from(self.knobs()), _SCALARS, max_size=3)
            return knobs | st.dictionaries(st.text(max_size=9), JUNK, max_size=3)
        if kind == "array":
            return st.lists(self.valid(schema.get("items", {}), depth + 1), max_size=3)
        strings = st.sampled_from(
            [*self.known, "agent", "When was the lamp of Arnholt lit?", "user"]
        ) | st.text(max_size=30)
        return {
            "string": strings,
            "integer": st.integers(),
            "number": st.floats(),
            "boolean": st.booleans(),
        }.get(kind, JUNK)

    @staticmethod
    def knobs() -> list[str]:
        """Return the names of the settings of a run."""
        from ragweave.components.context import Context

        return [n for n in Context.model_fields if n != "web"]

    async def take(self, case: tuple[str, str, dict[str, Any]], counts: Counter[str]) -> None:
        """Send a request and look at the answer."""
        method, path, given = case
        try:
            async with asyncio.timeout(LONGEST):
                answer = await self.client.request(method, path, **given)
        except TimeoutError:
            if not path.endswith(_WAITS):
                raise Found(f"{method} {path} is not answered within {LONGEST:g} s: {given}") from None
            return
        except (httpx.InvalidURL, UnicodeError):
            return  # no client can send it
        counts[f"{answer.status_code // 100}xx"] += 1
        said = answer.text[:300]
        if answer.status_code >= 500 and answer.status_code != 507:
            raise Found(f"{method} {path} gives {answer.status_code}: {said}\n{given}")
        if answer.status_code >= 400 and method != "HEAD" and not path.startswith(("/mcp", "/langserve")):
            body = answer.json()
            told = body.get("error", body) if isinstance(body, dict) else {}
            if not (told.get("remedy") or told.get("message")):
                raise Found(f"{method} {path} gives {answer.status_code} without a remedy: {said}")
        if "Traceback" in said or "/ragweave/" in said:
            raise Found(f"{method} {path} tells of the inside: {said}")


@asynccontextmanager
async def target(place: Path) -> AsyncIterator[Target]:
    """Serve two notes."""
    from ragweave.corpora.store.stores import stores
    from ragweave.serve.app import create_app
    from ragweave.serve.settings import ServeSettings
    from ragweave.tests.support import build_library
    from ragweave.tests.support.serving import in_process

    await build_library(place / "texts", NOTES)
    row = stores().catalog.library("default")
    sources = stores().catalog.sources(row.id)
    items = [i.id for s in sources for i in stores().catalog.items_of(row.id, s.id, "paragraph")]
    app = create_app(ServeSettings(per_minute=10**9))
    async with in_process(app) as client:
        thread = (await client.post("/api/threads", json={})).json()["id"]
        run = (await client.post("/api/ask", json={"question": "When was the lamp lit?"})).json()["run"]
        yield Target(
            client, app.openapi(), ["default", row.id, *(s.id for s in sources), *items, thread, run]
        )


def fuzz_requests(seconds: float, first: int, kept: Path | None = None) -> Counter[str]:
    """Send requests until the time is over."""
    counts: Counter[str] = Counter()
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="fuzzed-") as folder, asyncio.Runner() as runner:
        os.environ |= {
            "RAGWEAVE_HOME": f"{folder}/home",
            "RAGWEAVE_OCR": "off",
            "RAGWEAVE_PARSE_WORKERS": "1",
        }
        opened = target(Path(folder))
        made = runner.run(opened.__aenter__())
        try:
            until(
                time.monotonic() + seconds,
                first,
                Target.requests(made),
                lambda case: runner.run(made.take(case, counts)),
                kept,
            )
            rows = runner.run(made.client.get("/api/libraries")).json()["libraries"]
            counts["libraries at the end"] = len(rows)
        finally:
            runner.run(opened.__aexit__(None, None, None))
            print(dict(sorted(counts.items())), flush=True)
    return counts
