"""Write a home as this version does, into a small file: python -m ragweave.tests.homes.write NAME.zip.

A home that is here stays here: every later version opens it, or, where it is of the first edition, refuses it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import zipfile
from pathlib import Path

NOTES = {
    "alexandria.md": "# Alexandria\n\nThe lighthouse of Alexandria was built on Pharos in 280 BC.\n",
    "plain.txt": "The obelisk stood in Heliopolis before it was moved.\n",
}
QUESTION = "Where was the lighthouse of Alexandria built?"


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        home, notes = Path(place) / "home", Path(place) / "notes"
        os.environ["RAGWEAVE_HOME"] = str(home)
        from ragweave.app import api, threads
        from ragweave.corpora.store.bundle import export_library
        from ragweave.corpora.store.library import close_all
        from ragweave.serve.access import Keys
        from ragweave.serve.app import create_app
        from ragweave.serve.settings import ServeSettings
        from ragweave.serve.store import Store
        from ragweave.tests.support.library import build_library
        from ragweave.tests.support.serving import ask_over_http, in_process

        asyncio.run(build_library(notes, NOTES))
        with threads.opened(threads.threads_file()) as (runner, saver):
            runner.run(api.astate(QUESTION, thread="20260101-abcdef", checkpointer=saver))

        async def serve() -> None:
            async with in_process(create_app(ServeSettings())) as client:
                await ask_over_http(client, QUESTION)

        asyncio.run(serve())
        asyncio.run(export_library("default", home / "default.ragweave"))
        _, secret = Keys(Store(home / "serve.sqlite")).create("ada", None)
        (home / "secret.txt").write_text(secret)
        close_all()
        with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as out:
            for path in sorted(p for p in home.rglob("*") if p.is_file() and "locks" not in p.parts):
                out.write(path, path.relative_to(home))


if __name__ == "__main__":
    main()
