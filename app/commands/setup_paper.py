"""`ragweave setup --paper`: download the published weights of a paper and write their settings."""

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
    """Download the weights of a paper, each after a yes, and write the settings that use them.

    `weights` names a copy of the first weights: a folder, or OWNER/NAME on the hub, with or without a commit.

    Raises:
        InputError: there is no such paper, or its weights have to be downloaded by hand.
        WeightsError: the hub is forbidden or cannot be reached, or the folder is not a checkpoint.
    """
    from ragweave.models.paper_weights import PAPERS

    if paper not in PAPERS:
        raise InputError(f"there is no paper “{paper}”", f"use one of: {', '.join(PAPERS)}")
    for n, wanted in enumerate(PAPERS[paper]):
        _set_up(paper, wanted, weights if n == 0 else "", yes)


def _set_up(paper: str, wanted: PaperWeights, named: str, yes: bool) -> None:
    """Download one set of weights after a yes, or take it from a folder, and write its settings."""
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
    where = f"{found.repo} at {found.commit}, {found.bytes / 1e6:,.0f} MB, licence {found.licence}"
    typer.echo(clean(f"{wanted.what}: {where}; sets {', '.join(wanted.settings)}."))
    if not (yes or typer.confirm("Download it?")):
        return
    folder = found.fetch()
    if not folder.is_dir():
        raise WeightsError(f"{found.repo} was not fetched", "try again")
    _finish(wanted, {"repo": found.repo, "commit": found.commit, "folder": str(folder)})


def _finish(wanted: PaperWeights, filled: Mapping[str, str]) -> None:
    """Write the settings of weights with their repository, commit and folder filled in."""
    from ragweave.models.user_settings import write

    values: dict[str, str] = {}
    for name, template in wanted.settings.items():
        values[name] = template.format(**filled).removesuffix("@")
    typer.echo(f"Written to {write(values)}.")
    if values.get("RAGWEAVE_EMBED"):
        typer.echo(f"Give a library this encoder: ragweave index --embed {values['RAGWEAVE_EMBED']}")
    if wanted.then:
        typer.echo(wanted.then.format(**filled))
