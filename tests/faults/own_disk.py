"""What only Linux gives a process: a small disk of its own, and no right to do as it likes.

The disk is a tmpfs in a mount namespace that ends with the process, so it needs no privileges and
leaves nothing. All of it is for forked processes: there is no way back.
"""

import ctypes
import functools
import os
import tempfile
from pathlib import Path

from tests.faults.fault import in_child

_NEW_MOUNTS, _NEW_USER = 0x20000, 0x10000000
_READ_ONLY, _REMOUNT, _BIND = 1, 32, 4096
_CAPABILITIES_VERSION = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def mount_own_disk(folder: Path, megabytes: int) -> None:
    """A new disk of this size at `folder`, seen by this process alone."""
    user, group = os.geteuid(), os.getegid()
    _call("unshare", _NEW_USER | _NEW_MOUNTS)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    _call("mount", b"tmpfs", os.fsencode(folder), b"tmpfs", 0, f"size={megabytes}m".encode())


def make_read_only(folder: Path) -> None:
    """Everything below `folder`, until `make_writable`."""
    place = os.fsencode(folder)
    _call("mount", place, place, None, _BIND, None)
    _call("mount", None, place, None, _BIND | _REMOUNT | _READ_ONLY, None)


def make_writable(folder: Path) -> None:
    """Undo `make_read_only`."""
    _call("umount", os.fsencode(folder))


def drop_privileges() -> None:
    """From now on permissions hold, for root too."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    _call("capset", header, (ctypes.c_uint32 * 6)())


@functools.cache
def can_mount() -> bool:
    """Whether this system lets us; many containers do not."""

    def attempt() -> None:
        try:
            mount_own_disk(Path(folder), 1)
        except OSError:
            os._exit(3)

    with tempfile.TemporaryDirectory() as folder:
        return in_child(attempt) == 0


def _call(name: str, *arguments: object) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
