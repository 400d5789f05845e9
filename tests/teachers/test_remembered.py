"""What a teacher remembers: the same tensors give the same value, and nothing else does."""

import copy
import pickle

import torch

from reweigh.teachers.remembered import Remembered


class Counted:
    """A value that says how often it was made."""

    def __init__(self) -> None:
        self.times = 0

    def make(self) -> int:
        self.times += 1
        return self.times


def test_asked_again_about_the_same_tensors_it_is_not_made_again() -> None:
    one, made, x = Remembered[int](), Counted(), torch.ones(2)
    assert [one.of(x, None, make=made.make) for _ in range(3)] == [1, 1, 1]
    assert one.of(x.clone(), None, make=made.make) == 2
    assert one.of(x, None, make=made.make) == 3  # only the last is kept
    assert one.of(x, x, make=made.make) == 4


def test_a_tensor_that_was_written_to_is_another_one() -> None:
    one, made, x = Remembered[int](), Counted(), torch.ones(2)
    one.of(x, make=made.make)
    x.mul_(2)
    assert one.of(x, make=made.make) == 2


def test_what_a_gradient_goes_through_is_not_kept() -> None:
    one, made, x = Remembered[int](), Counted(), torch.ones(2, requires_grad=True)
    assert [one.of(x, make=made.make) for _ in range(2)] == [1, 2]
    with torch.inference_mode():
        y = torch.ones(2)
    assert [one.of(y, make=made.make) for _ in range(2)] == [3, 4]
    z = torch.ones(2)
    with torch.inference_mode():
        assert one.of(z, make=made.make) == 5
    assert one.of(z, make=made.make) == 6


def test_a_copy_remembers_nothing() -> None:
    one, made, x = Remembered[int](), Counted(), torch.ones(2)
    one.of(x, make=made.make)
    for other in (copy.deepcopy(one), copy.copy(one), pickle.loads(pickle.dumps(one))):
        assert other.of(x, make=made.make) == made.times
    assert made.times == 4
