"""A question set is kept as two files, and read as a folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragweave.evals.sets import folder_of, names, pack
from ragweave.models.errors import InputError


@pytest.fixture
def made(tmp_path: Path) -> Path:
    folder = tmp_path / "mill"
    (folder / "library" / "mail").mkdir(parents=True)
    (folder / "library" / "mail" / "grün.md").write_text("The mill stands.", encoding="utf-8")
    (folder / "library" / "table.xlsx").write_bytes(bytes(range(256)))
    (folder / "questions.jsonl").write_text('{"id": "1", "question": "Does it stand?"}\n', encoding="utf-8")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_packed_set_is_read_as_it_was(made: Path, tmp_path: Path) -> None:
    pack(made, tmp_path / "kept")
    found = folder_of("mill", tmp_path / "kept", tmp_path / "cache")
    assert found.name == "mill" and files(found) == files(made)


def test_the_same_files_make_the_same_bytes(made: Path, tmp_path: Path) -> None:
    first = pack(made, tmp_path / "kept").read_bytes()
    for path in made.rglob("*"):
        path.touch()
    assert pack(made, tmp_path / "kept").read_bytes() == first


def test_a_changed_set_is_unpacked_again(made: Path, tmp_path: Path) -> None:
    pack(made, tmp_path / "kept")
    folder_of("mill", tmp_path / "kept", tmp_path / "cache")
    (made / "library" / "new.md").write_text("The mill turns.", encoding="utf-8")
    pack(made, tmp_path / "kept")
    assert files(folder_of("mill", tmp_path / "kept", tmp_path / "cache")) == files(made)


def test_a_folder_is_a_set_as_it_is(made: Path) -> None:
    assert folder_of(made) == made


def test_an_unknown_name_is_refused_with_those_that_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither a folder") as refused:
        folder_of("windmill")
    assert "orchard" in str(refused.value.remedy)


def test_a_folder_without_questions_is_not_packed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no set"):
        pack(tmp_path, tmp_path / "kept")


@pytest.mark.parametrize("name", names())
def test_the_gold_files_of_a_kept_set_are_in_its_library(name: str, tmp_path: Path) -> None:
    folder = folder_of(name, cache=tmp_path)
    for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        assert all((folder / "library" / file).is_file() for file in json.loads(line)["gold_files"])
