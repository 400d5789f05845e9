import sys

import pytest
import torch
from torch import nn
from torch.autograd import forward_ad, grad
from torch.func import functional_call
from torch.nn.functional import cross_entropy

from reweigh.errors import UsageError
from reweigh.models.build import NAMES, build

FACTORIES = """
from torch import nn
import torch

def linear(shape, num_classes, scale=1.0):
    layer = nn.Linear(shape[0], num_classes)
    layer.scale = scale
    return layer

def fails(shape, num_classes):
    raise RuntimeError("no\\nluck")

def nothing(shape, num_classes):
    return None

number = 3
"""


@pytest.fixture
def factories(tmp_path, monkeypatch):
    (tmp_path / "my_factories.py").write_text(FACTORIES)
    (tmp_path / "my_broken_factories.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("my_factories", None)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("resnet110", "wrn-28-10")])
def test_every_name_gives_a_student_with_a_last_layer_fc(name):
    model = build(name, (3, 32, 32), 5, seed=0)
    assert model(torch.rand(2, 3, 32, 32)).shape == (2, 5)
    assert model.fc.out_features == 5


@pytest.mark.parametrize("name", ["resnet8", "wrn-10-1", "cnn", "mlp"])
def test_every_student_has_the_derivatives_that_a_teacher_needs(name):
    """Forward-mode gᵀv equals reverse-mode gᵀv, and the Hessian is symmetric: uᵀHv = vᵀHu."""
    torch.manual_seed(0)
    model = build(name, (3, 16, 16), 4, seed=0).double().eval()
    x, y = torch.randn(3, 3, 16, 16, dtype=torch.float64), torch.tensor([0, 1, 3])
    theta = dict(model.named_parameters())
    u, v = ({name: torch.randn_like(p) for name, p in theta.items()} for _ in range(2))

    def inner(a, b):
        return sum((a[name] * b[name]).sum() for name in theta)

    def gradient():
        loss = cross_entropy(model(x), y)
        return dict(zip(theta, grad(loss, [*theta.values()], create_graph=True), strict=True))

    def hessian_times(direction):
        g = inner(gradient(), direction)
        return dict(zip(theta, grad(g, [*theta.values()], materialize_grads=True), strict=True))

    with forward_ad.dual_level():
        dual = {name: forward_ad.make_dual(p.detach(), v[name]) for name, p in theta.items()}
        loss = cross_entropy(functional_call(model, dual, (x,)), y)
        forward = forward_ad.unpack_dual(loss).tangent
    torch.testing.assert_close(forward, inner(gradient(), v))
    torch.testing.assert_close(inner(hessian_times(v), u), inner(hessian_times(u), v))


def test_depth_and_width_are_read_from_the_name():
    wide = build("wrn-10-2", (1, 28, 28), 10, seed=0)
    assert wide.fc.in_features == 128
    assert wide.conv1.in_channels == 1
    assert len(build("resnet26", (3, 32, 32), 10, seed=0).layer1) == 4


def test_the_seed_alone_decides_the_start():
    torch.manual_seed(1)
    first = build("cnn", (1, 28, 28), 10, seed=7)
    torch.manual_seed(2)
    again = build("cnn", (1, 28, 28), 10, seed=7)
    other = build("cnn", (1, 28, 28), 10, seed=8)
    assert all(
        torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True)
    )
    assert not torch.equal(first.conv1.weight, other.conv1.weight)


def test_the_global_generator_is_untouched():
    before = torch.get_rng_state()
    build("resnet8", (3, 32, 32), 10, seed=7)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("resnet", "did you mean resnet8"),
        ("wrn-28", "did you mean wrn-28-10"),
        ("zzz", "known are .*cnn, mlp"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(name, expected):
    with pytest.raises(UsageError, match=f"no model '{name}' .*; {expected}"):
        build(name, (3, 32, 32), 10, seed=0)


def test_a_convolutional_model_refuses_a_table():
    with pytest.raises(UsageError, match=r"got \(20,\); use 'mlp'"):
        build("cnn", (20,), 10, seed=0)


def test_an_unknown_option_is_refused_by_name():
    with pytest.raises(UsageError, match="no option 'hiden'; it takes hidden"):
        build("mlp", (20,), 10, seed=0, hiden=[3])
    with pytest.raises(UsageError, match="takes no options"):
        build("resnet8", (3, 32, 32), 10, seed=0, depth=20)


@pytest.mark.usefixtures("factories")
def test_a_factory_of_ones_own_gets_shape_classes_and_options():
    model = build("my_factories:linear", (4,), 3, seed=5, scale=2.0)
    assert isinstance(model, nn.Linear)
    assert (model.in_features, model.out_features, model.scale) == (4, 3, 2.0)
    again = build("my_factories:linear", (4,), 3, seed=5)
    assert torch.equal(model.weight, again.weight)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my_factories:fails", "failed with RuntimeError: no luck; it was called as"),
        ("my_factories:nothing", "returned NoneType, expected a torch nn.Module"),
        ("my_factories:absent", "no factory 'absent'"),
        ("my_factories:number", "no factory 'number'"),
        ("my_factories:", "no factory ''"),
        ("my_absent_module:f", "cannot be imported, ModuleNotFoundError.*PYTHONPATH"),
        ("my_broken_factories:f", "cannot be imported, ZeroDivisionError"),
        (":f", "cannot be imported"),
    ],
)
@pytest.mark.usefixtures("factories")
def test_a_factory_that_fails_is_told_in_one_sentence(name, message):
    with pytest.raises(UsageError, match=message) as error:
        build(name, (4,), 3, seed=0)
    assert "\n" not in str(error.value)
