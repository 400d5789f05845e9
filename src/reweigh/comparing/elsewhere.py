"""The runs of a table on the workers of a cluster, as many at a time as it has room for."""

import os
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from reweigh import __version__, signals
from reweigh.clusters.workers import Workers, hired
from reweigh.comparing.one_run import Ended, Named, do_one, with_threads
from reweigh.config import Settings
from reweigh.errors import ReweighError, UsageError
from reweigh.own_code import forget_code
from reweigh.training.progress import SilentProgress
from reweigh.training.tasks import forget_problems


def do_elsewhere(pending: list[Named], folder: Path, cluster: str, stop: Path) -> Iterator[Ended]:
    """On a cluster, as many at a time as it has room for."""
    if not pending:
        return
    with hired(cluster) as workers:
        _check_workers(workers, cluster, folder)
        calls = [(name, with_threads(c, workers.threads), folder, stop) for name, c in pending]
        for i, back in workers.run(_one_elsewhere, calls):
            yield (*pending[i], back) if isinstance(back, ReweighError) else back


def _check_workers(workers: Workers, cluster: str, folder: Path) -> None:
    """Before anything is sent: do all workers have this package, and this folder?

    Both are asked through functions of the standard library, which any worker can find.
    """
    for found in workers.everywhere(version, "reweigh"):
        if found != __version__:
            has = f"has reweigh {found}" if isinstance(found, str) else "cannot find reweigh"
            raise UsageError(
                f"A worker of {cluster} {has}, but this is {__version__}; install reweigh "
                f"{__version__} in the environment that its workers run in."
            )
    if not all(found is True for found in workers.everywhere(os.path.isdir, str(folder))):
        raise UsageError(
            f"A worker of {cluster} does not see {folder}; choose an --out on a disk that all share."
        )


def _one_elsewhere(name: str, config: Settings, folder: Path, stop: Path) -> Ended:
    """One run on a cluster: it stops when the table does; its worker's signals are the cluster's.

    The worker may have outlived a table before this one, and the files and the code it had read.
    """
    forget_problems()
    forget_code(config)
    with signals.following(stop):
        return do_one(name, config, folder, SilentProgress(), stop)
