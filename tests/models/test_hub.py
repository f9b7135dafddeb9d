from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragweave.models import hub as module
from ragweave.models.errors import WeightsError
from ragweave.models.hub import Remote, download
from ragweave.tests.support import ScriptedHub

DATA = random.Random(7).randbytes(3_000_000)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedHub]:
    monkeypatch.setattr(module, "PAUSE", 0.0)
    with ScriptedHub({"onnx/model.onnx": DATA}) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        yield served


def remote(hub: ScriptedHub, **changes: object) -> Remote:
    path = "onnx/model.onnx"
    facts = {"repo": "owner/model", "revision": "abc", "path": path, "sha256": hub.sha256(path), "size": len(DATA)}
    return Remote(**{**facts, **changes})  # type: ignore[arg-type]


def downloads(hub: ScriptedHub) -> list[str]:
    return [asked for method, path, asked in hub.asked if path.startswith("/store/") and method == "GET"]


def test_a_file_is_downloaded_through_the_hubs_redirect(hub: ScriptedHub, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    download(remote(hub), tmp_path / "m" / "model.onnx", lambda *p: seen.append(p))
    assert (tmp_path / "m" / "model.onnx").read_bytes() == DATA
    assert seen[-1] == ("onnx/model.onnx", len(DATA), len(DATA))
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)
    assert not (tmp_path / "m" / "model.onnx.part").exists()


def test_a_file_that_is_there_is_not_asked_for(hub: ScriptedHub, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(DATA)
    download(remote(hub), tmp_path / "model.onnx")
    assert hub.asked == []


def test_a_damaged_file_is_replaced(hub: ScriptedHub, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"damaged")
    download(remote(hub), tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == DATA


def test_a_connection_that_breaks_off_is_continued_where_it_stopped(hub: ScriptedHub, tmp_path: Path) -> None:
    hub.cut_after = [1_000_000, 500_000]
    download(remote(hub), tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == DATA
    assert downloads(hub) == ["", "bytes=1000000-", "bytes=1500000-"]


def test_the_part_of_an_earlier_process_is_continued(hub: ScriptedHub, tmp_path: Path) -> None:
    (tmp_path / "model.onnx.part").write_bytes(DATA[:2_000_000])
    download(remote(hub), tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == DATA
    assert downloads(hub) == ["bytes=2000000-"]


def test_a_complete_part_needs_no_connection(hub: ScriptedHub, tmp_path: Path) -> None:
    (tmp_path / "model.onnx.part").write_bytes(DATA)
    download(remote(hub), tmp_path / "model.onnx")
    assert hub.asked == []
    assert (tmp_path / "model.onnx").read_bytes() == DATA


@pytest.mark.parametrize("stale", [b"x" * 1000, b"x" * len(DATA), b"x" * (len(DATA) + 1)])
def test_a_part_of_another_file_is_started_over(hub: ScriptedHub, tmp_path: Path, stale: bytes) -> None:
    (tmp_path / "model.onnx.part").write_bytes(stale)
    download(remote(hub), tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == DATA


def test_a_server_without_ranges_sends_the_file_from_its_start(hub: ScriptedHub, tmp_path: Path) -> None:
    hub.ranges = False
    hub.cut_after = [1_000_000]
    download(remote(hub), tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == DATA


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_hub_is_asked_again(hub: ScriptedHub, tmp_path: Path, status: int) -> None:
    hub.fail_with = [status, status]
    download(remote(hub), tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == DATA


def test_a_wrong_sha256_leaves_nothing_behind(hub: ScriptedHub, tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="does not have the expected sha256"):
        download(remote(hub, sha256="0" * 64), tmp_path / "model.onnx")
    assert [p.name for p in tmp_path.iterdir() if p.suffix != ".lock"] == []


def test_a_file_longer_than_its_entry_is_not_taken(hub: ScriptedHub, tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="longer than the 10 bytes"):
        download(remote(hub, size=10), tmp_path / "model.onnx")
    assert not (tmp_path / "model.onnx").exists()


@pytest.mark.parametrize(
    ("change", "status", "sentence"),
    [
        ({"path": "gone.onnx"}, None, r"has no gone\.onnx in owner/model at revision abc"),
        ({}, 403, r"does not give owner/model to everybody \(403\)"),
        ({}, 410, "answered 410"),
    ],
)
def test_a_hub_that_does_not_give_the_file_is_told(
    hub: ScriptedHub, tmp_path: Path, change: dict[str, str], status: int | None, sentence: str
) -> None:
    hub.fail_with = [status] if status else []
    with pytest.raises(WeightsError, match=sentence):
        download(remote(hub, **change), tmp_path / "model.onnx")


def test_a_hub_that_keeps_breaking_off_is_told_and_the_part_is_kept(hub: ScriptedHub, tmp_path: Path) -> None:
    hub.cut_after = [1000] + [0] * module.TRIES
    with pytest.raises(WeightsError, match=r"cannot be reached or keeps breaking off.*goes on where it stopped"):
        download(remote(hub), tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx.part").read_bytes() == DATA[:1000]


def test_a_hub_that_stalls_is_told(hub: ScriptedHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TIMEOUT", module.httpx.Timeout(0.05))
    monkeypatch.setattr(module, "TRIES", 2)
    hub.delay = 0.5
    with pytest.raises(WeightsError, match=r"keeps breaking off \(ReadTimeout\)"):
        download(remote(hub), tmp_path / "model.onnx")


def test_a_hub_that_is_down_is_told(hub: ScriptedHub, tmp_path: Path) -> None:
    wanted = remote(hub)
    hub.__exit__()
    with pytest.raises(WeightsError, match=r"127\.0\.0\.1 cannot be reached"):
        download(wanted, tmp_path / "model.onnx")


def test_a_folder_that_cannot_be_written_is_told(hub: ScriptedHub, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(WeightsError, match="cannot be written"):
        download(remote(hub), tmp_path / "file" / "model.onnx")
