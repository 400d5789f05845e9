"""The paper's method: which teacher the settings build, and what it looks at."""

import inspect
from dataclasses import replace

import pytest
import torch
from tests.methods.blobs import CLASSES, blobs, setting, student

import reweigh
from reweigh.config.methods import DeepConfig
from reweigh.errors import UsageError
from reweigh.methods import method_for
from reweigh.methods.deep import Deep

TRAIN, TRUSTED = blobs(64, seed=2), blobs(30, seed=1)


def ready(net: torch.nn.Module | None = None):
    return setting(net or student(), lambda update, size: (TRUSTED.x[:size], TRUSTED.true[:size]))


def teacher(**options) -> reweigh.Teacher:
    return Deep(DeepConfig(**options)).teacher(ready())


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("linear", reweigh.LinearTeacher),
        ("mlp", reweigh.MLPTeacher),
        ("interaction", reweigh.InteractionTeacher),
        ("agreement", reweigh.AgreementTeacher),
        ("posterior", reweigh.PosteriorTeacher),
    ],
)
def test_every_teacher_learns_in_training(name, kind) -> None:
    config = DeepConfig(teacher=name, every=2, through=2, teacher_lr=0.1, trusted_share=0)
    one = method_for(config).reweigher(ready())
    assert type(one.teacher) is kind
    before = [p.clone() for p in one.teacher.parameters()]
    taught = [one.step(TRAIN.x, TRAIN.given).taught for _ in range(4)]
    assert taught == [False, True, False, True]
    moved = [not torch.equal(a, b) for a, b in zip(before, one.teacher.parameters(), strict=True)]
    assert any(moved)


def test_features_are_those_that_were_named() -> None:
    sizes = {"I0": 16, "M0": CLASSES, "M1": 3 + CLASSES + 1}
    for features in (("I0",), ("M0",), ("I0", "M0"), ("I0", "M0", "M1"), ("M1",)):
        linear = teacher(teacher="linear", features=features)
        assert linear.last.in_features == sum(sizes[f] for f in features), features


def test_an_mlp_without_hidden_layers_is_the_linear_teacher() -> None:
    assert isinstance(teacher(teacher="mlp", hidden_layers=0), reweigh.LinearTeacher)
    assert len(teacher(teacher="mlp", hidden_layers=2).hidden) == 4  # two of Linear and ReLU


def test_a_level_that_the_student_has_not_is_told_with_those_it_has() -> None:
    with pytest.raises(UsageError, match="no internal state I2; it has I0 = 2"):
        teacher(teacher="linear", features=("I0", "I2"))


def test_the_same_seed_gives_the_same_teacher_and_draws_nothing() -> None:
    torch.manual_seed(5)
    one = teacher(teacher="mlp").state_dict()
    drawn = torch.rand(3)
    torch.manual_seed(6)
    again = teacher(teacher="mlp").state_dict()
    assert all(torch.equal(one[name], again[name]) for name in one)
    torch.manual_seed(5)
    student()  # ready() builds one, which does draw
    assert torch.equal(torch.rand(3), drawn)


def test_trusted_batches_have_the_size_that_was_set() -> None:
    sizes: list[int] = []

    def trusted(update: int, size: int):
        sizes.append(size)
        return TRUSTED.x[:size], TRUSTED.true[:size]

    config = DeepConfig(trusted_batch=7, every=2, trusted_share=0)
    method_for(config).reweigher(setting(student(), trusted)).step(TRAIN.x, TRAIN.given)
    assert set(sizes) == {7}


def test_the_posterior_teacher_corrects_the_loss_but_not_of_trusted_samples_in_the_stream() -> None:
    one = method_for(DeepConfig(teacher="posterior")).reweigher(ready())
    x, y = TRAIN.x, TRAIN.given
    sure = torch.arange(len(y)) >= 40
    losses = one.step(x, y, sure).losses
    plain = torch.nn.functional.cross_entropy(student()(x), y, reduction="none")
    torch.testing.assert_close(losses[sure], plain[sure])
    assert not torch.isclose(losses[~sure], plain[~sure]).any()


@pytest.mark.parametrize(
    ("options", "epoch", "repeats", "expected"),
    [
        ({}, 20, 19, 0.9),
        ({}, 19, 0, 0.0),  # small data
        ({}, 20, 20, 0.0),  # the same images again and again
        ({"deeper": True}, 50, 0, 0.0),
        ({"average": 0.5}, 19, 20, 0.5),
        ({"average": 0.0}, 50, 0, 0.0),
        ({"teacher": "agreement"}, 50, 0, 0.0),
    ],
)
def test_who_looks_through_the_student_s_average(
    options, epoch: int, repeats: int, expected: float
) -> None:
    where = replace(ready(), epoch=epoch, repeats=repeats)
    built = Deep(DeepConfig(**options)).teacher(where)
    assert built.average == expected


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"teacher": "linear", "average": 0.9}, "average is for teacher = 'posterior'"),
        ({"deeper": True, "average": 0.9}, "deeper needs average = 0"),
    ],
)
def test_an_average_without_effect_is_refused(options, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        DeepConfig(**options)


def test_a_loop_of_one_s_own_has_the_same_defaults_as_a_run() -> None:
    built = inspect.signature(reweigh.Reweigher).parameters
    assert (built["every"].default, built["through"].default) == (DeepConfig().every, 1)
    assert reweigh.PosteriorTeacher(num_classes=3).average == teacher().average
