import sys

import pytest

from reweigh.cli import screen


@pytest.fixture(autouse=True)
def _fresh_screen(monkeypatch) -> None:
    """No test hears of another's options."""
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    for name, value in vars(screen.Screen()).items():
        monkeypatch.setattr(screen.screen, name, value)
