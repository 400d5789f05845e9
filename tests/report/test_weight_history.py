from pathlib import Path

import numpy as np
import pytest
from tests.report.made_up import run

from reweigh.report import weight_history as history
from reweigh.report.weight_history import QUANTILES, weight_history_charts


def weighed(folder: Path, *epochs: np.ndarray) -> Path:
    """A run's folder with the weights (n,) of these epochs; the last sample of each is a trusted one."""
    (folder / "weights").mkdir(parents=True)
    for number, weights in enumerate(epochs):
        np.save(folder / f"weights/epoch_{number:05d}.npy", weights.astype(np.float32))
    np.savez(folder / "samples.npz", trusted=np.arange(len(epochs[0])) == len(epochs[0]) - 1)
    return folder


def test_quantiles_are_those_of_the_samples_in_doubt_that_were_seen(tmp_path: Path) -> None:
    first, last = np.ones(102), np.append(np.arange(101), 1e6)
    first[:50] = np.nan
    (chart,) = weight_history_charts(run("deep", weighed=weighed(tmp_path / "run", first, last)))
    wide, narrow, median = chart.data
    assert median["x"] == [1, 2]
    assert median["y"] == [1, 50]
    assert wide["x"] == narrow["x"] == [1, 2, 2, 1]
    assert wide["y"] == [1, 5, 95, 1]
    assert narrow["y"] == [1, 25, 75, 1]
    assert chart.spoken.startswith(
        "First epoch: 5%: 1, 25%: 1, 50%: 1, 75%: 1, 95%: 1. Last: 5%: 5"
    )


def test_no_more_samples_are_read_than_quantiles_need(tmp_path: Path, monkeypatch) -> None:
    home = weighed(tmp_path / "run", *(np.arange(1001.0) for _ in range(2)))
    sizes, quantile = [], np.quantile
    monkeypatch.setattr(history, "MOST", 101)
    monkeypatch.setattr(np, "quantile", lambda x, q: sizes.append(len(x)) or quantile(x, q))
    epochs, at = history.weight_history(home)
    assert epochs == [0, 1]
    assert sizes == [101, 101]
    np.testing.assert_allclose(at[0], [999 * q for q in QUANTILES], atol=1)


@pytest.mark.parametrize("epochs", [0, 1])
def test_less_than_two_epochs_are_no_chart(epochs: int, tmp_path: Path) -> None:
    unseen = np.full(4, np.nan)
    home = weighed(tmp_path / "run", unseen, *(np.ones(4) for _ in range(epochs)))
    assert weight_history_charts(run("deep", weighed=home)) == []
    assert weight_history_charts(run("uniform")) == []
