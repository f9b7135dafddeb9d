"""Write the tables of endpoints into docs/api.md from the server's own OpenAPI schema.

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
"""Titles of the tables, with the path prefixes of each."""
REST = "Server, models and keys"
"""Title of the table of all other paths."""
BEGIN, END = "<!-- endpoints: written by `make docs` -->", "<!-- end of endpoints -->"
STANDARD = "/v1"
"""Prefix of the paths of the OpenAI API; only their required fields and our own field are listed."""
_METHODS = ("get", "post", "put", "patch", "delete")


def schema() -> dict[str, Any]:
    """Return the OpenAPI schema of the server; this creates its database in the home."""
    from ragweave.serve.app import create_app

    with warnings.catch_warnings():
        # A path that takes both HEAD and GET has one operation id, which gives a warning.
        warnings.simplefilter("ignore")
        return create_app().openapi()


def tables(described: Mapping[str, Any]) -> str:
    """Return one table for each group of paths of a schema, as Markdown."""
    rows: dict[str, list[str]] = {title: [] for title, _ in GROUPS}
    rows[REST] = []
    for path, methods in described["paths"].items():
        for method in _METHODS:
            if method in methods:
                row = _row(method, path, methods[method], described["components"]["schemas"])
                rows[_group(path)].append(row)
    lines: list[str] = []
    for title in rows:
        lines += [f"### {title}", "", "| request | what it does |", "|---|---|", *rows[title], ""]
    return "\n".join(lines)


def _group(path: str) -> str:
    """Return the title of the table for a path."""
    for title, prefixes in GROUPS:
        if path.startswith(prefixes):
            return title
    return REST


def _row(method: str, path: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    """Return the row of a request: method, path, query and fields of the body, and what it does."""
    request = f"{method.upper()} {path}"
    query: list[str] = []
    for parameter in sorted(operation.get("parameters", ()), key=lambda parameter: not parameter["required"]):
        if parameter["in"] == "query":
            query.append(_optional(parameter["name"], parameter["required"]))
    if query:
        request += f"?{'&'.join(query)}"
    fields = _body_fields(path, operation, schemas)
    body = f" `{', '.join(fields)}`" if fields else ""
    meaning = _first(operation.get("description", "")).replace("|", "\\|")
    return f"| `{request}`{body} | {meaning} |"


def _body_fields(path: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> list[str]:
    """Return the fields of a request's body; of the OpenAI API, those that `STANDARD` says."""
    fields: list[str] = []
    for content in operation.get("requestBody", {}).get("content", {}).values():
        form = schemas[content["schema"]["$ref"].rpartition("/")[2]]
        required = form.get("required", ())
        for name in form.get("properties", {}):
            if not path.startswith(STANDARD) or name in required or name == "ragweave":
                fields.append(_optional(name, name in required))
    return fields


def _optional(name: str, required: bool) -> str:
    return name if required else f"{name}?"


def _first(text: str) -> str:
    """Return the first sentence of a description."""
    flat = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=\.) (?=[A-Z])", flat, maxsplit=1)[0]


def page(text: str) -> str:
    """Return the page with new tables; the text outside of them is kept.

    Raises:
        ValueError: the page lacks the two marks that enclose the tables.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page has to hold {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{tables(schema())}\n{END}{after}"


def main(argv: list[str]) -> None:
    """Write the tables into the file that the first argument names, or print them."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["RAGWEAVE_HOME"] = home
        if argv:
            file = Path(argv[0])
            file.write_text(page(file.read_text(encoding="utf-8")), encoding="utf-8")
        else:
            sys.stdout.write(tables(schema()))


if __name__ == "__main__":
    main(sys.argv[1:])
