"""The exam of the model that checks, as `ragweave setup` holds it and `ragweave doctor` tells of it."""

from __future__ import annotations

from collections.abc import Callable

from ragweave.app.findings import Finding
from ragweave.models.errors import RagweaveError

AREA = "check of answers"


async def sit_aloud(say: Callable[[str], None]) -> None:
    """Have the model that checks sit its exam if it never did, and say what came of it; a failure stops nothing."""
    from ragweave.components import exam
    from ragweave.components.context import Context
    from ragweave.components.run_context import RunContext, TurnState
    from ragweave.models.meter import Meter

    run = RunContext("setup", Context(mode="llm"), TurnState(Meter()))
    run.event = lambda event: say(str(event["text"]))
    try:
        result = await exam.passed(run)
    except RagweaveError as error:
        say(f"The exam could not be held, and is held at the first answer: {error}")
        return
    remedy = "" if result.passed else f" Answers are not checked: {exam.REMEDY}."
    say(f"{result.words[:1].upper()}{result.words[1:]}.{remedy}")


async def finding() -> Finding:
    """Say whether the model that checks has sat its exam, and what it made of it; nothing is called."""
    from ragweave.components import exam
    from ragweave.models.chat import chat

    model = chat("check")
    if model is None:
        return Finding(AREA, "off", "no chat model: quotes need no check", "`ragweave setup chat`")
    result = await exam.known(model)
    if result is None:
        return Finding(
            AREA, "ok", f"{model.name} at {model.host} sits an exam of forty sentences at its first answer"
        )
    return Finding(
        AREA, "ok" if result.passed else "warn", result.words, "" if result.passed else exam.REMEDY
    )
