import hashlib
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from reweigh.data import fetch
from reweigh.data.fetch import RemoteFile, fetch_file, get, open_https
from reweigh.errors import DataError, UsageError

CONTENT = bytes(range(256)) * 5000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server(BaseHTTPRequestHandler):
    requests: ClassVar[list] = []

    def do_GET(self):
        wanted = self.headers.get("Range")
        Server.requests.append((self.path, wanted))
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        if self.path.startswith("/page/"):
            return self.answer(200, b"<html>sorry</html>", kind="text/html; charset=utf-8")
        if self.path.startswith("/wrong/"):
            return self.answer(200, b"wrong" + CONTENT)
        if self.path.startswith("/cut/"):
            return self.answer(200, CONTENT[:70_000], length=len(CONTENT))
        if self.path.startswith("/plain/"):  # ignores Range
            return self.answer(200, CONTENT)
        if self.path.startswith("/good/") and start >= len(CONTENT):
            return self.answer(416, b"")
        if self.path.startswith("/good/"):
            return self.answer(206 if start else 200, CONTENT[start:])
        return self.answer(404, b"")

    def answer(self, code, body, length=None, kind="application/x-gzip"):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def base():
    Server.requests = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def plain_http(request):
    return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=5)


def fetch_from(base, route, folder, **more):
    file = RemoteFile(f"{base}/{route}", "a.tar.gz", SHA256)
    return fetch_file(file, folder, opener=plain_http, **more)


def test_a_right_file_arrives_once(base, tmp_path):
    seen = []
    path = fetch_from(base, "good", tmp_path / "new", progress=lambda *s: seen.append(s))
    assert path.read_bytes() == CONTENT
    assert seen[-1] == ("a.tar.gz", len(CONTENT), len(CONTENT))
    fetch_from(base, "good", tmp_path / "new")
    assert len(Server.requests) == 1
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["a.tar.gz"]


def test_a_cut_download_is_taken_up_again(base, tmp_path):
    with pytest.raises(DataError, match="ended after 70000 of 1280000 bytes"):
        fetch_from(base, "cut", tmp_path)
    assert not (tmp_path / "a.tar.gz").exists()
    assert fetch_from(base, "good", tmp_path).read_bytes() == CONTENT
    assert Server.requests[-1] == ("/good/a.tar.gz", "bytes=70000-")


@pytest.mark.parametrize("have", [CONTENT[:9], CONTENT, b"rubbish"])
def test_a_server_without_ranges_starts_anew(base, tmp_path, have):
    (tmp_path / "a.tar.gz.part").write_bytes(have)
    assert fetch_from(base, "plain", tmp_path).read_bytes() == CONTENT


def test_a_whole_part_file_needs_nothing_more(base, tmp_path):
    (tmp_path / "a.tar.gz.part").write_bytes(CONTENT)
    assert fetch_from(base, "good", tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("route", "sentence"),
    [("page", "an HTML page came"), ("wrong", f"expected {SHA256}"), ("none", "404")],
)
def test_anything_else_is_refused_and_leaves_nothing(base, tmp_path, route, sentence):
    with pytest.raises(DataError, match=sentence):
        fetch_from(base, route, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_rubbish_in_the_part_file_is_thrown_away_by_the_checksum(base, tmp_path):
    (tmp_path / "a.tar.gz.part").write_bytes(b"rubbish")
    with pytest.raises(DataError, match="SHA-256"):
        fetch_from(base, "good", tmp_path)
    assert fetch_from(base, "good", tmp_path).read_bytes() == CONTENT


def test_a_damaged_old_file_is_replaced(base, tmp_path):
    (tmp_path / "a.tar.gz").write_bytes(b"old")
    assert fetch_from(base, "good", tmp_path).read_bytes() == CONTENT


def test_only_https_is_opened_also_after_a_redirect(base, tmp_path):
    for url in (f"{base}/good/a", "file:///etc/hostname", "ftp://x/y"):
        with pytest.raises(DataError, match="only https"):
            open_https(urllib.request.Request(url))
    handler = fetch._HttpsOnly()
    request = urllib.request.Request("https://example.org/a")
    with pytest.raises(DataError, match="only https"):
        handler.redirect_request(request, None, 302, "Found", {}, "http://example.org/a")
    followed = handler.redirect_request(request, None, 302, "Found", {}, "https://example.org/b")
    assert followed.full_url == "https://example.org/b"


def test_get_knows_what_can_be_fetched(base, tmp_path, monkeypatch):
    file = RemoteFile(f"{base}/good", "a.tar.gz", SHA256)
    monkeypatch.setitem(fetch.FILES, "cifar10", (file,))
    assert get("cifar10", tmp_path, opener=plain_http) == tmp_path / "cifar10"
    assert (tmp_path / "cifar10" / "a.tar.gz").read_bytes() == CONTENT
    with pytest.raises(UsageError, match="nothing to get"):
        get("digits", tmp_path)
    with pytest.raises(UsageError, match="'cifar11' is not a data set"):
        get("cifar11", tmp_path)


def test_every_official_file_has_an_https_address_and_a_sha256():
    for file in (file for files in fetch.FILES.values() for file in files):
        assert file.base.startswith("https://")
        assert file.size if file.sha256 is None else len(bytes.fromhex(file.sha256)) == 32


def test_without_a_published_digest_the_size_must_be_right_and_the_digest_is_told(
    base, tmp_path, monkeypatch
):
    wrong = RemoteFile(f"{base}/good", "a.tar.gz", None, size=7)
    with pytest.raises(DataError, match="it has 1280000 bytes, expected 7"):
        fetch_file(wrong, tmp_path / "x", opener=plain_http)
    assert list((tmp_path / "x").iterdir()) == []
    file = RemoteFile(f"{base}/good", "a.tar.gz", None, size=len(CONTENT))
    monkeypatch.setitem(fetch.FILES, "iwslt14", (file,))
    folder = get("iwslt14", tmp_path, opener=plain_http)
    get("iwslt14", tmp_path, opener=plain_http)
    assert len(Server.requests) == 2  # what is there is not fetched again
    assert fetch.unpublished_digests("iwslt14", folder) == {"a.tar.gz": SHA256}
    assert fetch.unpublished_digests("cifar10", folder) == {}
