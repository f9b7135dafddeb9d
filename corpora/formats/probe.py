"""What a file is, by its content. The extension only decides between kinds that are all plain text."""

from __future__ import annotations

import re
import stat
import zipfile
from pathlib import Path

from ragweave.corpora.archive import BROKEN
from ragweave.corpora.decode import encoding_of, unreadable
from ragweave.corpora.formats import KINDS
from ragweave.corpora.formats.items import states_items
from ragweave.corpora.sniff import STILL, demuxer
from ragweave.models.errors import SourceError

HEAD_BYTES = 64 * 1024
"""Bytes read from the start of a file."""
MAX_TEXT_BYTES = 64 * 1024 * 1024
"""Largest file of a plain-text kind."""
MAX_BYTES = 512 * 1024 * 1024
"""Largest file of any other kind."""
PICTURE = "image"
"""Kind of a picture file."""

_EXTENSIONS = {
    "markdown": ".md .markdown .mdown .mkd .mdx .qmd .rmd",
    "rst": ".rst .rest",
    "html": ".html .htm .xhtml .xht",
    "svg": ".svg",
    "csv": ".csv .tsv .tab",
    "json": ".json .jsonl .ndjson .geojson .jsonld",
    "notebook": ".ipynb",
    "eml": ".eml",
    "mbox": ".mbox .mbx",
    "ics": ".ics .ical .ifb .vcf .vcard",
    "code": (
        """.py .pyi .js .mjs .cjs .jsx .ts .tsx .java .kt .kts .scala .c .h .cc .cpp .cxx .hpp .hh .cs .go
        .rs .rb .php .pl .pm .swift .m .mm .r .jl .lua .sh .bash .zsh .fish .ps1 .bat .sql .hs .ml .mli
        .clj .ex .exs .erl .dart .vue .svelte .css .scss .less .toml .ini .cfg .yaml .yml .xml .xsd .proto
        .graphql .tf .cmake .gradle .groovy .zig .nim .v .vhd .tex .bib .sty .asm .s .f .f90 .f95 .for
        .pas .lisp .el .scm .vim .diff .patch"""
    ),
}
_TEXT_KINDS: dict[str, str] = {}
for _kind, _listed in _EXTENSIONS.items():
    _TEXT_KINDS.update(dict.fromkeys(_listed.split(), _kind))
TEXTS = frozenset((*_EXTENSIONS, "text"))
"""Kinds that are plain text and are cut into paragraphs."""
_MAGIC = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"BM", "a bitmap picture"),
    (b"II*\0", "a TIFF picture"),
    (b"MM\0*", "a TIFF picture"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"SQLite format 3", "an SQLite database"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OUTLOOK = re.compile(
    re.escape("__substg1.0_".encode("utf-16-le"))
    + b"|"
    + re.escape("__properties_version1.0".encode("utf-16-le"))
)
"""Names of the parts of a message of Outlook."""
_COMPOUND_BYTES = 16 * 2**20
"""Bytes of a compound file in which the names of its parts are looked for."""
_PACKAGES = (
    ("word/document.xml", "docx"),
    ("ppt/presentation.xml", "pptx"),
    ("xl/workbook.xml", "xlsx"),
    ("META-INF/container.xml", "epub"),
)
_OPEN_DOCUMENTS = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}
_HTML = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_SVG = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*|<!doctype\s+svg[^>\[]*(?:\[[^\]]*\]\s*)?>\s*)*"
    r"<(?:svg:)?svg\b",
    re.I | re.S,
)
_TAGS = re.compile(
    r"</?(?:p|div|h[1-6]|body|table|ul|ol|li|span|article|section|main|br|a)\b[^<>]{0,2000}>", re.I
)
_RST = re.compile(r"^[ \t]*\.\. [\w:-]{2,40}::(?:\s|$)|:[a-z][\w:+-]{1,30}:`[^`\n]+`", re.M)
"""A `.txt` with several directives and roles is reStructuredText, as manuals of many projects are."""
_MAIL = re.compile(r"(?:[A-Z][\w-]*:[^\n]*\n(?:[ \t][^\n]*\n)*){3,}")
_CALENDAR = re.compile(r"\s*BEGIN:V(?:CALENDAR|CARD)\b", re.I)
_MAILBOX = re.compile(r"From \S[^\n]{1,200}\d\d:\d\d[^\n]{0,60}\d{4}[^\n]{0,20}\n[\w-]+:")
"""The line over each mail of a mailbox: who sent it and when, right before its first field."""
_MAIL_FIELDS = re.compile(
    r"^(?:From|To|Subject|Date|Message-ID|MIME-Version|Received|Return-Path):", re.M | re.I
)


def probe(path: Path) -> str:
    """Return the kind of a file, a key of `ragweave.corpora.formats.KINDS`.

    Raises:
        SourceError: the file is empty, too large, not readable, protected, or of a kind that is not read.
    """
    return opened(path)[0]


def opened(path: Path) -> tuple[str, str]:
    """Return the kind of a file as `probe` does, and the first characters of what is plain text."""
    data, length = _head(path)
    if not data.strip(b"\0 \t\r\n\f\xef\xbb\xbf\xff\xfe"):
        if length > len(data):
            what = f"{path.name} holds only zeros or white space at its start"
            raise SourceError(what, "leave it out, or restore it")
        if data and not data.strip(b"\0"):
            what = f"{path.name} is empty but for zeros, as after a copy that was interrupted"
            raise SourceError(what, "copy it again")
        raise SourceError(f"{path.name} is empty", "leave it out, or add text to it")
    kind, text = _binary_kind(path, data), ""
    if not kind:
        encoding = encoding_of(data)
        if not encoding:
            what = f"{path.name} is binary and of no kind that is known"
            raise SourceError(what, "leave it out, or convert it to text")
        text = data.decode(encoding, errors="replace").lstrip("\ufeff")
        kind = _text_kind(path, text)
    limit = MAX_TEXT_BYTES if kind in TEXTS or kind == "items" else MAX_BYTES
    if length > limit:
        raise SourceError(
            f"{path.name} is {length / 1024**2:.0f} MB; files of this kind are read up to"
            f" {limit / 1024**2:.0f} MB",
            "split it into smaller files",
        )
    if kind not in KINDS and kind != PICTURE:
        raise SourceError(
            f"{path.name} is of a kind that is not read ({kind})", "convert it to text, HTML or PDF"
        )
    return kind, text


def _head(path: Path) -> tuple[bytes, int]:
    """Return the first bytes of a regular file and its length; pipes and devices are never opened."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise SourceError(f"{path.name} is not a regular file", "give a file or a folder")
        with path.open("rb") as file:
            return file.read(HEAD_BYTES), found.st_size
    except OSError as exc:
        raise unreadable(path, exc) from None


def _binary_kind(path: Path, data: bytes) -> str:
    """Return the kind of a file with a signature, or "" for what may be text."""
    if b"%PDF-" in data[:1024]:
        return "pdf"
    if data.startswith(b"PK\x03\x04"):
        return _package_kind(path)
    if data.startswith(_OLE):
        raise SourceError(*_compound(path))
    if data.startswith(b"{\\rtf"):
        return "rtf"
    magic, named = _signature(data)
    # Signatures made of letters are weak: "BM" and "MZ" also begin words. Their headers hold zeros, which no
    # text does.
    if magic.isalnum() and b"\0" not in data[:64] and encoding_of(data):
        named = ""
    if data[4:8] == b"ftyp" and data[8:12] in STILL:
        named = "a HEIC or AVIF picture"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        named = "a WebP picture"
    elif demuxer(data):
        named = "a recording or a video"
    if named.endswith("picture"):
        return PICTURE
    if named:
        raise SourceError(f"{path.name} is {named}, not a text that can be read", "leave it out")
    return ""


def _signature(data: bytes) -> tuple[bytes, str]:
    """Return the signature that data begin with, and what it marks; b"" and "" if it is none of these."""
    for magic, named in _MAGIC:
        if data.startswith(magic):
            return magic, named
    return b"", ""


def _compound(path: Path) -> tuple[str, str]:
    """Return what a compound file is, by the names of its parts, and what to do about it."""
    with path.open("rb") as file:
        data = file.read(_COMPOUND_BYTES)
    if _OUTLOOK.search(data):
        what = f"{path.name} is a message of Outlook, of a kind that is not read"
        return what, "save it as .eml (open it in Thunderbird, or in Outlook on the web), or as text or PDF"
    if "EncryptedPackage".encode("utf-16-le") in data:
        return f"{path.name} is an Office file with a password", "save it without password"
    what = f"{path.name} is an Office file with a password, or of the time before 2007"
    return what, "save it without password as .docx, .pptx, .xlsx or PDF"


def _package_kind(path: Path) -> str:
    """Return the kind of a zip file by the parts it holds; only its directory is read."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            protected = any(map(_is_protected, archive.infolist()))
            stated = _mimetype(archive) if {"mimetype", "content.xml"} <= names else ""
    except BROKEN:
        raise SourceError(
            f"{path.name} is a damaged or truncated zip file (Word, Excel, PowerPoint and EPUB are zip"
            " files)",
            "restore it from a backup, or save it again",
        ) from None
    if protected:
        raise SourceError(f"{path.name} is protected by a password", "save it without password")
    for part, kind in _PACKAGES:
        if part in names:
            return kind
    if stated in _OPEN_DOCUMENTS:
        return _OPEN_DOCUMENTS[stated]
    if stated:
        raise SourceError(f"{path.name} is an OpenDocument file of a kind that is not read", "save it as PDF")
    raise SourceError(f"{path.name} is a zip archive", "unpack it into a folder, and index the folder")


def _is_protected(entry: zipfile.ZipInfo) -> bool:
    return bool(entry.flag_bits & 1)


def _mimetype(archive: zipfile.ZipFile) -> str:
    """Return what an OpenDocument file says it is, of a template what is made of it."""
    with archive.open("mimetype") as entry:
        said = entry.read(100).decode("ascii", "replace").strip()
    return said.rpartition(".")[2].removesuffix("-template")


def _text_kind(path: Path, text: str) -> str:
    """Return the kind of a text: what it certainly is, else what its extension says, else plain text."""
    if text.startswith("#EXTM3U"):
        raise SourceError(
            f"{path.name} is a playlist, which only names recordings", "give the recordings themselves"
        )
    extension = path.suffix.lower()
    if extension in (".jsonl", ".ndjson") and states_items(text.lstrip().split("\n", 1)[0]):
        return "items"
    named = _TEXT_KINDS.get(extension, "text")
    if named in ("text", "ics"):
        named = "ics" if _CALENDAR.match(text) else "text"
    return _kind_by_beginning(text, named) or _confirmed(text, named)


def _kind_by_beginning(text: str, named: str) -> str:
    """Return the kind that the beginning of a text shows, whatever its extension names, or ""."""
    if named in ("text", "eml", "mbox") and _MAILBOX.match(text):
        return "mbox"
    if named in ("svg", "text", "html", "code") and _SVG.match(text):
        return "svg"
    if named in ("text", "mbox", "markdown", "html") and _HTML.match(text):
        return "html"
    return ""


def _confirmed(text: str, named: str) -> str:
    """Return the kind that the extension names if the text has its marks, else "text"."""
    if named == "html":
        is_of_kind = _TAGS.search(text) is not None
    elif named in ("json", "notebook"):
        is_of_kind = text.lstrip()[:1] in ("{", "[", '"')
    elif named in ("eml", "mbox"):
        named = "eml"
        is_of_kind = _mail_fields(text) >= 2
    elif named == "text":
        return _kind_of_plain(text)
    else:
        is_of_kind = named != "svg"
    return named if is_of_kind else "text"


def _kind_of_plain(text: str) -> str:
    """Return the kind of a text whose extension names none."""
    if _MAIL.match(text) and _mail_fields(text) >= 3:
        return "eml"
    if len(_RST.findall(text)) >= 3:
        return "rst"
    return "text"


def _mail_fields(text: str) -> int:
    return len(_MAIL_FIELDS.findall(text[:8192]))
