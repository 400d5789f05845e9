"""The files of a run's folder that more than one part of the package reads or writes, by name."""

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from reweigh.data.npz import read_npz
from reweigh.errors import DataError, UsageError

CONFIG = "config.toml"
ENVIRONMENT = "env.json"
STATUS = "status.json"
SAMPLES = "samples.npz"
TEACHER = "teacher.safetensors"


def is_run(folder: Path) -> bool:
    """Whether a run was begun in this folder."""
    return (folder / CONFIG).is_file()


def refuse_no_run(folder: Path) -> None:
    """Refuse a folder in which no run was begun."""
    if is_run(folder):
        return
    inside = sorted(one.parent for one in folder.glob(f"*/{CONFIG}"))
    runs = (
        f" It holds runs, such as {inside[0]}: name one of them. (The command of a comparison, said "
        "again, goes on with all of it.)"
        if inside
        else ""
    )
    raise UsageError(f"{folder} is not a run folder: it has no {CONFIG}.{runs}")


def student_file(folder: Path, *, last: bool) -> Path:
    """The tensors of the student of the last epoch, or of the one best by the trusted samples."""
    return folder / ("model.safetensors" if last else "best.safetensors")


def kept_samples(folder: Path, *needed: str) -> dict[str, NDArray[Any]]:
    """What the run keeps of its training samples: `ids`, `trusted` and, by its task, labels or noise.

    A file that lacks what is `needed` is refused.
    """
    kept = read_npz(folder / SAMPLES)
    if lacking := [name for name in needed if name not in kept]:
        raise DataError(
            f"{folder / SAMPLES} lacks {', '.join(lacking)}: it is damaged or of a run of another task, "
            "so restore it or take another run."
        )
    return kept
