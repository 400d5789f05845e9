import os
import signal
import threading
from pathlib import Path

import pytest
from tests.faults.fault import in_child

from reweigh import signals
from reweigh.errors import InterruptedRun

BOTH = (signal.SIGTERM, signal.SIGINT)


@pytest.mark.parametrize("number", BOTH)
def test_the_first_signal_sets_a_flag_and_the_handlers_come_back(number: signal.Signals) -> None:
    before = [signal.getsignal(n) for n in BOTH]
    with signals.listening():
        assert not signals.should_stop()
        os.kill(os.getpid(), number)
        assert signals.should_stop()
        with pytest.raises(InterruptedRun, match=number.name):
            signals.check()
    assert [signal.getsignal(n) for n in BOTH] == before
    assert not signals.should_stop()
    signals.check()


def twice_asked() -> None:
    with signals.listening():
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        pytest.fail("not reached")


def test_the_second_signal_leaves_at_once_and_the_handlers_come_back() -> None:
    before = [signal.getsignal(n) for n in BOTH]
    with pytest.raises(KeyboardInterrupt):
        twice_asked()
    assert [signal.getsignal(n) for n in BOTH] == before


def test_an_inner_listener_leaves_the_flag_to_the_outer_one() -> None:
    with signals.listening():
        with signals.listening():
            os.kill(os.getpid(), signal.SIGTERM)
        assert signals.should_stop()


def test_other_threads_leave_signals_alone() -> None:
    seen = []
    before = signal.getsignal(signal.SIGTERM)

    def work() -> None:
        with signals.listening():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


def test_the_flag_is_shared_as_a_file(tmp_path: Path) -> None:
    flag = tmp_path / "stop"
    with signals.listening(flag):
        os.kill(os.getpid(), signal.SIGTERM)
    assert flag.exists()
    with signals.listening(flag), pytest.raises(InterruptedRun, match="another process"):
        signals.check()


def test_a_process_without_work_does_not_die_of_a_signal_and_hears_it_with_work() -> None:
    def worker() -> None:
        signals.ignore_while_idle()
        for number in BOTH:
            os.kill(os.getpid(), number)
        with signals.listening():
            assert not signals.should_stop()
            os.kill(os.getpid(), signal.SIGINT)
            assert signals.should_stop()
        os.kill(os.getpid(), signal.SIGTERM)

    assert in_child(worker) == 0
