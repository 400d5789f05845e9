"""One kind of fault: its cases, and the attempt to survive one of them."""

import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reweigh.errors import ReweighError


@dataclass(frozen=True)
class Fault:
    """`attempt(case, folder)` raises if the case is lost; equal seeds give equal cases."""

    name: str
    seed: int
    cases: Sequence[Any]
    attempt: Callable[[Any, Path], None]


def in_child(work: Callable[[], Any], kill_after: float | None = None) -> int:
    """Do the work in a forked process; its exit code, −9 where it was killed in time.

    A fork shares the imported torch: a new interpreter would take seconds for each case.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        child = os.fork()
    if child == 0:
        _work_and_leave(work)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _work_and_leave(work: Callable[[], Any]) -> None:
    code = 1
    try:
        work()
        code = 0
    except ReweighError as error:
        code = error.exit_code
    except KeyboardInterrupt:
        code = 130
    except BaseException:
        traceback.print_exc(file=sys.stderr)
        raise
    finally:
        os._exit(code)
