"""Count the tokens of a question's prompts and of its check: `python benchmarks/tokens.py [SET ...]`.

A script replaces the model: it answers each question of a set with two sentences that cite the first two
documents. Only the prompts are counted, so the words of the answer hardly matter.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
from collections.abc import Sequence
from typing import Any

from ragweave.tests.support.server import ScriptedServer

SETS = ("fieldlab", "canalboat")
QUESTIONS = 30
ANSWER = (
    "Final Answer: The papers speak of this at some length and name who did it [1]. Another one adds a detail"
    " [2]."
)


def react(request: Any) -> str:
    """Answer a question, and judge what another version of the check asks for."""
    if "numbered documents" in request.prompt:
        return ANSWER
    verdict = {"passage": 0, "words": "", "verdict": "not stated"}
    return json.dumps({"verdicts": [{"n": n, **verdict} for n in range(1, 6)]})


async def measured(name: str, server: ScriptedServer) -> tuple[float, float, float]:
    """Return the tokens of an answer and of a call of the check, and the other calls of a question."""
    import ragweave
    from ragweave.evals.sets import folder_of

    folder = folder_of(name)
    rows = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()[:QUESTIONS]
    await ragweave.aindex([folder / "library"], name)
    start = len(server.requests)
    for row in rows:
        await ragweave.aask(json.loads(row)["question"], library=name)
    sent = [*server.requests[start:], *getattr(server, "checks", [])]
    if hasattr(server, "checks"):
        server.checks.clear()
    answers: list[int] = []
    checks: list[int] = []
    for request in sent:
        prompt = request.prompt
        if "numbered documents" in prompt:
            answers.append(len(prompt) // 4)
        if "sentences of" in prompt.lower() and "You check" in prompt:
            checks.append(len(prompt) // 4)
    return sum(answers) / len(rows), sum(checks) / max(1, len(checks)), len(answers) / len(rows)


async def main(names: Sequence[str]) -> None:
    """Print a row a set."""
    print(
        "| set | tokens of the answer | tokens of a call of the check | together | calls but for the check |"
    )
    print("|---|---|---|---|---|")
    with ScriptedServer(react=react) as server, tempfile.TemporaryDirectory() as home:
        given = {"HOME": home, "CHAT": "openai:small", "CHAT_URL": server.base_url, "CHAT_CACHE": "false"}
        for key, value in given.items():
            os.environ[f"RAGWEAVE_{key}"] = value
        for name in names:
            answer, check, calls = await measured(name, server)
            print(f"| {name} | {answer:,.0f} | {check:,.0f} | {answer + check:,.0f} | {calls:.2f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=SETS, help="names of sets")
    asyncio.run(main(parser.parse_args().sets))
