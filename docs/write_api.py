"""Writes the tables of endpoints into docs/api.md from the server's own OpenAPI schema.

Run `python -m ragweave.docs.write_api FILE`; without a file it prints the tables.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Ask", ("/api/ask", "/api/graphs", "/api/context", "/api/runs", "/search")),
    ("Conversations", ("/api/threads", "/api/verdicts")),
    ("Libraries and sources", ("/api/libraries", "/api/sources", "/api/upload", "/api/fetch", "/api/jobs")),
    ("Passages", ("/api/open", "/api/overview", "/api/entities")),
    ("Files", ("/media",)),
    ("Other programs", ("/v1",)),
)
"""Titles of the tables, with the beginnings of the paths in each."""
REST = "Server, models and keys"
"""Title of the table of what is in no other."""
BEGIN, END = "<!-- endpoints: written by `make docs` -->", "<!-- end of endpoints -->"
STANDARD = "/v1"
"""Beginning of the paths whose members are those of the OpenAI API: only what is required is told, and our own."""
_METHODS = ("get", "post", "put", "patch", "delete")


def schema() -> dict[str, Any]:
    """Return the OpenAPI schema of the server; its database is made in the home, if it is not there."""
    from ragweave.serve.app import create_app

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a path that takes HEAD as well as GET has one operation id
        return create_app().openapi()


def tables(described: Mapping[str, Any]) -> str:
    """Return one table for each group of paths of a schema, as Markdown."""
    rows: dict[str, list[str]] = {title: [] for title in (*(title for title, _ in GROUPS), REST)}
    for path, methods in described["paths"].items():
        title = next((title for title, starts in GROUPS if path.startswith(starts)), REST)
        for method in _METHODS:
            if method in methods:
                rows[title].append(_row(method, path, methods[method], described["components"]["schemas"]))
    return "\n".join(
        "\n".join([f"### {title}", "", "| request | what it does |", "|---|---|", *rows[title], ""])
        for title in rows
    )


def _row(method: str, path: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    named = sorted(operation.get("parameters", ()), key=lambda p: not p["required"])
    query = [_optional(p["name"], p["required"]) for p in named if p["in"] == "query"]
    request = f"{method.upper()} {path}" + (f"?{'&'.join(query)}" if query else "")
    body = [
        _optional(name, name in form.get("required", ()))
        for content in operation.get("requestBody", {}).get("content", {}).values()
        for form in [schemas[content["schema"]["$ref"].rpartition("/")[2]]]
        for name in form.get("properties", {})
        if not path.startswith(STANDARD) or name in (*form["required"], "ragweave")
    ]
    sent = f" `{', '.join(body)}`" if body else ""
    does = _first(operation.get("description", "")).replace("|", "\\|")
    return f"| `{request}`{sent} | {does} |"


def _optional(name: str, required: bool) -> str:
    return name if required else f"{name}?"


def _first(text: str) -> str:
    """Return the first sentence of a description."""
    flat = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=\.) (?=[A-Z])", flat, maxsplit=1)[0]


def page(text: str) -> str:
    """Return the page with its tables written anew; what stands outside of them is kept.

    Raises:
        ValueError: the two marks between which the tables stand are not there.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page has to hold {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{tables(schema())}\n{END}{after}"


def main(argv: list[str]) -> None:
    """Write the tables into the file named first, or print them."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["RAGWEAVE_HOME"] = home
        if argv:
            file = Path(argv[0])
            file.write_text(page(file.read_text(encoding="utf-8")), encoding="utf-8")
        else:
            sys.stdout.write(tables(schema()))


if __name__ == "__main__":
    main(sys.argv[1:])
