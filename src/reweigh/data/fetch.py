"""Download of the named data sets: https only, resumed, and kept only if the SHA-256 is right.

A download goes to `FILE.part` and gets its name by one atomic rename after the check, so a file
that is there is whole. What was cut off is taken up again by a Range request.

The checksums are those that independent readers publish for the official files: torchvision-ruby,
GoMLX and MLDatasets.jl agree on the CIFAR archives (and the six CIFAR-10 members, rebuilt from the
md5-checked python files, have the SHA-256 values that torchvision-ruby gives); Flux.jl and others
agree on Fashion-MNIST's, whose md5 is in its own README. Multi30k's are those of files whose md5
torchtext published. For IWSLT'14, whose first home is gone, the mirror that fairseq uses is the
public source; its digest is published nowhere, its size is seen in logs of its users.
"""

import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any

from reweigh.data.catalogue import names
from reweigh.data.places import search_path
from reweigh.errors import DataError, UsageError
from reweigh.replacing import make_folder

Opener = Callable[[urllib.request.Request], Any]
Progress = Callable[[str, int, int], None]
"""Called with the bytes that are here and the bytes in all (0: unknown)."""

_CHUNK = 2**20


@dataclass(frozen=True)
class RemoteFile:
    """A file of a data set, where it officially lives, and what it must be."""

    base: str
    name: str
    sha256: str | None
    """None where nobody publishes it: the size is checked, and the user is shown the digest."""
    size: int | None = None
    """Bytes, where there is no digest."""


_TORONTO = "https://www.cs.toronto.edu/~kriz"
_ZALANDO = "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion"
_MULTI30K = "https://github.com/multi30k/dataset/raw/master/data/task1/raw"
_FAIRSEQ = "https://dl.fbaipublicfiles.com/fairseq/data/iwslt14"
FILES = {
    "cifar10": (
        RemoteFile(
            _TORONTO,
            "cifar-10-binary.tar.gz",
            "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        ),
    ),
    "cifar100": (
        RemoteFile(
            _TORONTO,
            "cifar-100-binary.tar.gz",
            "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
        ),
    ),
    "fashion-mnist": (
        RemoteFile(
            _ZALANDO,
            "train-images-idx3-ubyte.gz",
            "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
        ),
        RemoteFile(
            _ZALANDO,
            "train-labels-idx1-ubyte.gz",
            "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        ),
        RemoteFile(
            _ZALANDO,
            "t10k-images-idx3-ubyte.gz",
            "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        ),
        RemoteFile(
            _ZALANDO,
            "t10k-labels-idx1-ubyte.gz",
            "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        ),
    ),
    "multi30k": (
        RemoteFile(
            _MULTI30K,
            "train.de.gz",
            "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
        ),
        RemoteFile(
            _MULTI30K,
            "train.en.gz",
            "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
        ),
        RemoteFile(
            _MULTI30K,
            "val.de.gz",
            "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
        ),
        RemoteFile(
            _MULTI30K,
            "val.en.gz",
            "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
        ),
        RemoteFile(
            _MULTI30K,
            "test_2016_flickr.de.gz",
            "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
        ),
        RemoteFile(
            _MULTI30K,
            "test_2016_flickr.en.gz",
            "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
        ),
        RemoteFile(
            _MULTI30K,
            "test_2017_flickr.de.gz",
            "a2c89666db00c495cd8513b9d708d5a3acc205d7de312ef2bf5fb7ebc1540aee",
        ),
        RemoteFile(
            _MULTI30K,
            "test_2017_flickr.en.gz",
            "76a444ee25172e72695cddb13ae4a3bda59430617be88e0bb46b60504f054074",
        ),
    ),
    "iwslt14": (RemoteFile(_FAIRSEQ, "de-en.tgz", None, size=19_982_877),),
}


class _HttpsOnly(urllib.request.HTTPRedirectHandler):
    """Redirects are followed only to https."""

    def redirect_request(
        self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: str
    ) -> Any:
        """The next request, unless it would leave https."""
        _require_https(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def open_https(request: urllib.request.Request) -> Any:
    """Open an https address; anything else, also by redirect, is refused."""
    _require_https(request.full_url)
    return urllib.request.build_opener(_HttpsOnly).open(request, timeout=60)


def get(
    name: str,
    data_dir: Path | None = None,
    opener: Opener = open_https,
    progress: Progress | None = None,
) -> Path:
    """Fetch the files of data set `name` into the folder `name` of `data_dir`; return that folder.

    Files that are there and right are not fetched again.
    """
    if name not in FILES:
        where = "comes with a package, nothing to get" if name in names() else "is not a data set"
        raise UsageError(f"{name!r} {where}; `data get` knows {', '.join(FILES)}.")
    folder = search_path(data_dir)[0] / name
    for file in FILES[name]:
        fetch_file(file, folder, opener, progress)
    return folder


def unpublished_digests(name: str, folder: Path) -> dict[str, str]:
    """SHA-256 of the fetched files that nobody publishes one for: to be compared by people."""
    return {f.name: _sha256(folder / f.name) for f in FILES[name] if f.sha256 is None}


def fetch_file(
    file: RemoteFile,
    folder: Path,
    opener: Opener = open_https,
    progress: Progress | None = None,
) -> Path:
    """One file, whole and right."""
    target = folder / file.name
    if target.is_file() and _problem_with(target, file) is None:
        return target
    make_folder(folder, "give --data-dir another one")
    part, url = folder / f"{file.name}.part", f"{file.base.rstrip('/')}/{file.name}"
    try:
        _receive(url, part, opener, progress)
        _accept(part, target, file)
    except (DataError, urllib.error.URLError, HTTPException, OSError) as problem:
        raise DataError(
            f"{file.name} could not be fetched ({url}: {problem}); run the command again to take it up "
            f"where it stopped, or put the file into {folder}."
        ) from problem
    return target


def _receive(url: str, part: Path, opener: Opener, progress: Progress | None) -> None:
    """Append what is missing to `part`."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})  # noqa: S310  # the opener allows https only
    try:
        response = opener(request)
    except urllib.error.HTTPError as problem:
        if problem.code == 416 and have:  # nothing beyond what we have: let the checksum judge
            return
        raise
    with response:
        if "text/html" in (response.headers.get("Content-Type") or ""):
            raise DataError("an HTML page came in place of the file")
        resumed = response.status == 206
        _write(response, part, have if resumed else 0, progress)


def _write(response: HTTPResponse, part: Path, have: int, progress: Progress | None) -> None:
    length = int(response.headers.get("Content-Length") or 0)
    total = have + length if length else 0
    with part.open("r+b" if have else "wb") as file:
        file.seek(have)
        while chunk := response.read(_CHUNK):
            file.write(chunk)
            if progress is not None:
                progress(part.name.removesuffix(".part"), file.tell(), total)
        size = file.tell()
        os.fsync(file.fileno())
    if total and size < total:
        raise DataError(f"the connection ended after {size} of {total} bytes")


def _accept(part: Path, target: Path, file: RemoteFile) -> None:
    """Give the file its name, or throw it away."""
    if problem := _problem_with(part, file):
        part.unlink()
        raise DataError(problem)
    os.replace(part, target)


def _problem_with(path: Path, file: RemoteFile) -> str | None:
    """What is wrong with a file that was received, if anything."""
    if file.sha256 is None:
        size = path.stat().st_size
        return None if size == file.size else f"it has {size} bytes, expected {file.size}"
    found = _sha256(path)
    return None if found == file.sha256 else f"SHA-256 is {found}, expected {file.sha256}"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _require_https(url: str) -> None:
    if not url.lower().startswith("https://"):
        raise DataError(f"{url} is not an https address; only https is fetched")
