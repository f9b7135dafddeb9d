from __future__ import annotations

import asyncio
import errno
import json
import os
from pathlib import Path

import pytest

from ragweave.corpora.ingest import watch as module
from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.ingest.walk import Walk, outside, too_many, vanished, walk
from ragweave.corpora.ingest.watch import watch
from ragweave.corpora.store.library import create_library, delete_library, open_library
from ragweave.corpora.store.prepared import Prepared, chunked
from ragweave.corpora.store.stores import stores
from ragweave.corpora.store.words import indexed
from ragweave.models.errors import LibraryError, LibraryNotFound
from ragweave.models.settings import model_settings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    make(tmp_path / "r", "a.md")
    return tmp_path / "r"


def make(root: Path, *names: str, text: str = "words") -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def taken(found: Walk, root: Path) -> list[str]:
    return [p.relative_to(root).as_posix() for p in found.files]


def reasons(found: Walk, root: Path) -> dict[str, str]:
    return {p.relative_to(root).as_posix(): why for p, why in found.skipped}


def test_files_come_once_in_the_order_of_their_names_whatever_these_are(root: Path) -> None:
    odd = ["-rf.md", "a b  c.md", "a.md", "two\nlines.md", "\u202egnp.md", "名前.md", "🌊 tides.md"]
    make(root, *odd, "z/1.md", "c/2.md", "c/1.md")
    (root / os.fsdecode(b"caf\xe9.md")).write_text("x")
    found = walk([root, root / "c", root / "a.md"])
    assert taken(found, root) == [*odd, "c/1.md", "c/2.md", "z/1.md"]
    assert "not valid Unicode" in found.skipped[0][1]


LEFT_OUT = {
    "key or password": (
        ".env .ENV.local prod.env id_rsa keys/id_ed25519.pub server.pem tls.KEY credentials.json .netrc"
    ),
    "hidden": ".hidden.md .git/",
    "temporary": "~$report.docx talk.pdf.crdownload Film.MP4.Part notes.md~ Thumbs.db",
    "tools": "node_modules/ sub/__pycache__/ py311/",
}


def test_secrets_hidden_files_leftovers_and_tools_are_left_out_with_the_reason(root: Path) -> None:
    make(root, "py311/pyvenv.cfg")
    names = {name: why for why, listed in LEFT_OUT.items() for name in listed.split()}
    make(root, *(f"{name}deep/x.md" if name.endswith("/") else name for name in names))
    found = walk([root])
    assert taken(found, root) == ["a.md"]
    told = reasons(found, root)
    assert {name: why in told[name.rstrip("/")] for name, why in names.items()} == dict.fromkeys(names, True)
    assert len(told) == len(names), "folders are named once, and not entered"


def test_the_deeper_ignore_file_wins_and_ragweaveignore_overrules_gitignore_beside_it(root: Path) -> None:
    make(root, "a.log", "b.txt", "sub/b.log", "sub/keep.log", "sub/c.md", "build/x.md", "drafts/d.md")
    (root / ".gitignore").write_text("*.log\n*.txt\nbuild/\n")
    (root / ".ragweaveignore").write_text("drafts\n!b.txt\n")
    (root / "sub" / ".gitignore").write_text("!keep.log\n/c.md\n")
    found = walk([root])
    assert taken(found, root) == ["a.md", "b.txt", "sub/keep.log"]
    assert "ignored by the patterns" in reasons(found, root)["build"]


@pytest.mark.parametrize(
    ("patterns", "files", "why"),
    [
        (b"*a" * 60 + b"b\nb.md\n", ["a.md", "a" * 200], "wildcards"),
        (b"\xff\xfe\x00\x00[[[\n\\\n", ["a.md", "a" * 200, "b.md"], ""),
    ],
)
def test_hostile_ignore_files_are_not_used(root: Path, patterns: bytes, files: list[str], why: str) -> None:
    make(root, "a" * 200, "b.md")
    (root / ".gitignore").write_bytes(patterns)
    (root / ".ragweaveignore").mkdir()
    found = walk([root])
    assert sorted(taken(found, root)) == sorted(files) and why in reasons(found, root).get(".gitignore", "")


def test_a_folder_is_read_alike_for_itself_and_with_the_one_above_it(root: Path) -> None:
    make(root, ".gitignore", text="_build/\n*.draft.md\nold/\n")
    make(root, "docs/b.md", "docs/x.draft.md", "docs/_build/out.md", "old/c.md")
    whole = [p for p in walk([root]).files if "docs" in p.parts]
    assert walk([root / "docs"]).files == whole == [root / "docs" / "b.md"]
    assert not walk([root / "docs" / "_build"]).files
    why = reasons(walk([root / "old"]), root)["old"]
    assert (
        why == f"it is ignored by the patterns in r; to read it, write !old/ into {root / '.ragweaveignore'}"
    )
    make(root, ".ragweaveignore", text="!old/\n")
    assert taken(walk([root / "old"]), root) == ["old/c.md"]


def test_nothing_above_the_top_of_a_repository_counts(root: Path) -> None:
    make(root, ".gitignore", text="*.md\n")
    make(root, "project/b.md", "project/.git/config")
    assert taken(walk([root / "project"]), root) == ["project/b.md"]


@pytest.mark.parametrize(
    ("gone", "moved", "told"),
    [(["1", "2", "3"], [], [(3, 5)]), (["1", "2"], [], []), (["1", "2", "3"], ["3"], []), ([], [], [])],
)
def test_a_root_is_emptied_if_more_than_half_of_its_bytes_are_gone(
    root: Path, gone: list[str], moved: list[str], told: list[tuple[int, int]]
) -> None:
    known = {str(root / n): n for n in "12345"} | {str(root.parent / "other" / n): n for n in moved}
    found = too_many([str(root / n) for n in gone], known, [root])
    assert [(e.gone, e.known) for e in found] == told
    assert outside([str(root / "1"), "/elsewhere"], found) == (
        ["/elsewhere"] if told else [str(root / "1"), "/elsewhere"]
    )


def test_a_file_named_on_its_own_is_taken_whatever_patterns_say_but_for_secrets_and_what_is_none(
    root: Path,
) -> None:
    make(root, ".gitignore", text="*.md")
    make(root, ".hidden.md", ".env")
    for link, target in (("innocent.txt", ".env"), ("dangling", "nowhere")):
        (root / link).symlink_to(root / target)
    os.mkfifo(root / "pipe")
    names = ["a.md", ".hidden.md", ".env", "innocent.txt", "no", "dangling", "pipe"]
    found = walk([root / name for name in names])
    assert taken(found, root) == names[:2]
    assert list(reasons(found, root).values()) == [
        "its name is that of a key or password file, and those are never read",
        "it is a link to a key or password file, and those are never read",
        "it does not exist",
        "it is a link to nothing",
        "it is not a regular file",
    ]
    assert reasons(walk([root]), root)["pipe"] == "it is not a regular file"


def test_links_inside_a_folder_are_not_followed_wherever_they_lead(root: Path, tmp_path: Path) -> None:
    make(root, "sub/b.md", ".env", ".git/config")
    make(tmp_path, "outside/secret.md")
    links = {
        "out": tmp_path / "outside",
        "out.md": tmp_path / "outside/secret.md",
        "up": root,
        "self": root / "self",
    }
    links |= {
        "gone": root / "nothing",
        "twice.md": root / "a.md",
        "plain.txt": root / ".env",
        "git": root / ".git",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    found = walk([root])
    assert taken(found, root) == ["a.md", "sub/b.md"]
    assert {n for n, why in reasons(found, root).items() if "link" in why} == set(links)


def test_what_cannot_be_looked_at_is_named_does_not_end_the_walk_and_is_not_gone(
    root: Path, tmp_path, monkeypatch
):
    drive = tmp_path / "drive"
    make(root, "closed/b.md", "unseen.md")
    make(drive, "c.md")
    stat, lstat = os.stat, Path.lstat

    def fails(look):
        def looked(path, **options):
            if Path(path) in (drive, root / "closed" / "pyvenv.cfg", root / "unseen.md"):
                raise OSError(errno.EIO, "Input/output error")
            return look(path, **options)

        return looked

    with monkeypatch.context() as at:
        at.setattr(os, "stat", fails(stat))
        at.setattr(Path, "lstat", fails(lstat))
        found = walk([root, drive])
    assert taken(found, root) == ["a.md", "closed/b.md"]
    assert dict(found.skipped)[drive] == "it cannot be opened (Input/output error)"
    assert "cannot be read" in reasons(Walk(skipped=found.skipped[:1]), root)["unseen.md"]
    assert found.unread == {str(drive), str(root / "unseen.md")}
    known = [str(root / "unseen.md"), str(drive / "c.md")]
    (root / "unseen.md").unlink()
    assert vanished(known, map(str, found.files), [root, drive], found.unread) == []
    assert vanished(known[:1], map(str, found.files), [root]) == known[:1]


@pytest.mark.parametrize("named", ["link", "real"])
def test_the_libraries_are_no_files_of_a_folder_above_them_by_whatever_name(
    tmp_path: Path, monkeypatch, named: str
):
    data = tmp_path / "data"
    real, link = data / "rw", data / "link"
    make(real, "libraries/1a/catalog.sqlite", "uploads/1a/a.md")
    make(data, "b.md")
    link.symlink_to(real)
    monkeypatch.setenv("RAGWEAVE_HOME", str({"link": link, "real": real}[named]))
    model_settings.cache_clear()
    found = walk([data])
    assert found.files == [data / "b.md"] and "Ragweave keeps its libraries" in dict(found.skipped)[real]
    assert walk([real / "uploads" / "1a"]).files == [real / "uploads" / "1a" / "a.md"]
    known = [str(folder / "uploads" / "1a" / "a.md") for folder in (real, link)]
    gone = str(data / "gone.md")
    assert vanished([*known, gone], [], [data]) == [gone]
    assert [vanished(known, [], [folder / "uploads" / "1a"]) for folder in (real, link)] == [
        known[:1],
        known[1:],
    ]


TEXT = """# The harbour

## Lighthouse

The lighthouse of Alexandria stood on Pharos. 知识图谱连接实体。 Half a pair: \ud800.

## Library

""" + " ".join(f"Scroll number {n} was copied by hand." for n in range(400))


def test_a_file_becomes_items_of_both_granularities_with_chunks_and_terms_that_depend_on_its_bytes(tmp_path):
    for name in ("harbour.md", "copy.md"):
        (tmp_path / name).write_text(TEXT, errors="surrogatepass")
    made, again = (prepare(tmp_path / name, "src", 300) for name in ("harbour.md", "copy.md"))
    assert made.title == "The harbour" and {i.corpus for i in made.items} == {"paragraph", "document"}
    for item, ranges, terms in zip(made.items, made.chunks, made.terms, strict=True):
        assert item.source == "src" and item.text.encode()
        assert terms == (indexed(item.title), indexed(" ".join(item.heading)), indexed(item.text))
        assert all(0 <= start < end <= len(item.text) for start, end in ranges)
    cut = chunked(made.items, made.chunks)
    assert len(cut.texts) == len(cut.ids) == len(set(cut.ids))
    assert cut.texts[0].startswith("The harbour - Lighthouse\nThe lighthouse")
    assert [i.id for i in again.items] == [i.id for i in made.items]
    assert Prepared.from_json(json.loads(made.to_json())) == made


PETRA = "# Petra\n\nCarved from sandstone.\n"


class Watching:
    """A watch in the background that remembers what it told."""

    def __init__(self, folder):
        self.reports, self.errors = asyncio.Queue(), asyncio.Queue()
        self.task = asyncio.create_task(
            watch([folder], interval=0.02, on_report=self.reports.put_nowait, on_error=self.errors.put_nowait)
        )

    async def report(self):
        return await asyncio.wait_for(self.reports.get(), 30)


@pytest.fixture
async def watching(notes):
    found = Watching(notes)
    await found.report()
    yield found
    found.task.cancel()
    await asyncio.wait([found.task])
    assert found.task.cancelled() or isinstance(found.task.exception(), LibraryNotFound)


async def test_what_comes_changes_and_goes_is_indexed_in_turn_and_a_quiet_folder_not(watching, notes):
    (notes / "petra.md").write_text(PETRA)
    assert (await watching.report()).indexed == 1
    (notes / "petra.md").write_text(PETRA.replace("from", "from red"))
    assert (await watching.report()).indexed == 1
    (notes / "petra.md").unlink()
    assert (await watching.report()).removed == 1
    await asyncio.sleep(0.3)
    assert watching.reports.empty()


async def test_an_error_is_told_once_and_survived(watching, notes, monkeypatch):
    async def failing(*args, **options):
        raise LibraryError("The disk is full", "free some")

    with monkeypatch.context() as full:
        full.setattr(module, "index", failing)
        (notes / "petra.md").write_text(PETRA)
        assert "disk is full" in str(await asyncio.wait_for(watching.errors.get(), 30))
        await asyncio.sleep(0.3)
        assert watching.errors.empty()
    assert (await watching.report()).indexed == 1


@pytest.mark.parametrize("during", [False, True])
async def test_a_renamed_library_is_watched_under_its_new_name_and_one_under_the_old_left_alone(
    notes, monkeypatch, during
):
    index = module.index

    async def rename():
        stores().catalog.rename("default", "travels")
        await create_library("default")

    async def renamed(*args, **options):
        report = await index(*args, **options)
        await rename()
        return report

    with monkeypatch.context() as at:
        at.setattr(module, "index", renamed if during else index)
        watching = Watching(notes)
        await watching.report()
    if not during:
        await rename()
    (notes / "petra.md").write_text(PETRA)
    report = await watching.report()
    watching.task.cancel()
    assert (report.library, report.indexed, report.unchanged) == ("travels", 1, 3)
    assert await (await open_library("default")).sources() == []


@pytest.mark.parametrize("when", ["at rest", "in a run"])
async def test_a_library_that_was_deleted_ends_the_watching_and_is_not_made_again(
    watching, notes, monkeypatch, when
):
    index = module.index

    async def late(*args, **options):
        await delete_library("default")
        return await index(*args, **options)

    if when == "in a run":
        monkeypatch.setattr(module, "index", late)
        (notes / "petra.md").write_text(PETRA)
    else:
        await delete_library("default")
    with pytest.raises(LibraryNotFound, match="library"):
        await asyncio.wait_for(watching.task, 30)
    assert stores().catalog.libraries() == []
