"""Serve Ragweave to MCP clients as tools and resources."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator, Sequence
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
from ragweave.corpora.store.rows import Source
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import RagweaveError
from ragweave.models.text import clip
from ragweave.serve import tools
from ragweave.serve.access import Caller, library_for, visible
from ragweave.serve.attached import MOST_FILES, ReadFiles, Sender
from ragweave.serve.direct import unless_left
from ragweave.serve.late import Made
from ragweave.serve.pictures import PictureDesk
from ragweave.serve.problems import NotFound
from ragweave.serve.routes_library import item_of
from ragweave.serve.slots import Slots

_ABOUT = f"""{tools.ABOUT}
Use `ask` for an answer, or for quotes where the library has no language model; \
`search` for passages to read yourself;
and `open_citation` for the whole text behind a citation."""
_MOST = 200_000
"""Maximum length of a resource, in characters."""
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)

Library = Annotated[str | None, Field(description=tools.LIBRARY)]
Sources = Annotated[
    tools.Sources | None, Field(description="Ids of the only sources to search; see list_sources.")
]
Pictures = Annotated[
    list[str] | None,
    Field(max_length=MOST, description="Pictures that belong to the question, as data URLs."),
]
Files = Annotated[
    list[tools.AskedFile] | None,
    Field(description=f"Up to {MOST_FILES} files to search with the library for this question alone."),
]
CallerOf = Callable[[Context[Any, Any]], Caller]


def build(caller_of: CallerOf, slots: Slots, app_state: PictureDesk) -> MCPServer[Any]:
    """Return the MCP server; `caller_of` identifies the caller, `app_state` reads pictures."""
    server: MCPServer[Any] = MCPServer(
        "ragweave", title="Ragweave", instructions=_ABOUT, version=__version__, log_level="WARNING"
    )
    _add_ask(server, caller_of, slots, app_state)
    _add_search(server, caller_of)
    _add_lists(server, caller_of)
    _add_citations(server, caller_of)
    _add_resources(server, caller_of)
    return server


def _add_ask(server: MCPServer[Any], caller_of: CallerOf, slots: Slots, desk: PictureDesk) -> None:
    """Register the tool that answers a question."""

    @server.tool(annotations=_READS, description=tools.ASK)
    async def ask(
        question: tools.WholeQuestion,
        ctx: Context[Any, Any],
        library: Library = None,
        sources: Sources = None,
        pictures: Pictures = None,
        files: Files = None,
        effort: tools.EffortOfAnswer = "normal",
    ) -> tools.Answered:
        with in_words():
            caller, steps = caller_of(ctx), itertools.count(1)
            row = await library_for(caller, library)
            read = await _read_files(files or (), desk, Sender(caller.id))
            work = tools.asked(
                slots, row, question, sources or (), _item(row), await desk.read(pictures or ()),
                lambda step: ctx.report_progress(next(steps), message=step), effort, read,
            )  # fmt: skip
            # Over standard input there is no request: the process ends when the client disconnects.
            request = ctx.request_context.request
            if isinstance(request, Request):
                return await unless_left(request, work)
            return await work


async def _read_files(files: Sequence[tools.AskedFile], desk: PictureDesk, sender: Sender) -> ReadFiles:
    """Return the files of a question, with a note for each that cannot be read."""
    notes = list[str]()
    sent = await desk.files.with_content([file.sent for file in files], sender, notes)
    read = await desk.files.read(sent)
    return ReadFiles(read.files, [*notes, *read.notes])


def _add_search(server: MCPServer[Any], caller_of: CallerOf) -> None:
    """Register the tool that searches for passages."""

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


def _add_lists(server: MCPServer[Any], caller_of: CallerOf) -> None:
    """Register the tools that list libraries and sources."""

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
            return [_source(row, source) for source in found]


def _source(row: LibraryRow, source: Source) -> dict[str, Any]:
    """Return a source as the tool lists it."""
    listed = {
        "id": source.id,
        "name": PurePath(source.path).name,
        "title": source.title,
        "kind": source.kind,
        "status": source.status,
        "uri": uri(row.name, "sources", source.id),
    }
    if source.reason:
        listed["reason"] = source.reason
    return listed


def _add_citations(server: MCPServer[Any], caller_of: CallerOf) -> None:
    """Register the tool that opens a citation."""

    @server.tool(annotations=_READS)
    async def open_citation(
        id: Annotated[str, Field(description="Id of a citation or of a passage.")],
        ctx: Context[Any, Any],
        library: Library = None,
    ) -> dict[str, Any]:
        """Return the whole text behind a citation, and its place in the source."""
        with in_words():
            item = await asyncio.to_thread(item_of, await library_for(caller_of(ctx), library), id)
            found = {name: item[name] for name in ("id", "title", "heading", "locator", "date")}
            return {**found, "text": clip(item["text"], 50_000), "place": tools.place(item["locator"])}


def _add_resources(server: MCPServer[Any], caller_of: CallerOf) -> None:
    """Register the texts of passages and sources as resources."""

    @server.resource("ragweave://{library}/items/{id}", mime_type="text/plain")
    async def passage(library: str, id: str, ctx: Context[Any, Any]) -> str:
        """A passage that was found or cited: its title, its place, and its whole text."""
        with in_words(ResourceError):
            item = await asyncio.to_thread(item_of, await library_for(caller_of(ctx), library), id)
            head = " · ".join(filter(None, (item["title"], tools.place(item["locator"]))))
            return f"{head}\n\n{clip(item['text'], _MOST)}"

    @server.resource("ragweave://{library}/sources/{id}", mime_type="text/plain")
    async def source(library: str, id: str, ctx: Context[Any, Any]) -> str:
        """The text of one file, in order: its passages, descriptions of its pictures, transcripts."""
        with in_words(ResourceError):
            row = await library_for(caller_of(ctx), library)
            text = await asyncio.to_thread(text_of, row.id, id)
            if not text:
                raise NotFound(
                    "There is no such source, or no text in it", "list_sources names those that there are"
                )
            return clip(text, _MOST)


def text_of(library: str, source: str) -> str:
    """Return the text of a source in the order of its parts."""
    catalog = stores().catalog
    texts = []
    for corpus in ("paragraph", "image", "clip"):
        for item in catalog.items_of(library, source, corpus):
            texts.append(item.text)
    return "\n\n".join(texts)


def uri(library: str, kind: str, id: str) -> str:
    """Return the address of a resource."""
    return f"ragweave://{quote(library, safe='')}/{kind}/{quote(id, safe='')}"


@contextmanager
def in_words(kind: type[Exception] = ToolError) -> Iterator[None]:
    """Give the client the message of an expected error; others are only logged."""
    try:
        yield
    except RagweaveError as error:
        raise kind(str(error)) from None


def over_http(slots: Slots, pictures: PictureDesk) -> Made:
    """Return the app for MCP clients over HTTP."""

    def caller_of(ctx: Context[Any, Any]) -> Caller:
        return cast(Caller, cast(Request, ctx.request_context.request).state.caller)

    server = build(caller_of, slots, pictures)
    # The guard has already checked host and origin.
    trusting = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(stateless_http=True, transport_security=trusting)
    return server.session_manager.handle_request, server.session_manager.run()


def _item(row: LibraryRow) -> tools.Uri:
    return lambda found: uri(row.name, "items", found["id"])
