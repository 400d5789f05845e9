"""A teacher taken over from a run: its parameters, frozen; what does not fit is refused."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

import reweigh
from reweigh.errors import DataError, UsageError
from reweigh.methods.taking_over import take_over


def linear(classes: int, width: int = 4) -> reweigh.LinearTeacher:
    student = nn.Sequential(nn.Linear(width, classes))
    state = reweigh.InternalState(student, "0")
    return reweigh.LinearTeacher([state, reweigh.LabelFeature(classes)])


def margin(classes: int, width: int) -> reweigh.MarginTeacher:
    return reweigh.MarginTeacher(
        nn.Sequential(nn.Linear(width, classes)), layer="0", num_classes=classes
    )


def saved(teacher: reweigh.Teacher, folder: Path, classes: int) -> Path:
    for number, parameter in enumerate(teacher.parameters()):
        nn.init.normal_(parameter, generator=torch.Generator().manual_seed(number))
    save_file(teacher.state_dict(), folder / "teacher.safetensors")
    np.savez(folder / "samples.npz", class_names=np.array([str(k) for k in range(classes)]))
    return folder


def test_parameters_are_taken_and_frozen(tmp_path: Path) -> None:
    old, new = linear(3), linear(3)
    take_over(new, saved(old, tmp_path, 3), 3)
    assert all(torch.equal(a, b) for a, b in zip(old.parameters(), new.parameters(), strict=True))
    assert not any(p.requires_grad for p in new.parameters())


@pytest.mark.parametrize("classes", [2, 5])
def test_other_classes_keep_what_is_known_of_the_first(tmp_path: Path, classes: int) -> None:
    old, new = linear(3), linear(classes)
    take_over(new, saved(old, tmp_path, 3), classes)
    both = 4 + min(3, classes)
    assert torch.equal(new.last.weight[:, :both], old.last.weight[:, :both])
    assert not new.last.weight[:, both:].any()


def test_the_margin_teacher_fits_any_student_and_starts_its_means_again(tmp_path: Path) -> None:
    old, new = margin(3, 4), margin(7, 9)
    old.class_means.known.fill_(1.0)
    take_over(new, saved(old, tmp_path, 3))
    assert torch.equal(new.scale, old.scale)
    assert torch.equal(new.bias, old.bias)
    assert not new.class_means.known.any()


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    run = saved(linear(3), tmp_path, 3)
    for other in (linear(3, width=6), margin(3, 4)):
        with pytest.raises(UsageError, match="does not fit"):
            take_over(other, run, 3)
    with pytest.raises(UsageError, match=r"has no teacher\.safetensors"):
        take_over(linear(3), tmp_path / "nothing", 3)
    np.savez(run / "samples.npz", ids=np.arange(3))  # as a run that translates keeps them
    with pytest.raises(DataError, match=r"samples\.npz lacks class_names"):
        take_over(linear(3), run, 3)
    (run / "samples.npz").write_bytes(b"PK no archive")
    with pytest.raises(DataError, match=r"cannot be read as \.npz arrays"):
        take_over(linear(3), run, 3)
    (run / "teacher.safetensors").write_bytes(b"no tensors")
    with pytest.raises(DataError, match="cannot read the teacher"):
        take_over(linear(3), run, 3)
