"""Adds the commands that measure and train to the command line."""

from __future__ import annotations

import typer

from ragweave.evals.commands import data, eval, images, runs, synthesize, train, video


def add_to(app: typer.Typer) -> None:
    """Add `eval`, `train` and `synthesize`."""
    for measure in (
        data.retrieval,
        data.evaluator,
        data.answers,
        data.thresholds,
        images.images,
        images.alpha,
        video.video,
        data.mixed,
        data.corruption,
        runs.ablate,
        runs.frontier,
        runs.judge,
    ):
        eval.eval_app.command()(measure)
    app.command("synthesize")(synthesize.synthesize)
    app.add_typer(eval.eval_app, name="eval")
    app.add_typer(train.train_app, name="train")
