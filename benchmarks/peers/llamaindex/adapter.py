"""LlamaIndex: BM25 and vectors fused by reciprocal rank, ten passages, its citation query engine."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from adapting import serve
from llama_index.core import Settings, SimpleDirectoryReader, StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.openai_like import OpenAILike
from llama_index.retrievers.bm25 import BM25Retriever

URL, KEY = os.environ["PEER_URL"], "peer"
Settings.llm = OpenAILike(
    model="desk", api_base=URL, api_key=KEY, is_chat_model=True, context_window=32_000, timeout=7_200
)
Settings.embed_model = OpenAILikeEmbedding(model_name="encoder", api_base=URL, api_key=KEY, embed_batch_size=64)
Settings.node_parser = SentenceSplitter(chunk_size=512, chunk_overlap=64)


def index(store: Path, folder: Path) -> int:
    documents = SimpleDirectoryReader(str(folder), recursive=True, filename_as_id=True).load_data()
    if (store / "docstore.json").exists():
        made = load_index_from_storage(StorageContext.from_defaults(persist_dir=str(store)))
        made.refresh_ref_docs(documents)
        there = {d.id_ for d in documents}
        for gone in [i for i in made.ref_doc_info if i not in there]:
            made.delete_ref_doc(gone, delete_from_docstore=True)
    else:
        made = VectorStoreIndex.from_documents(documents)
    made.storage_context.persist(str(store))
    return len(documents)


class Asker:
    def __init__(self, store: Path) -> None:
        made = load_index_from_storage(StorageContext.from_defaults(persist_dir=str(store)))
        nodes = list(made.docstore.docs.values())
        lexical = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=min(10, len(nodes)))
        fused = QueryFusionRetriever(
            [made.as_retriever(similarity_top_k=10), lexical],
            similarity_top_k=10,
            num_queries=1,
            mode="reciprocal_rerank",
            use_async=True,
        )
        self.retriever = fused
        self.engine = CitationQueryEngine.from_args(made, retriever=fused, citation_chunk_size=512)

    async def ask(self, question: str, previous: list[str]) -> tuple[str, list[str]]:
        told = " ".join([*previous, question])
        reply = await self.engine.aquery(told)
        return str(reply), [n.metadata.get("file_path", "") for n in reply.source_nodes]

    async def find(self, question: str) -> list[str]:
        return [n.metadata.get("file_path", "") for n in await self.retriever.aretrieve(question)]


if __name__ == "__main__":
    asyncio.run(serve(index, Asker))
