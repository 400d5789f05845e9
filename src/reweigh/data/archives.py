"""Known files out of an untrusted folder or tar archive, into memory.

Nothing is ever extracted: a member is read only if its whole name is one that was asked for and
it is a regular file of plausible size, so links, `..` and devices have no effect.
"""

import tarfile
import zlib
from collections.abc import Collection
from pathlib import Path

from reweigh.errors import DataError

_LARGEST = 400 * 2**20  # bytes; the largest official member, CIFAR-100's train, has 155 MB


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
    with tarfile.open(place, mode="r:gz") as archive:
        for member in archive:
            if member.size > _LARGEST:
                raise DataError(
                    f"{place}: member {member.name!r} has {member.size} bytes; refused."
                )
            if member.isreg() and member.name in wanted and member.name not in found:
                stream = archive.extractfile(member)
                assert stream is not None
                found[member.name] = stream.read()
                if len(found) == len(wanted):
                    break
    return found
