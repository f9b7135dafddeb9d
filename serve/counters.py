"""Define the metrics of a server; `serve/metrics.py` exposes them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from prometheus_client import Counter, Gauge, Histogram

_SECONDS = (0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 40, 80, 160, 320)

QUESTIONS = Counter("ragweave_questions", "Questions by how they ended.", ["outcome"])
SECONDS = Histogram("ragweave_question_seconds", "Seconds from the first step to the end.", buckets=_SECONDS)
FIRST = Histogram("ragweave_first_sentence_seconds", "Seconds until the first sentence.", buckets=_SECONDS)
TOKENS = Counter("ragweave_tokens", "Tokens of answered questions.", ["model", "direction"])
CALLS = Counter("ragweave_model_calls", "Calls of models for answered questions.", ["model"])
RUNNING = Gauge("ragweave_answers_running", "Answers under way.", multiprocess_mode="livesum")
WAITING = Gauge("ragweave_questions_waiting", "Questions that wait for a place.", multiprocess_mode="livesum")
WAITED = Histogram("ragweave_queue_seconds", "Seconds that a question waited for a place.", buckets=_SECONDS)
JOBS = Gauge("ragweave_indexing_jobs", "Uploads that wait or are indexed.", multiprocess_mode="livesum")
FILES = Counter("ragweave_indexed_files", "Uploaded files by what became of them.", ["outcome"])
REQUESTS = Counter("ragweave_requests", "HTTP requests by status.", ["status"])
ERRORS = Counter("ragweave_errors", "Errors of requests and questions by code.", ["code"])


class CountedQuestion:
    """Metrics of one question."""

    def __init__(self) -> None:
        self._began, self._outcome, self._spoke = time.monotonic(), "", False

    def saw(self, event: Mapping[str, Any]) -> None:
        """Update the metrics from an event of the question."""
        if event["type"] == "sentence" and not self._spoke:
            self._spoke = True
            FIRST.observe(time.monotonic() - self._began)
        elif event["type"] == "consent":
            self._outcome = "consent"
        elif event["type"] == "answer":
            answer = event["answer"]
            self._outcome = "abstained" if answer["abstained"] else "answered"
            for row in answer["usage"]:
                if row["calls"]:
                    CALLS.labels(row["model"]).inc(row["calls"])
                    TOKENS.labels(row["model"], "in").inc(row["input_tokens"])
                    TOKENS.labels(row["model"], "out").inc(row["output_tokens"])

    def end(self, otherwise: str) -> None:
        """Count the question by its outcome, or as `otherwise` if no event gave one."""
        QUESTIONS.labels(self._outcome or otherwise).inc()
        SECONDS.observe(time.monotonic() - self._began)


@contextmanager
def question() -> Iterator[CountedQuestion]:
    """Count a question from its first step to its end."""
    counted, otherwise = CountedQuestion(), "stopped"
    try:
        yield counted
    except Exception:
        otherwise = "failed"
        raise
    finally:
        counted.end(otherwise)
