import io

import pytest

from reweigh.training import progress
from reweigh.training.progress import (
    BarProgress,
    PlainProgress,
    SilentProgress,
    choose_progress,
    stretch,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_plain_lines_come_at_intervals_with_rate_and_time_left(clock: list[float]) -> None:
    out = io.StringIO()
    with stretch(PlainProgress(out, every=10.0), "epoch 1", 100) as bar:
        for _ in range(40):
            clock[0] += 0.5
            bar.advance(loss=0.25)
    lines = out.getvalue().splitlines()
    assert lines[0] == "epoch 1: 20/100, 2.0 steps/s, 40 s left, loss 0.25"
    assert len(lines) == 3  # at 10 s, at 20 s, and at the end


def test_a_finished_stretch_says_how_long_it_took(clock: list[float]) -> None:
    out = io.StringIO()
    with stretch(PlainProgress(out), "epoch 1", 2) as bar:
        clock[0] = 4.0
        bar.advance(2)
    assert out.getvalue() == "epoch 1: 2/2, 0.5 steps/s, took 4.0 s\n"


def test_steps_of_an_earlier_process_count_as_done_but_not_in_the_rate(clock: list[float]) -> None:
    out = io.StringIO()
    with stretch(PlainProgress(out, every=10.0), "epoch 1", 100, done=60) as bar:
        clock[0] = 10.0
        bar.advance(20)
        clock[0] = 20.0
        bar.advance(20)
    lines = out.getvalue().splitlines()
    assert lines[0] == "epoch 1: 80/100, 2.0 steps/s, 10 s left"
    assert lines[-1] == "epoch 1: 100/100, 2.0 steps/s, took 20.0 s"


def test_the_bar_is_drawn_on_a_terminal_and_taken_away_after_an_error() -> None:
    out = Terminal()
    bar = choose_progress(quiet=False, stream=out)
    assert isinstance(bar, BarProgress)

    def work() -> None:
        with stretch(bar, "epoch 1", 3):
            bar.advance(loss=0.5)
            bar.note("a [line] that stays")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert "epoch 1" in out.getvalue()
    assert "a [line] that stays" in out.getvalue()
    assert out.getvalue().count("\x1b[?25l") == out.getvalue().count("\x1b[?25h")  # cursor is back


def test_quiet_says_nothing_and_a_pipe_gets_lines(capsys) -> None:
    with stretch(choose_progress(quiet=True), "epoch 1", 1) as bar:
        bar.advance()
        bar.note("x")
    assert capsys.readouterr() == ("", "")
    assert isinstance(choose_progress(quiet=True, stream=Terminal()), SilentProgress)
    assert isinstance(choose_progress(quiet=False, stream=io.StringIO()), PlainProgress)


def test_progress_goes_to_stderr(capsys) -> None:
    with stretch(choose_progress(quiet=False), "epoch 1", 1) as bar:
        bar.advance()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "epoch 1: 1/1" in captured.err
