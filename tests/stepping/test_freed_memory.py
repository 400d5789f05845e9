"""Freed memory stays with the process; seen by the pages that the system has to give again."""

import subprocess
import sys

import pytest

COUNT = """
import resource, sys
if sys.argv[1] == "kept":
    import reweigh
    reweigh.keep_freed_memory()
import torch
from reweigh.models.resnet import ResNet
student, x = ResNet(3, 10, depth=8), torch.randn(128, 3, 32, 32)
def steps(n):
    for _ in range(n):
        student(x).sum().backward()
def asked(n):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    steps(n)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
steps(5)
print(min(asked(5) for _ in range(3)))  # the heap may still grow once
"""


def faults(how: str, **environment: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", COUNT, how],
        capture_output=True, text=True, check=True, env={"OMP_NUM_THREADS": "1", **environment},
    )  # fmt: skip
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's malloc")
def test_steps_do_not_ask_for_the_same_pages_again() -> None:
    given, kept = faults("given"), faults("kept")
    if given < 5_000:
        pytest.skip(f"nothing to save: {given} page faults in five steps (large pages?)")
    assert kept < given / 10
    assert faults("kept", MALLOC_ARENA_MAX="4") > given / 5  # the user's own settings stand
