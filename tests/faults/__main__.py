"""`python -m tests.faults [WORD]`: every case (of the kinds whose name has WORD), and one table.

Leaves with 1 when a single case is lost.
"""

import os
import sys
import tempfile
import time
import traceback
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

from rich.console import Console
from rich.table import Table
from tests.faults.all_faults import FAULTS
from tests.faults.fault import Fault


def lost(fault: Fault) -> list[str]:
    """The cases that were not survived."""
    found = []
    for case in fault.cases:
        with tempfile.TemporaryDirectory(prefix="fault-") as folder:
            try:
                fault.attempt(case, Path(folder))
            except Exception:  # noqa: BLE001 (a case is lost by whatever error)
                traceback.print_exc()
                found.append(repr(case))
    return found


def main(word: str = "") -> int:
    """Try them all."""
    table = Table("fault", "seed", "tried", "survived", "seconds")
    failures = 0
    for fault in FAULTS:
        if word in fault.name:
            start, gone = time.monotonic(), lost(fault)
            failures += len(gone)
            counts = (len(fault.cases), len(fault.cases) - len(gone))
            seconds = f"{time.monotonic() - start:.0f}"
            table.add_row(fault.name, str(fault.seed), *map(str, counts), seconds)
            print(*(f"lost: {fault.name}: {case}" for case in gone), sep="\n", file=sys.stderr)
    Console().print(table)
    return min(failures, 1)


sys.exit(main(*sys.argv[1:]))
