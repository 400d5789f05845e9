"""A Ray cluster that exists already, this machine's or another's.

`ray` is the cluster that `ray start` made on this machine, or the one of $RAY_ADDRESS; `ray://HOST:10001`
is reached through its client server. Where the cluster has GPUs, each run gets one: Ray hides them
from a task that did not ask. A task whose worker or node died is started again by Ray itself.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

from reweigh.clusters.workers import LIVES, Back
from reweigh.errors import ReweighError, UsageError, in_a_sentence


class RayWorkers:
    """Every run is one Ray task."""

    threads = 1

    def __init__(self, address: str) -> None:
        try:
            self.ray: Any = import_module("ray")
        except ImportError:
            raise UsageError(
                "--cluster ray needs Ray, not installed here; run `pip install 'reweigh[ray]'`."
            ) from None
        where = "auto" if address == "ray" else address
        try:
            self.ray.init(where, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError) as error:
            why = str(error).strip().partition("\n")[0]
            raise UsageError(
                f"No Ray cluster answers at {address!r} ({why}); start one with `ray start --head`, "
                "or give the address of one as ray://HOST:10001."
            ) from None
        self.gpus = int("GPU" in self.ray.cluster_resources())

    def run(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Iterator[Back]:
        """All calls are handed to Ray, which starts as many as its resources allow."""
        task = self._task(function, num_cpus=self.threads, num_gpus=self.gpus)
        numbers = {task.remote(*call): i for i, call in enumerate(calls)}
        waiting = list(numbers)
        while waiting:
            (ready, *_), waiting = self.ray.wait(waiting, num_returns=1)
            yield numbers[ready], self._result(ready)

    def everywhere(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """On every node that is alive."""
        strategies = import_module("ray.util.scheduling_strategies")
        nodes = [node["NodeID"] for node in self.ray.nodes() if node["Alive"]]
        task = self._task(function, num_cpus=0)
        there = [strategies.NodeAffinitySchedulingStrategy(node, soft=False) for node in nodes]
        calls = [task.options(scheduling_strategy=one).remote(*arguments) for one in there]
        return [self._result(call) for call in calls]

    def close(self) -> None:
        """Leave the cluster; it goes on without us."""
        self.ray.shutdown()

    def _task(self, function: Callable[..., Any], **resources: int) -> Any:
        return self.ray.remote(max_retries=LIVES - 1, **resources)(function)

    def _result(self, call: Any) -> Any:
        errors = self.ray.exceptions
        try:
            return self.ray.get(call)
        except errors.RayTaskError as error:
            return in_a_sentence(error.cause)
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.ObjectLostError):
            return ReweighError(f"Its worker died {LIVES} times; is there memory enough?")
        except errors.RayError as error:  # out of memory or disk, nowhere to run
            return in_a_sentence(error)
