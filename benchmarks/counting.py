"""Count what a question runs: SQL statements, transactions, supersteps, nodes, thread hops, scorings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def count_calls(of: Any, name: str, counts: Counter[str], label: str) -> tuple[Any, str, Any]:
    """Count the calls of a method under a label; returns the class, the name and the method to restore."""
    plain = getattr(of, name)

    def call(*given: Any, **more: Any) -> Any:
        counts[label] += 1
        return plain(*given, **more)

    setattr(of, name, call)
    return of, name, plain


@contextmanager
def counting(counts: Counter[str]) -> Iterator[None]:
    """Count what a question runs: statements, transactions, supersteps, nodes, threads, scorings."""
    from concurrent.futures import ThreadPoolExecutor

    from langgraph.pregel._loop import PregelLoop
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    from ragweave.models.relevance import RelevanceHead
    from ragweave.nodes.run import NodeRun

    patched = [
        count_calls(ThreadPoolExecutor, "submit", counts, "thread hops"),
        count_calls(PregelLoop, "after_tick", counts, "supersteps"),
        count_calls(RelevanceHead, "scores", counts, "pool scorings"),
        count_calls(NodeRun, "done", counts, "node runs"),
    ]

    def stated(*_: Any) -> None:
        counts["SQL statements"] += 1

    def begun(*_: Any) -> None:
        counts["transactions"] += 1

    event.listen(Engine, "before_cursor_execute", stated)
    event.listen(Engine, "begin", begun)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", stated)
        event.remove(Engine, "begin", begun)
        for of, name, plain in patched:
            setattr(of, name, plain)
