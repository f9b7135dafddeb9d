"""`ragweave setup --paper`: fetch what a paper's authors published, after a yes, and write the settings that use it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ragweave.app.places import clean
from ragweave.models.errors import InputError, WeightsError

if TYPE_CHECKING:
    from ragweave.models.paper_weights import PaperWeights


def set_up_paper(paper: str, weights: str, yes: bool) -> None:
    """Fetch the weights of a paper one after the other, each after a yes, and write their settings to the user's own.

    `weights` names a copy in place of the first: a folder, or OWNER/NAME of the hub, with a commit or
    without.

    Raises:
        InputError: there is no such paper, or its weights have to be fetched by hand.
        WeightsError: the hub may not be used, cannot be reached, or a folder is no checkpoint.
    """
    from ragweave.models.paper_weights import PAPERS

    if paper not in PAPERS:
        raise InputError(f"there is no paper “{paper}”", f"use one of: {', '.join(PAPERS)}")
    for n, wanted in enumerate(PAPERS[paper]):
        _set_up(paper, wanted, weights if n == 0 else "", yes)


def _set_up(paper: str, wanted: PaperWeights, named: str, yes: bool) -> None:
    if named and Path(named).expanduser().is_dir():
        from ragweave.models.checkpoint_files import read_config

        folder = Path(named).expanduser().absolute()
        read_config(folder)
        _finish(wanted, {"repo": str(folder), "commit": "", "folder": str(folder)})
        return
    if not (named or wanted.repo):
        raise InputError(
            f"the authors publish their {wanted.what} at {wanted.page}, which has no revisions to hold",
            f"download it, then: ragweave setup --paper {paper} --weights FOLDER (or a copy on the hub:"
            " OWNER/NAME)",
        )
    from ragweave.models.paper_weights import resolve

    found = resolve(wanted, named)
    settings = ", ".join(wanted.settings)
    typer.echo(
        clean(
            f"{wanted.what}: {found.repo} at {found.commit}, {found.bytes / 1e6:,.0f} MB, licence"
            f" {found.licence}; sets {settings}."
        )
    )
    if not (yes or typer.confirm("Download it?")):
        return
    folder = found.fetch()
    if not folder.is_dir():
        raise WeightsError(f"{found.repo} was not fetched", "try again")
    _finish(wanted, {"repo": found.repo, "commit": found.commit, "folder": str(folder)})


def _finish(wanted: PaperWeights, filled: Mapping[str, str]) -> None:
    from ragweave.models.user_settings import write

    values = {name: value.format(**filled).removesuffix("@") for name, value in wanted.settings.items()}
    typer.echo(f"Written to {write(values)}.")
    if encoder := values.get("RAGWEAVE_EMBED"):
        typer.echo(f"Give a library this encoder: ragweave index --embed {encoder}")
    if wanted.then:
        typer.echo(wanted.then.format(**filled))
