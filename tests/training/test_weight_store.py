from pathlib import Path

import numpy as np
import pytest
import torch
from tests.faults.fault import in_child
from tests.faults.own_disk import can_mount, mount_own_disk

from reweigh.errors import DataError
from reweigh.training import weight_store
from reweigh.training.weight_store import WeightStore


def filled(folder: Path, epochs: list[dict[int, float]], size: int = 5) -> WeightStore:
    store = WeightStore(folder, size)
    for epoch, weights in enumerate(epochs):
        store.begin(epoch)
        for sample, weight in weights.items():
            store.put(torch.tensor([sample]), torch.tensor([weight]))
        store.end()
    return store


def test_weights_come_back_and_the_unseen_are_nan(tmp_path: Path) -> None:
    store = filled(tmp_path, [{0: 0.5, 3: 0.25}])
    np.testing.assert_array_equal(store.epoch(0), [0.5, np.nan, np.nan, 0.25, np.nan])
    assert store.epoch(0).dtype == np.float32


def test_every_batch_arrives_however_many_there_are(tmp_path: Path) -> None:
    size = 1000
    order = torch.randperm(size, generator=torch.Generator().manual_seed(0))
    store = WeightStore(tmp_path, size)
    store.begin(0)
    for ids in order.split(7):
        store.put(ids, ids.double() / size)
    store.end()
    np.testing.assert_allclose(store.epoch(0), np.arange(size) / size, rtol=1e-6)


def test_a_new_epoch_is_written_in_chunks(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(weight_store, "CHUNK", 2)
    store = filled(tmp_path, [{0: 1.0, 4: 6.0}])
    np.testing.assert_array_equal(store.epoch(0), [1.0, np.nan, np.nan, np.nan, 6.0])


def test_an_unfinished_epoch_is_not_shown_and_can_be_taken_up(tmp_path: Path) -> None:
    store = WeightStore(tmp_path, 3)
    store.begin(0)
    store.put(torch.tensor([0]), torch.tensor([1.0]))
    store.flush()
    assert store.epochs() == []
    again = WeightStore(tmp_path, 3)
    (tmp_path / "epoch_00000.npy.part").unlink()  # the saved state is enough
    again.load_state_dict(store.state_dict())
    assert again.is_open
    again.put(torch.tensor([2]), torch.tensor([3.0]))
    again.end()
    np.testing.assert_array_equal(again.epoch(0), [1.0, np.nan, 3.0])
    assert [file.name for file in tmp_path.iterdir()] == ["epoch_00000.npy"]


def test_beginning_anew_forgets_what_was_put(tmp_path: Path) -> None:
    store = WeightStore(tmp_path, 2)
    store.begin(0)
    store.put(torch.tensor([0]), torch.tensor([1.0]))
    store.begin(0)
    store.end()
    assert np.isnan(store.epoch(0)).all()


@pytest.mark.parametrize("wrong", [-1, 5])
def test_ids_outside_are_refused_and_not_wrapped(tmp_path: Path, wrong: int) -> None:
    store = WeightStore(tmp_path, 5)
    store.begin(0)
    store.put(torch.tensor([wrong]), torch.tensor([1.0]))
    with pytest.raises(DataError, match="do not fit a store of 5 samples"):
        store.flush()


def test_a_store_of_another_size_or_a_broken_file_is_refused(tmp_path: Path) -> None:
    filled(tmp_path, [{0: 1.0}])
    with pytest.raises(DataError, match=r"not float32 \(6,\)"):
        WeightStore(tmp_path, 6).epoch(0)
    (tmp_path / "epoch_00000.npy").write_bytes(b"nonsense")
    with pytest.raises(DataError, match="Cannot read the sample weights"):
        WeightStore(tmp_path, 5).epoch(0)


def test_putting_needs_an_open_epoch(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="begin"):
        WeightStore(tmp_path, 1).put(torch.tensor([0]), torch.tensor([1.0]))


def test_a_put_touches_only_its_batch(tmp_path: Path) -> None:
    store = WeightStore(tmp_path, 10**6)
    store.begin(0)
    ids = torch.arange(128)
    store.put(ids, torch.ones(128))
    assert sum(i.numel() + w.numel() for i, w in store._pending) == 256
    store.end()
    assert store._pending == []
    assert int(np.isfinite(store.epoch(0)).sum()) == 128


@pytest.mark.skipif(not can_mount(), reason="the system gives no process a disk of its own")
def test_a_full_disk_is_an_error_and_not_the_end_of_the_process(tmp_path: Path) -> None:
    def begin() -> None:
        mount_own_disk(tmp_path, 1)
        with pytest.raises(OSError, match="No space left on device"):
            WeightStore(tmp_path, 2**20).begin(0)

    assert in_child(begin) == 0
