import pytest

from reweigh.config import RunConfig
from reweigh.config.lineup import BUDGETS, LINEUP, choose, folder_name
from reweigh.config.methods import L2TDataConfig, L2TLossConfig, MentorNetConfig, OwnConfig
from reweigh.errors import UsageError


def test_all_and_lists_in_the_order_asked_for() -> None:
    assert choose("all") == LINEUP
    assert list(choose("deep-linear, uniform")) == ["deep-linear", "uniform"]


@pytest.mark.parametrize("wrong", ["deep-lin", "uniform,,focal", "", "everything"])
def test_an_unknown_row_offers_names(wrong: str) -> None:
    with pytest.raises(UsageError, match=r"did you mean|known are"):
        choose(wrong)


def test_budgets_are_those_of_the_rows() -> None:
    assert f"from {L2TDataConfig().episodes} trial" in BUDGETS["l2t-data"]
    assert f"through {L2TLossConfig().through} steps" in BUDGETS["l2t-loss"]
    for row in ("mentornet-pd", "mentornet-dd"):
        assert f"for {MentorNetConfig().mentor_steps} steps" in BUDGETS[row]
    assert BUDGETS.keys() <= LINEUP.keys()


def test_folders_have_names_that_every_disk_takes() -> None:
    config = RunConfig(method=OwnConfig(name="pack.age:Class"))
    assert folder_name("pack.age:Class", config).startswith("pack.age-Class_s0_")
    assert folder_name("focal-0.5", config).startswith("focal-0.5_s0_")
