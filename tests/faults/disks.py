"""Disks that are full, limited, read-only, forbidden or gone, whatever is being written.

Each is refused in a sentence that names the place, harms nothing that was there, and when the disk
is well again the run goes on to the same bits and leaves nothing half-made.
"""

import os
import resource
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.faults.fault import Fault, in_child
from tests.faults.own_disk import (
    can_mount,
    drop_privileges,
    make_read_only,
    make_writable,
    mount_own_disk,
)
from tests.faults.whole import go_on, whole
from tests.training.interrupted import asked_after, assert_same, everything, tiny

from reweigh.config import RunConfig
from reweigh.errors import InterruptedRun, ReweighError
from reweigh.report import contents, write
from reweigh.training.checkpoint import Checkpoints
from reweigh.training.run_folder import RunFolder
from reweigh.training.weight_store import WeightStore


class Full:
    """No room for another page."""

    def __init__(self, root: Path) -> None:
        mount_own_disk(root, 24)
        self.ballast = root / "ballast"

    def strike(self, place: Path) -> None:
        with self.ballast.open("wb", buffering=0) as file:
            for size in (2**20, 2**12):
                while _is_written(file, size):
                    pass

    def heal(self) -> None:
        self.ballast.unlink()


class Limited:
    """As a quota: files may not grow beyond a few bytes."""

    def __init__(self, root: Path) -> None:
        self.before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def strike(self, place: Path) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20, self.before[1]))

    def heal(self) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, self.before)


class ReadOnly:
    """Mounted again, without the right to write."""

    def __init__(self, root: Path) -> None:
        mount_own_disk(root, 24)

    def strike(self, place: Path) -> None:
        self.place = place
        make_read_only(place)

    def heal(self) -> None:
        make_writable(self.place)


class Forbidden:
    """Folders and files without permission to write."""

    def __init__(self, root: Path) -> None:
        drop_privileges()

    def strike(self, place: Path) -> None:
        self.modes = {p: p.stat().st_mode for p in (place, *place.glob("*.jsonl"))}
        for path, mode in self.modes.items():
            path.chmod(mode & ~0o222)

    def heal(self) -> None:
        for path, mode in self.modes.items():
            path.chmod(mode)


class Deleted:
    """Somebody tidied up: the run's folder is gone."""

    def __init__(self, root: Path) -> None:
        self.home = root / "run"

    def strike(self, place: Path) -> None:
        shutil.rmtree(self.home)

    def heal(self) -> None:
        assert not self.home.exists(), "a deleted run came back in pieces"


Disk = Full | Limited | ReadOnly | Forbidden | Deleted


def _is_written(file: Any, size: int) -> bool:
    try:
        return file.write(bytes(size)) == size
    except OSError:
        return False


def _strikes_at(owner: Any, name: str, call: int, disk: Disk, place: Path) -> pytest.MonkeyPatch:
    """The disk goes bad just before that call, counted from 1."""
    patch, original, calls = pytest.MonkeyPatch(), getattr(owner, name), iter(range(1, 10**9))

    def struck(*arguments: Any) -> Any:
        if next(calls) == call:
            disk.strike(place)
        return original(*arguments)

    patch.setattr(owner, name, struck)
    return patch


def _assert_refused(work: Callable[[], Any], home: Path) -> None:
    try:
        work()
    except ReweighError as error:
        said = str(error)
    else:
        raise AssertionError("nobody noticed")
    assert str(home) in said, said
    assert "\n" not in said


def _assert_goes_on(config: RunConfig, home: Path) -> None:
    go_on(config, home)
    assert_same(whole(config), everything(home))
    assert not [*home.parent.rglob("*.tmp*"), *home.rglob("*.part")]


def _in_training(
    owner: Any, name: str, call: int, below: str, disk: Disk, config: RunConfig, home: Path
) -> None:
    patch = _strikes_at(owner, name, call, disk, home / below)
    _assert_refused(lambda: go_on(config, home), home)
    patch.undo()
    disk.heal()
    if not isinstance(disk, Deleted):
        assert Checkpoints(home / "checkpoints").newest() is not None, "the old one is harmed"
    _assert_goes_on(config, home)


def _saving(disk: Disk, config: RunConfig, home: Path) -> None:
    _in_training(Checkpoints, "save", 2, "checkpoints", disk, config, home)


def _weighing(disk: Disk, config: RunConfig, home: Path) -> None:
    _in_training(WeightStore, "begin", 2, "weights", disk, config, home)


def _counting(disk: Disk, config: RunConfig, home: Path) -> None:
    """An open file can still be written when its folder cannot: then it is met at the next start."""
    if not isinstance(disk, ReadOnly | Forbidden):
        _in_training(RunFolder, "metrics", 1, "", disk, config, home)
        return
    with pytest.MonkeyPatch.context() as patch:
        asked_after(patch, 14)
        with pytest.raises(InterruptedRun):
            go_on(config, home)
    disk.strike(home)
    _assert_refused(lambda: go_on(config, home), home)
    disk.heal()
    _assert_goes_on(config, home)


def _reporting(disk: Disk, config: RunConfig, home: Path) -> None:
    def report() -> Path:
        return write.write_report(contents.read_report([home]), home / "report")

    go_on(config, home)
    before = report().read_bytes()
    step = (contents, "audit_run") if isinstance(disk, Deleted) else (write, "write_columns")
    patch = _strikes_at(*step, 1, disk, home / "report")
    _assert_refused(report, home)
    patch.undo()
    disk.heal()
    if not isinstance(disk, Deleted):
        assert (home / "report" / write.INDEX).read_bytes() == before, "the old page is harmed"
    _assert_goes_on(config, home)
    report()
    assert not [*home.rglob("*.tmp*")]


_WRITERS = {"save": _saving, "weights": _weighing, "metrics": _counting, "report": _reporting}
_DISKS: dict[str, type[Disk]] = {
    **({"full": Full, "read-only": ReadOnly} if can_mount() else {}),
    **{"size limit": Limited, "no permission": Forbidden, "deleted folder": Deleted},
}


def _attempt(case: tuple[str, str], folder: Path) -> None:
    kind, writer = case
    config = tiny("deep")
    whole(config)

    def work() -> None:
        os.chdir("/")
        _WRITERS[writer](_DISKS[kind](folder), config, folder / "run")

    assert in_child(work) == 0


DISKS = Fault("disk faults", 0, [*product(_DISKS, _WRITERS)], _attempt)
