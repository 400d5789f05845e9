"""Batches of similar lengths: as many pairs as fit into a number of padded tokens.

Pairs are sorted by the length of their longer side and cut into batches; the cut is the same for
every pass, so a pass always has the same number of steps. What changes from pass to pass is who
sits where: pairs of equal length change places among themselves, and batches their order. On
Multi30k 94 % of what is computed are real tokens (sorting by the shorter side too adds nothing).
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reweigh.data.seeds import generator
from reweigh.errors import UsageError
from reweigh.text.corpus import Corpus


def token_batches(corpus: Corpus, max_tokens: int, seed: int, number: int) -> list[Tensor]:
    """Positions of each batch of pass `number`: every pair once.

    n · max(S, T) ≤ `max_tokens`, where S and T are what n pairs are padded to. The same
    (seed, number) gives the same batches.
    """
    order, longest = _by_length(corpus)
    if len(corpus) and longest[-1] > max_tokens:
        worst = int(corpus.ids[order[-1]])
        raise UsageError(
            f"The pair of line {worst + 1} of its file has {longest[-1]} tokens and a batch takes "
            f"{max_tokens}; raise training.max_tokens, or lower data.max_length (which training pairs "
            "keep to; shorten trusted ones)."
        )
    rng = generator(seed, f"token batches {number}")
    mixed = order[np.lexsort((rng.random(len(order)), longest))]  # shuffled among equal lengths
    batches = np.split(mixed, _cuts(longest, max_tokens))
    return [torch.from_numpy(batches[k]) for k in rng.permutation(len(batches))]


def in_order(corpus: Corpus, max_tokens: int) -> list[Tensor]:
    """Positions of batches for evaluation: the shortest pairs first, nothing random."""
    order, longest = _by_length(corpus)
    limit = max(max_tokens, int(longest[-1]) if len(longest) else 0)  # a long one goes alone
    return [torch.from_numpy(batch) for batch in np.split(order, _cuts(longest, limit))]


def _by_length(corpus: Corpus) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions by the length of the longer side, and those lengths."""
    longer = np.maximum(*corpus.lengths())
    order = np.argsort(longer, kind="stable")
    return order, longer[order]


def _cuts(longest: NDArray[np.int64], max_tokens: int) -> list[int]:
    """Where to begin a new batch, `longest` ascending: the last pair decides what all cost."""
    cuts, begin = [], 0
    for k, length in enumerate(longest.tolist()):
        if (k + 1 - begin) * length > max_tokens and k > begin:
            cuts.append(k)
            begin = k
    return cuts
