"""Which derivatives the second backward under way is for.

`torch.autograd.grad(..., inputs=[w])` prunes built-in nodes, but functions written in Python are
not told. In the last step of the recursion only ∂/∂w is wanted, and everything that leads to θ
alone would be thrown away. A plain module value, not a context variable: on GPUs the backward runs
in a thread of its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager


class Wanted:
    """What lean backwards compute besides the path to the weights."""

    theta: bool = True


@contextmanager
def only_weights() -> Iterator[None]:
    """Inside, second backwards follow the path to the weights and nothing else."""
    Wanted.theta = False
    try:
        yield
    finally:
        Wanted.theta = True
