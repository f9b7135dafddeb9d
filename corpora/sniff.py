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
)
_BOXES = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot")
"""First boxes of MP4 and QuickTime files."""
STILL = (b"heic", b"heix", b"mif1", b"msf1", b"hevc", b"avif", b"avis")
"""Brands of HEIC and AVIF pictures, which stand in the same boxes."""
_RIFF = {b"AVI ": "avi", b"WAVE": "wav"}
_PACKET = 188
"""Bytes of a packet of an MPEG transport stream; 192 in the files of camcorders and discs."""


def demuxer(head: bytes) -> str:
    """Return the name of ffmpeg's demuxer for a recording, or "" for anything else."""
    found = next((name for magic, name in _START if head.startswith(magic)), "")
    if found:
        return found
    if head[4:8] in _BOXES:
        return "" if head[4:8] == b"ftyp" and head[8:12] in STILL else "mov"
    if head[:4] in (b"RIFF", b"RF64"):
        return _RIFF.get(head[8:12], "")
    if head[:4] == b"FORM" and head[8:12] in (b"AIFF", b"AIFC"):
        return "aiff"
    if _is_transport_stream(head):
        return "mpegts"
    return _mpeg_audio(head)


def _is_transport_stream(head: bytes) -> bool:
    for size, at in ((_PACKET, 0), (192, 4)):
        marks = head[at::size]
        if len(marks) >= 5 and all(mark == 0x47 for mark in marks[:8]):
            return True
    return False


def _mpeg_audio(head: bytes) -> str:
    """Recognise MP3 and AAC frames without a tag: two frame headers, the second where the first one ends."""
    if len(head) < 7 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return ""
    if head[1] & 0xF6 == 0xF0:
        length = (head[3] & 3) << 11 | head[4] << 3 | head[5] >> 5
        same = length > 7 and head[length : length + 2] == head[:2]
        return "aac" if same else ""
    version, layer = head[1] >> 3 & 3, head[1] >> 1 & 3
    rate, sampling = head[2] >> 4, head[2] >> 2 & 3
    if version == 1 or layer != 1 or rate in (0, 15) or sampling == 3:
        return ""
    kilobits = (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
    low = (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
    hertz = (44100, 48000, 32000)[sampling] >> (0 if version == 3 else 1 if version == 2 else 2)
    samples = 144 if version == 3 else 72
    length = samples * 1000 * (kilobits if version == 3 else low)[rate - 1] // hertz + (head[2] >> 1 & 1)
    return "mp3" if head[length : length + 1] == b"\xff" else ""
