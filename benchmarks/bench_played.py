"""A paper's table with the recorded replies of a model played by hand: `python benchmarks/bench_played.py PAPER ...`.

Takes what `ragweave bench` takes, and `--captions` to have clips described. Somebody wrote each reply from its prompt
alone, without gold answers or files; `records/bench.jsonl` has them by the digest of the messages, pictures included,
without the day. A message that was never played gets an error, which is counted at the end.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from ragweave.tests.support.faults import Fault
from ragweave.tests.support.server import Received, ScriptedServer

RECORDS = Path(__file__).parent / "records" / "bench.jsonl"


def digest(messages: list[dict[str, Any]]) -> str:
    """Return the digest of messages, whatever day they name."""
    told = re.sub(r"(Today|It) is \d{4}-[\dT:.+-]+", "", json.dumps(messages, ensure_ascii=False, sort_keys=True))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def main() -> None:
    """Run the command against a server that replays."""
    rows = map(json.loads, RECORDS.read_text(encoding="utf-8").splitlines())
    known = {row["messages"]: row["reply"] for row in rows}
    unknown: list[Received] = []

    def reply(request: Received) -> Any:
        if (said := known.get(digest(request.messages))) is not None:
            return said
        unknown.append(request)
        return Fault.status(400, "never played")

    with ScriptedServer(react=reply) as server:
        role = {"RAGWEAVE_CHAT": "openai:desk", "RAGWEAVE_CHAT_URL": server.base_url, "RAGWEAVE_CHAT_KEY": "played"}
        given = [a for a in sys.argv[1:] if a != "--captions"]
        if given != sys.argv[1:]:
            role |= {name.replace("CHAT", "VISION"): value for name, value in role.items()}
        # One call at a time: the names of entities are told in the order in which chunks were read.
        role |= {"RAGWEAVE_ENTITIES": "llm", "RAGWEAVE_CHAT_WIDTH": "1"}
        command = [Path(sys.executable).parent / "ragweave", "bench", *given, "--mode", "llm", "--yes"]
        subprocess.run(command, env={**os.environ, **role}, check=True)
    print(f"{len(server.requests)} calls, {len(unknown)} never played")


if __name__ == "__main__":
    main()
