"""`ragweave eval check`: how often the check keeps a right sentence and catches a planted error."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from ragweave.evals.commands.common import WORK, JsonOut, Work, report, run

if TYPE_CHECKING:
    from ragweave.evals.check import CheckedSet

SetName = Annotated[
    str,
    typer.Option(
        "--set",
        help="A set of benchmarks/sets, or a folder with library/ and questions.jsonl; empty: written.",
    ),
]
Answers = Annotated[
    Path | None,
    typer.Option("--answers", help="Recorded answers (id, answer, cited); empty: sentences of the library."),
]
Opinion = Annotated[
    str,
    typer.Option(
        "--opinion",
        help="model (the product's check) or faithfulness (one prompt over all that was retrieved).",
    ),
]
Right = Annotated[int, typer.Option("--right", min=1, help="Right sentences of a set.")]
Planted = Annotated[int, typer.Option("--planted", min=1, help="Sentences of a set with an error.")]
Each = Annotated[int, typer.Option("--each", min=1, max=40, help="Sentences of an answer.")]
Out = Annotated[Path | None, typer.Option("--out", help="Write the result for each sentence to this file.")]
Kept = Annotated[
    list[Path] | None,
    typer.Option("--report", help="Print the figures of such files again; may be repeated."),
]


def check(
    name: SetName = "",
    answers: Answers = None,
    opinion: Opinion = "model",
    right: Right = 40,
    planted: Planted = 40,
    each: Each = 5,
    out: Out = None,
    kept: Kept = None,
    work: Work = WORK,
    json_out: JsonOut = None,
) -> None:
    """Check right sentences and planted errors, and print how many are lost and caught.

    Without a set: written answers with 18 kinds of error, and right sentences in a good model's words (sums,
    converted units, other languages). With one, 17 kinds are planted by rule, a true sentence that cites the
    wrong passage among them. RAGWEAVE_CHECK, or RAGWEAVE_CHAT, names the model.
    """
    from ragweave.evals.check import OpinionBy, measured, read, write
    from ragweave.evals.corpus import use_home
    from ragweave.models.chat import chat
    from ragweave.models.errors import InputError

    if kept:
        report(measured(read(kept)), json_out)
        return
    opinions = get_args(OpinionBy)
    if opinion not in opinions:
        raise InputError(f"there is no opinion {opinion!r}", f"give {' or '.join(opinions)}")
    if chat("check") is None:
        raise InputError("no chat model is set that could check", "set RAGWEAVE_CHECK or RAGWEAVE_CHAT")
    use_home(work.resolve() / "home")
    found = run(_checked(name, answers, opinion, right, planted, each))
    if out:
        write(found, out)
    report(measured(found), json_out)


async def _checked(
    name: str, answers: Path | None, opinion: str, right: int, planted: int, each: int
) -> CheckedSet:
    """Check the written answers, or the sentences of a set."""
    from ragweave.evals.check import OpinionBy, checked
    from ragweave.evals.check_answers import cases, written
    from ragweave.evals.corpus import indexed
    from ragweave.evals.sets import folder_of

    if not name:
        return await checked(written(), cast("OpinionBy", opinion))
    folder = folder_of(name)
    library = f"check-{folder.name}"
    await indexed(folder / "library", library)
    of_set = await cases(folder, library, answers, right, planted, each)
    return await checked(of_set, cast("OpinionBy", opinion))
