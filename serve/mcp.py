"""Ragweave as tools of an assistant that speaks MCP: ask, search, list sources, open a citation; files to read."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Annotated, Any, cast
from urllib.parse import quote

from fastapi import Request
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import ToolAnnotations
from pydantic import Field

from ragweave import __version__
from ragweave.components.attachments import MOST
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import RagweaveError
from ragweave.models.text import clip
from ragweave.serve import tools
from ragweave.serve.access import Caller, library_for, visible
from ragweave.serve.direct import unless_left
from ragweave.serve.late import Made
from ragweave.serve.pictures import PictureDesk
from ragweave.serve.problems import NotFound
from ragweave.serve.routes_library import item_of
from ragweave.serve.slots import Slots

_ABOUT = f"""{tools.ABOUT}
Use `ask` for an answer, or for quotes where the library has no language model; `search` for passages to read yourself;
and `open_citation` for the whole text behind a citation."""
_MOST = 200_000
"""Characters of a resource."""
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)

Library = Annotated[str | None, Field(description=tools.LIBRARY)]
Sources = Annotated[
    tools.Sources | None, Field(description="Ids of the only sources to search; see list_sources.")
]
Pictures = Annotated[
    list[str] | None,
    Field(max_length=MOST, description="Pictures that belong to the question, as data URLs."),
]
CallerOf = Callable[[Context[Any, Any]], Caller]


def build(caller_of: CallerOf, slots: Slots, app_state: PictureDesk) -> MCPServer[Any]:
    """Return the MCP server; `caller_of` says who asks, `app_state` reads pictures."""
    server: MCPServer[Any] = MCPServer(
        "ragweave", title="Ragweave", instructions=_ABOUT, version=__version__, log_level="WARNING"
    )

    @server.tool(annotations=_READS, description=tools.ASK)
    async def ask(
        question: tools.WholeQuestion,
        ctx: Context[Any, Any],
        library: Library = None,
        sources: Sources = None,
        pictures: Pictures = None,
        effort: tools.EffortOfAnswer = "normal",
    ) -> tools.Answered:
        with in_words():
            row, steps = await library_for(caller_of(ctx), library), itertools.count(1)
            work = tools.asked(
                slots, row, question, sources or (), _item(row), await app_state.read(pictures or ()),
                lambda step: ctx.report_progress(next(steps), message=step), effort,
            )  # fmt: skip
            request = (
                ctx.request_context.request
            )  # none over standard input, where who leaves ends the process
            return await (unless_left(request, work) if isinstance(request, Request) else work)

    @server.tool(annotations=_READS, description=tools.SEARCH)
    async def search(
        query: tools.Query,
        ctx: Context[Any, Any],
        library: Library = None,
        limit: tools.Limit = 8,
        sources: Sources = None,
    ) -> list[tools.FoundPassage]:
        with in_words():
            row = await library_for(caller_of(ctx), library)
            return await tools.sought(row, query, limit, sources or (), _item(row))

    @server.tool(annotations=_READS)
    async def list_libraries(ctx: Context[Any, Any]) -> list[str]:
        """List the libraries that can be asked."""
        with in_words():
            return [row.name for row in await visible(caller_of(ctx))]

    @server.tool(annotations=_READS)
    async def list_sources(ctx: Context[Any, Any], library: Library = None) -> list[dict[str, Any]]:
        """List the files of a library, also those that could not be read."""
        with in_words():
            row = await library_for(caller_of(ctx), library)
            found = await asyncio.to_thread(lambda: stores().catalog.sources(row.id))
            return [
                {
                    "id": s.id,
                    "name": PurePath(s.path).name,
                    "title": s.title,
                    "kind": s.kind,
                    "status": s.status,
                }
                | {"uri": uri(row.name, "sources", s.id)}
                | ({"reason": s.reason} if s.reason else {})
                for s in found
            ]

    @server.tool(annotations=_READS)
    async def open_citation(
        id: Annotated[str, Field(description="Id of a citation or of a passage.")],
        ctx: Context[Any, Any],
        library: Library = None,
    ) -> dict[str, Any]:
        """Return the whole text behind a citation, and where it stands in its source."""
        with in_words():
            item = await asyncio.to_thread(item_of, await library_for(caller_of(ctx), library), id)
            found = {k: item[k] for k in ("id", "title", "heading", "locator", "date")}
            return {**found, "text": clip(item["text"], 50_000), "place": tools.place(item["locator"])}

    @server.resource("ragweave://{library}/items/{id}", mime_type="text/plain")
    async def passage(library: str, id: str, ctx: Context[Any, Any]) -> str:
        """A passage that was found or cited: its title, where it stands, and its whole text."""
        with in_words(ResourceError):
            item = await asyncio.to_thread(item_of, await library_for(caller_of(ctx), library), id)
            head = " · ".join(filter(None, (item["title"], tools.place(item["locator"]))))
            return f"{head}\n\n{clip(item['text'], _MOST)}"

    @server.resource("ragweave://{library}/sources/{id}", mime_type="text/plain")
    async def source(library: str, id: str, ctx: Context[Any, Any]) -> str:
        """The text of one file, in order: its passages, what its pictures show, what is said in its recordings."""
        with in_words(ResourceError):
            row = await library_for(caller_of(ctx), library)
            told = await asyncio.to_thread(text_of, row.id, id)
            if not told:
                raise NotFound(
                    "There is no such source, or no text in it", "list_sources names those that there are"
                )
            return clip(told, _MOST)

    return server


def text_of(library: str, source: str) -> str:
    """Return the text of a source in the order of its parts."""
    catalog = stores().catalog
    parts = (catalog.items_of(library, source, corpus) for corpus in ("paragraph", "image", "clip"))
    return "\n\n".join(item.text for items in parts for item in items)


def uri(library: str, kind: str, id: str) -> str:
    """Return the address of a resource."""
    return f"ragweave://{quote(library, safe='')}/{kind}/{quote(id, safe='')}"


@contextmanager
def in_words(kind: type[Exception] = ToolError) -> Iterator[None]:
    """Give the assistant the sentence of an error that was foreseen; any other one stays in the log."""
    try:
        yield
    except RagweaveError as error:
        raise kind(str(error)) from None


def over_http(slots: Slots, pictures: PictureDesk) -> Made:
    """Return the app for assistants that come over HTTP."""

    def caller_of(ctx: Context[Any, Any]) -> Caller:
        return cast(Caller, cast(Request, ctx.request_context.request).state.caller)

    server = build(caller_of, slots, pictures)
    # The guard has checked host and origin.
    trusting = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(stateless_http=True, transport_security=trusting)
    return server.session_manager.handle_request, server.session_manager.run()


def _item(row: LibraryRow) -> tools.Uri:
    return lambda found: uri(row.name, "items", found["id"])
