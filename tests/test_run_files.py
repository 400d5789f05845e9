"""Files of a run's folder, by name."""

from pathlib import Path

import numpy as np
import pytest

from reweigh.errors import DataError, UsageError
from reweigh.run_files import is_run, kept_samples, refuse_no_run, student_file


def test_a_folder_without_settings_is_no_run(tmp_path: Path) -> None:
    assert not is_run(tmp_path)
    with pytest.raises(UsageError, match=r"is not a run folder: it has no config\.toml\.$"):
        refuse_no_run(tmp_path)
    (tmp_path / "config.toml").touch()
    refuse_no_run(tmp_path)


def test_the_last_student_is_not_the_best_one() -> None:
    assert student_file(Path("run"), last=True) == Path("run/model.safetensors")
    assert student_file(Path("run"), last=False) == Path("run/best.safetensors")


def test_kept_samples_are_arrays_or_a_sentence(tmp_path: Path) -> None:
    np.savez(tmp_path / "samples.npz", ids=np.arange(3))
    assert kept_samples(tmp_path)["ids"].tolist() == [0, 1, 2]
    (tmp_path / "samples.npz").write_bytes(b"no arrays")
    with pytest.raises(DataError, match=r"cannot be read as \.npz arrays"):
        kept_samples(tmp_path)


def test_a_folder_of_runs_names_one_of_them(tmp_path: Path) -> None:
    (tmp_path / "deep_s0_1a2b").mkdir()
    (tmp_path / "deep_s0_1a2b" / "config.toml").touch()
    with pytest.raises(
        UsageError, match=r"It holds runs, such as .*deep_s0_1a2b: name one of them"
    ):
        refuse_no_run(tmp_path)
