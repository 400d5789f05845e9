from reweigh.bench.weight_store import _coprime_stride, measure_one, table


def test_a_row_is_measured_and_shown() -> None:
    row = measure_one(1000)
    assert row["samples"] == 1000
    assert row["put_us"] > 0
    assert table([row]).row_count == 1


def test_scattered_batches_meet_every_sample_once() -> None:
    for size in (1000, 7919, 7919 * 104_729):
        assert size % _coprime_stride(size)
    stride = _coprime_stride(1000)
    assert len({i * stride % 1000 for i in range(1000)}) == 1000
