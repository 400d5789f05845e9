"""Pickles that would run a command, in every place that reads a file: none of them does.

Each is first shown to be live, in a process of its own, by the reader that it was made for.
"""

import gzip
import io
import os
import pickle
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tests.data.files import fashion, npz, tar_gz
from tests.faults.data_files import cifar, image_folder
from tests.faults.fault import Fault, in_child
from tests.faults.whole import go_on
from tests.training.interrupted import tiny

from reweigh.audit.run import audit_run
from reweigh.config import read_config
from reweigh.data.prepare import DataSpec, prepare
from reweigh.errors import ReweighError
from reweigh.report.reading import read_runs
from reweigh.report.weight_history import weight_history
from reweigh.training import checkpoint
from reweigh.training.checkpoint import MANIFEST, MODEL, STATE, Checkpoints
from reweigh.training.progress import SilentProgress
from reweigh.training.run import resume

CANARY = "canary"  # in the current folder, so that a payload is the same everywhere
_COMMAND = f"touch {CANARY}"


class _Call:
    """Pickled, this is a call."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = function, arguments

    def __reduce__(self) -> Any:
        return self.call


def _system() -> _Call:
    return _Call(os.system, _COMMAND)


def _saved(write: Callable[[io.BytesIO], Any]) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def _objects() -> np.ndarray:
    return np.array([_system(), 1], object)


def _by_torch(raw: bytes) -> Any:
    return torch.load(io.BytesIO(raw), weights_only=False)


def _by_numpy(raw: bytes) -> Any:
    found = np.load(io.BytesIO(raw), allow_pickle=True)
    return found if isinstance(found, np.ndarray) else [found[name] for name in found.files]


def _python(code: str) -> _Call:
    return _Call(exec, code)


_PAYLOADS: dict[str, tuple[bytes, Callable[[bytes], Any]]] = {
    **{f"system, protocol {p}": (pickle.dumps(_system(), p), pickle.loads) for p in range(6)},
    "eval": (pickle.dumps(_Call(eval, f"open({CANARY!r}, 'w').close()"), 2), pickle.loads),
    "exec": (pickle.dumps(_python(f"import os; os.system({_COMMAND!r})"), 0), pickle.loads),
    "open": (pickle.dumps(_Call(open, CANARY, "w"), 4), pickle.loads),
    "mkdir": (pickle.dumps(_Call(os.mkdir, CANARY), 3), pickle.loads),
    "as labels": (pickle.dumps({"labels": [1], "data": _system()}, 2), pickle.loads),
    "as a key": (b"\x80\x02}cposix\nsystem\n(U\x0ctouch canarytRK\x01s.", pickle.loads),
    "instance": (f"(S'{_COMMAND}'\niposix\nsystem\n.".encode(), pickle.loads),
    "object": (b"(cposix\nsystem\nU\x0ctouch canaryo.", pickle.loads),
    "behind the memo": (b"\x80\x02cposix\nsystem\nq\x010h\x01(U\x0ctouch canarytR.", pickle.loads),
    "torch archive": (_saved(lambda f: torch.save({"model": _system()}, f)), _by_torch),
    "torch before archives": (
        _saved(lambda f: torch.save(_system(), f, _use_new_zipfile_serialization=False)),
        _by_torch,
    ),
    "array of objects": (_saved(lambda f: np.save(f, _objects(), allow_pickle=True)), _by_numpy),
    "arrays of objects": (
        _saved(lambda f: np.savez(f, x_train=_objects(), ids=_objects(), x_trusted=_objects())),
        _by_numpy,
    ),
    "packed by gzip": (
        gzip.compress(pickle.dumps(_system())),
        lambda r: pickle.loads(gzip.decompress(r)),
    ),
    "packed by zlib": (
        zlib.compress(pickle.dumps(_system())),
        lambda r: pickle.loads(zlib.decompress(r)),
    ),
}


def _file(name: str, read: Callable[[Path], Any]) -> Callable[[bytes], Any]:
    def plant(raw: bytes) -> None:
        Path(name).write_bytes(raw)
        read(Path(name))

    return plant


def _data(**options: Any) -> Callable[[Path], Any]:
    """The file is the data, or one of the files beside it."""
    if not options:
        return lambda path: prepare(DataSpec(data=str(path)))
    return lambda path: prepare(
        DataSpec(data=str(npz(Path("good.npz"))), **{k: f(path) for k, f in options.items()})
    )


def _cifar_member(raw: bytes) -> None:
    spec = cifar(lambda files: files.update({"cifar-10-batches-py/data_batch_2": raw}))
    prepare(DataSpec(**spec(Path())))


def _cifar_archive(raw: bytes) -> None:
    tar_gz(Path("cifar-10-python.tar.gz"), {})
    Path("cifar-10-python.tar.gz").write_bytes(raw)
    prepare(DataSpec(data="cifar10", data_dir=Path()))


def _idx(raw: bytes) -> None:
    fashion(Path("fashion-mnist"))
    Path("fashion-mnist/train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(raw))
    prepare(DataSpec(data="fashion-mnist", data_dir=Path()))


def _image(raw: bytes) -> None:
    prepare(DataSpec(**image_folder(image_03=raw)(Path())))


def _in_checkpoint(name: str) -> Callable[[bytes], Any]:
    """Under a manifest that matches: whoever can write the one can write the other."""

    def plant(raw: bytes) -> None:
        home = Path("run/checkpoints")
        for step in Checkpoints(home).steps():
            folder = home / f"step_{step:08d}"
            files = {n: (folder / n).read_bytes() for n in (MODEL, STATE)} | {name: raw}
            (folder / name).write_bytes(raw)
            if name != MANIFEST:
                sealed = checkpoint._manifest(step, files, {})
                (folder / MANIFEST).write_bytes(sealed)
        Path("run/status.json").write_text('{"status": "interrupted"}')
        resume(Path("run"), SilentProgress())

    return plant


def _in_run(name: str, read: Callable[[Path], Any]) -> Callable[[bytes], Any]:
    def plant(raw: bytes) -> None:
        (file,) = sorted(Path("run").glob(name))[-1:]
        file.write_bytes(raw)
        read(Path("run"))

    return plant


_PLACES: dict[str, Callable[[bytes], Any]] = {
    "data.npz": _file("a.npz", _data()),
    "data.csv": _file("a.csv", _data()),
    "data.parquet": _file("a.parquet", _data()),
    "image": _image,
    "CIFAR member": _cifar_member,
    "CIFAR archive": _cifar_archive,
    "idx": _idx,
    "labels.npy": _file("l.npy", _data(labels=lambda path: path)),
    "labels.txt": _file("l.txt", _data(labels=lambda path: path)),
    "trusted.npz": _file("t.npz", _data(trusted=lambda path: path)),
    "matrix.npy": _file("m.npy", _data(noise=lambda path: f"matrix:{path}")),
    "settings": _file("c.toml", read_config),
    **{f"checkpoint {name}": _in_checkpoint(name) for name in (MODEL, STATE, MANIFEST)},
    **{f"audit {n}": _in_run(n, audit_run) for n in ("best.*", "weights/*.npy")},
    "report samples.npz": _in_run("samples.npz", weight_history),
    **{
        f"report {n}": _in_run(n, lambda run: read_runs([run])) for n in ("result.json", "env.json")
    },
    "metrics": _in_run("metrics.jsonl", lambda run: read_runs([run])),
    "status": _in_run("status.json", lambda run: resume(run, SilentProgress())),
}


def _attempt(name: str, folder: Path) -> None:
    raw, reader = _PAYLOADS[name]
    run = folder / "run"
    go_on(tiny("deep"), run)
    (folder / "live").mkdir()
    in_child(lambda: (os.chdir(folder / "live"), reader(raw), os._exit(0)))
    assert (folder / "live" / CANARY).exists(), "the payload is not live: it proves nothing"

    def work() -> None:
        for i, (place, plant) in enumerate(_PLACES.items()):
            here = folder / str(i)
            here.mkdir()
            os.chdir(here)
            shutil.copytree(run, "run")
            _assert_refused(place, plant, raw)

    assert in_child(work) == 0
    assert [*folder.rglob(CANARY)] == [folder / "live" / CANARY]


def _assert_refused(place: str, plant: Callable[[bytes], Any], raw: bytes) -> None:
    try:
        plant(raw)
    except ReweighError:
        assert not Path(CANARY).exists(), f"{place}: it ran"
        return
    raise AssertionError(f"{place}: it was not refused")


PICKLES = Fault(f"hostile pickles, each in {len(_PLACES)} places", 0, [*_PAYLOADS], _attempt)
