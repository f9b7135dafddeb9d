"""`ragweave train`: train the models that ship on your own labelled questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

train_app = typer.Typer(
    help="Train the small models anew.", no_args_is_help=True, rich_markup_mode=None, add_completion=False
)


@train_app.callback()
def _group() -> None:
    """Keep `ragweave train router` a command of its own while there is only one."""


@train_app.command()
def router(
    data: Annotated[Path, typer.Option("--data", help="JSON Lines with query and label (id, source).")],
    out: Annotated[Path, typer.Option("--out", help="File for the head.")] = Path("router.npz"),
    templates: Annotated[bool, typer.Option(help="Add the template questions that ship.")] = True,
    leave_one_out: Annotated[
        bool, typer.Option("--leave-one-source-out", help="Also print the accuracy on each source left out.")
    ] = False,
) -> None:
    """Train the small router head; `ragweave eval router --head OUT` measures it."""
    from ragweave.corpora.types import LABELS
    from ragweave.evals.data import read_routed
    from ragweave.evals.report import table
    from ragweave.evals.templates import template_questions
    from ragweave.evals.train_router import Corpus, fit, leave_one_source_out
    from ragweave.models.errors import MissingExtra

    try:
        import lightgbm  # noqa: F401
        import sklearn  # noqa: F401
    except ImportError as error:
        raise MissingExtra("training the router", "train") from error
    rows = read_routed(data, LABELS)
    own = template_questions() if templates else []
    head = fit(Corpus.of(rows, own, LABELS), lambda line: typer.echo(line, err=True))
    head.save(out)
    typer.echo(f"{out}: {out.stat().st_size:,} bytes, {len(rows)} labelled and {len(own)} template questions")
    if leave_one_out:
        found = leave_one_source_out(rows, own, LABELS, lambda line: typer.echo(line, err=True))
        typer.echo(table(["source left out", "accuracy"], [[k, v] for k, v in found.items()]))
