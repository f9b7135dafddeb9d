"""A second opinion of a language model on sentences and what they rest on, in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, field_validator

from ragweave.components.answer_builder import Claim
from ragweave.components.evidence import Strip, Support
from ragweave.components.passages import untitled
from ragweave.components.run_context import RunContext
from ragweave.models.text import clip
from ragweave.prompts import load, quote

_SHOWN = 1_500
"""Characters of a strip that a model checks against."""
_SAID: dict[str, Support] = {"verified": "verified", "unverified": "unverified", "contradicted": "contradicted"}


class Opinions(BaseModel):
    """What the model is asked for: a verdict for each sentence, by its number."""

    verdicts: dict[str, str]

    @field_validator("verdicts", mode="before")
    @classmethod
    def _by_number(cls, value: Any) -> Any:
        """Take a list of words, or of rows, as well."""
        if isinstance(value, list):
            return {
                str(v.get("n", n)) if isinstance(v, dict) else str(n): str(
                    v.get("verdict", "") if isinstance(v, dict) else v
                )
                for n, v in enumerate(value, 1)
            }
        return {str(k): str(v) for k, v in value.items()} if isinstance(value, dict) else value


async def check(run: RunContext, question: str, claims: Sequence[Claim]) -> list[Support] | None:
    """Return a verdict for each claim; None where none can be read."""
    strips = {s["id"]: s for c in claims for s in c.seen}
    texts = {i: clip(untitled(s), _SHOWN) for i, s in strips.items()}
    wholes = {i: _whole(i, strips, texts) for i in strips}
    numbers = {i: n for n, i in enumerate(dict.fromkeys(wholes.values()), 1)}
    at = {i: numbers[whole] for i, whole in wholes.items()}
    evidence = "\n\n".join(f"[{n}] " + quote(f"{strips[i]['title']}\n{texts[i]}") for i, n in numbers.items())
    marks = ["".join(f"[{at[s['id']]}]" for s in c.named or c.rests) for c in claims]
    listed = "\n".join(f"{n}. {c.text} {m}".strip() for n, (c, m) in enumerate(zip(claims, marks, strict=True), 1))
    reply = await run.json(load("check", question=question, sentences=listed, evidence=evidence or "(none)"), Opinions)
    read = reply.verdicts if reply is not None else {}
    said = [_SAID.get(read.get(str(n), "").strip(" .").lower()) for n in range(1, len(claims) + 1)]
    if not any(said):
        run.note(
            "The model's second opinion could not be read; the sentences are marked as the local check found them."
        )
        return None
    return [verdict or "unverified" for verdict in said]


def _whole(part: str, strips: Mapping[str, Strip], texts: Mapping[str, str]) -> str:
    """Return the id of the longest strip of a file that shows all of another one's text; of most that is their own."""
    file = strips[part]["locator"].get("file")
    same = [i for i, s in strips.items() if file and s["locator"].get("file") == file and texts[part] in texts[i]]
    return max(same, key=lambda i: len(texts[i]), default=part)


async def doubt(run: RunContext, question: str, claims: Sequence[Claim]) -> list[Support]:
    """Leave the claims as the local check found them: nobody gives a second opinion."""
    return [c.support for c in claims]
