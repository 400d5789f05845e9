"""Teachers and features against their formulas, written out again by hand."""

import pytest
import torch
from tests.metagrad.students import CLASSES, awake, build

import reweigh
from reweigh.errors import UsageError
from reweigh.student.seen import Progress
from reweigh.teachers.base import normalised

STUDENT = build("conv+bn")
Y = torch.tensor([0, 2, 1, 2])


def seen():
    draw = torch.Generator().manual_seed(2)

    def numbers(*shape):
        return torch.randn(*shape, generator=draw, dtype=torch.float64)

    states = {"fc:input": numbers(4, 4), "narrow:output": numbers(4, 4), "fc:output": numbers(4, 3)}
    progress = Progress(0.25, torch.tensor(1.5, dtype=torch.float64), 0.8)
    return reweigh.Seen(numbers(4).exp(), Y, states, progress)


def test_interaction():
    teacher = awake(reweigh.InteractionTeacher(STUDENT, layer="fc", num_classes=CLASSES), STUDENT)
    state = seen().states["fc:input"]
    by_hand = [
        torch.sigmoid(state[k] @ teacher.directions[y] + teacher.bias[y]) for k, y in enumerate(Y)
    ]
    torch.testing.assert_close(teacher(seen()), torch.stack(by_hand))


def test_interaction_of_low_rank():
    teacher = reweigh.InteractionTeacher(STUDENT, layer="fc", num_classes=CLASSES, rank=2)
    teacher = awake(teacher, STUDENT)
    full = teacher.directions @ teacher.basis.T  # (C, d)
    logit = (seen().states["fc:input"] * full[Y]).sum(1) + teacher.bias[Y]
    torch.testing.assert_close(teacher(seen()), logit.sigmoid())


def test_linear_is_additive_in_states_and_label():
    features = [reweigh.InternalState(STUDENT, "fc"), reweigh.LabelFeature(CLASSES)]
    teacher = awake(reweigh.LinearTeacher(features), STUDENT)
    w = teacher.last.weight[0]
    logit = seen().states["fc:input"] @ w[:4] + w[4:][Y] + teacher.last.bias
    torch.testing.assert_close(teacher(seen()), logit.sigmoid())


@pytest.mark.parametrize("depth", [1, 2])
def test_mlp_is_as_wide_as_its_input(depth):
    features = [reweigh.InternalState(STUDENT, "fc"), reweigh.LabelFeature(CLASSES)]
    teacher = awake(reweigh.MLPTeacher(features, hidden_layers=depth), STUDENT)
    maps = [m for m in teacher.hidden if isinstance(m, torch.nn.Linear)]
    assert [m.weight.shape for m in maps] == [(7, 7)] * depth
    h = torch.cat([seen().states["fc:input"], torch.eye(3, dtype=torch.float64)[Y]], 1)
    for m in maps:
        h = (h @ m.weight.T + m.bias).clamp_min(0)
    logit = h @ teacher.last.weight[0] + teacher.last.bias
    torch.testing.assert_close(teacher(seen()), logit.sigmoid())


def test_loss_curve_looks_at_the_loss_alone():
    teacher = awake(reweigh.LossCurveTeacher(6), STUDENT)
    h = (seen().losses[:, None] * teacher.first.weight[:, 0] + teacher.first.bias).clamp_min(0)
    logit = h @ teacher.last.weight[0] + teacher.last.bias
    torch.testing.assert_close(teacher(seen()), logit.sigmoid())
    assert teacher.normalise == "count"
    assert teacher.taps == ()


@pytest.mark.parametrize(
    "make",
    [
        lambda: reweigh.InteractionTeacher(STUDENT, layer="fc", num_classes=CLASSES),
        lambda: reweigh.InteractionTeacher(STUDENT, layer="fc", num_classes=CLASSES, rank=2),
        lambda: reweigh.LinearTeacher([reweigh.InternalState(STUDENT, "fc")]),
        lambda: reweigh.MLPTeacher([reweigh.InternalState(STUDENT, "fc")], hidden_layers=2),
    ],
)
def test_training_starts_with_all_weights_alike(make):
    w = make().double()(seen())
    torch.testing.assert_close(w, w[:1].expand(4))


def test_surface_features():
    found = reweigh.SurfaceFeatures("fc", CLASSES)(seen())
    logits = seen().states["fc:output"]
    p = logits.softmax(1)
    for k, y in enumerate(Y):
        others = [p[k, j] for j in range(CLASSES) if j != y]
        assert found[k, :3].tolist() == [0.25, 1.5, 0.8]
        assert found[k, 3:6].tolist() == [float(j == logits[k].argmax()) for j in range(CLASSES)]
        torch.testing.assert_close(found[k, 6], p[k, y] - max(others))


def test_surface_features_need_the_length_of_training():
    view = reweigh.Seen(seen().losses, Y, seen().states, Progress(float("nan")))
    with pytest.raises(UsageError, match="total_steps="):
        reweigh.SurfaceFeatures("fc", CLASSES)(view)


def test_states_are_read_where_they_stand():
    student = build("conv+bn").eval()
    teacher = awake(
        reweigh.LinearTeacher([reweigh.InternalState(student, "narrow", side="output")]), student
    )
    data = torch.randn(4, 2, 5, 5, dtype=torch.float64), Y
    optimizer = torch.optim.SGD(student.parameters(), 0.1)
    held = reweigh.Reweigher(student, optimizer, teacher, trusted=data, every=None)
    with torch.no_grad():
        maps = student.narrow(torch.relu(student.norm(student.conv(data[0]))))  # (n, c, h, w)
        expected = (maps.mean((2, 3)) @ teacher.last.weight[0] + teacher.last.bias).sigmoid()
    torch.testing.assert_close(held.peek(*data), expected)


def test_sizes_are_read_off_layers_or_given():
    assert reweigh.InternalState(STUDENT, "fc").size == 4
    assert reweigh.InternalState(STUDENT, "conv", side="output").size == 3
    assert reweigh.InternalState(STUDENT, "drop", size=9).size == 9
    with pytest.raises(UsageError, match=r"cannot tell the input size of layer 'drop' \(Dropout\)"):
        reweigh.InternalState(STUDENT, "drop")
    with pytest.raises(UsageError, match="side must be 'input' or 'output', not 'inside'"):
        reweigh.InternalState(STUDENT, "fc", side="inside")


def test_a_state_of_another_size_says_which():
    feature = reweigh.InternalState(STUDENT, "fc", size=5)
    with pytest.raises(UsageError, match=r"gave 4 numbers per sample.*built for 5: give size=4"):
        feature(seen())


def test_labels_that_are_missing():
    view = reweigh.Seen(seen().losses, None, seen().states, Progress())
    with pytest.raises(UsageError, match=r"looks at labels.*Reweigher\(labels=f\)"):
        reweigh.LabelFeature(CLASSES)(view)


def test_a_teacher_needs_features_and_classes():
    with pytest.raises(UsageError, match="at least one feature"):
        reweigh.MLPTeacher([])
    with pytest.raises(UsageError, match="num_classes must be at least 2, not 1"):
        reweigh.InteractionTeacher(STUDENT, layer="fc", num_classes=1)
    with pytest.raises(UsageError, match="num_classes must be at least 2, not 1"):
        reweigh.MarginTeacher(STUDENT, layer="fc", num_classes=1)


def test_normalisation():
    w = torch.tensor([1.0, 3.0, 0.0, 4.0])
    assert normalised(w, "sum").tolist() == [0.125, 0.375, 0.0, 0.5]
    assert normalised(w, "count").tolist() == [0.25, 0.75, 0.0, 1.0]
    assert normalised(torch.zeros(4), "sum").tolist() == [0.0] * 4


@pytest.mark.parametrize(
    "build_one",
    [
        lambda: reweigh.PosteriorTeacher(num_classes=3, scale=2),
        lambda: reweigh.LossMarginTeacher(scale=2),
        lambda: reweigh.AgreementTeacher(STUDENT, layer="fc", num_classes=CLASSES, scale=2),
        lambda: reweigh.MarginTeacher(STUDENT, layer="fc", num_classes=CLASSES, scale=2),
    ],
)
def test_a_scale_may_be_a_whole_number(build_one):
    assert build_one().scale.item() == 2.0
