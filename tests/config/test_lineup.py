import pytest

from reweigh.config.lineup import LINEUP, choose
from reweigh.errors import UsageError


def test_all_and_lists_in_the_order_asked_for() -> None:
    assert choose("all") == LINEUP
    assert list(choose("deep-linear, uniform")) == ["deep-linear", "uniform"]


@pytest.mark.parametrize("wrong", ["deep-lin", "uniform,,focal", "", "everything"])
def test_an_unknown_row_offers_names(wrong: str) -> None:
    with pytest.raises(UsageError, match="did you mean"):
        choose(wrong)
