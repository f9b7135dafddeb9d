"""Passages become a library of their own, or the reason is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.evals.corpus import prepare
from ragweave.models.errors import InputError

PASSAGES = [{"id": "one", "title": "Lamp", "text": "The lamp was lit in 1820."}]


async def test_a_folder_that_an_ignore_file_leaves_out_is_refused_and_not_kept(tmp_path: Path) -> None:
    (tmp_path / ".ragweaveignore").write_text("work/\n", encoding="utf-8")
    work = tmp_path / "work"
    for _ in range(2):
        with pytest.raises(InputError, match="nothing was indexed"):
            await prepare(PASSAGES, "lamps", work)
    (tmp_path / ".ragweaveignore").unlink()
    assert (await prepare(PASSAGES, "lamps", work)).passage == {"000000.md": "one"}
