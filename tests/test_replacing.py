import os
from pathlib import Path

import pytest

from reweigh.replacing import replacing, write_atomically

GONE = 2**22 + 1  # above the largest process number of Linux


def fail_halfway(path: Path) -> None:
    with replacing(path) as beside:
        beside.write_text("half")
        raise KeyboardInterrupt


def test_only_the_whole_file_is_ever_there(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", "old")
    write_atomically(tmp_path / "a", b"new")
    with pytest.raises(KeyboardInterrupt):
        fail_halfway(tmp_path / "a")
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"a": "new"}


def test_a_folder_is_made_alike(tmp_path: Path) -> None:
    with replacing(tmp_path / "run") as beside:
        beside.mkdir()
        (beside / "x").write_text("x")
        assert not (tmp_path / "run").exists()
    assert [str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")] == ["run", "run/x"]


def test_what_the_dead_left_goes_and_what_the_living_make_stays(tmp_path: Path) -> None:
    name = "a[1]"
    dead, reborn = (tmp_path / f".{name}.tmp-{pid}" for pid in (GONE, os.getpid()))
    living, other = tmp_path / f".{name}.tmp-{os.getppid()}", tmp_path / f".b.tmp-{GONE}"
    for left in (dead, reborn):
        left.mkdir()
        (left / "half").write_text("x")
    for kept in (living, other):
        kept.write_text("x")
    write_atomically(tmp_path / name, "whole")
    assert {p.name for p in tmp_path.iterdir()} == {name, living.name, other.name}
