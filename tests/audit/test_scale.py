"""A million samples: in a process of its own, because peak memory never falls within one."""

import subprocess
import sys
import time

import pytest

AUDIT = """
import resource
from pathlib import Path
import numpy as np
from reweigh.audit.look import Look
from reweigh.audit.run import judge
from reweigh.data.samples import Problem, numbered
from reweigh.data.table_file import write_columns

n, K = 1_000_000, 10
rng = np.random.default_rng(0)
labels = rng.integers(0, K, n)
samples = numbered(rng.integers(0, 255, (n, 8, 8, 1), dtype=np.uint8), labels)
p = rng.random((n, K), dtype=np.float32)
p /= p.sum(axis=1, keepdims=True)
weights = rng.random((10, n), dtype=np.float32)
problem = Problem(samples, samples, samples, tuple(map(str, range(K))), "image", labels, {})
audit = judge(problem, weights, Look(p, np.arange(9), p[:9, 0], p[:9], p[0] >= 0))
write_columns(audit.columns, len(audit), Path("audit.csv"))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


@pytest.mark.slow
def test_a_million_samples_take_less_than_a_minute_and_two_gigabytes(tmp_path) -> None:
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", AUDIT], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    seconds, gigabytes = time.monotonic() - start, float(done.stdout)
    print(f"{seconds:.1f} s, {gigabytes:.2f} GB")
    assert seconds < 60
    assert gigabytes < 2
