"""Archives that would write, link or swell elsewhere: read or refused, with no effect outside."""

import gzip
import os
import resource
import tarfile
from collections.abc import Callable
from pathlib import Path

from tests.data.files import python2_pickle, rows, tar_gz
from tests.faults.fault import Fault, in_child

from reweigh.data.prepare import DataSpec, prepare
from reweigh.data.samples import Problem
from reweigh.errors import DataError

_MEMBER = "cifar-10-batches-py/test_batch"
_LONG = "d" * 247
_MEMORY = 2 * 2**30  # bytes that reading may take beyond what is there


def _entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", content: bytes = b"") -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size, info.mode = kind, link, len(content), 0o777
    padding = bytes(-len(content) % 512)
    return info.tobuf(tarfile.GNU_FORMAT) + content + padding


def _chain() -> bytes:
    """Folders and links so deep that the whole path outgrows PATH_MAX and checks of it fail."""
    entries, path = [], ""
    for letter in "abcdefghijklmnop":
        entries.append(_entry(f"{path}{_LONG}", tarfile.DIRTYPE))
        entries.append(_entry(f"{path}{letter}", tarfile.SYMTYPE, _LONG))
        path += f"{letter}/"
    up = f"{path}{'l' * 254}"
    entries += [_entry(up, tarfile.SYMTYPE, "../" * 16), _entry("out", tarfile.SYMTYPE, f"{up}/..")]
    return b"".join([*entries, _entry("out/evil", content=b"evil")])


def _oversized(kind: bytes, name: str) -> bytes:
    """A header that promises ten gigabytes; a little of them follows."""
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, 10 * 2**30
    return info.tobuf(tarfile.GNU_FORMAT) + bytes(2**20)


_TRAPS: dict[str, tuple[Callable[[], bytes], bool]] = {
    "../": (lambda: _entry("../evil", content=b"evil"), True),
    "absolute": (lambda: _entry(f"{os.getcwd()}/evil", content=b"evil"), True),
    "symbolic link": (lambda: _entry(_MEMBER, tarfile.SYMTYPE, "../secret"), True),
    "hard link": (lambda: _entry(_MEMBER, tarfile.LNKTYPE, "../secret"), True),
    "device": (lambda: _entry(_MEMBER, tarfile.CHRTYPE), True),
    "duplicate names": (lambda: _entry(_MEMBER, content=_batch(9)), True),
    "bomb": (lambda: _oversized(tarfile.REGTYPE, "huge"), False),
    "bomb in a long name": (lambda: _oversized(tarfile.GNUTYPE_LONGNAME, "huge"), False),
    "bomb in a header": (lambda: _oversized(tarfile.XHDTYPE, "huge"), False),
    "chain of links": (_chain, True),
}
"""What stands before the real members, and whether those can still be read."""


def _batch(seed: int) -> bytes:
    labels = [*range(10)] * 2
    return python2_pickle({"labels": labels, "data": rows(labels, seed=seed)})


def _archive(path: Path, before: bytes) -> None:
    names = [f"data_batch_{i}" for i in range(1, 6)]
    members = {f"cifar-10-batches-py/{name}": _batch(i) for i, name in enumerate(names)}
    tar_gz(path, members | {_MEMBER: _batch(7)})
    path.write_bytes(gzip.compress(before + gzip.decompress(path.read_bytes()), 1))


def _attempt(name: str, folder: Path) -> None:
    make, readable = _TRAPS[name]
    home = folder / "outer" / "data"
    home.mkdir(parents=True)
    (folder / "outer" / "secret").write_text("secret")
    os.chdir(folder)
    _archive(home / "cifar-10-python.tar.gz", make())
    before = _state(folder)

    def work() -> None:
        os.chdir(home)
        resource.setrlimit(resource.RLIMIT_AS, (_in_use() + _MEMORY,) * 2)
        _read(home, readable, first=9 if name == "duplicate names" else 7)

    assert in_child(work) == 0
    assert _state(folder) == before


def _read(home: Path, readable: bool, first: int) -> None:
    try:
        found: Problem = prepare(DataSpec(data="cifar10", data_dir=home))
    except DataError:
        assert not readable
        return
    assert readable
    expected = rows([*range(10)] * 2, seed=first).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    assert (found.test.inputs == expected).all()


def _state(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(p): ((s := p.lstat()).st_nlink, s.st_mtime_ns) for p in [folder, *folder.rglob("*")]
    }


def _in_use() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


ARCHIVES = Fault("hostile archives", 0, [*_TRAPS], _attempt)
