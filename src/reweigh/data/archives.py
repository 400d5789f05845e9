"""Known files out of an untrusted folder or tar archive, into memory.

Nothing is ever extracted: a member is read only if its whole name is one that was asked for and
it is a regular file of plausible size, so links, `..` and devices have no effect.
"""

import gzip
import tarfile
import zlib
from collections.abc import Collection
from pathlib import Path

from reweigh.errors import DataError

_LARGEST = 400 * 2**20  # bytes; the largest official member, CIFAR-100's train, has 155 MB


class _Bounded(gzip.GzipFile):
    """Unpacks no more at once than a member may have: a long name's size is believed by tarfile."""

    def read(self, size: int | None = -1) -> bytes:
        """So many bytes, if that is plausible."""
        if size is None or not 0 <= size <= _LARGEST:
            raise OSError(f"it asks for {size} bytes at once")
        return super().read(size)


def read_members(place: Path, wanted: Collection[str]) -> dict[str, bytes]:
    """The contents of those `wanted` names (like `folder/file`) that `place` has.

    `place` is a `.tar.gz` archive, or the extracted folder itself.
    """
    if place.is_dir():
        paths = {name: place.parent / name for name in wanted}
        return {name: path.read_bytes() for name, path in paths.items() if path.is_file()}
    try:
        return _read_archive(place, wanted)
    except (tarfile.TarError, EOFError, OSError, zlib.error) as problem:
        raise DataError(
            f"{place} cannot be read as an archive ({problem}); fetch it again."
        ) from None


def _read_archive(place: Path, wanted: Collection[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with _Bounded(place, "rb") as stream, tarfile.open(fileobj=stream, mode="r:") as archive:
        for member in archive:
            if member.size > _LARGEST:
                raise DataError(
                    f"{place}: member {member.name!r} has {member.size} bytes; refused."
                )
            if member.isreg() and member.name in wanted and member.name not in found:
                content = archive.extractfile(member)
                assert content is not None
                found[member.name] = content.read()
                if len(found) == len(wanted):
                    break
    return found
