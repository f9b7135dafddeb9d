"""Limits of a process that opens strangers' files."""

from __future__ import annotations


def limit(memory_mb: int, file_mb: int = 64) -> None:
    """Limit this process: memory, no core dumps, no files larger than `file_mb`."""
    try:
        import resource
    except ImportError:  # no such limits on this system; the time limit of the parent still holds
        return
    for kind, most in (
        (resource.RLIMIT_AS, memory_mb * 2**20),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, file_mb * 2**20),
    ):
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
