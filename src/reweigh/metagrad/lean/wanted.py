"""Which derivatives the second backward under way is for.

`torch.autograd.grad(..., inputs=[w])` prunes built-in nodes, but functions written in Python are
not told. In the last step of the recursion only ∂/∂w is wanted, and everything that leads to θ
alone would be thrown away. One such note belongs to one graph: on GPUs the backward runs in a
thread of its own, and two runs may live in two threads.
"""

from dataclasses import dataclass


@dataclass
class Wanted:
    """What the lean backwards of one graph compute besides the path to the weights."""

    theta: bool = True
