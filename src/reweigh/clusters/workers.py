"""What a comparison needs of whoever does its runs: calls go out, results come back as they finish.

Whoever does them takes a call whose worker died up again, a few times: a run that is called again goes
on from its checkpoint. Libraries of clusters are not used through joblib's backends: its backend for
Ray returns nothing before the last run is over, deals runs out to workers blindly and gives up all
of them when one worker dies.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any, Protocol

from reweigh.errors import UsageError

LIVES = 4
"""Times that one call is tried where its workers die."""

Back = tuple[int, Any]
"""Number of a call, and what came back: its result, or a `ReweighError`."""


class Workers(Protocol):
    """Processes that take calls."""

    threads: int
    """Threads of torch that one run should use where its settings leave that open."""

    def run(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Iterator[Back]:
        """Do the calls side by side; what comes back is told as it comes."""
        ...

    def everywhere(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Call the function once on every worker there is now."""
        ...

    def close(self) -> None:
        """Let go of them."""
        ...


@contextmanager
def hired(cluster: str) -> Iterator[Workers]:
    """The workers that `--cluster` names: `ray`, `ray://HOST:PORT` or `dask://HOST:PORT`."""
    with redirect_stdout(sys.stderr):  # what a cluster's library prints is no result
        workers = _hire(cluster)
        try:
            yield workers
        finally:
            workers.close()


def _hire(cluster: str) -> Workers:
    kind, _, place = cluster.partition("://")
    if kind == "ray" and (place or cluster == "ray"):
        from reweigh.clusters.on_ray import RayWorkers

        return RayWorkers(cluster)
    if kind == "dask" and place:
        from reweigh.clusters.on_dask import DaskWorkers

        return DaskWorkers(place)
    raise UsageError(
        f"--cluster {cluster!r} is no cluster; expected ray, ray://HOST:PORT or dask://HOST:PORT."
    )
