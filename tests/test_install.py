"""`.ci/install.py` installs by uv as pip is configured, and by pip if uv fails."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).resolve().parent.parent / ".ci" / "install.py"


@pytest.fixture
def install() -> ModuleType:
    spec = importlib.util.spec_from_file_location("install", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pips_configuration_is_read_and_the_environment_counts_first(
    install: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "pip.conf"
    file.write_text("[global]\nindex-url = http://mirror/simple\nfind-links = /one /two\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(file))
    monkeypatch.setenv("PIP_FIND_LINKS", "/three")
    found = install.configured()
    assert found["index-url"] == ["http://mirror/simple"] and found["find-links"] == ["/three"]


def test_a_mirror_and_folders_of_wheels_are_options_of_uv(install: ModuleType) -> None:
    settings = {"index-url": ["http://mirror/simple"], "find-links": ["/one", "/two"], "no-index": ["true"]}
    options = " ".join(install.uv_options(settings))
    assert "--default-index http://mirror/simple" in options and "--no-index" in options
    assert "--find-links /one --find-links /two" in options


def test_pip_installs_where_uv_fails_and_a_line_says_so(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done: list[str] = []
    monkeypatch.setattr(install, "by_uv", lambda wanted, settings: "no network")
    monkeypatch.setattr(install, "by_pip", lambda wanted: done.append(wanted) or "")
    assert install.main([".[dev]"]) == 0 and done == [".[dev]"]
    assert "uv could not install the packages (no network); pip does" in capsys.readouterr().out


def test_what_neither_can_install_fails_with_the_reason(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(install, "by_uv", lambda wanted, settings: "no network")
    monkeypatch.setattr(install, "by_pip", lambda wanted: "no such package")
    assert install.main(["."]) == 1 and "no such package" in capsys.readouterr().err


def test_a_python_that_is_too_old_is_named_with_the_remedy(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(install, "OLDEST", (4, 0))
    assert install.main(["."]) == 1 and "make demo PYTHON=" in capsys.readouterr().err
