"""Variables that begin as our settings do and are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.app.unknown_settings import unknown_settings


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_settings_and_files_of_settings_are_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CHAT", "CHAT_KEY_FILE", "SERVE_PORT", "MAX_FILE_MB", "KNOBS", "DATA"):
        monkeypatch.setenv(f"RAGWEAVE_{name}", "1")
    assert unknown_settings() == ""


def test_a_name_that_is_no_setting_is_reported_with_the_one_that_was_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_GRAPH", "crag")
    (tmp_path / ".env").write_text("RAGWEAVE_MAX_FILES_MB=3\n", encoding="utf-8")
    warning = unknown_settings()
    assert warning.startswith(
        "RAGWEAVE_GRAPH, RAGWEAVE_MAX_FILES_MB (did you mean RAGWEAVE_MAX_FILE_MB?) are no"
    )
