"""A Dask cluster that exists already, by the address of its scheduler.

A run needs a process of its own, because it seeds the process's generators and sets its threads: workers
are to be started with `--nthreads 1`. A task whose worker died is started again by the scheduler.
"""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

from reweigh.clusters.workers import Back
from reweigh.errors import ReweighError, UsageError, in_a_sentence

PATIENCE = 10  # seconds until a scheduler that does not answer is taken for absent


class DaskWorkers:
    """Every run is one Dask task."""

    threads = 1

    def __init__(self, place: str) -> None:
        try:
            self.distributed: Any = import_module("distributed")
        except ImportError:
            raise UsageError(
                "--cluster dask://… needs Dask, not installed here; "
                "run `pip install 'reweigh[dask]'`."
            ) from None
        try:
            self.client = self.distributed.Client(
                f"tcp://{place}", timeout=PATIENCE, set_as_default=False
            )
        except (OSError, ValueError):
            raise UsageError(
                f"No Dask scheduler answers at {place!r}; start one with `dask scheduler` and give "
                "the address that it prints as dask://HOST:8786."
            ) from None
        self._check_threads(place)

    def _check_threads(self, place: str) -> None:
        threads = self.client.nthreads()
        if not threads:
            self.close()
            raise UsageError(
                f"The Dask scheduler at {place!r} has no workers; start some with "
                f"`dask worker {place} --nthreads 1`."
            )
        if max(threads.values()) > 1:
            self.close()
            raise UsageError(
                f"A Dask worker at {place!r} has {max(threads.values())} threads, but runs in one "
                "process would share their random numbers; start workers with --nthreads 1."
            )

    def run(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Iterator[Back]:
        """All calls are handed to the scheduler, one at a time to each worker."""
        tasks = {self.client.submit(function, *call, pure=False): i for i, call in enumerate(calls)}
        for task in self.distributed.as_completed(tasks, loop=self.client.loop):
            yield tasks[task], self._result(task)

    def _result(self, task: Any) -> Any:
        if task.cancelled():
            return ReweighError("The Dask scheduler is gone; the same command goes on.")
        error = task.exception()
        if isinstance(error, self.distributed.KilledWorker):
            return ReweighError("Its workers died again and again; is there memory enough?")
        return task.result() if error is None else in_a_sentence(error)

    def everywhere(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """On every worker."""
        found = self.client.run(function, *arguments, on_error="return")
        return [in_a_sentence(one) if isinstance(one, Exception) else one for one in found.values()]

    def close(self) -> None:
        """Leave the cluster; it goes on without us."""
        self.client.close()
