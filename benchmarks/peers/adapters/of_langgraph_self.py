"""Self-RAG as LangGraph's tutorial describes it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from adapting import serve
from tutorial import SelfRag, index

if __name__ == "__main__":
    asyncio.run(serve(index, SelfRag))
