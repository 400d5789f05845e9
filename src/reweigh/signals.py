"""SIGTERM and Ctrl-C: the first one asks a run to save and leave, the second one leaves at once.

The handler sets a flag and nothing else. Every loop looks at it through `check()`: steps, chunks of an
evaluation, trials, stages of data preparation, of an audit and of a report, runs of a comparison. A
comparison in several processes shares the flag as a file, because a signal may reach only one of them;
the processes of one run ask each other at every check.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from reweigh.errors import InterruptedRun

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class _Asked:
    """Whether this process was asked to stop, and where it tells others."""

    signal_name: str | None = None
    shared: Path | None = None
    listening = False
    agree: Callable[[bool], bool] = staticmethod(bool)


def should_stop() -> bool:
    """Whether somebody asked this run to stop."""
    return _Asked.signal_name is not None or (
        _Asked.shared is not None and os.path.exists(_Asked.shared)
    )


def check() -> None:
    """Leave by `InterruptedRun` if asked to: call it wherever leaving is safe."""
    if _Asked.agree(should_stop()):
        raise InterruptedRun(f"Stopped by {_Asked.signal_name or 'another process'}.")


@contextmanager
def listening(shared: Path | None = None) -> Iterator[None]:
    """Inside, the first signal sets the flag; afterwards the handlers are what they were.

    Inside another `listening`, and outside the main thread (where Python allows no handler), it
    leaves the signals alone. `shared` is a file that stands for the flag in other processes.
    """
    if _Asked.listening or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    _Asked.listening, _Asked.signal_name, _Asked.shared = True, None, shared
    for number in _SIGNALS:
        signal.signal(number, _note)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _Asked.listening, _Asked.signal_name, _Asked.shared = False, None, None


def ignore_while_idle() -> None:
    """For a process that waits for work: Ctrl-C reaches it too, and is not its business.

    Dying of it would take the pool down, and with it the runs that are being saved.
    """
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def agreeing(agree: Callable[[bool], bool]) -> Iterator[None]:
    """Inside, `agree` decides at each check: one process of a run that was asked stops them all.

    All processes must then check equally often.
    """
    before, _Asked.agree = _Asked.agree, agree
    try:
        yield
    finally:
        _Asked.agree = before


@contextmanager
def following(shared: Path) -> Iterator[None]:
    """Inside, the file `shared` is the flag, and signals are left to whoever owns the process.

    For workers of a cluster: a signal to one of them is the cluster's affair and stops no other.
    """
    before = _Asked.listening, _Asked.shared
    _Asked.listening, _Asked.shared = True, shared
    try:
        yield
    finally:
        _Asked.listening, _Asked.shared = before


def _note(number: int, frame: FrameType | None) -> None:
    if _Asked.signal_name is not None:
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        raise KeyboardInterrupt
    _Asked.signal_name = signal.Signals(number).name
    if _Asked.shared is not None:
        _Asked.shared.touch()
