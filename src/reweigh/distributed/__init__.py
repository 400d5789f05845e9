"""One run over many processes: every sum over a batch becomes a sum over all of them.

Each process holds the whole student and its part of every batch. Nothing wraps the student: a wrapper
does not see the second derivatives. What is summed is summed here, by name, and can be counted.
"""

from reweigh.distributed.group import alone, rank, together, total, traffic, world
from reweigh.distributed.sync_batch_norm import sync_batch_norm

__all__ = ["alone", "rank", "sync_batch_norm", "together", "total", "traffic", "world"]
