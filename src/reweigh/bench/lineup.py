"""The systems by name, and which of them can run here."""

from importlib.util import find_spec

from reweigh.bench.peers import AlgorithmOne, Higher, TorchOpt, Unrolled
from reweigh.bench.systems import Fast, Lean, Reversal, System

SYSTEMS: dict[str, type[System]] = {
    "reweigh-fast": Fast,
    "reweigh-lean": Lean,
    "reweigh-reversal": Reversal,
    "unrolled": Unrolled,
    "higher": Higher,
    "torchopt": TorchOpt,
    "algorithm-1": AlgorithmOne,
}


def obstacle(system: str) -> str | None:
    """Why a system cannot run here, or None."""
    package = SYSTEMS[system].needs
    if package is None or find_spec(package) is not None:
        return None
    return "not installed (pip install reweigh[bench])"
