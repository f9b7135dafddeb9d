"""LangServe's RemoteRunnable in Python."""

import json
import sys

from common import FILE_PART, IMAGE_PART, LIT, SAILS, WHO, with_part
from langserve import RemoteRunnable

agent = RemoteRunnable(f"{sys.argv[1]}/langserve/agent/")
first = agent.invoke({"question": LIT})
events = list(agent.stream({"question": LIT}))
thread = {"configurable": {"thread_id": "1"}}
agent.invoke({"question": LIT}, thread)
print(
    json.dumps(
        {
            "chat": first["content"],
            "stream": events[-1]["content"],
            "citations": "".join(c["open"]["href"] for c in first["citations"]),
            "file": agent.invoke({"messages": [with_part(WHO, FILE_PART)]})["content"],
            "picture": agent.invoke({"messages": [with_part(LIT, IMAGE_PART)]})["content"],
            "follow-up": agent.invoke({"question": SAILS}, thread)["content"],
        }
    )
)
