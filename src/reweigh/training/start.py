"""Where a student begins that was trained before: another run's folder, or a file of tensors."""

from pathlib import Path

import safetensors
from safetensors.torch import load_file
from torch import nn

from reweigh.config import Settings
from reweigh.errors import CheckpointError, UsageError
from reweigh.run_files import student_file


def starting_point(config: Settings, home: Path) -> Path | None:
    """The file that `student.start` names, if it does; of a run, its student best by trusted.

    A name is looked for from here, then beside the run's own folder `home`: runs of one table stay
    together when the table is moved.
    """
    start = config.student.start if config.task == "translation" else None
    if start is None:
        return None
    for place in (Path(start), home.parent / start):
        if place.is_dir():
            return student_file(place, last=False)
        if place.is_file():
            return place
    raise UsageError(
        f"student.start = {start!r} is neither a run's folder nor a .safetensors file."
    )


def load_student(student: nn.Module, weights: Path) -> None:
    """Put the tensors of a file into the student, if they are its own."""
    if not weights.is_file():
        raise CheckpointError(
            f"{weights} is missing: the run has not finished; go on with it by reweigh resume "
            f"{weights.parent}"
        )
    device = next(student.parameters()).device
    try:
        state = load_file(weights, device=str(device))
    except (OSError, safetensors.SafetensorError) as error:
        raise CheckpointError(f"{weights} cannot be read as safetensors ({error}).") from None
    own = {name: value.shape for name, value in student.state_dict().items()}
    held = {name: value.shape for name, value in state.items()}
    if held != own:
        name = next(n for n in (*own, *held) if own.get(n) != held.get(n))
        wanted, met = (tuple(of[name]) if name in of else "none" for of in (own, held))
        raise CheckpointError(
            f"{weights} does not fit the student that the settings describe ({name}: {met} there, {wanted} "
            "here); was either changed?"
        )
    student.load_state_dict(state)
