"""Where trusted batches come from, one per update of the teacher."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any

from torch import Tensor
from torch.utils.data import Dataset, IterableDataset

from reweigh.errors import UsageError
from reweigh.typing import Batch

Trusted = Iterable[Batch] | Callable[[int], Batch] | Batch


class TrustedBatches:
    """An endless supply of trusted batches, from whatever the user has.

    - an iterable of batches (a `DataLoader`, a list) is gone through again and again;
    - a function is called with the number of the teacher's update (which makes resuming exact);
    - a tensor, tuple, dict, dataclass or list of tensors is one batch, used every time.
    """

    def __init__(self, trusted: Trusted) -> None:
        if trusted is None:
            raise UsageError(
                "a teacher learns from trusted samples: give trusted= (a DataLoader, a batch, or a "
                "function from update number to batch)"
            )
        if isinstance(trusted, Dataset) and not isinstance(trusted, IterableDataset):
            raise UsageError(
                "trusted= is a Dataset, which gives samples, not batches: wrap it in a DataLoader"
            )
        if not (callable(trusted) or isinstance(trusted, Iterable) or is_dataclass(trusted)):
            raise UsageError(
                f"trusted= is a {type(trusted).__name__}: give a DataLoader, a batch, or a function from "
                "update number to batch"
            )
        self._source = trusted
        self._running: Iterator[Batch] | None = None
        self._peeked: Batch | None = None

    def peek(self, update: int) -> Batch:
        """The batch that `take` will give for that update, for checks before training."""
        batch = self.take(update)
        self._peeked = None if self._is_function else batch
        return batch

    @property
    def _is_function(self) -> bool:
        return callable(self._source) and not isinstance(self._source, Iterable)

    def take(self, update: int) -> Batch:
        """The batch for the teacher's update of that number."""
        source: Any = self._source
        if self._peeked is not None:
            peeked, self._peeked = self._peeked, None
            return peeked
        if self._is_function:
            return source(update)
        if isinstance(source, Tensor | tuple | Mapping) or is_dataclass(source):
            return source
        if isinstance(source, list) and source and all(isinstance(p, Tensor) for p in source):
            return source  # one batch, as a DataLoader gives it
        return self._next(source)

    def _next(self, source: Iterable[Batch]) -> Batch:
        if self._running is not None:
            for batch in self._running:
                return batch
        self._running = iter(source)
        for batch in self._running:
            return batch
        raise UsageError(
            f"trusted= ({type(source).__name__}) gave no batch: it is empty, or an iterator that can "
            "be gone through only once; give a DataLoader or a list of batches"
        )
