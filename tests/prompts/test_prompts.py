from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.models.chat_reply import tokens_of
from ragweave.models.errors import InputError
from ragweave.prompts import load, quote

ROOT = Path(__file__).parents[2]
FILES = [
    (p.stem, "ragweave." + ".".join(p.parent.relative_to(ROOT).parts))
    for folder in ("prompts", "evals/prompts")
    for p in sorted((ROOT / folder).glob("*.md"))
]


@pytest.mark.parametrize(("name", "room"), FILES)
def test_every_prompt_has_a_system_part_and_a_user_part_unless_it_is_quoted(name: str, room: str) -> None:
    from ragweave.prompts import _sections

    file = ROOT.joinpath(*room.split(".")[1:], f"{name}.md")
    quoted = file.read_text(encoding="utf-8").startswith("Quoted from ")
    roles = [role for role, _ in _sections(name, room=room)]
    assert roles == ["system", "user"] or (quoted and roles[-1] == "user")


def test_quoted_text_cannot_close_its_own_quotation() -> None:
    assert quote("a >>> b <<< c").count(">>>") == 1


@pytest.mark.parametrize(("name", "room"), FILES)
def test_the_system_part_of_a_prompt_is_short(name: str, room: str) -> None:
    from ragweave.prompts import _sections

    role, text = _sections(name, room=room)[0]
    most = 460 if name == "verdicts" else 280  # six verdicts, each with its rule
    assert role == "user" or tokens_of(text) <= most


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAGWEAVE_PROMPTS", str(tmp_path))
    return tmp_path


def test_a_prompt_of_the_users_own_folder_is_laid_over_ours(mine: Path) -> None:
    (mine / "recall.md").write_text("# system\nBe brief.\n\n# user\n{query}\n", encoding="utf-8")
    assert load("recall", question="q", query="why?") == [("system", "Be brief."), ("user", "why?")]
    assert "conversation" in load("condense", history="", question="")[0][1]


@pytest.mark.parametrize(
    ("text", "why"), [("# system\na\n# user\n{secret}", "fills no slot {secret}"), ("no sections", "# user")]
)
def test_a_prompt_of_the_users_own_that_cannot_be_filled_is_told_by_name(
    mine: Path, text: str, why: str
) -> None:
    (mine / "recall.md").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"recall\.md") as error:
        load("recall", question="q", query="why?")
    assert why in str(error.value)
