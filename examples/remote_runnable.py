"""Ask a running server a question by LangServe: print steps and sentences as they arrive, then the answer.

Start `ragweave serve`, then run `python examples/remote_runnable.py "a question"`.
"""

from __future__ import annotations

import sys

from langserve import RemoteRunnable

SERVER = "http://127.0.0.1:8765"


def main(question: str, server: str = SERVER) -> str:
    """Print the stream of a run, and return the text of its answer."""
    # For a server with keys, add: headers={"Authorization": "Bearer rw_..."}
    agent = RemoteRunnable(f"{server}/langserve/agent/")
    text = ""
    for event in agent.stream({"question": question}, config={"configurable": {"top_k": 5}}):
        if event["type"] == "step":
            print(f"{event['node']}: {event['summary']}")
        elif event["type"] == "sentence":
            print(event["content"])
        elif event["type"] == "answer":
            text = event["content"]
    return text


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "What do my notes say?")
