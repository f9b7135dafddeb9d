"""Asks many questions in one process by the public API alone.

Reads a job from standard input, prints answers as JSON.

A job: `paths` to index, `conversations` (lists of turns; the last answer is printed), `mode`, what the model
`knows`."""

from __future__ import annotations

import json
import os
import sys

from model import Model


def main() -> None:
    """Do one job."""
    job = json.load(sys.stdin)
    model = None
    if job["mode"] == "llm":
        model = Model(job["knows"])
        # Set before the import, so that nothing has read its settings yet. A kept reply would hide a call.
        os.environ |= {
            "RAGWEAVE_CHAT": "golden",
            "RAGWEAVE_CHAT_URL": model.url,
            "RAGWEAVE_CHAT_CACHE": "false",
        }
        os.environ |= {"RAGWEAVE_CHAT_KEY": "none", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    from langgraph.checkpoint.memory import InMemorySaver

    import ragweave

    ragweave.index(job["paths"], job["library"])
    context, saver = ragweave.Context(library=job["library"], mode=job["mode"]), InMemorySaver()
    for n, turns in enumerate(job["conversations"]):
        try:
            for turn in turns:
                if model:
                    model.question, model.calls = turn, 0
                answer = ragweave.ask(turn, context=context, thread=str(n), checkpointer=saver)
            said = answer.model_dump(mode="json")
        except Exception as error:
            said = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps({**said, "calls": model.calls if model else 0}), flush=True)


if __name__ == "__main__":
    main()
