"""Tables on real clusters of this machine, one of whose machines is lost in the middle."""

import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.clusters import local
from tests.training.small import settings

from reweigh import __version__
from reweigh.clusters import on_dask, workers
from reweigh.comparing.compare import compare
from reweigh.comparing.comparison import Comparison
from reweigh.errors import ReweighError, UsageError
from reweigh.training.progress import SilentProgress

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
needs_dask = pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed")
slow = pytest.mark.slow

RUNS = [
    (name, settings(f"method.name={name}", f"seed={seed}", "training.epochs=60"))
    for name in ("uniform", "focal")
    for seed in range(3)
]
FAILING = ("perfect-weights", settings("method.name=perfect-weights", "data.noise=none"))


class Heard(SilentProgress):
    def __init__(self) -> None:
        self.notes: list[tuple[float, str]] = []

    def note(self, text: str) -> None:
        self.notes.append((time.monotonic(), text))


def checkpointed(folder: Path) -> bool:
    """Two runs are under way, and have been saved several times."""
    begun = [rows.parent for rows in folder.glob("*/metrics.jsonl") if _lines(rows) > 4]
    return sum(not (home / "result.json").exists() for home in begun) >= 2


def _lines(file: Path) -> int:
    return file.read_text().count("\n")


def table_with_a_loss(folder: Path, cluster: str, lose: Callable[[], None]) -> Comparison:
    """The table, one machine being lost while two runs are under way."""
    lost: list[bool] = []

    def watch() -> None:
        end = time.monotonic() + 250
        while time.monotonic() < end and not checkpointed(folder):
            time.sleep(0.01)
        lost.append(checkpointed(folder))
        lose()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    heard = Heard()
    found = compare([*RUNS, FAILING], folder, heard, cluster=cluster)
    watcher.join()
    assert lost == [True]
    times = [when for when, text in heard.notes if "test error" in text]
    assert times[-1] - times[0] > 0.1  # told as they finish, not together
    return found


def check(found: Comparison, folder: Path, cluster: str) -> None:
    assert [(r["method"], r["seed"]) for r in found.rows] == [(n, c.seed) for n, c in RUNS]
    assert list(found.failures) == ["perfect-weights, seed 0"]
    logs = [(home / "log.txt").read_text() for home in folder.glob("uniform*")]
    logs += [(home / "log.txt").read_text() for home in folder.glob("focal*")]
    assert any("continued from the checkpoint" in log for log in logs)
    heard = Heard()
    again = compare(RUNS, folder, heard, cluster=cluster)
    assert heard.notes[0][1] == "6 runs, 6 of them done before"
    assert again.rows == found.rows
    here = compare(RUNS[:1], folder / "here", SilentProgress()).rows[0]
    assert here["test_error_last"] == found.rows[0]["test_error_last"]


@slow
@needs_dask
@pytest.mark.filterwarnings("ignore")
def test_dask_with_a_worker_that_is_killed(tmp_path: Path) -> None:
    with local.dask(tmp_path) as (place, team):
        folder = tmp_path / "table"
        found = table_with_a_loss(folder, f"dask://{place}", lambda: local.kill(team[1]))
        check(found, folder, f"dask://{place}")


@slow
@needs_ray
@pytest.mark.filterwarnings("ignore")
def test_ray_with_a_node_that_is_killed(tmp_path: Path, monkeypatch) -> None:
    # sockets have short names
    with (
        tempfile.TemporaryDirectory(prefix="r") as short,
        local.ray(Path(short)) as (place, machines),
    ):
        monkeypatch.setenv("RAY_ADDRESS", place)
        folder = tmp_path / "table"
        found = table_with_a_loss(folder, "ray", lambda: local.kill(machines[1]))
        check(found, folder, "ray")


@slow
@needs_dask
@pytest.mark.filterwarnings("ignore")
def test_dask_without_workers_or_with_threads_is_refused(tmp_path: Path) -> None:
    for options, why in (
        ({"workers": 1, "threads": 2}, r"has 2 threads.*--nthreads 1"),
        ({"workers": 0}, "has no workers; start some with"),
    ):
        with local.dask(tmp_path, **options) as (place, _), pytest.raises(UsageError, match=why):
            compare(RUNS, tmp_path / "table", SilentProgress(), cluster=f"dask://{place}")


class Strangers:
    """Workers that answer as told."""

    threads = 1

    def __init__(self, version: object, sees: object) -> None:
        self.answers = {"version": version, "isdir": sees}

    def everywhere(self, function: Callable, *arguments: object) -> list:
        return [self.answers[function.__name__]]

    def run(self, function: Callable, calls: Sequence) -> Iterator:
        raise AssertionError("nothing may be sent")

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("version", "sees", "why"),
    [
        ("0.0.7", True, r"has reweigh 0\.0\.7, but this is"),
        (ReweighError("PackageNotFoundError"), True, "cannot find reweigh, but this is"),
        (__version__, False, "does not see .*choose an --out on a disk that all share"),
    ],
)
def test_workers_without_the_package_or_the_folder(
    tmp_path: Path, monkeypatch, version: object, sees: object, why: str
) -> None:
    monkeypatch.setattr(workers, "_hire", lambda cluster: Strangers(version, sees))
    with pytest.raises(UsageError, match=why):
        compare(RUNS, tmp_path, SilentProgress(), cluster="ray")


@pytest.mark.parametrize(("cluster", "extra"), [("ray", "ray"), ("dask://x:1", "dask")])
def test_a_library_that_is_not_installed(
    tmp_path: Path, monkeypatch, cluster: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, {"ray": "ray", "dask": "distributed"}[extra], None)
    with pytest.raises(UsageError, match=rf"not installed here; run .*reweigh\[{extra}\]"):
        compare(RUNS, tmp_path, SilentProgress(), cluster=cluster)


@slow
@needs_dask
@pytest.mark.filterwarnings("ignore")
def test_no_dask_scheduler(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(on_dask, "PATIENCE", 1)
    for place in (f"127.0.0.1:{local.free_port()}", "no-such-machine.invalid:1"):
        with pytest.raises(UsageError, match=r"No Dask scheduler answers at .*dask://HOST:8786"):
            compare(RUNS, tmp_path, SilentProgress(), cluster=f"dask://{place}")


@slow
@needs_ray
@pytest.mark.filterwarnings("ignore")
def test_no_ray_cluster(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    for address in ("ray", f"ray://127.0.0.1:{local.free_port()}"):
        with pytest.raises(UsageError, match=r"No Ray cluster answers at .*ray start --head"):
            compare(RUNS, tmp_path, SilentProgress(), cluster=address)
