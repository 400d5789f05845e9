"""Memory that one step gives back is kept for the next, where the C library can be told so.

glibc hands large blocks to the system as soon as they are free, and asks for them again a moment
later: a step of ResNet-8 on 128 images touches 10,000 new pages, each of which the kernel fills with
zeros first. A training process needs the same memory at every step until it ends.
"""

import ctypes
import os

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # what glibc's malloc.h calls M_…
_NEVER = 2**31 - 1
_LARGEST = 32 * 2**20  # glibc takes no more


def keep_freed_memory() -> None:
    """Once for the process, before training on a CPU; `reweigh train` does so by itself.

    Whoever has set malloc up by the environment knows better.
    """
    told = "glibc.malloc" in os.environ.get("GLIBC_TUNABLES", "")
    if told or any(name.startswith("MALLOC_") for name in os.environ):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # of glibc alone
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, _NEVER)
        mallopt(_MMAP_THRESHOLD, _LARGEST)
