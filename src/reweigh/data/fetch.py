"""Download of the named data sets: https only, resumed, and kept only if the SHA-256 is right.

A download goes to `FILE.part` and gets its name by one atomic rename after the check, so a file
that is there is whole. What was cut off is taken up again by a Range request.
"""

import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any

from reweigh.data.catalogue import names
from reweigh.data.places import search_path
from reweigh.data.remote_files import FILES, RemoteFile
from reweigh.errors import DataError, UsageError
from reweigh.replacing import make_folder

Opener = Callable[[urllib.request.Request], Any]
Progress = Callable[[str, int, int], None]
"""Called with the bytes that are here and the bytes in all (0: unknown)."""

_CHUNK = 2**20


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
