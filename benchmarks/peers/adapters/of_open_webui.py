"""Open WebUI: its server, a knowledge collection, hybrid search, ten pieces, its own prompt and search queries.

Files go up one by one, as its page sends them; what has changed is told by its own comparison of a folder.
"""

from __future__ import annotations

import asyncio
import atexit
import hashlib
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import httpx
from adapting import serve

SETTINGS = {
    **dict.fromkeys(("WEBUI_SECRET_KEY", "OPENAI_API_KEY", "RAG_OPENAI_API_KEY"), "peer"),
    **dict.fromkeys(("WEBUI_AUTH", "ENABLE_PERSISTENT_CONFIG", "ENABLE_OLLAMA_API"), "False"),
    **dict.fromkeys(("OPENAI_API_BASE_URL", "RAG_OPENAI_API_BASE_URL"), os.environ["PEER_URL"]),
    "RAG_EMBEDDING_ENGINE": "openai",
    "RAG_EMBEDDING_MODEL": "encoder",
    "RAG_EMBEDDING_BATCH_SIZE": "64",
    **dict.fromkeys(("ENABLE_RAG_HYBRID_SEARCH", "OFFLINE_MODE"), "True"),
    **dict.fromkeys(("RAG_TOP_K", "RAG_TOP_K_RERANKER"), "10"),
}


class Asker:
    def __init__(self, store: Path) -> None:
        self.store = store
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        run = [
            str(Path(sys.executable).parent / "open-webui"),
            "serve",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ]
        given = os.environ | SETTINGS | {"DATA_DIR": str(store.resolve())}
        with (store / "log").open("w") as log:
            atexit.register(subprocess.Popen(run, env=given, stdout=log, stderr=log, cwd=store).terminate)
        self.http = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=7_200)

    async def call(self, verb: str, path: str, **given: Any) -> Any:
        return (await self.http.request(verb, f"/api/{path}", **given)).raise_for_status().json()

    async def ready(self) -> None:
        while "Authorization" not in self.http.headers:
            try:
                token = (await self.call("post", "v1/auths/signin", json={"email": "", "password": ""}))[
                    "token"
                ]
                self.http.headers["Authorization"] = f"Bearer {token}"
            except (httpx.TransportError, httpx.HTTPStatusError):
                await asyncio.sleep(0.5)
        held = (await self.call("get", "v1/knowledge/"))["items"]
        new = dict.fromkeys(("name", "description"), "notes")
        self.id = (held[0] if held else await self.call("post", "v1/knowledge/create", json=new))["id"]
        self.model = (await self.call("get", "models"))["data"][0]["id"]

    async def put(self, folder: Path) -> int:
        (self.store / "folder").write_text(str(folder))
        files = {p.relative_to(folder).as_posix(): p for p in sorted(folder.rglob("*")) if p.is_file()}
        data = {name.replace("/", "__"): p.read_bytes() for name, p in files.items()}
        told = [
            {"filename": n, "checksum": hashlib.sha256(b).hexdigest(), "size": len(b)}
            for n, b in data.items()
        ]
        sync, wait = f"v1/knowledge/{self.id}/sync", {"process_in_background": "false"}
        diff = await self.call("post", f"{sync}/diff", json={"manifest": [{**t, "path": ""} for t in told]})
        stale = [f["stale_file_id"] for f in diff["modified"]] + [f["file_id"] for f in diff["deleted"]]
        await self.call("post", f"{sync}/cleanup", json={"file_ids": stale})
        for name in [f["filename"] for f in [*diff["added"], *diff["modified"]]]:
            try:
                made = await self.call("post", "v1/files/", files={"file": (name, data[name])}, params=wait)
                await self.call("post", f"v1/knowledge/{self.id}/file/add", json={"file_id": made["id"]})
            except httpx.HTTPStatusError as error:
                print(f"{name}: {error.response.text[:200]}", file=sys.stderr)
        return len(files)

    def files(self, found: list[dict[str, Any]]) -> list[str]:
        return [f"{(self.store / 'folder').read_text()}/{m['name'].replace('__', '/')}" for m in found]

    async def find(self, question: str) -> list[str]:
        asked = {"collection_names": [self.id], "query": question, "k": 10}
        return self.files(
            (await self.call("post", "v1/retrieval/query/collection", json=asked))["metadatas"][0]
        )

    async def ask(self, question: str, previous: list[str]) -> tuple[str, list[str]]:
        said = [{"role": "user", "content": p} for p in [*previous, question]]
        given = {"model": self.model, "messages": said, "files": [{"type": "collection", "id": self.id}]}
        reply = await self.call("post", "chat/completions", json=given | {"stream": False})
        read = self.files([m for s in reply.get("sources", []) for m in s["metadata"]])
        return reply["choices"][0]["message"]["content"], list(
            dict.fromkeys(read)
        )  # as its prompt numbers them


async def index(store: Path, folder: Path) -> int:
    server = Asker(store)
    await server.ready()
    return await server.put(folder)


if __name__ == "__main__":
    asyncio.run(serve(index, Asker))
