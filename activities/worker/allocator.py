"""IO: keeps this process from holding memory that nothing uses, if its C library is glibc."""

from __future__ import annotations

import ctypes

from cutter import limits

M_ARENA_MAX = -8
"""The name of this limit for `mallopt`, from glibc's malloc.h."""


def limit_arenas() -> None:
    """Let all threads share `limits.ARENAS`. Call this before the first thread starts.

    Without it, glibc gives almost each thread an arena of its own, up to eight for each core. A worker has about thirty
    threads, and each arena keeps what its thread has freed. Other C libraries have no arenas, so this does nothing.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(M_ARENA_MAX, limits.ARENAS)


def give_back() -> None:
    """Give the free pages between used ones back to the system. Of its own, glibc gives back only those at the end.

    This takes milliseconds. Other C libraries have no such call, so this does nothing.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
