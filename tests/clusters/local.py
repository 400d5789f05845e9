"""Real clusters on loopback, made of processes of this machine and ended with the test."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BIN = Path(sys.executable).parent
ALIKE = {"RAY_worker_niceness": "0"}  # a busy machine would starve Ray's workers, nice by 15


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def start(log: Path, *command: str, **environment: str) -> subprocess.Popen:
    """A process in a group of its own, so that all it starts ends with it."""
    with log.open("w") as out:
        return subprocess.Popen(
            command,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=os.environ | environment,
            start_new_session=True,
        )


def kill(process: subprocess.Popen) -> None:
    """At once, with all that it started, as a machine that loses its power."""
    with_children = _descendants(process.pid)
    for pid in with_children:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait()


def _descendants(root: int) -> list[int]:
    """The process and all below it, found by their parents' ids."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = stat.read_text().split(" (", 1)
        except (FileNotFoundError, ProcessLookupError):
            continue
        parents[int(pid)] = int(rest.rpartition(") ")[2].split()[1])
    found = [root]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found


def wait_for(log: Path, pattern: str, seconds: float = 60) -> str:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if match := re.search(pattern, log.read_text()):
            return match[0]
        time.sleep(0.2)
    raise TimeoutError(f"{pattern!r} not in {log.read_text()}")


@contextmanager
def dask(folder: Path, workers: int = 2, threads: int = 1) -> Iterator[tuple[str, list]]:
    """The scheduler's address and the worker processes."""
    port = str(free_port())
    place = f"127.0.0.1:{port}"
    command = [str(BIN / "dask")]
    scheduler = start(
        folder / "scheduler.log", *command, "scheduler", "--host", "127.0.0.1",
        "--port", port, "--no-dashboard",
    )  # fmt: skip
    team = []
    try:
        wait_for(folder / "scheduler.log", "Scheduler at")
        for i in range(workers):
            log = folder / f"worker{i}.log"
            team.append(
                start(
                    log,
                    *command,
                    "worker",
                    place,
                    "--nthreads",
                    str(threads),
                    "--no-dashboard",
                    "--no-nanny",
                    "--local-directory",
                    str(folder),
                )
            )
        for i in range(workers):
            wait_for(folder / f"worker{i}.log", "Registered to")
        yield place, team
    finally:
        for process in (*team, scheduler):
            kill(process)


@contextmanager
def ray(folder: Path, nodes: int = 2) -> Iterator[tuple[str, list]]:
    """The address for `RAY_ADDRESS`, and the processes that stand for machines."""
    port = str(free_port())
    place = f"127.0.0.1:{port}"
    command = [str(BIN / "ray"), "start", "--block", "--num-cpus", "1", "--disable-usage-stats"]
    alone = ["--object-store-memory", "80000000", "--include-dashboard", "false"]
    machines = []
    try:
        for i in range(nodes):
            where = ["--address", place] if i else ["--head", "--port", port]
            ports = ["--ray-client-server-port", str(free_port())] if not i else []
            log = folder / f"node{i}.log"
            kept = ["--temp-dir", str(folder / "ray")] if not i else []
            options = alone if not i else alone[:2]
            machines.append(
                start(
                    log,
                    *command,
                    *where,
                    *ports,
                    *kept,
                    *options,
                    "--node-ip-address",
                    "127.0.0.1",
                    **ALIKE,
                )
            )
            wait_for(log, "Ray runtime started")
        yield place, machines
    finally:
        for process in reversed(machines):
            kill(process)
