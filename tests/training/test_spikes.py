import re
from pathlib import Path

import numpy as np
import torch
from tests.training.interrupted import tiny

from reweigh.training.pool import Pool
from reweigh.training.progress import SilentProgress
from reweigh.training.run import train
from reweigh.training.spikes import FACTOR, WINDOW, SpikeWatch


def test_a_leap_out_of_the_median_is_noticed() -> None:
    watch = SpikeWatch([1.0] * 10)
    assert watch.median_before(FACTOR * 1.0) is None
    assert watch.median_before(FACTOR * 1.01) == 1.0
    assert len(watch.losses) == 12


def test_too_few_losses_say_nothing_and_old_ones_are_forgotten() -> None:
    early = SpikeWatch([1.0] * 9)
    assert early.median_before(100.0) is None
    long = SpikeWatch([1.0] * 1000)
    assert len(long.losses) == WINDOW


def test_losses_near_zero_may_leap() -> None:
    assert SpikeWatch([1e-6] * 20).median_before(1e-3) is None


def test_a_spike_is_logged_with_the_samples_of_its_batch(tmp_path: Path, monkeypatch) -> None:
    """One batch of the second epoch holds inputs that are a hundred times too large."""
    batch, hit = Pool.batch, []

    def large(pool: Pool, positions: torch.Tensor, epoch: int = 0, *, train: bool):
        x, y = batch(pool, positions, epoch, train=train)
        if train and epoch == 1 and not hit:
            hit.extend(positions.tolist())
            x = x * 100
        return x, y

    monkeypatch.setattr(Pool, "batch", large)
    train(tiny("uniform", "training.lr=1e-4"), tmp_path / "run", SilentProgress())
    (line,) = [s for s in (tmp_path / "run/log.txt").read_text().splitlines() if "leaps" in s]
    assert "the loss of step 13 leaps to" in line
    ids = np.load(tmp_path / "run/samples.npz")["ids"][hit].tolist()
    assert ids != hit
    assert re.findall(r"samples \(ids\) \[(.*)\]", line) == [", ".join(map(str, ids))]
