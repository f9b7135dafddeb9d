"""Ragweave as the retriever of a LangChain chain, whose own model writes the answer.

Index something first (`ragweave index FOLDER`), then run `python examples/retriever_in_a_chain.py "a
question"`, with the key of OpenAI, or with another model of LangChain in the variable MODEL.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnablePassthrough

from ragweave import Retriever

PROMPT = ChatPromptTemplate.from_template(
    "Answer from these passages alone, and name the title of the one you used.\n\n{passages}\n\nQuestion:"
    " {question}"
)


def chain(model: Any) -> Runnable[str, str]:
    """Return a chain from a question to a text.

    Args:
        model: a chat model of LangChain, or a function of a prompt.
    """
    passages = Retriever(k=4) | _as_text
    return {"passages": passages, "question": RunnablePassthrough()} | PROMPT | model | StrOutputParser()


def _as_text(documents: list[Document]) -> str:
    return "\n\n".join([f"{document.metadata['title']}\n{document.page_content}" for document in documents])


if __name__ == "__main__":
    question = " ".join(sys.argv[1:]) or "What do my notes say?"
    print(chain(init_chat_model(os.environ.get("MODEL", "openai:gpt-4o-mini"))).invoke(question))
