import pytest
import torch

from reweigh.errors import UsageError
from reweigh.training.environment import choose_device, device_after


def test_a_device_that_is_not_here_is_refused_with_those_that_are() -> None:
    assert choose_device("cpu") == torch.device("cpu")
    choose_device("auto")
    with pytest.MonkeyPatch.context() as patch:  # a CUDA build of torch where there is no GPU
        patch.setattr(torch._C, "_accelerator_getAccelerator", lambda: torch.device("cuda"))
        patch.setattr(torch.cuda, "is_available", lambda: False)
        assert choose_device("auto") == torch.device("cpu")
    with pytest.raises(UsageError, match=r"device = 'cuda:97', but torch can use only cpu"):
        choose_device("cuda:97")


def test_what_comes_after_a_run_needs_no_device_of_its_own() -> None:
    assert device_after("cuda:97") == choose_device("auto")
    assert device_after("cuda:97", "cpu") == device_after("cpu") == torch.device("cpu")
    with pytest.raises(UsageError, match="torch can use only cpu"):
        device_after("cpu", "cuda:97")
