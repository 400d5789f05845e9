"""The figures of a row; the processes themselves are tests of tests/distributed."""

import pytest

from reweigh.bench.distributed import EVERY, _sizes, _summary, measure, table
from reweigh.bench.subjects import Subject
from reweigh.errors import UsageError


def test_a_row_says_speedups_and_messages_of_a_step():
    subject = Subject("resnet8")
    gradient, buffers = _sizes(subject.student())
    sent = 22 * gradient
    row = _summary(subject, 2, [(1.0, 0.9, 0.6, 0.5, sent), (1.2, 1.0, 0.6, 0.5, sent)])
    assert row["speedup"] == pytest.approx(1.1 / 0.6)
    assert row["cpu_speedup"] == pytest.approx(0.95 / 0.5)
    assert row["times_gradient"] == pytest.approx(22 / EVERY)
    assert row["times_plain"] == pytest.approx(22 / EVERY * gradient / (gradient + buffers))
    assert table([row]).row_count == 1


def test_a_model_that_does_not_exist_is_told_before_any_process_starts():
    with pytest.raises(UsageError, match="no model 'foo'"):
        measure(["foo"], processes=2, rounds=1)
