r"""Wrong labels, planted by a matrix $C$ with $C_{jk} = P(\text{label } k \mid \text{true } j)$.

`uniform:p`   $C = \frac{p}{K} \mathbb{1} + (1 - p) I$: a label is drawn anew with probability p,
              and may come out as it was, so a share $p(1 - 1/K)$ is wrong.
`flip:p`      $C_{jj} = 1 - p$ and $p/2$ on each of two other classes, drawn at random for each j
              ("flip2" of Meta-Weight-Net, which the paper's tables use); with two classes, $p$ on
              the other one. Unlike there, the pairs follow the seed.
`matrix:FILE` $C$ itself, from `.npy` or `.csv`.
"""

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.lib.format import read_array
from numpy.typing import NDArray

from reweigh.data.samples import Labels, Samples
from reweigh.data.seeds import generator
from reweigh.errors import DataError, UsageError


@dataclass(frozen=True)
class Noise:
    """A kind of label noise, parsed and checked."""

    kind: Literal["none", "uniform", "flip", "matrix"]
    rate: float = 0.0
    path: Path | None = None


def parse_noise(text: str) -> Noise:
    """What `none`, `uniform:0.4`, `flip:0.4` or `matrix:FILE` means."""
    kind, _, value = text.partition(":")
    if kind == "none" and not value:
        return Noise("none")
    if kind == "matrix" and value:
        return Noise("matrix", path=Path(value))
    if kind == "uniform":
        return Noise("uniform", _rate(text, value))
    if kind == "flip":
        return Noise("flip", _rate(text, value))
    raise UsageError(
        f"Noise {text!r} is not known; expected none, uniform:RATE, flip:RATE or matrix:FILE."
    )


def transition(noise: Noise, num_classes: int, seed: int) -> NDArray[np.float64]:
    """The matrix $C$ of `noise`, (K, K); rows sum to 1."""
    p, K = noise.rate, num_classes
    if noise.kind == "matrix":
        assert noise.path is not None
        return _read_matrix(noise.path, K)
    if noise.kind == "uniform":
        return np.full((K, K), p / K) + (1 - p) * np.eye(K)
    C = (1 - p) * np.eye(K)
    rng = generator(seed, "flip pairs")
    for j in range(K):
        others = rng.choice(np.delete(np.arange(K), j), size=min(2, K - 1), replace=False)
        C[j, others] = p / len(others)
    return C


def plant(train: Samples, C: NDArray[np.float64], seed: int) -> Labels:
    """Labels drawn from $C$'s rows.

    The draw is bound to a sample's id: whether and how its label changes does not depend on which
    other samples were kept, so a subset of the data carries the noise of the whole.
    """
    draws = generator(seed, "noise").random(int(train.ids.max()) + 1)[train.ids]  # (n,)
    noisy = train.labels.copy()
    for j, row in enumerate(np.cumsum(C, axis=1)):
        chosen = train.labels == j
        noisy[chosen] = np.searchsorted(row / row[-1], draws[chosen], side="right")
    return noisy


def _rate(text: str, value: str) -> float:
    try:
        rate = float(value)
    except ValueError:
        rate = float("nan")
    if not (isfinite(rate) and 0 <= rate <= 1):
        raise UsageError(f"Noise {text!r} has rate {value!r}; expected a number in [0, 1].")
    return rate


def _read_matrix(path: Path, K: int) -> NDArray[np.float64]:
    try:
        if path.suffix == ".npy":
            with path.open("rb") as file:
                C = read_array(file, allow_pickle=False).astype(np.float64)
        else:
            C = np.loadtxt(path, delimiter=",", ndmin=2, dtype=np.float64, encoding="utf-8-sig")
    except (OSError, ValueError, EOFError) as problem:
        raise DataError(f"{path} cannot be read as a noise matrix ({problem}).") from None
    if C.shape != (K, K):
        raise DataError(f"{path} has shape {C.shape}; expected ({K}, {K}) for {K} classes.")
    if not np.isfinite(C).all() or (C < 0).any() or np.abs(C.sum(axis=1) - 1).max() > 1e-6:
        sums = C.sum(axis=1)
        row = int(np.nan_to_num(np.abs(sums - 1), nan=np.inf).argmax())
        raise DataError(
            f"{path} is no noise matrix: entries must be probabilities and rows sum to 1 (row "
            f"{row} sums to {sums[row]:g})."
        )
    return C
