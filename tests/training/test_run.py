import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tests.methods.blobs import problem
from tests.training.small import settings

from reweigh import Predictor
from reweigh.config.reading import check
from reweigh.errors import DivergedError, UsageError
from reweigh.training import evaluate, run
from reweigh.training.answers import Answers
from reweigh.training.pool import Pool
from reweigh.training.progress import SilentProgress
from reweigh.training.result import ErrorResult
from reweigh.training.rows import Rows
from reweigh.training.run import train
from reweigh.training.run_records import read_metrics, read_status
from reweigh.training.tasks import Standing, classification


@pytest.fixture(autouse=True)
def _tiny_problem(monkeypatch) -> None:
    monkeypatch.setattr(run, "prepared", lambda spec: problem())


def trained(folder: Path, *assignments: str) -> ErrorResult:
    result = train(settings(*assignments), folder, SilentProgress(), command=("reweigh", "train"))
    assert isinstance(result, ErrorResult)
    return result


def test_a_run_folder_has_everything(tmp_path: Path) -> None:
    deep = ("method.every=2", "method.through=1", "training.epochs=2")
    result = trained(tmp_path / "run", *deep)
    found = {file.name for file in (tmp_path / "run").iterdir()}
    assert found == {
        *("config.toml", "command.txt", "env.json", "metrics.jsonl", "status.json", "log.txt"),
        *(
            "weights",
            "lock",
            "samples.npz",
            "test.npz",
            "inputs.json",
            "result.json",
            "checkpoints",
        ),
        *("model.safetensors", "best.safetensors", "teacher.safetensors"),
    }
    config = tomllib.loads((tmp_path / "run" / "config.toml").read_text())
    assert check(config, "test") == settings(*deep)
    assert [row["epoch"] for row in read_metrics(tmp_path / "run")] == [0, 1]
    assert {f.name for f in (tmp_path / "run" / "weights").iterdir()} == {
        "epoch_00000.npy",
        "epoch_00001.npy",
    }
    assert result.folder == str(tmp_path / "run")


def test_the_result_is_the_one_on_disk_and_names_no_folder(tmp_path: Path) -> None:
    result = trained(tmp_path / "run")
    stored = json.loads((tmp_path / "run" / "result.json").read_text())
    assert stored == {k: v for k, v in vars(result).items() if k != "folder"}
    texts = [file.read_text() for file in (tmp_path / "run").glob("*.*") if _is_text(file)]
    assert not any(str(tmp_path) in text for text in texts)


def _is_text(file: Path) -> bool:
    return file.suffix in {".json", ".jsonl", ".txt", ".toml"}


def test_a_student_with_tied_parameters_is_kept_and_read_again(tmp_path: Path) -> None:
    small = settings("student.model=tests.training.tied:Tied")
    config = small.model_copy(update={"student": small.student.model_copy(update={"options": {}})})
    result = train(config, tmp_path / "run", SilentProgress())
    assert isinstance(result, ErrorResult)
    inputs = problem().test
    answers = Predictor(tmp_path / "run", last=True).probabilities(inputs.inputs).argmax(1)
    assert (answers != inputs.labels).mean() == pytest.approx(result.test_error_last)


def test_labels_stand_beside_the_weights_by_position(tmp_path: Path) -> None:
    trained(tmp_path / "run", "method.name=focal")
    with np.load(tmp_path / "run" / "samples.npz") as stored:
        assert np.array_equal(stored["labels"], problem().train.labels)
        assert np.array_equal(stored["true_labels"], problem().true_labels)
        assert np.array_equal(stored["ids"], problem().train.ids)
        assert stored["class_names"].tolist() == ["a", "b", "c"]
        assert stored["trusted"].tolist() == [False] * 40


@pytest.mark.parametrize(
    ("method", "doubtful", "trusted"), [("trusted-mixed", 40, 12), ("trusted-only", 0, 12)]
)
def test_trusted_samples_in_the_stream_are_told_from_those_with_the_same_id(
    tmp_path: Path, method: str, doubtful: int, trusted: int
) -> None:
    trained(tmp_path / "run", f"method.name={method}")
    with np.load(tmp_path / "run" / "samples.npz") as stored:
        assert stored["trusted"].tolist() == [False] * doubtful + [True] * trusted
        assert stored["ids"][stored["trusted"]].tolist() == list(range(12))


def test_the_error_of_each_class_is_that_of_the_last_student(tmp_path: Path, monkeypatch) -> None:
    standings = (Standing("error", e, 1 - e, "") for e in (0.1, 0.9, 0.9))
    monkeypatch.setattr(classification.Classification, "standing", lambda _: next(standings))
    result = trained(tmp_path / "run", "training.epochs=2")
    test = problem().test

    def per_class(predictor: Predictor) -> list[float]:
        wrong = predictor.probabilities(test.inputs).argmax(1) != test.labels
        return [wrong[test.labels == k].mean() for k in range(3)]

    last, best = (per_class(Predictor(tmp_path / "run", last=last)) for last in (True, False))
    assert result.test_error_per_class == pytest.approx(last)
    assert last != best


def test_the_answers_to_the_test_samples_are_kept(tmp_path: Path, monkeypatch) -> None:
    standings = (Standing("error", e, 1 - e, "") for e in (0.1, 0.9, 0.9))
    monkeypatch.setattr(classification.Classification, "standing", lambda _: next(standings))
    result = trained(tmp_path / "run", "training.epochs=2")
    test, kept = problem().test, Answers.of(tmp_path / "run")
    assert kept is not None
    assert kept.ids.tolist() == test.ids.tolist()
    assert kept.labels.tolist() == test.labels.tolist()
    for last, answers in ((True, kept.last), (False, kept.best_by_trusted)):
        p = Predictor(tmp_path / "run", last=last).probabilities(test.inputs)
        assert answers.tolist() == p.argmax(1).tolist()
    assert result.test_samples == len(test)
    assert Answers.of(tmp_path) is None


def test_a_class_without_test_samples_has_no_error() -> None:
    pool = Pool(Rows(problem().test.inputs), torch.tensor(problem().test.labels))
    found = evaluate.errors(torch.nn.Linear(2, 3), pool, lambda net, x: net(x), num_classes=4)
    assert found.per_class[3] is None
    assert None not in found.per_class[:3]


def test_results_of_before_classes_were_told_apart_are_read(tmp_path: Path) -> None:
    trained(tmp_path / "run")
    file = tmp_path / "run" / "result.json"
    old = {k: v for k, v in json.loads(file.read_text()).items() if k != "test_error_per_class"}
    file.write_text(json.dumps(old))
    again = run.read_result(settings(), tmp_path / "run")
    assert isinstance(again, ErrorResult)
    assert again.test_error_per_class is None


def test_the_test_set_is_looked_at_only_after_the_last_epoch(tmp_path: Path, monkeypatch) -> None:
    events: list[str] = []
    answer = evaluate.predictions

    def counted(student, pool, forward):
        events.append("test" if len(pool) == 20 else "trusted")
        return answer(student, pool, forward)

    class Ears(SilentProgress):
        def note(self, text: str) -> None:
            events.append("epoch")

    monkeypatch.setattr(evaluate, "predictions", counted)
    train(settings("method.name=uniform", "training.epochs=3"), tmp_path / "run", Ears())
    assert events.count("test") == 2
    assert events.index("test") > len(events) - 1 - events[::-1].index("epoch")


def test_last_and_best_are_two_students(tmp_path: Path, monkeypatch) -> None:
    errors = iter([0.1, 0.9, 0.9])
    standings = (Standing("error", e, 1 - e, "") for e in errors)
    monkeypatch.setattr(classification.Classification, "standing", lambda _: next(standings))
    result = trained(tmp_path / "run", "training.epochs=2", "method.name=uniform")
    assert result.best_epoch == 0
    best, last = (load_file(tmp_path / "run" / f"{n}.safetensors") for n in ("best", "model"))
    assert not all(torch.equal(best[name], last[name]) for name in best)


@pytest.mark.parametrize(
    ("average", "told"),
    [("0.9", "judges by a running average of the student (0.9)"), ("0", "judges by the student")],
)
def test_a_run_tells_by_whom_its_teacher_judges(tmp_path: Path, average: str, told: str) -> None:
    trained(tmp_path / "run", f"method.average={average}")
    (line,) = [s for s in (tmp_path / "run/log.txt").read_text().splitlines() if "judges" in s]
    assert line.endswith(told)


def test_a_run_that_diverges_says_so_and_stays(tmp_path: Path) -> None:
    with pytest.raises(DivergedError):
        trained(
            tmp_path / "run", "method.name=uniform", "training.lr=100", "training.momentum=0.99",
            "training.epochs=60",
        )  # fmt: skip
    assert read_status(tmp_path / "run") == "failed"
    assert "stopped: " in (tmp_path / "run" / "log.txt").read_text()
    assert not (tmp_path / "run" / "result.json").exists()


def test_ctrl_c_is_an_interrupted_run(tmp_path: Path) -> None:
    class Impatient(SilentProgress):
        def advance(self, steps: int = 1, **figures: float) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(settings(), tmp_path / "run", Impatient())
    assert read_status(tmp_path / "run") == "interrupted"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("student.model=rezznet", "there is no model 'rezznet'"),
        ("student.options.hiden=[3]", "no option 'hiden'"),
        ("device=cuda:97", "torch can use only"),
    ],
)
def test_a_refused_run_leaves_no_folder(tmp_path: Path, wrong: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        trained(tmp_path / "run", wrong)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_refused(tmp_path: Path) -> None:
    trained(tmp_path / "run")
    before = (tmp_path / "run" / "result.json").read_bytes()
    with pytest.raises(UsageError, match="already exists and is never overwritten"):
        trained(tmp_path / "run")
    assert (tmp_path / "run" / "result.json").read_bytes() == before
