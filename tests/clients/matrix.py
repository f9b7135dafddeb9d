"""Which client does what here: each row is tried by its program, and stands in docs/serving.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
PYTHON, NODE = ROOT / ".clients" / "python" / "bin" / "python", ROOT / ".clients" / "node"
COLUMNS = ("chat", "stream", "citations", "follow-up", "file", "picture", "tools")


class Client(NamedTuple):
    """A client, the package that its version is of, its program or test, and what it does here."""

    name: str
    package: str
    program: str
    does: tuple[str, ...] = COLUMNS


CLIENTS = (
    Client("openai-python", "openai", "openai_python.py"),
    Client("litellm", "litellm", "litellm_proxyless.py"),
    Client(
        "LlamaIndex OpenAILike", "llama-index-llms-openai-like", "llama_index_openai_like.py", COLUMNS[:4]
    ),
    Client("Haystack", "haystack-ai", "haystack_generator.py", COLUMNS[:6]),
    Client("pydantic-ai", "pydantic-ai-slim", "pydantic_agent.py"),
    Client("AI SDK", "ai", "ai_sdk.mjs"),
    Client("RemoteRunnable, Python", "langserve", "remote_runnable.py", COLUMNS[:6]),
    Client("RemoteRunnable, JavaScript", "langchain-core-js", "remote_runnable.mjs", COLUMNS[:6]),
    Client("MCP, Python", "mcp", "mcp_python.py", ("chat", "citations", "file", "tools")),
    Client(
        "MCP, TypeScript",
        "@modelcontextprotocol/sdk",
        "mcp_typescript.mjs",
        ("chat", "citations", "file", "tools"),
    ),
)


OTHERS = (
    Client("Open WebUI, by its calls", "open_webui.json", "../test_open_webui.py", COLUMNS[:6]),
    Client("RemoteGraph, langgraph-sdk", "langgraph-sdk", "../test_agent_server.py", COLUMNS[:3]),
    Client(
        "A2A, and MCP of `langgraph dev`", "langgraph-api", "../test_agent_server.py", ("chat", "follow-up")
    ),
)
"""What has a test of its own."""


def version(package: str) -> str:
    """Return the version of a package that the tests install."""
    if package.endswith(".json"):
        told: str = json.loads((HERE / package).read_text(encoding="utf-8"))["version"]
        return told
    files = (ROOT / "constraints.txt", HERE / "requirements.txt")
    pins = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    found = dict(line.split("==") for line in pins if "==" in line)
    wanted = json.loads((HERE / "package.json").read_text(encoding="utf-8"))["dependencies"]
    pinned: str = found.get(package) or wanted[package]
    return pinned.rpartition("@")[2]


def rows() -> list[str]:
    """Return the rows of the table in docs/serving.md."""
    made = []
    for client in (*CLIENTS, *OTHERS):
        cells = ["yes" if column in client.does else "" for column in COLUMNS]
        test = f"[{Path(client.program).stem}](../tests/clients/{'programs/' + client.program})".replace(
            "programs/../", ""
        )
        made.append(
            " | ".join(["", client.name, version(client.package), *cells, test, ""])
            .replace("  ", " ")
            .strip()
        )
    return made


if __name__ == "__main__":
    print("\n".join(rows()))
