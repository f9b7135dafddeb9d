"""`ragweave eval check`: how often the check keeps a right sentence and catches a planted error."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from ragweave.evals.commands.common import WORK, JsonOut, Work, report, run


def check(
    folder: Annotated[
        Path | None, typer.Option("--set", help="Folder with library/ and questions.jsonl (id, question, answers).")
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option("--answers", help="Kept answers (id, answer, cited); empty: sentences of the library."),
    ] = None,
    opinion: Annotated[
        str,
        typer.Option(
            "--opinion",
            help="none, scripted (makes no mistake), model (RAGWEAVE_CHAT), alone (it judges every sentence) or "
            "faithfulness (one prompt over all that was retrieved).",
        ),
    ] = "none",
    right: Annotated[int, typer.Option("--right", min=1, help="Right sentences.")] = 40,
    planted: Annotated[int, typer.Option("--planted", min=1, help="Sentences with an error.")] = 20,
    each: Annotated[int, typer.Option("--each", min=1, max=40, help="Sentences of an answer.")] = 5,
    out: Annotated[Path | None, typer.Option("--out", help="Keep what became of each sentence there.")] = None,
    kept: Annotated[
        list[Path] | None, typer.Option("--report", help="Print the figures of kept files again; may be repeated.")
    ] = None,
    work: Work = WORK,
    json_out: JsonOut = None,
) -> None:
    """Plant errors into right sentences, have all checked, and print what is caught and what is marked by mistake.

    Kinds of error: number, date, name, negation, a value of another row, a value of another passage, and a true
    sentence that cites the wrong passage, which counts as caught where its citation is mended.
    """
    from ragweave.corpora.ingest.run import index
    from ragweave.evals.check import Checked, OpinionBy, cases, checked, measured, read, write
    from ragweave.evals.corpus import use_home
    from ragweave.models.errors import InputError

    if kept:
        report(measured(read(kept)), json_out)
        return
    opinions = get_args(OpinionBy)
    if folder is None or opinion not in opinions:
        raise InputError("there is nothing to check", f"give --set FOLDER, and as --opinion {', '.join(opinions)}")
    use_home(work.resolve() / "home")
    name = f"check-{folder.resolve().name}"

    async def measure() -> Checked:
        await index([folder / "library"], name)
        held = await cases(folder, name, answers, right, planted, each)
        return await checked(held, cast("OpinionBy", opinion))

    found = run(measure())
    if out:
        write(found, out)
    report(measured(found), json_out)
