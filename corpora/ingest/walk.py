"""Find the files under folders, the reasons for leaving others out, and the files that are gone."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from ragweave.corpora.secret import is_secret
from ragweave.corpora.settings import corpora_settings

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILES = (".gitignore", ".ragweaveignore")
"""Read at every level, in this order; later and deeper patterns win."""
_PASSING = re.compile(
    r"~\$.*|.*\.(?:crdownload|opdownload|download|part|partial|filepart|tmp|swp)|.*~|thumbs\.db|desktop\.ini",
    re.I,
)
"""Names of temporary files: locks, unfinished downloads, backup copies, folder settings."""
_TOOLS = frozenset(
    "node_modules bower_components __pycache__ site-packages venv virtualenv env CVS __MACOSX _darcs".split()
)
_MOST_STARS = 8
_LONGEST_IGNORE_FILE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Walk:
    """The result of a walk.

    Paths are absolute, without duplicates, in a fixed order. The content of skipped folders is not listed.
    """

    files: list[Path] = field(default_factory=list)
    skipped: list[tuple[Path, str]] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)
    """Folders and entries that could not be listed or examined; their files may still exist."""


@dataclass(frozen=True, slots=True)
class Emptied:
    """A root that lost most of its files: how many are gone, and how many the library holds."""

    root: str
    gone: int
    known: int

    @property
    def said(self) -> str:
        """A sentence about the files that stay in the library, and how to remove them."""
        count = f"{self.gone:,} of {self.known:,} files of {self.root} are gone, and stay in the library"
        return f"{count}: a drive may be away. ragweave index {self.root} --yes forgets them"


def walk(roots: Sequence[Path]) -> Walk:
    """Find the files under folders, and files that are named themselves.

    A root that is a file is taken even if ignore patterns match it, unless its name is that of a secret.
    Links inside a folder are not followed: their targets are read only if they lie in a folder as well.
    """
    out = Walk()
    seen: set[str] = set()
    for root in roots:
        path = Path(os.path.abspath(root.expanduser()))
        if is_secret(path.name):
            out.skipped.append((path, "its name is that of a key or password file, and those are never read"))
        elif not os.path.lexists(path):
            out.skipped.append((path, "it does not exist"))
        else:
            _root(path, out, seen)
    return out


def _root(path: Path, out: Walk, seen: set[str]) -> None:
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        out.skipped.append((path, "it is a link to nothing"))
    except OSError as exc:
        out.skipped.append((path, _unopened(exc)))
        out.unread.add(str(path))
    else:
        if stat.S_ISDIR(mode):
            rules, reason = _above(path, out)
            if reason:
                out.skipped.append((path, reason))
            else:
                _folder(path, out, seen, rules)
        elif not stat.S_ISREG(mode):
            out.skipped.append((path, "it is not a regular file"))
        elif is_secret(path.resolve().name):
            out.skipped.append((path, "it is a link to a key or password file, and those are never read"))
        else:
            _take(path, out, seen)


def _take(path: Path, out: Walk, seen: set[str]) -> None:
    real = os.path.realpath(path)
    if not _is_unicode(path.name):
        out.skipped.append((path, "its name is not valid Unicode; rename it"))
    elif real not in seen:
        seen.add(real)
        out.files.append(path)


def _is_unicode(name: str) -> bool:
    """Tell whether a name can be stored; invalid bytes come from the system as lone surrogates."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _above(root: Path, out: Walk) -> tuple[list[tuple[Path, GitIgnoreSpec]], str]:
    """Return the rules of the folders above one, and why they leave it out, or "".

    They apply even if only this folder is indexed; otherwise two runs would remove each other's files. Like
    Git, ignore everything above the top of a repository.
    """
    chain = [root]
    while not os.path.lexists(chain[-1] / ".git") and chain[-1].parent != chain[-1]:
        chain.append(chain[-1].parent)
    rules: list[tuple[Path, GitIgnoreSpec]] = []
    for folder, below in pairwise(reversed(chain)):
        names = set()
        for name in IGNORE_FILES:
            if os.path.lexists(folder / name):
                names.add(name)
        rules += _rules(folder, names, out)
        reason = _ignored(below, True, rules)
        if reason:
            way = f"to read it, write !{below.name}/ into {folder / IGNORE_FILES[-1]}"
            return rules, f"{reason}; {way}"
    return rules, ""


def _unopened(error: OSError) -> str:
    """Return why a file or folder could not be opened, with the remedy if a right is missing."""
    remedy = "; give your user the right to read it" if isinstance(error, PermissionError) else ""
    return f"it cannot be opened ({error.strerror}){remedy}"


def _folder(root: Path, out: Walk, seen: set[str], above: list[tuple[Path, GitIgnoreSpec]]) -> None:
    """Read a folder and all folders below it, depth first, by name; the rules from `above` apply in it."""
    stack: list[tuple[Path, list[tuple[Path, GitIgnoreSpec]]]] = [(root, above)]
    while stack:
        folder, rules = stack.pop()
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda e: e.name)
        except OSError as exc:
            out.skipped.append((folder, _unopened(exc)))
            out.unread.add(str(folder))
            continue
        names = {entry.name for entry in entries}
        rules = [*rules, *_rules(folder, names, out)]
        below = []
        for entry in entries:
            path = folder / entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name in IGNORE_FILES:
                continue
            reason = _reason(path, is_folder, rules) or _no_file(path, is_folder, out)
            if reason:
                out.skipped.append((path, reason))
            elif is_folder:
                below.append((path, rules))
            else:
                _take(path, out, seen)
        stack.extend(reversed(below))


def _reason(path: Path, is_folder: bool, rules: list[tuple[Path, GitIgnoreSpec]]) -> str:
    """Return why an entry is left out by its name or the ignore files, or ""."""
    if is_secret(path.name):
        return "its name is that of a key or password file"
    if path.name.startswith("."):
        return "it is hidden"
    if not is_folder and _PASSING.fullmatch(path.name):
        return "its name is that of a temporary file, a half-finished download or a backup copy"
    if is_folder and _is_home(path):
        return "it is the folder in which Ragweave keeps its libraries"
    if is_folder and (path.name in _TOOLS or os.path.exists(path / "pyvenv.cfg")):
        return "it is a folder of tools or dependencies"
    if not _is_unicode(path.name):
        return "its name is not valid Unicode; rename it"
    return _ignored(path, is_folder, rules)


def _no_file(path: Path, is_folder: bool, out: Walk) -> str:
    """Return why an entry cannot be read, or ""."""
    try:
        mode = path.lstat().st_mode
    except OSError as exc:
        out.unread.add(str(path))
        return f"it cannot be read ({exc.strerror})"
    if stat.S_ISLNK(mode):
        return "it is a link, and those are not followed"
    if is_folder or stat.S_ISREG(mode):
        return ""
    return "it is not a regular file"


def _rules(folder: Path, names: set[str], out: Walk) -> list[tuple[Path, GitIgnoreSpec]]:
    """Read the ignore files of a folder; one that cannot be read is noted and counts as empty."""
    from pathspec import GitIgnoreSpec

    found = []
    for name in IGNORE_FILES:
        if name not in names:
            continue
        path = folder / name
        try:
            if not path.is_file() or path.stat().st_size > _LONGEST_IGNORE_FILE:
                raise ValueError("not a small regular file")
            lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
            # A pattern with many wildcards can take very long to match, and real patterns have few.
            usable = []
            for line in lines:
                if line.count("*") <= _MOST_STARS and len(line) <= 1000:
                    usable.append(line)
            if len(usable) < len(lines):
                remark = "some of its patterns are too long or hold too many wildcards, and were not used"
                out.skipped.append((path, remark))
            found.append((folder, GitIgnoreSpec.from_lines(usable)))
        except (OSError, ValueError) as exc:
            out.skipped.append((path, f"its patterns cannot be read ({exc})"))
    return found


def _ignored(path: Path, is_folder: bool, rules: list[tuple[Path, GitIgnoreSpec]]) -> str:
    """Return why ignore files leave an entry out, or ""; the last matching rule decides."""
    for folder, spec in reversed(rules):
        name = path.relative_to(folder).as_posix() + ("/" if is_folder else "")
        found = spec.check_file(name).include
        if found is not None:
            return f"it is ignored by the patterns in {folder.name or folder}" if found else ""
    return ""


def _is_home(path: Path) -> bool:
    """Tell whether a path is the home of the libraries, also through a link."""
    try:
        return os.path.samefile(path, corpora_settings().home)
    except OSError:
        return False


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def vanished(
    known: Iterable[str], found: Iterable[str], roots: Sequence[Path], unread: Iterable[str] = ()
) -> list[str]:
    """Return the known paths under `roots` that are gone or now left out.

    Paths that merely cannot be examined stay (a folder without permission, a missing drive), and so does
    everything below the `unread` paths of a walk. Uploads and copies of buckets stay if only a folder above
    the home is read.
    """
    present, unknown = set(found), set(unread)
    anchors = []
    for root in roots:
        if os.path.lexists(root):
            anchors.append(os.path.abspath(root))
    home = os.path.realpath(corpora_settings().home)
    anchors_in_home = []
    for anchor in anchors:
        if _below(os.path.realpath(anchor), home):
            anchors_in_home.append(anchor)
    gone = []
    for path in known:
        if path in present or not _below_any(path, anchors):
            continue
        if _below(os.path.realpath(path), home) and not _below_any(path, anchors_in_home):
            continue
        if not unknown.isdisjoint([path, *map(str, Path(path).parents)]):
            continue
        if _can_be_examined(path):
            gone.append(path)
    return gone


def _below_any(path: str, folders: Iterable[str]) -> bool:
    for folder in folders:
        if _below(path, folder):
            return True
    return False


def _can_be_examined(path: str) -> bool:
    """Tell whether the system says that a path exists or that it does not."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return True


def too_many(gone: Sequence[str], known: Mapping[str, str], roots: Sequence[Path]) -> list[Emptied]:
    """Return the roots that lost more than half of their known files.

    `known` has the source of each path. A file whose source has another path has moved, and does not count.
    """
    lost = set(gone)
    held = set()
    for path, source in known.items():
        if path not in lost:
            held.add(source)
    out = []
    for root in dict.fromkeys(map(os.path.abspath, roots)):
        here = []
        for path in known:
            if _below(path, root):
                here.append(path)
        away = 0
        for path in here:
            if path in lost and known[path] not in held:
                away += 1
        if 2 * away > len(here):
            out.append(Emptied(root, away, len(here)))
    return out


def outside(paths: Iterable[str], emptied: Sequence[Emptied]) -> list[str]:
    """Return the paths that lie below none of these roots."""
    roots = [each.root for each in emptied]
    kept: list[str] = []
    for path in paths:
        if not _below_any(path, roots):
            kept.append(path)
    return kept
