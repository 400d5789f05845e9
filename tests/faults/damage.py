"""Flipped bits and lost ends of checkpoint files: all noticed, and the one before is taken."""

import functools
import logging
import shutil
import tempfile
from pathlib import Path
from random import Random

from tests.faults.fault import Fault, in_child
from tests.faults.whole import go_on
from tests.training.interrupted import tiny

from reweigh.training.checkpoint import MANIFEST, MODEL, STATE, Checkpoints

SEED = 2
_FLIPS, _CUTS = 300, 100

Case = tuple[str, str, float, int]


def _cases() -> list[Case]:
    random = Random(SEED)
    kinds = ["flip"] * _FLIPS + ["cut"] * _CUTS
    files = (MODEL, STATE, MANIFEST)
    return [(k, random.choice(files), random.random(), random.randrange(8)) for k in kinds]


@functools.cache
def _two_checkpoints() -> tempfile.TemporaryDirectory[str]:
    home = tempfile.TemporaryDirectory(prefix="damage-")
    assert in_child(lambda: go_on(tiny("deep"), Path(home.name) / "run")) == 0
    return home


def _attempt(case: Case, folder: Path) -> None:
    kind, name, where, bit = case
    home = folder / "checkpoints"
    shutil.copytree(Path(_two_checkpoints().name) / "run" / "checkpoints", home)
    before, last = Checkpoints(home).steps()
    file = home / f"step_{last:08d}" / name
    raw = bytearray(file.read_bytes())
    place = int(where * len(raw))
    if kind == "flip":
        raw[place] ^= 1 << bit
    else:
        del raw[place:]
    file.write_bytes(raw)
    logging.disable()
    found = Checkpoints(home).newest()
    logging.disable(logging.NOTSET)
    assert found is not None
    assert found.step == before, "the damage was not noticed"


DAMAGE = Fault("bit flips (300) and truncations (100)", SEED, _cases(), _attempt)
