"""The noise matrix: the corrected loss by hand, and a matrix found again from labels alone."""

import pytest
import torch
import torch.nn.functional as F

from reweigh.teachers import NoiseMatrix

T = torch.tensor([[0.7, 0.3, 0.0], [0.0, 0.6, 0.4], [0.2, 0.0, 0.8]], dtype=torch.float64)


def matrix() -> NoiseMatrix:
    made = NoiseMatrix(3).double()
    made.table.copy_(T)
    return made


def test_the_corrected_loss_by_hand() -> None:
    p = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]], dtype=torch.float64)
    found = matrix().losses(p.log(), torch.tensor([1, 0]))
    explained = torch.tensor([0.5 * 0.3 + 0.3 * 0.6, 0.1 * 0.7 + 0.8 * 0.2], dtype=torch.float64)
    assert torch.allclose(found, -explained.log(), atol=1e-7)


def test_its_gradient_is_cross_entropy_with_the_posterior_as_soft_label() -> None:
    logits = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    given = torch.tensor([0, 1, 2, 1, 0])
    one = matrix()
    (found,) = torch.autograd.grad(one.losses(logits, given).sum(), logits)
    q = one.posterior(logits.detach(), given)
    (expected,) = torch.autograd.grad(-(q * logits.log_softmax(1)).sum(), logits)
    assert torch.allclose(found, expected, atol=1e-12)


def test_a_sure_label_is_plain_cross_entropy() -> None:
    logits, given = torch.randn(4, 3, dtype=torch.float64), torch.tensor([0, 1, 2, 0])
    sure = torch.tensor([True, False, True, False])
    found = matrix().losses(logits, given, sure)
    plain = F.cross_entropy(logits, given, reduction="none")
    assert torch.allclose(found[sure], plain[sure], atol=1e-9)
    assert not torch.isclose(found[~sure], plain[~sure]).any()


def test_the_matrix_of_planted_noise_is_found_from_predictions_and_labels_alone() -> None:
    draw = torch.Generator().manual_seed(0)
    one = NoiseMatrix(3).double()
    for _ in range(400):
        logits = 2 * torch.randn(64, 3, generator=draw, dtype=torch.float64)
        true = torch.multinomial(logits.softmax(1), 1, generator=draw).squeeze(1)
        given = torch.multinomial(T[true], 1, generator=draw).squeeze(1)
        one.notice(logits, given)
        one.refresh()
    assert (one.table - T).abs().max() < 0.06


def test_the_table_stands_still_until_it_is_refreshed() -> None:
    one = matrix()
    one.notice(torch.randn(8, 3, dtype=torch.float64), torch.zeros(8, dtype=torch.int64))
    assert torch.equal(one.table, T)
    one.refresh()
    assert one.table.sum(1).tolist() == pytest.approx([1, 1, 1])
    assert not torch.equal(one.table, T)


def test_an_empty_batch_teaches_nothing() -> None:
    one = matrix()
    before = one.joint.clone()
    one.notice(torch.zeros(0, 3, dtype=torch.float64), torch.zeros(0, dtype=torch.int64))
    assert torch.equal(one.joint, before)


def test_a_matrix_alone_stays_finite_where_nothing_is_wrong():
    one = NoiseMatrix(2, alone=True)
    for off in (0.0, 1e-9, 2e-8):
        one.joint.copy_(torch.tensor([[0.5, off], [0.0, 0.5]]))
        one.refresh()
        torch.testing.assert_close(one.table, torch.eye(2))
    one.joint.copy_(torch.tensor([[0.5, 0.0], [0.02, 0.0]]))
    one.refresh()
    torch.testing.assert_close(one.table, torch.tensor([[1.0, 0.0], [0.5, 0.5]]))


def test_a_class_that_no_trusted_sample_is_of_is_left_alone() -> None:
    one = matrix()
    one.joint.copy_(T / 3)
    one.notice_trusted(torch.tensor([0, 1] * 29))
    one.refresh()
    assert torch.allclose(one.table, T, atol=1e-12)  # too few to say so
    one.notice_trusted(torch.tensor([0, 1]))
    one.refresh()
    expected = [[0.7, 0.3, 0], [0, 1, 0], [0, 0, 1]]
    assert torch.allclose(one.table, torch.tensor(expected, dtype=torch.float64), atol=1e-12)
    one.notice_trusted(torch.tensor([2]))
    one.refresh()
    assert torch.allclose(one.table, T, atol=1e-12)


def test_the_bound_by_somebody_else_s_answers() -> None:
    """Σ q log(q / T p): the loss itself where both answer alike, never below it, and p − q inside."""
    draw = torch.Generator().manual_seed(2)
    matrix, given = NoiseMatrix(4).double(), torch.tensor([0, 3, 1, 2, 2])
    own = torch.randn(5, 4, generator=draw, dtype=torch.float64).requires_grad_()
    other = torch.randn(5, 4, generator=draw, dtype=torch.float64)
    sure = torch.tensor([False, False, False, False, True])
    exact = matrix.losses(own, given, sure)
    torch.testing.assert_close(matrix.losses(own, given, sure, by=own), exact)
    bound = matrix.losses(own, given, sure, by=other)
    assert (bound > exact)[:4].all()
    torch.testing.assert_close(bound[4], exact[4])
    found = torch.autograd.grad(bound.sum(), own)[0]
    torch.testing.assert_close(found, own.softmax(1) - matrix.posterior(other, given, sure))


def test_a_class_that_is_ruled_out_leaves_the_bound_finite() -> None:
    matrix, given = NoiseMatrix(3), torch.tensor([0, 1])
    logits = torch.tensor([[0.5, 0.1, -torch.inf], [0.2, 0.7, -torch.inf]], requires_grad=True)
    bound = matrix.losses(logits, given, by=logits.detach())
    torch.testing.assert_close(bound, matrix.losses(logits, given))
    assert torch.autograd.grad(bound.sum(), logits)[0].isfinite().all()
