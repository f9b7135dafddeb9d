"""A server in a step of the simulator of faults: it goes on with what it had accepted, and accepts files."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from ragweave.corpora.store.folders import of_the_disk
from ragweave.models.errors import RagweaveError
from ragweave.serve.app import create_app
from ragweave.serve.app_state import AppState
from ragweave.serve.settings import ServeSettings
from ragweave.tests.support.serving import in_process

ACCEPTED = "accepted: "


def serve(library: str, files: list[str]) -> int:
    """Run a server until it has indexed the files, each told once it is accepted; returns what the command would."""
    try:
        asyncio.run(_serve(library, [Path(f) for f in files]))
    except Exception as error:
        told = error if isinstance(error, RagweaveError) else of_the_disk(error)
        if told is None:
            raise
        print(f"error: {told}", file=sys.stderr)
        return 2
    return 0


async def _serve(library: str, files: list[Path]) -> None:
    app = create_app(ServeSettings(per_minute=10**6))
    async with in_process(app) as client:
        for path in files:
            data = await asyncio.to_thread(path.read_bytes)
            answer = await client.post(
                "/api/upload", files={"files": (path.name, data)}, data={"library": library}
            )
            if answer.status_code == 202:
                for name in answer.json()["files"]:
                    print(f"{ACCEPTED}{path.name}\t{name}", flush=True)
            elif not answer.json().get("remedy"):
                raise ValueError(f"an upload is refused with {answer.status_code}: {answer.text}")
        desk: AppState = app.state.app_state
        # Beside others, what one of them had accepted before it was killed goes on once it is missed.
        while desk.store.shared and any(  # noqa: ASYNC110
            not record.thread for record in await asyncio.to_thread(desk.runs._records.running)
        ):
            await asyncio.sleep(0.1)
        await asyncio.gather(*(job.task for job in desk.jobs._jobs.values() if job.task is not None))
