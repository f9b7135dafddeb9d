"""Choose ffmpeg's demuxer for a recording by its first bytes.

ffmpeg must not guess: it would also open playlists, which name other files and addresses.
"""

from __future__ import annotations

HEAD = 4096
"""Number of bytes to read."""

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
    (b"\xff\xfa", "mp3"),
    (b"\xff\xfb", "mp3"),
    (b"\xff\xf2", "mp3"),
    (b"\xff\xf3", "mp3"),
    (b"\xff\xf1", "aac"),
    (b"\xff\xf9", "aac"),
)
_BOXES = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot")
"""First boxes of MP4 and QuickTime files."""
STILL = (b"heic", b"heix", b"mif1", b"msf1", b"hevc", b"avif", b"avis")
"""Brands of HEIC and AVIF pictures, which have the same boxes."""
_RIFF = {b"AVI ": "avi", b"WAVE": "wav"}
_PACKET = 188
"""Bytes of a packet of an MPEG transport stream; 192 in the files of camcorders and discs."""


def demuxer(head: bytes) -> str:
    """Return the name of ffmpeg's demuxer for a recording, or "" for anything else.

    A text may start with the letters of a signature, as “The free trial” does: a recording also has zeros
    near them.
    """
    zeros = b"\0" in head
    found = _by_start(head, zeros)
    if found:
        return found
    if zeros and head[4:8] in _BOXES:
        return "" if head[4:8] == b"ftyp" and head[8:12] in STILL else "mov"
    if head[:4] in (b"RIFF", b"RF64"):
        return _RIFF.get(head[8:12], "")
    if head[:4] == b"FORM" and head[8:12] in (b"AIFF", b"AIFC"):
        return "aiff"
    return "mpegts" if _is_transport_stream(head) else ""


def _by_start(head: bytes, zeros: bool) -> str:
    """Return the demuxer of a signature at the start, or ""; without zeros, letters are no signature."""
    for magic, name in _START:
        if head.startswith(magic) and (zeros or not magic.isalnum()):
            return name
    return ""


def _is_transport_stream(head: bytes) -> bool:
    """Return whether each packet starts with the sync byte of MPEG transport streams."""
    for marks in (head[::_PACKET], head[4::192]):
        if len(marks) >= 5 and not marks[:8].strip(b"\x47"):
            return True
    return False
