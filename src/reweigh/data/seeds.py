"""One random stream per seed and purpose, so that no choice disturbs another."""

import numpy as np


def generator(seed: int, purpose: str) -> np.random.Generator:
    """The stream of `purpose` under `seed`.

    Streams of different purposes are independent: planting other noise, or none, leaves the
    trusted split where it was.
    """
    words = int.from_bytes(purpose.encode(), "little")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, words))))
