import tarfile

import pytest

from reweigh.data.archives import read_members
from reweigh.errors import DataError

from .files import tar_gz


def hostile(name, kind=tarfile.REGTYPE, link="", size=0):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, size
    return info, b"x" * size


def test_only_known_regular_members_are_read_and_nothing_is_written(tmp_path):
    (tmp_path / "secret").write_text("secret")
    place = tmp_path / "in" / "a.tar.gz"
    traps = [
        hostile("../evil", size=3),
        hostile("/abs", size=3),
        hostile("d/a", tarfile.SYMTYPE, "../secret"),
        hostile("d/b", tarfile.LNKTYPE, "../secret"),
        hostile("d/c", tarfile.CHRTYPE),
    ]
    tar_gz(place, {"d/a": b"real", "d/other": b"no"}, traps)
    before = sorted(tmp_path.rglob("*"))
    assert read_members(place, {"d/a", "d/b", "d/c", "../evil-not-asked"}) == {"d/a": b"real"}
    assert sorted(tmp_path.rglob("*")) == before


def test_a_giant_member_is_refused_before_it_is_read(tmp_path):
    info = tarfile.TarInfo("d/a")
    info.size = 10 * 2**30
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        archive.fileobj.write(info.tobuf())
    with pytest.raises(DataError, match="10737418240 bytes; refused"):
        read_members(tmp_path / "a.tar.gz", {"d/a"})


def test_a_folder_is_read_alike(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a").write_bytes(b"real")
    assert read_members(tmp_path / "d", {"d/a", "d/b"}) == {"d/a": b"real"}


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda _: b"<html>", lambda _: b""])
def test_damage_gets_one_sentence(tmp_path, damage):
    place = tmp_path / "a.tar.gz"
    tar_gz(place, {"d/a": bytes(range(256)) * 400})
    place.write_bytes(damage(place.read_bytes()))
    with pytest.raises(DataError, match="cannot be read as an archive"):
        read_members(place, {"d/a"})
