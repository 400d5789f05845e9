"""A run's folder explains itself: what was asked, with what, what happened, how it ended.

    config.toml     the resolved settings
    command.txt     the command as it was typed
    env.json        versions, commit, threads, devices, seed
    metrics.jsonl   one JSON object a line, appended
    status.json     running | done | interrupted (to go on with) | failed, and why
    log.txt         what was said
    inputs.json     what the student takes and answers, for predictions
    weights/        sample weights, one file an epoch
    checkpoints/    the last two, to go on from
    lock            held while a process writes

A folder is born whole (made beside, then renamed), never overwritten, and holds no path to itself,
so it can be moved. A run that is refused before its first metrics (a layer that does not exist, a
kernel that cannot be differentiated) takes its folder away again. Two writers are kept apart by
`flock`, which the system releases with the process: a lock file left by a dead one is harmless. Some
network disks have no locks; there a run only warns.
A disk that is full, read-only or gone is told in a sentence, wherever in the run it was met.
"""

import errno
import fcntl
import io
import json
import logging
import math
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TextIO

from reweigh.config import Settings, run_id, to_toml
from reweigh.errors import (
    CheckpointError,
    DataError,
    InterruptedRun,
    UnwritableError,
    UsageError,
)
from reweigh.replacing import replacing, write_atomically
from reweigh.run_files import CONFIG, ENVIRONMENT, STATUS, is_run, refuse_no_run
from reweigh.training.environment import environment
from reweigh.training.result import RESULT

Status = Literal["running", "done", "interrupted", "failed"]
_DISK = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.ESTALE),
    *(errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG),
}

_NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP}
log = logging.getLogger("reweigh")


def default_folder(config: Settings) -> Path:
    """`runs/DATE_DATA-NOISE_METHOD_sSEED_ID`, readable and different for different settings."""
    noise = "" if config.data.noise == "none" else f"-{config.data.noise}"
    words = f"{Path(config.data.name).stem}{noise}_{config.method.name}_s{config.seed}"
    safe = "".join(c if c.isalnum() or c in "._-" else "-" for c in words)[:100]
    return Path("runs") / f"{datetime.now(UTC):%Y-%m-%d}_{safe}_{run_id(config)[:8]}"


class RunFolder:
    """The writing end of a run's folder; leaving its `with` block records how the run ended."""

    def __init__(self, path: Path, *, new: bool = False) -> None:
        self.path, self._new = path, new
        try:
            self._lock = _locked(path / "lock")
            self._metrics = (path / "metrics.jsonl").open("ab", buffering=0)
            self._log = (path / "log.txt").open("ab", buffering=0)
            self.status("running")
        except OSError as error:
            raise UsageError(f"Cannot write into the run folder {path}: {_why(error)}.") from error

    @classmethod
    def create(cls, path: Path, config: Settings, command: Sequence[str]) -> Self:
        """A new folder for this run; one that already holds something is refused."""
        if path.resolve() == Path.cwd():
            raise UsageError(
                "A run's folder is made whole, and this is the current one; give --out a new name."
            )
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise UsageError(
                f"{path} already exists and is never overwritten{_way_on(path)}; choose another --out."
            )
        try:
            with replacing(path) as beside:
                beside.mkdir(parents=True)
                _describe(beside, config, command)
        except OSError as error:
            raise UsageError(f"Cannot make the run folder {path}: {_why(error)}.") from error
        return cls(path, new=True)

    @classmethod
    def reopen(cls, path: Path) -> Self:
        """Go on writing in the folder of a run that was interrupted."""
        refuse_no_run(path)
        run = cls(path)
        _drop_cut_off_line(path / "metrics.jsonl")
        return run

    @property
    def weights(self) -> Path:
        """The folder of the sample weights."""
        return self.path / "weights"

    def metrics(self, row: Mapping[str, Any]) -> None:
        """Append one object to metrics.jsonl; NaN and infinities become null: JSON has neither."""
        finite = {name: _finite(value) for name, value in row.items()}
        _append(self._metrics, json.dumps(finite, allow_nan=False))

    def metrics_length(self) -> int:
        """Bytes of metrics.jsonl, all of them on the disk."""
        os.fsync(self._metrics.fileno())
        return (self.path / "metrics.jsonl").stat().st_size

    def rewind_metrics(self, length: int) -> None:
        """Forget the rows behind `length`: they are written again."""
        file = self.path / "metrics.jsonl"
        if file.stat().st_size < length:
            raise CheckpointError(f"{file} is shorter than when the checkpoint was written.")
        os.truncate(file, length)

    def log(self, text: str) -> None:
        """Append a line with the time to log.txt."""
        _append(self._log, f"{_now()} {text}")

    def status(self, word: Status, reason: str = "") -> None:
        """Say how the run stands, in a file, because launchers hide exit codes."""
        state = {"status": word, "reason": reason, "time": _now()}
        write_atomically(self.path / STATUS, json.dumps(state, indent=2) + "\n")

    def _holds_nothing(self) -> bool:
        metrics = self.path / "metrics.jsonl"
        no_metrics = not metrics.exists() or metrics.stat().st_size == 0
        return no_metrics and not (self.path / "checkpoints").exists()

    def close(self) -> None:
        """Close the files and let another writer in."""
        for file in (self._metrics, self._log, self._lock):
            file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        refused = isinstance(error, UsageError | DataError | CheckpointError)
        kept = isinstance(error, UnwritableError) or not self._new or not self._holds_nothing()
        if refused and not kept:
            self.close()
            shutil.rmtree(self.path, ignore_errors=True)
            return
        told = self._disk_trouble(error) or error
        try:
            self._say_how_it_ended(told)
        except OSError as second:
            told = told or self._disk_trouble(second) or second
        self.close()
        if told is not None and told is not error:
            raise told from error

    def _say_how_it_ended(self, error: BaseException | None) -> None:
        stopped = isinstance(error, InterruptedRun | KeyboardInterrupt | CheckpointError)
        word: Status = "done" if error is None else "interrupted" if stopped else "failed"
        self.status(word, "" if error is None else f"{type(error).__name__}: {error}")

    def _disk_trouble(self, error: BaseException | None) -> UnwritableError | None:
        """The sentence for an error of the disk below this folder; None for any other error."""
        if not isinstance(error, OSError) or error.errno not in _DISK:
            return None
        named = error.filename  # nobody says the name when a write fails
        if isinstance(named, str) and not Path(named).is_relative_to(self.path):
            return None
        return UnwritableError(
            f"Cannot write into {self.path}: {_why(error)}; what was saved before is intact: make "
            "room or give write permission, then continue the run."
        )


def folder_of(config: Settings) -> Path | None:
    """The newest folder under `runs` of a run with these settings, finished or not."""
    found = sorted(Path("runs").glob(f"*_{run_id(config)[:8]}/{CONFIG}"))
    return found[-1].parent if found else None


def _drop_cut_off_line(file: Path) -> None:
    """What a crash left of a last line would spoil the one appended to it."""
    raw = file.read_bytes()
    os.truncate(file, raw.rfind(b"\n") + 1)


def _describe(folder: Path, config: Settings, command: Sequence[str]) -> None:
    env = {**environment(), "seed": config.seed, "run_id": run_id(config)}
    env["folder"] = str(Path.cwd())  # what relative paths of the settings mean
    (folder / CONFIG).write_text(to_toml(config), encoding="utf-8")
    (folder / "command.txt").write_text(shlex.join(command) + "\n", encoding="utf-8")
    (folder / ENVIRONMENT).write_text(json.dumps(env, indent=2) + "\n", encoding="utf-8")


def _locked(path: Path) -> TextIO:
    file = path.open("w", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise UsageError(f"{path.parent} is being written by another process.") from None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        log.warning(
            "%s lies on a disk without locks: see to it that no other process writes it",
            path.parent,
        )
    return file


def _append(file: io.FileIO, line: str) -> None:
    """Unbuffered, so that a full disk is met here and not again when the file is closed."""
    left = f"{line}\n".encode()
    while left:
        left = left[file.write(left) :]


def _why(error: OSError) -> str:
    return error.strerror or str(error)


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _way_on(path: Path) -> str:
    """What can be done with a run that is there."""
    if not is_run(path):
        return ""
    if (path / RESULT).is_file():
        return f" (a finished run: `reweigh audit {path}` and `reweigh report {path}` look at it)"
    return f" (an unfinished run: `reweigh resume {path}` goes on with it)"
