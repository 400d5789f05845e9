"""One run of a table: begun, or gone on with; what it fails of is told and stops no other."""

import os
import shutil
from pathlib import Path

from reweigh import signals
from reweigh.config import Settings
from reweigh.config.lineup import folder_name
from reweigh.errors import NoCheckpointError, ReweighError, in_a_sentence
from reweigh.own_code import named_in
from reweigh.run_files import ENVIRONMENT
from reweigh.training.progress import Progress
from reweigh.training.run import resume, train
from reweigh.training.run_folder import RunFolder
from reweigh.training.run_records import read_record

Named = tuple[str, Settings]
Ended = tuple[str, Settings, ReweighError | None]


def with_threads(config: Settings, threads: int) -> Settings:
    """The settings with so many threads, unless they say how many."""
    return config if config.threads else config.model_copy(update={"threads": threads})


def do_one(name: str, config: Settings, folder: Path, progress: Progress, stop: Path) -> Ended:
    """One run; what it failed of, memory perhaps, is told and does not stop the others."""
    try:
        with signals.listening(stop):
            signals.check()
            _begin_or_go_on(config, home_of(folder, name, config), progress)
    except (ReweighError, RuntimeError, MemoryError, OSError, ValueError) as error:
        return name, config, in_a_sentence(error)
    except Exception as error:  # the user's code may raise anything
        if not named_in(config):
            raise
        return name, config, in_a_sentence(error)
    return name, config, None


def _begin_or_go_on(config: Settings, home: Path, progress: Progress) -> None:
    """Go on with a run that has a checkpoint, however it ended; without one it starts again.

    It goes on with the threads that it began with, whatever this command would give a new one.
    """
    if any(home.glob("checkpoints/step_*")):
        try:
            resume(home, progress, threads=read_record(home / ENVIRONMENT).get("threads"))
            return
        except NoCheckpointError as error:
            progress.note(f"{home.name} starts again: {error}")
    _clear(home)
    train(config, home, progress, command=("reweigh", "train", "config.toml"))


def _clear(home: Path) -> None:
    """Take away what a failed run left, unless somebody is writing it.

    It loses its name at once: nobody takes up a run that is being deleted, or meets half of it.
    """
    if home.exists():
        held = RunFolder.reopen(home)  # refused where another process holds the lock
        away = home.rename(home.with_name(f".{home.name}.tmp-{os.getpid()}"))
        held.close()
        shutil.rmtree(away)


def home_of(folder: Path, name: str, config: Settings) -> Path:
    """The folder of one run of a table."""
    return folder / folder_name(name, config)
