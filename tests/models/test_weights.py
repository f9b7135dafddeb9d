from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragweave.models import weights
from ragweave.models.errors import InputError, WeightsError
from ragweave.tests.support import ScriptedHub

GGUF = b"GGUF" + random.Random(1).randbytes(200_000)
TOKENIZER = b'{"tokens": []}'


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedHub]:
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    with ScriptedHub({"small.gguf": GGUF, "tokenizer/tokenizer.json": TOKENIZER, "model.bin": b"PK\x03\x04"}) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        yield served


def entry(hub: ScriptedHub, *paths: str, name: str = "small") -> str:
    lines = ["[[weights]]", f'name = "{name}"', 'repo = "owner/model"', 'revision = "abc"', 'licence = "Apache-2.0"']
    for path in paths:
        lines += ["[[weights.files]]", f'path = "{path}"']
        lines += [f'sha256 = "{hub.sha256(path)}"', f"size = {len(hub.files[path])}"]
    return "\n".join(lines) + "\n"


def write(home: Path, text: str) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "weights.toml").write_text(text, "utf-8")


def test_without_a_file_the_table_is_empty_and_nothing_is_known() -> None:
    assert weights.table() == ()
    with pytest.raises(InputError, match=r"no weights named 'small'\. Known are: none yet"):
        weights.find("small")


def test_an_entry_is_listed_fetched_and_verified(hub: ScriptedHub, home: Path) -> None:
    write(home, entry(hub, "small.gguf", "tokenizer/tokenizer.json"))
    (small,) = weights.table()
    assert (small.licence, small.size) == ("Apache-2.0", len(GGUF) + len(TOKENIZER))
    assert weights.status(small).state == "missing"
    folder = weights.fetch("small")
    assert folder == home / "models" / "small"
    assert (folder / "small.gguf").read_bytes() == GGUF
    assert (folder / "tokenizer" / "tokenizer.json").read_bytes() == TOKENIZER
    assert weights.status(weights.find("small"), full=True).state == "ready"


def test_what_is_here_is_not_downloaded_again(hub: ScriptedHub, home: Path) -> None:
    write(home, entry(hub, "small.gguf"))
    weights.fetch("small")
    hub.asked.clear()
    assert weights.fetch("small") == home / "models" / "small"
    assert hub.asked == []


def test_a_file_changed_on_disk_is_noticed_and_fetched_anew(hub: ScriptedHub, home: Path) -> None:
    write(home, entry(hub, "small.gguf"))
    path = weights.fetch("small") / "small.gguf"
    path.write_bytes(GGUF[:-1] + b"x")
    assert weights.status(weights.find("small")).state == "ready", "the quick look goes by size"
    assert weights.status(weights.find("small"), full=True).state == "damaged"
    assert weights.status(weights.find("small"), full=True).note == "not as its entry says: small.gguf"
    weights.fetch("small")
    assert path.read_bytes() == GGUF


def test_an_interrupted_fetch_shows_as_partial(hub: ScriptedHub, home: Path) -> None:
    write(home, entry(hub, "small.gguf", "tokenizer/tokenizer.json"))
    folder = weights.fetch("small")
    (folder / "tokenizer" / "tokenizer.json").unlink()
    assert weights.status(weights.find("small")).note == "missing: tokenizer/tokenizer.json"
    assert weights.status(weights.find("small")).state == "partial"


def test_a_local_folder_stands_in_for_the_hub(hub: ScriptedHub, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home, entry(hub, "small.gguf"))
    mine = home / "models" / "small"
    mine.mkdir(parents=True)
    (mine / "small.gguf").write_bytes(GGUF)
    monkeypatch.setenv("RAGWEAVE_OFFLINE", "true")
    assert weights.fetch("small") == mine
    assert hub.asked == []


def test_offline_refuses_to_download_and_says_where_the_files_go(
    hub: ScriptedHub, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, entry(hub, "small.gguf"))
    monkeypatch.setenv("RAGWEAVE_OFFLINE", "true")
    with pytest.raises(WeightsError, match=r"small is not on this machine .*RAGWEAVE_OFFLINE.*models/small"):
        weights.fetch("small")
    with pytest.raises(WeightsError, match="RAGWEAVE_OFFLINE"):
        weights.add("other", "owner/model", "small.gguf")
    assert hub.asked == []


def test_a_pickle_under_a_harmless_name_is_thrown_away(hub: ScriptedHub, home: Path) -> None:
    write(home, entry(hub, "model.bin"))
    with pytest.raises(WeightsError, match="is a pickle"):
        weights.fetch("small")
    assert not (home / "models" / "small" / "model.bin").exists()


def test_a_file_is_pinned_as_the_hub_states_it(hub: ScriptedHub, home: Path) -> None:
    write(home, entry(hub, "tokenizer/tokenizer.json", name="first"))
    added = weights.add("second", "owner/model", "small.gguf", licence='with "quotes"')
    assert added.revision == hub.commit
    assert added.files[0].sha256 == hub.sha256("small.gguf")
    assert weights.table()[1] == added
    assert (weights.fetch("second") / "small.gguf").read_bytes() == GGUF
    with pytest.raises(InputError, match="weights named 'second' exist"):
        weights.add("second", "owner/model", "small.gguf")


@pytest.mark.parametrize(
    ("name", "repo", "path", "error", "sentence"),
    [
        ("x", "owner/model", "gone.gguf", WeightsError, "the hub has no gone.gguf of owner/model"),
        ("../x", "owner/model", "small.gguf", InputError, "name cannot be used"),
    ],
)
def test_what_cannot_be_pinned_is_told(
    hub: ScriptedHub, name: str, repo: str, path: str, error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        weights.add(name, repo, path)
    assert weights.table() == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"small.gguf"', '"../../small.gguf"'),
        ('"small.gguf"', '"/etc/small.gguf"'),
        ('"small.gguf"', '"a\\\\b.gguf"'),
        ('"small.gguf"', '"pytorch_model.bin"'),
        ('"small.gguf"', '"model.pt"'),
        ('"small.gguf"', '"model.pkl"'),
        ('"small"', '"../small"'),
        ('"small"', '".."'),
        ('"owner/model"', '"owner/../model"'),
        ("size = ", "size = -"),
        ("sha256", "md5"),
        ("revision", "branch"),
        ("[[weights]]", "[[weights"),
    ],
)
def test_an_entry_with_a_mistake_is_refused_and_named(hub: ScriptedHub, home: Path, old: str, new: str) -> None:
    text = entry(hub, "small.gguf")
    assert old in text
    write(home, text.replace(old, new, 1))
    with pytest.raises(WeightsError, match=r"weights\.toml (has a mistake at weights\.0|cannot be read)"):
        weights.table()


def test_a_connection_that_breaks_off_is_continued(hub: ScriptedHub, home: Path) -> None:
    write(home, entry(hub, "small.gguf"))
    hub.cut_after = [50_000]
    assert (weights.fetch("small") / "small.gguf").read_bytes() == GGUF


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_hub_is_asked_again(hub: ScriptedHub, home: Path, status: int) -> None:
    write(home, entry(hub, "small.gguf"))
    hub.fail_with = [status, status]
    assert (weights.fetch("small") / "small.gguf").read_bytes() == GGUF


def test_a_wrong_sha256_leaves_nothing_behind(hub: ScriptedHub, home: Path) -> None:
    text = entry(hub, "small.gguf")
    write(home, text.replace(hub.sha256("small.gguf"), "0" * 64))
    with pytest.raises(WeightsError, match="does not have the expected sha256"):
        weights.fetch("small")
    assert not (home / "models" / "small" / "small.gguf").exists()


def test_a_hub_that_does_not_give_the_file_is_told(hub: ScriptedHub, home: Path) -> None:
    write(home, entry(hub, "small.gguf"))
    hub.fail_with = [403]
    with pytest.raises(WeightsError, match=r"does not give small\.gguf of owner/model to everybody \(403\)"):
        weights.fetch("small")


def test_a_hub_that_is_down_is_told(hub: ScriptedHub, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home, entry(hub, "small.gguf"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(WeightsError, match="cannot be reached"):
        weights.fetch("small")
