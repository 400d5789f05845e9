"""How much memory this process has held at most."""

import resource
import sys
from pathlib import Path


def peak_mb() -> float:
    """The peak of this process alone: `ru_maxrss` would start with its parent's on Linux."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) / 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)
