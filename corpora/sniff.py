"""What kind of recording a file is, by its first bytes: the demuxer that ffmpeg is told to use, and no other.

ffmpeg left to itself also opens playlists, which name other files and addresses. Here it never guesses.
"""

from __future__ import annotations

HEAD = 4096
"""Bytes that are looked at."""

_START = (
    (b"\x1aE\xdf\xa3", "matroska"),
    (b"OggS", "ogg"),
    (b"fLaC", "flac"),
    (b"FLV\x01", "flv"),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "asf"),
    (b"\x00\x00\x01\xba", "mpeg"),
    (b"#!AMR", "amr"),
    (b"caff", "caf"),
    (b"ID3", "mp3"),
    *((frame, "mp3") for frame in (b"\xff\xfa", b"\xff\xfb", b"\xff\xf2", b"\xff\xf3")),
    *((frame, "aac") for frame in (b"\xff\xf1", b"\xff\xf9")),
)
_BOXES = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot")
"""First boxes of MP4 and QuickTime files."""
STILL = (b"heic", b"heix", b"mif1", b"msf1", b"hevc", b"avif", b"avis")
"""Brands of HEIC and AVIF pictures, which stand in the same boxes."""
_RIFF = {b"AVI ": "avi", b"WAVE": "wav"}
_PACKET = 188
"""Bytes of a packet of an MPEG transport stream; 192 in the files of camcorders and discs."""


def demuxer(head: bytes) -> str:
    """Return the name of ffmpeg's demuxer for a recording, or "" for anything else.

    A text may begin with the letters of a signature, as “The free trial” does: a recording has zeros near
    them as well.
    """
    zeros = b"\0" in head
    found = next(
        (name for magic, name in _START if head.startswith(magic) and (zeros or not magic.isalnum())), ""
    )
    if found:
        return found
    if zeros and head[4:8] in _BOXES:
        return "" if head[4:8] == b"ftyp" and head[8:12] in STILL else "mov"
    if head[:4] in (b"RIFF", b"RF64"):
        return _RIFF.get(head[8:12], "")
    if head[:4] == b"FORM" and head[8:12] in (b"AIFF", b"AIFC"):
        return "aiff"
    return "mpegts" if _is_transport_stream(head) else ""


def _is_transport_stream(head: bytes) -> bool:
    starts = (head[::_PACKET], head[4::192])
    return any(len(marks) >= 5 and all(mark == 0x47 for mark in marks[:8]) for marks in starts)
