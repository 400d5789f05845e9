import pytest
import torch


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Tiny nets: threads only cost."""
    torch.set_num_threads(1)
