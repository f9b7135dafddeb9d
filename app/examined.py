"""The exam of the checking model: `ragweave setup` holds it, `ragweave doctor` shows its result."""

from __future__ import annotations

from collections.abc import Callable

from ragweave.app.findings import Finding
from ragweave.models.errors import RagweaveError

AREA = "check of answers"


async def hold_exam(say: Callable[[str], None]) -> None:
    """Hold the exam of the checking model unless it took it before, and print the result or the error."""
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
    if result.passed:
        say(f"{result.words}.")  # begins with the name of the model, which keeps its letters
    else:
        say(f"{result.words[:1].upper()}{result.words[1:]}. Answers are not checked: {exam.REMEDY}.")


async def finding() -> Finding:
    """Return the result of the checking model's exam, if it took it; call no model."""
    from ragweave.components import exam
    from ragweave.models.chat import chat

    model = chat("check")
    if model is None:
        return Finding(AREA, "off", "no chat model: quotes need no check", "`ragweave setup chat`")
    result = await exam.known(model)
    if result is None:
        what = f"{model.name} at {model.host} sits an exam of forty sentences at its first answer"
        return Finding(AREA, "ok", what)
    if result.passed:
        return Finding(AREA, "ok", result.words)
    return Finding(AREA, "warn", result.words, exam.REMEDY)
