import pytest

from reweigh.config.lineup import BUDGETS, LINEUP, choose
from reweigh.config.methods import L2TDataConfig, L2TLossConfig
from reweigh.errors import UsageError


def test_all_and_lists_in_the_order_asked_for() -> None:
    assert choose("all") == LINEUP
    assert list(choose("deep-linear, uniform")) == ["deep-linear", "uniform"]


@pytest.mark.parametrize("wrong", ["deep-lin", "uniform,,focal", "", "everything"])
def test_an_unknown_row_offers_names(wrong: str) -> None:
    with pytest.raises(UsageError, match="did you mean"):
        choose(wrong)


def test_budgets_are_those_of_the_rows() -> None:
    assert f"from {L2TDataConfig().episodes} trial" in BUDGETS["l2t-data"]
    assert f"through {L2TLossConfig().through} steps" in BUDGETS["l2t-loss"]
    assert BUDGETS.keys() <= LINEUP.keys()
