"""Files and folders that are there whole or not at all.

Everything is made beside its place, as `.NAME.tmp-PID`, and renamed when it is complete. An error
takes what was made away again; what a killed process left is taken away by the next one that writes
the same name.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from reweigh.errors import UsageError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A place beside `path` to make it in: it gets the name if the block ends well, else it goes."""
    _remove_left_behind(path)
    beside = path.with_name(f".{path.name}.tmp-{os.getpid()}")
    try:
        yield beside
        os.replace(beside, path)
    except BaseException:
        _remove(beside)
        raise


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace a file so that a reader, or a crash, finds the old content or the new one, whole."""
    with replacing(path) as beside:
        write_through(beside, content.encode() if isinstance(content, str) else content)


def make_folder(path: Path, way_out: str) -> None:
    """A folder, if it is not there yet; `way_out` is what to do where it cannot be made."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageError(f"Cannot make the folder {path}: {why}; {way_out}.") from error


def write_through(path: Path, content: bytes) -> None:
    """Write a file down to the disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder down to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove_left_behind(path: Path) -> None:
    """What is beside `path` and belongs to a process that is gone."""
    for left in path.parent.glob(f".{escape(path.name)}.tmp-*"):
        owner = left.name.rpartition("-")[2]
        if owner.isdecimal() and not _is_another(int(owner)):
            _remove(left)


def _is_another(process: int) -> bool:
    """Whether it is alive and not this one, which got the number of a dead one."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # of another user
        return True
    return process != os.getpid()


def _remove(place: Path) -> None:
    """A file or a folder, as far as the disk allows: what it holds is worth nothing."""
    with suppress(OSError):
        shutil.rmtree(place) if place.is_dir() else place.unlink()
