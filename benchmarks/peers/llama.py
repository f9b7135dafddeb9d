"""What LlamaIndex's two engines share: its index of a folder, and BM25 and vectors fused by reciprocal rank."""

from __future__ import annotations

import os
from pathlib import Path

from llama_index.core import (
    Settings,
    SimpleDirectoryReader,
    StorageContext,
    VectorStoreIndex,
    load_index_from_storage,
)
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
Settings.embed_model = OpenAILikeEmbedding(
    model_name="encoder", api_base=URL, api_key=KEY, embed_batch_size=64
)
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


def opened(store: Path) -> tuple[QueryFusionRetriever, CitationQueryEngine]:
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
    return fused, CitationQueryEngine.from_args(made, retriever=fused, citation_chunk_size=512)
