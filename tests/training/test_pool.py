import numpy as np
import pytest
import torch

from reweigh.data.samples import numbered
from reweigh.training.images import Normalisation
from reweigh.training.pool import batches_of, order, pool, split, trusted_positions


@pytest.mark.parametrize(
    ("size", "batch"), [(1, 8), (8, 8), (100, 8), (103, 8), (1437, 128), (5, 100)]
)
def test_a_pass_covers_everything_once_in_nearly_equal_batches(size: int, batch: int) -> None:
    parts = split(order(size, 0, "train", 0), batch)
    assert sorted(torch.cat(parts).tolist()) == list(range(size))
    lengths = [len(part) for part in parts]
    assert max(lengths) - min(lengths) <= 1
    assert len(parts) == batches_of(size, batch)
    assert max(lengths) <= 1.5 * batch


def test_the_order_depends_on_seed_purpose_and_number_alone() -> None:
    torch.manual_seed(1)
    first = order(50, 3, "train", 2)
    torch.manual_seed(2)
    np.random.seed(2)
    assert torch.equal(first, order(50, 3, "train", 2))
    others = [order(50, 4, "train", 2), order(50, 3, "trusted", 2), order(50, 3, "train", 3)]
    assert not any(torch.equal(first, other) for other in others)


def test_trusted_batches_pass_over_the_set_each_time_in_a_new_order() -> None:
    passes = [
        torch.cat([trusted_positions(12, 4, 0, update) for update in range(3 * p, 3 * p + 3)])
        for p in range(2)
    ]
    for one in passes:
        assert sorted(one.tolist()) == list(range(12))
    assert not torch.equal(*passes)


def test_a_trusted_batch_is_never_larger_than_the_set() -> None:
    assert sorted(trusted_positions(5, 100, 0, 7).tolist()) == list(range(5))
    assert not torch.equal(trusted_positions(5, 100, 0, 7), trusted_positions(5, 100, 0, 8))
    assert len(trusted_positions(10, 4, 0, 1)) == 4  # the rest of two waits for another order


def test_samples_come_by_position_as_images_or_rows() -> None:
    cpu = torch.device("cpu")
    rows = pool(numbered(np.eye(4, dtype=np.float32), np.arange(4)), None, device=cpu)
    x, y = rows.batch(torch.tensor([2, 0]), train=True)
    assert x.tolist() == [[0, 0, 1, 0], [1, 0, 0, 0]]
    assert y.tolist() == [2, 0]
    images = np.arange(3, dtype=np.uint8).repeat(4).reshape(3, 2, 2, 1)
    some = pool(numbered(images, np.arange(3)), Normalisation((1.0,), (0.5,)), device=cpu)
    x, y = some.batch(torch.tensor([2, 1]), train=False)
    assert x.shape == (2, 1, 2, 2)
    assert x[:, 0, 0, 0].tolist() == [2.0, 0.0]
    assert len(some) == 3
