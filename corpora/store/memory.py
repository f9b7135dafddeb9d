"""Memory that is cleared when it is given out.

Chroma writes its index with the room it has left, unused memory as it finds it: text that was deleted, questions and
keys would go to the disk with it. The C library of Linux can clear memory (M_PERTURB); it is asked to while Chroma is
at work, because it costs a third of the speed of the encoder. Other systems have nothing of the kind.
"""

from __future__ import annotations

import ctypes
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

logger = logging.getLogger(__name__)

_M_PERTURB = -6
_ZEROS = 0xFF
"""Memory is filled with the complement of this when it is given out."""
_users = 0
_lock = threading.Lock()


@contextmanager
def cleared() -> Iterator[None]:
    """Have every block of memory that this process asks for meanwhile filled with zeros."""
    global _users
    with _lock:
        _users += 1
        if _users == 1:
            _perturb(_ZEROS)
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                _perturb(0)


def _perturb(byte: int) -> None:
    try:
        mallopt: Callable[[int, int], int] = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        logger.debug("memory cannot be cleared on this system")
        return
    mallopt(_M_PERTURB, byte)
