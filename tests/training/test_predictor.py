"""A run's folder answers as the run itself did: its error on the test samples comes out again."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from reweigh import Predictor
from reweigh.config import read_config
from reweigh.errors import CheckpointError, DataError, UsageError
from reweigh.training.progress import SilentProgress
from reweigh.training.run import train

SHORT = ("training.epochs=2", "training.batch_size=8", "data.trusted_per_class=4", "threads=1")


def trained(folder: Path, data: Path, *assignments: str) -> float:
    config = read_config(None, {}, [f"data.name={data}", *SHORT, *assignments])
    train(config, folder, SilentProgress())
    return json.loads((folder / "result.json").read_text())["test_error_last"]


def photos(root: Path, size: int = 9, mode: str = "RGB") -> Path:
    """Two classes that differ in brightness, with much noise; train/ and test/."""
    rng = np.random.default_rng(0)
    for part, number in (("train", 30), ("test", 25)):
        for k, name in enumerate(("dark", "light")):
            (root / part / name).mkdir(parents=True)
            for i in range(number):
                pixels = rng.normal(110 + 30 * k, 80, (size, size, 3)).clip(0, 255).astype(np.uint8)
                Image.fromarray(pixels).convert(mode).save(root / part / name / f"{i:02}.png")
    return root


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    """Customers, with a text column and a split of their own."""
    place, rng = tmp_path_factory.mktemp("table"), np.random.default_rng(1)
    rows = ["id,age,city,label,split"]
    for i in range(120):
        k = i % 2
        city = rng.choice(["Bonn", "Ulm"] if k else ["Ulm", "Kiel"])
        part = "test" if i >= 80 else "train"
        rows.append(f"r{i},{rng.normal(40 + 6 * k, 9):.3f},{city},{'yes' if k else 'no'},{part}")
    (place / "people.csv").write_text("\n".join(rows))
    (place / "new.csv").write_text("\n".join(r for r in rows if not r.endswith("train")))
    return place


@pytest.fixture(scope="module")
def run(table: Path) -> Path:
    torch.set_num_threads(1)
    trained(table / "run", table / "people.csv", "method.name=trusted-only")
    return table / "run"


def wrong(predictor: Predictor, path: Path, labels: list[str]) -> float:
    answers = np.asarray(predictor.class_names)[predictor.probabilities(path).argmax(1)]
    return float((answers != labels).mean())


def test_unreadable_images_are_no_samples_and_no_silent_gap(tmp_path: Path) -> None:
    root = photos(tmp_path / "photos")
    trained(tmp_path / "run", root, "method.name=trusted-only", "student.model=mlp")
    predictor, new = Predictor(tmp_path / "run"), root / "test" / "dark"
    whole = predictor.probabilities(new)
    (new / "03.png").write_bytes(b"no")
    (new / "00.png").write_bytes(b"")
    found = predictor.read(new)
    assert [path.name for path in found.unfit] == ["00.png", "03.png"]
    assert found.names.tolist() == [f"{i:02}.png" for i in range(25) if i not in (0, 3)]
    np.testing.assert_allclose(
        predictor.probabilities(found), np.delete(whole, [0, 3], axis=0), rtol=1e-5
    )
    with pytest.raises(DataError, match=r"00\.png cannot be read .*03\.png cannot .* remove them"):
        predictor.probabilities(new)
    with pytest.raises(DataError, match=r"00\.png cannot be read"):
        predictor.read(new / "00.png")


@pytest.mark.parametrize("method", ["trusted-only", "deep"])
@pytest.mark.parametrize(
    ("mode", "more"),
    [("RGB", ("data.image_size=8", "training.channels_last=true")), ("L", ("student.model=mlp",))],
)
def test_images(method: str, mode: str, more: tuple[str, ...], tmp_path: Path) -> None:
    root = photos(tmp_path / "photos", mode=mode)
    model = "student.model=resnet8" if mode == "RGB" else "student.options.hidden=[8]"
    error = trained(tmp_path / "run", root, f"method.name={method}", model, *more)
    predictor = Predictor(tmp_path / "run", last=True)
    found = predictor.read(root / "test")
    labels = [name.split("/")[0] for name in found.names.tolist()]
    assert wrong(predictor, root / "test", labels) == pytest.approx(error)
    assert predictor.probabilities(found.inputs).sum(1) == pytest.approx(1)


def test_table_rows_without_the_table_learned_from(run: Path, table: Path) -> None:
    error = json.loads((run / "result.json").read_text())["test_error_last"]
    predictor = Predictor(run, last=True)
    lines = (table / "new.csv").read_text().splitlines()[1:]
    assert predictor.read(table / "new.csv").names.tolist() == [x.split(",")[0] for x in lines]
    labels = [line.split(",")[3] for line in lines]
    assert wrong(predictor, table / "new.csv", labels) == pytest.approx(error)


def test_arrays_of_the_shape_learned_from(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    y = np.arange(80) % 2
    x = rng.normal(size=(80, 3)) + y[:, None]
    np.savez(tmp_path / "a.npz", x_train=x[:50], y_train=y[:50], x_test=x[50:], y_test=y[50:])
    error = trained(tmp_path / "run", tmp_path / "a.npz", "method.name=uniform")
    predictor = Predictor(str(tmp_path / "run"), last=True)
    assert wrong(predictor, tmp_path / "a.npz", y[50:].astype(str).tolist()) == pytest.approx(error)
    with pytest.raises(DataError, match=r"shape \(3,\), got 4 of shape \(2,\)"):
        predictor.probabilities(x[:4, :2])
    with pytest.raises(DataError, match="Row 2 holds a value that is not finite"):
        predictor.probabilities(np.where(np.arange(4)[:, None] == 1, np.nan, x[:4]))


def test_tensors_and_lists_are_arrays_too(tmp_path: Path) -> None:
    x, y = np.random.default_rng(3).normal(size=(40, 2)), np.arange(40) % 2
    np.savez(tmp_path / "a.npz", x_train=x[:30], y_train=y[:30], x_test=x[30:], y_test=y[30:])
    trained(tmp_path / "run", tmp_path / "a.npz", "method.name=uniform")
    predictor = Predictor(tmp_path / "run")
    expected = predictor.probabilities(x)
    np.testing.assert_array_equal(predictor.probabilities(torch.tensor(x)), expected)
    np.testing.assert_array_equal(predictor.probabilities(x.tolist()), expected)
    with pytest.raises(DataError, match="the array has type object"):
        predictor.probabilities(np.asarray([["a", None]], dtype=object))


def test_raw_numbers_are_no_rows_of_a_table(run: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "raw.npz", x=np.ones((2, 4)))
    for samples in (tmp_path / "raw.npz", np.ones((2, 4))):
        with pytest.raises(DataError, match="learned from the columns age, city of a table"):
            Predictor(run).probabilities(samples)


def test_texts_that_training_never_saw_are_told(run: Path, tmp_path: Path) -> None:
    (tmp_path / "t.CSV").write_text("age,city\n40,Ulm\n41,Oslo\n42,ulm\n")
    (caution,) = Predictor(run).read(tmp_path / "t.CSV").cautions
    assert caution.startswith("column 'city': 2 of 3 rows have a text that no training row has")
    assert "'Oslo'" in caution
    (tmp_path / "t.CSV").write_text("age,city\n40,Ulm\n,Ulm\n")
    (caution,) = Predictor(run).read(tmp_path / "t.CSV").cautions
    assert caution.startswith("column 'age': 1 of 2 rows are empty, which no training row is")


def test_images_of_another_size_are_no_samples_and_hidden_ones_are_not_there(
    tmp_path: Path,
) -> None:
    root = photos(tmp_path / "photos")
    trained(tmp_path / "run", root, "method.name=uniform", "student.model=mlp")
    predictor, new = Predictor(tmp_path / "run"), tmp_path / "new"
    (new / ".cache").mkdir(parents=True)
    for name, side in (("a.png", 9), ("b.png", 7), (".cache/c.png", 9)):
        Image.new("RGB", (side, side)).save(new / name)
    found = predictor.read(new)
    assert found.names.tolist() == ["a.png"]
    assert len(predictor.probabilities(found)) == 1
    ((path, why),) = found.unfit.items()
    assert path == new / "b.png"
    assert why.startswith("has size (7, 7) and the student takes (9, 9)")
    with pytest.raises(DataError, match=r"b\.png has size \(7, 7\) .* remove it"):
        predictor.probabilities(new)  # an array says nothing of whose row is missing
    (new / "a.png").unlink()
    with pytest.raises(DataError, match=r"b\.png has size \(7, 7\) .* remove it"):
        predictor.read(new)


def test_the_students_mode_and_the_global_settings_stay(run: Path, table: Path) -> None:
    threads = torch.get_num_threads()
    predictor = Predictor(run)
    predictor.probabilities(table / "new.csv")
    assert not predictor.student.training
    assert torch.get_num_threads() == threads


def test_colour_for_a_student_of_grey_images(tmp_path: Path) -> None:
    grey, colour = photos(tmp_path / "grey", mode="L"), photos(tmp_path / "colour")
    small = ("student.model=mlp", "student.options.hidden=[8]")
    trained(tmp_path / "run", grey, "method.name=uniform", *small)
    predictor = Predictor(tmp_path / "run")
    same = [predictor.probabilities(root / "test") for root in (grey, colour)]
    np.testing.assert_allclose(*same, atol=1e-6)


def test_a_run_without_its_inputs_or_with_broken_ones(run: Path, tmp_path: Path) -> None:
    for name in ("config.toml", "best.safetensors"):
        (tmp_path / name).write_bytes((run / name).read_bytes())
    with pytest.raises(CheckpointError, match=r"inputs.json is missing; train the run again"):
        Predictor(tmp_path)
    broken = {"kind": "image", "shape": [9, 9, 3], "class_names": ["a", "b"]}
    broken["normalisation"] = {"mean": [1.0], "std": [1.0]}
    (tmp_path / "inputs.json").write_text(json.dumps(broken))
    with pytest.raises(CheckpointError, match="normalisation is not of 3 channels"):
        Predictor(tmp_path)
    (tmp_path / "inputs.json").write_text('{"kind": "table", "shape": ["x"], "class_names": []}')
    with pytest.raises(CheckpointError, match=r"does not describe a student's inputs \(shape.0"):
        Predictor(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("none.csv", "id,age\n1,2\n", "has no column 'city', which the student learned from"),
        ("text.csv", "age,city\nold,Ulm\n", "column 'age' holds text where the student learned"),
        ("far.csv", "age,city\n1,Ulm\ninf,Ulm\n", "column 'age' has 'inf' in data row 2"),
        ("photo.png", "", "takes rows of a table"),
    ],
)
def test_samples_of_another_kind(
    name: str, content: str, sentence: str, run: Path, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=sentence):
        Predictor(run).read(tmp_path / name)


def test_nothing_there(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'nobody' is neither a folder nor a file"):
        Predictor(run).read("nobody")
    with pytest.raises(UsageError, match="is not a run folder"):
        Predictor(tmp_path)
