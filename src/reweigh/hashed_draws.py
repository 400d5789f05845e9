"""Random bits that are a hash of (seed, epoch, sample): no generator, no state, no order.

A sample draws the same in an epoch whatever batch, worker or process it falls in.
"""

from torch import Tensor

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15  # 2^64 / golden ratio: spreads consecutive counters
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB


def random_bits(ids: Tensor, seed: int, epoch: int) -> Tensor:
    """64 hashed bits for each sample: splitmix64 (Steele et al. 2014) at place `ids` of a stream.

    The stream's start is itself the hash of (seed, epoch), so streams do not run alongside.
    """
    start = _mix_int(_mix_int(seed & _MASK) + epoch)
    z = ids * _signed(_GOLDEN) + _signed(start)  # int64 arithmetic wraps, as the hash wants
    z = (z ^ _shift_right(z, 30)) * _signed(_FIRST)
    z = (z ^ _shift_right(z, 27)) * _signed(_SECOND)
    return z ^ _shift_right(z, 31)  # (n,)


def _shift_right(z: Tensor, count: int) -> Tensor:
    """A logical shift: torch's own copies the sign bit."""
    return (z >> count) & ((1 << (64 - count)) - 1)


def _mix_int(value: int) -> int:
    """The same hash for one Python integer."""
    z = (value + _GOLDEN) & _MASK
    z = ((z ^ (z >> 30)) * _FIRST) & _MASK
    z = ((z ^ (z >> 27)) * _SECOND) & _MASK
    return z ^ (z >> 31)


def _signed(value: int) -> int:
    """An unsigned 64-bit number as the int64 of the same bits."""
    return value - (1 << 64) if value >> 63 else value
