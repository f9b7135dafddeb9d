"""LlamaIndex: OpenAILike."""

import json
import sys

from common import LIT, SAILS
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike

model = OpenAILike(
    model="agent", api_base=f"{sys.argv[1]}/v1", api_key="none", is_chat_model=True, max_retries=0
)
first = model.chat([ChatMessage(role="user", content=LIT)]).message.content
said = [("user", LIT), ("assistant", first), ("user", SAILS)]
print(
    json.dumps(
        {
            "chat": first,
            "stream": [
                part.message.content for part in model.stream_chat([ChatMessage(role="user", content=LIT)])
            ][-1],
            "citations": first,
            "follow-up": model.chat([ChatMessage(role=r, content=c) for r, c in said]).message.content,
        }
    )
)
