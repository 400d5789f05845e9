import pytest
import torch
from torch import nn

from reweigh.student.evaluating import evaluating


def test_every_module_gets_its_own_mode_back() -> None:
    student = nn.Sequential(nn.Dropout(0.5), nn.Sequential(nn.Dropout(0.5)))
    student.train()
    student[1].eval()  # frozen by its owner
    with evaluating(student):
        assert torch.equal(student(torch.ones(8)), torch.ones(8))
    assert (student.training, student[0].training, student[1].training) == (True, True, False)


def test_also_after_an_error() -> None:
    student = nn.Dropout()
    with pytest.raises(KeyError), evaluating(student):
        raise KeyError
    assert student.training
