"""Ragweave inside other programs: a retriever and a tool of LangChain."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import ToolCall
from langchain_core.runnables import RunnablePassthrough

import ragweave
from ragweave.tests.support import build_library

TEXTS = {
    "pump.md": "# Pump\n\nThe pump is in the cellar. It was built by the Orlow company in 1987.",
    "garden.md": "# Garden\n\nThe roses need water twice a week in summer. The hedge is cut in March.",
}


async def test_a_library_is_a_retriever_of_langchain(home: Any, tmp_path: Any) -> None:
    await build_library(tmp_path / "texts", TEXTS, "house")
    retriever = ragweave.Retriever(library="house", k=1)
    (found,) = await retriever.ainvoke("Who built the pump?")
    assert "Orlow" in found.page_content and found.id
    assert found.metadata["title"] == "Pump" and found.metadata["locator"]["file"].endswith("pump.md")
    chain = {"notes": retriever, "question": RunnablePassthrough()} | RunnablePassthrough()
    assert "Orlow" in chain.invoke("Who built the pump?")["notes"][0].page_content


async def test_no_passage_of_a_retriever_is_a_part_of_another(home: Any, tmp_path: Any) -> None:
    sections = {"Wheel": "The wheel of the mill turns slowly.", "Stones": "The stones of the mill are new."}
    text = "# Mill\n\n" + "\n\n".join(
        f"## {head}\n\n{line} {'It is old oak. ' * 60}" for head, line in sections.items()
    )
    await build_library(tmp_path / "texts", {"mill.md": text, **TEXTS}, "house")
    question, context = (
        "What of the mill is new?",
        ragweave.Context(library="house", corpora=["paragraph", "document"]),
    )
    found = await ragweave.Retriever(context=context, k=6).ainvoke(question)
    texts = [
        " ".join(d.page_content.split()) for d in found if d.metadata["locator"]["file"].endswith("mill.md")
    ]
    assert texts and not any(a in b for a in texts for b in texts if a is not b)
    both = await ragweave.asearch(question, context=context)
    assert sum(row["locator"]["file"].endswith("mill.md") for row in both) > len(texts)


async def test_a_library_is_a_tool_whose_artifact_is_the_answer(home: Any, tmp_path: Any) -> None:
    await build_library(tmp_path / "texts", TEXTS, "house")
    tool = ragweave.as_tool(library="house", name="notes")
    call = ToolCall(name="notes", args={"question": "When is the hedge cut?"}, id="1", type="tool_call")
    message = await tool.ainvoke(call)
    assert "Garden [1]\n\n> " in message.content and "March" in message.content
    assert "\n[1] " in message.content and "garden.md, Garden\n" in message.content
    assert "No language model read these passages" in message.content
    assert isinstance(message.artifact, ragweave.Answer) and message.artifact.citations
    assert "March" in str(tool.invoke({"question": "When is the hedge cut?"}))
