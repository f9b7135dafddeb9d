"""Which files of a folder are taken, and the reason for every other."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ragweave.corpora.ingest.walk import Walk, vanished, walk
from ragweave.models.settings import model_settings


def make(root: Path, *names: str, text: str = "words") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def taken(found: Walk, root: Path) -> list[str]:
    return [p.relative_to(root).as_posix() for p in found.files]


def reasons(found: Walk, root: Path) -> dict[str, str]:
    return {p.relative_to(root).as_posix(): why for p, why in found.skipped}


def test_files_come_in_the_order_of_their_names_folder_by_folder(tmp_path: Path) -> None:
    root = tmp_path / "r"
    make(root, "b.md", "a.md", "z/1.md", "c/2.md", "c/1.md")
    assert taken(walk([root]), root) == ["a.md", "b.md", "c/1.md", "c/2.md", "z/1.md"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (".env", "key or password"),
        (".ENV.local", "key or password"),
        ("prod.env", "key or password"),
        ("id_rsa", "key or password"),
        ("keys/id_ed25519.pub", "key or password"),
        ("server.pem", "key or password"),
        ("tls.KEY", "key or password"),
        ("credentials.json", "key or password"),
        (".netrc", "key or password"),
        ("vault.kdbx", "key or password"),
        (".hidden.md", "hidden"),
        ("~$report.docx", "temporary"),
        ("talk.pdf.crdownload", "half-finished"),
        ("Film.MP4.Part", "half-finished"),
        ("notes.md~", "backup"),
        ("Thumbs.db", "temporary"),
    ],
)
def test_secret_and_hidden_files_are_left_out_with_the_reason(tmp_path: Path, name: str, why: str) -> None:
    root = tmp_path / "r"
    make(root, "a.md", name)
    found = walk([root])
    assert taken(found, root) == ["a.md"]
    assert why in reasons(found, root)[name]


@pytest.mark.parametrize("folder", [".git", "node_modules", ".venv", "__pycache__", "sub/node_modules"])
def test_folders_of_tools_are_named_once_and_not_entered(tmp_path: Path, folder: str) -> None:
    root = tmp_path / "r"
    make(root, "a.md", f"{folder}/x.md", f"{folder}/deep/y.md")
    found = walk([root])
    assert taken(found, root) == ["a.md"]
    assert list(reasons(found, root)) == [folder]


def test_a_virtual_environment_is_known_by_its_content(tmp_path: Path) -> None:
    root = tmp_path / "r"
    make(root, "a.md", "py311/pyvenv.cfg", "py311/lib/readme.md")
    assert taken(walk([root]), root) == ["a.md"]


def test_ignore_files_count_at_every_level_and_the_deeper_one_wins(tmp_path: Path) -> None:
    root = tmp_path / "r"
    make(root, "a.md", "a.log", "sub/b.log", "sub/keep.log", "sub/c.md", "build/x.md", "drafts/d.md")
    (root / ".gitignore").write_text("*.log\nbuild/\n")
    (root / ".ragweaveignore").write_text("drafts\n")
    (root / "sub" / ".gitignore").write_text("!keep.log\n/c.md\n")
    found = walk([root])
    assert taken(found, root) == ["a.md", "sub/keep.log"]
    assert "ignored by the patterns" in reasons(found, root)["build"]


def test_ragweaveignore_overrules_gitignore_beside_it(tmp_path: Path) -> None:
    root = tmp_path / "r"
    make(root, "notes.txt")
    (root / ".gitignore").write_text("*.txt\n")
    (root / ".ragweaveignore").write_text("!notes.txt\n")
    assert taken(walk([root]), root) == ["notes.txt"]


def test_ignore_patterns_that_could_match_for_ever_are_not_used(tmp_path: Path) -> None:
    root = tmp_path / "r"
    make(root, "a" * 200, "b.md")
    (root / ".gitignore").write_text("*a" * 60 + "b\nb.md\n")
    found = walk([root])
    assert taken(found, root) == ["a" * 200]
    assert "wildcards" in reasons(found, root)[".gitignore"]


def test_an_ignore_file_that_is_no_text_does_not_stop_the_walk(tmp_path: Path) -> None:
    root = tmp_path / "r"
    make(root, "a.md")
    (root / ".gitignore").write_bytes(b"\xff\xfe\x00\x00[[[\n\\\n")
    (root / ".ragweaveignore").mkdir()
    assert taken(walk([root]), root) == ["a.md"]


def test_a_file_named_on_its_own_is_taken_even_where_patterns_would_skip_it(tmp_path: Path) -> None:
    make(tmp_path, ".gitignore", text="*.md")
    make(tmp_path, "a.md", ".hidden.md")
    assert walk([tmp_path / "a.md", tmp_path / ".hidden.md"]).files == [tmp_path / "a.md", tmp_path / ".hidden.md"]


def test_a_secret_file_named_on_its_own_is_refused_with_a_sentence(tmp_path: Path) -> None:
    make(tmp_path, ".env")
    (tmp_path / "innocent.txt").symlink_to(tmp_path / ".env")
    found = walk([tmp_path / ".env", tmp_path / "innocent.txt"])
    assert found.files == []
    assert [why for _, why in found.skipped] == [
        "its name is that of a key or password file, and those are never read",
        "it is a link to a key or password file, and those are never read",
    ]


def test_what_does_not_exist_is_named(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    found = walk([tmp_path / "no", tmp_path / "dangling"])
    assert [why for _, why in found.skipped] == ["it does not exist", "it is a link to nothing"]


def test_links_inside_a_folder_are_not_followed_wherever_they_lead(tmp_path: Path) -> None:
    root = tmp_path / "r"
    make(root, "a.md", "sub/b.md", ".env", ".git/config", "node_modules/x.md")
    make(tmp_path, "outside/secret.md")
    links = {
        "out": tmp_path / "outside",
        "out.md": tmp_path / "outside" / "secret.md",
        "up": root,
        "self": root / "self",
    }
    links |= {"gone": root / "nothing", "twice.md": root / "a.md", "plain.txt": root / ".env", "git": root / ".git"}
    for name, target in links.items():
        (root / name).symlink_to(target)
    (root / "sub" / "up").symlink_to(root)
    found = walk([root])
    assert taken(found, root) == ["a.md", "sub/b.md"]
    assert {n for n, why in reasons(found, root).items() if "link" in why} == {*links, "sub/up"}


@pytest.mark.parametrize("name", ["two\nlines.md", "🌊 tides.md", "\u202egnp.md", "a b  c.md", "名前.md", "-rf.md"])
def test_unusual_names_work(tmp_path: Path, name: str) -> None:
    root = tmp_path / "r"
    make(root, name)
    assert taken(walk([root]), root) == [name]


def test_a_name_that_cannot_be_stored_is_left_out(tmp_path: Path) -> None:
    root = tmp_path / "r"
    make(root, "a.md")
    (root / os.fsdecode(b"caf\xe9.md")).write_text("x")
    found = walk([root])
    assert taken(found, root) == ["a.md"]
    assert "not valid Unicode" in found.skipped[0][1]


def test_pipes_are_not_opened(tmp_path: Path) -> None:
    root = tmp_path / "r"
    make(root, "a.md")
    os.mkfifo(root / "pipe")
    found = walk([root, root / "pipe"])
    assert taken(found, root) == ["a.md"]
    assert [why for _, why in found.skipped] == ["it is not a regular file", "it is not a regular file"]


def test_overlapping_roots_give_every_file_once(tmp_path: Path) -> None:
    root = tmp_path / "r"
    make(root, "a.md", "sub/b.md")
    assert taken(walk([root / "sub", root, root / "a.md"]), root) == ["sub/b.md", "a.md"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open every folder")
def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    root = tmp_path / "r"
    make(root, "a.md", "closed/b.md")
    (root / "closed").chmod(0)
    found = walk([root])
    (root / "closed").chmod(0o700)
    assert taken(found, root) == ["a.md"]
    assert "cannot be opened" in reasons(found, root)["closed"]


def test_a_folder_or_a_drive_that_lets_nobody_look_into_it_does_not_end_the_walk(tmp_path: Path, monkeypatch) -> None:
    root, drive = tmp_path / "r", tmp_path / "drive"
    make(root, "a.md", "closed/b.md")
    make(drive, "c.md")
    look = os.stat

    def fails(path, **options):
        if Path(path) in (drive, root / "closed" / "pyvenv.cfg"):
            raise OSError(errno.EIO, "Input/output error")
        return look(path, **options)

    monkeypatch.setattr(os, "stat", fails)
    found = walk([root, drive])
    assert taken(found, root) == ["a.md", "closed/b.md"]
    assert found.skipped == [(drive, "it cannot be opened (Input/output error)")]
    assert found.unread == {str(drive)}


def test_the_libraries_themselves_are_no_files_of_a_folder_that_holds_them(tmp_path: Path, home: Path) -> None:
    make(home, "libraries/1a/catalog.sqlite", "uploads/1a/a.md")
    make(tmp_path, "b.md")
    found = walk([tmp_path])
    assert found.files == [tmp_path / "b.md"] and "Ragweave keeps its libraries" in dict(found.skipped)[home]
    assert walk([home / "uploads" / "1a"]).files == [home / "uploads" / "1a" / "a.md"]


def test_uploads_stay_where_a_folder_above_them_is_read(tmp_path: Path, home: Path) -> None:
    make(home, "uploads/1a/a.md")
    known = [str(home / "uploads" / "1a" / "a.md"), str(tmp_path / "gone.md")]
    assert vanished(known, [], [tmp_path]) == known[1:]
    assert vanished(known, [], [home / "uploads" / "1a"]) == known[:1]


def test_a_file_that_could_not_be_looked_at_stays_although_it_can_be_by_now(tmp_path: Path, monkeypatch) -> None:
    root = tmp_path / "r"
    make(root, "a.md", "b.md")
    with monkeypatch.context() as at:
        at.setattr(Path, "lstat", lambda path: os.stat(path / "no" if path.name == "a.md" else path))
        found = walk([root])
    assert taken(found, root) == ["b.md"] and "cannot be read" in reasons(found, root)["a.md"]
    assert vanished([str(root / "a.md")], map(str, found.files), [root], found.unread) == []


@pytest.mark.parametrize("named", ["link", "real"])
def test_a_home_that_is_reached_by_a_link_is_the_home(tmp_path: Path, monkeypatch, named: str) -> None:
    real, link = tmp_path / "data" / "rw", tmp_path / "data" / "link"
    make(real, "libraries/1a/catalog.sqlite", "uploads/1a/a.md")
    make(tmp_path / "data", "b.md")
    link.symlink_to(real)
    monkeypatch.setenv("RAGWEAVE_HOME", str({"link": link, "real": real}[named]))
    model_settings.cache_clear()
    found = walk([tmp_path / "data"])
    assert found.files == [tmp_path / "data" / "b.md"] and "Ragweave keeps its libraries" in dict(found.skipped)[real]
    known = [str(folder / "uploads" / "1a" / "a.md") for folder in (real, link)]
    assert vanished(known, [], [tmp_path / "data"]) == []
    assert [vanished(known, [], [folder / "uploads" / "1a"]) for folder in (real, link)] == [known[:1], known[1:]]
