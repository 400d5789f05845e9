"""Download of the named data sets: https only, resumed, and kept only if the SHA-256 is right.

A download goes to `FILE.part` and gets its name by one atomic rename after the check, so a file
that is there is whole. What was cut off is taken up again by a Range request.

The checksums are those that independent readers publish for the official files: torchvision-ruby,
GoMLX and MLDatasets.jl agree on the CIFAR archives (and the six CIFAR-10 members, rebuilt from the
md5-checked python files, have the SHA-256 values that torchvision-ruby gives); Flux.jl and others
agree on Fashion-MNIST's, whose md5 is in its own README.
"""

import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any

from reweigh.data.catalogue import names
from reweigh.data.places import search_path
from reweigh.errors import DataError, UsageError

Opener = Callable[[urllib.request.Request], Any]
Progress = Callable[[int, int], None]
"""Called with the bytes that are here and the bytes in all (0: unknown)."""

_CHUNK = 2**20


@dataclass(frozen=True)
class RemoteFile:
    """A file of a data set, where it officially lives, and what it must be."""

    base: str
    name: str
    sha256: str


_TORONTO = "https://www.cs.toronto.edu/~kriz"
_ZALANDO = "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion"
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
    mirrors: Sequence[str] = (),
    opener: Opener = open_https,
    progress: Progress | None = None,
) -> Path:
    """Fetch the files of data set `name` into the folder `name` of `data_dir`; return that folder.

    Files that are there and right are not fetched again. `mirrors` are base addresses tried in
    turn after the official one; the checksum makes any of them as good.
    """
    if name not in FILES:
        where = "comes with a package, nothing to get" if name in names() else "is not a data set"
        raise UsageError(f"{name!r} {where}; `data get` knows {', '.join(FILES)}.")
    folder = search_path(data_dir)[0] / name
    for file in FILES[name]:
        fetch_file(file, folder, mirrors, opener, progress)
    return folder


def fetch_file(
    file: RemoteFile,
    folder: Path,
    mirrors: Sequence[str] = (),
    opener: Opener = open_https,
    progress: Progress | None = None,
) -> Path:
    """One file, from the first address that gives it whole and right."""
    target = folder / file.name
    if target.is_file() and _sha256(target) == file.sha256:
        return target
    folder.mkdir(parents=True, exist_ok=True)
    part, problems = folder / f"{file.name}.part", []
    for base in (file.base, *mirrors):
        url = f"{base.rstrip('/')}/{file.name}"
        try:
            _receive(url, part, opener, progress)
            _accept(part, target, file.sha256, url)
            return target
        except (DataError, urllib.error.URLError, HTTPException, OSError) as problem:
            problems.append(f"{url}: {problem}")
    raise DataError(
        f"{file.name} could not be fetched ({'; '.join(problems)}); run the command again to take "
        f"it up where it stopped, or put the file into {folder}."
    )


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
                progress(file.tell(), total)
        size = file.tell()
        os.fsync(file.fileno())
    if total and size < total:
        raise DataError(f"the connection ended after {size} of {total} bytes")


def _accept(part: Path, target: Path, sha256: str, url: str) -> None:
    """Give the file its name, or throw it away."""
    found = _sha256(part)
    if found != sha256:
        part.unlink()
        raise DataError(f"SHA-256 is {found}, expected {sha256}")
    os.replace(part, target)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _require_https(url: str) -> None:
    if not url.lower().startswith("https://"):
        raise DataError(f"{url} is not an https address; only https is fetched")
