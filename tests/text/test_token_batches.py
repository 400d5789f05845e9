import numpy as np
import pytest
import torch

from reweigh.errors import UsageError
from reweigh.text.corpus import Corpus, Ragged
from reweigh.text.token_batches import in_order, token_batches


def corpus(n=500, longest=30):
    rng = np.random.default_rng(0)
    sides = [Ragged.of([[7] * k for k in rng.integers(1, longest, n)]) for _ in range(2)]
    return Corpus(sides[0], sides[1], np.arange(n))


@pytest.mark.parametrize("max_tokens", [30, 64, 400, 10**6])
def test_every_pair_once_and_never_too_many_tokens(max_tokens):
    data = corpus()
    for batches in (token_batches(data, max_tokens, 0, 3), in_order(data, max_tokens)):
        assert torch.cat(batches).sort().values.tolist() == list(range(500))
        for batch in batches:
            shape = data.batch(batch)
            assert max(shape["source"].numel(), shape["target_out"].numel()) <= max_tokens


def test_passes_differ_but_not_in_their_number_of_steps():
    data = corpus()
    passes = [token_batches(data, 200, 0, number) for number in range(5)]
    assert len({len(batches) for batches in passes}) == 1
    kinds = [{tuple(sorted(b.tolist())) for b in batches} for batches in passes]
    assert len(kinds[0] & kinds[1]) < len(kinds[0]) / 2  # other company, not only another order
    again = token_batches(data, 200, 0, 4)
    assert all(torch.equal(a, b) for a, b in zip(passes[4], again, strict=True))
    assert any(
        a.tolist() != b.tolist()
        for a, b in zip(again, token_batches(data, 200, 1, 4), strict=False)
    )


def test_little_is_padding():
    data = corpus(5000)
    batches = token_batches(data, 800, 0, 0)
    padded = sum(
        data.batch(b)["source"].numel() + data.batch(b)["target_out"].numel() for b in batches
    )
    assert sum(side.sum() for side in data.lengths()) / padded > 0.7


def test_a_pair_that_fits_nowhere():
    with pytest.raises(
        UsageError, match=r"has 30 tokens and a batch takes 12; raise training.max_tokens"
    ):
        token_batches(corpus(), 12, 0, 0)
    assert max(len(b) for b in in_order(corpus(), 12)) >= 1
