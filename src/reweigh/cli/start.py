"""Where the command begins: what a Ctrl-C means is settled before anything takes time to load.

Raised inside an import, KeyboardInterrupt may come out as anything: an ImportError of a half-made
module, a RecursionError, or nothing where a library catches all. While modules load nothing has
begun, and there is nothing to save: the process says so and is gone.
"""

import os
import signal
import sys
from types import FrameType

STOPPED = 130
_SENTENCE = "reweigh: stopped by Ctrl-C.\n"


def start() -> None:
    """The command `reweigh`."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else somebody ignores it
        signal.signal(signal.SIGINT, stop)
    try:
        from reweigh.cli.app import main

        main()
    except KeyboardInterrupt:  # before the verbs are there to hear it
        sys.stderr.write(_SENTENCE)
        sys.exit(STOPPED)


def stop(number: int, frame: FrameType | None) -> None:
    """Leave at once while modules load, else as Python does."""
    if _loading(frame):
        os.write(2, _SENTENCE.encode())
        os._exit(STOPPED)
    raise KeyboardInterrupt


def _loading(frame: FrameType | None) -> bool:
    """Whether an import is under way in the code that the signal met."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
