import pytest

from reweigh.config import RunConfig
from reweigh.config.lineup import LINEUP, choose, folder_name
from reweigh.config.methods import METHODS, L2TDataConfig, OwnConfig
from reweigh.errors import UsageError


def test_all_and_lists_in_the_order_asked_for() -> None:
    assert choose("all") == LINEUP
    assert list(choose("deep-linear, uniform")) == ["deep-linear", "uniform"]


@pytest.mark.parametrize("wrong", ["deep-lin", "uniform,,focal", "", "everything"])
def test_an_unknown_row_offers_names(wrong: str) -> None:
    with pytest.raises(UsageError, match=r"did you mean|known are"):
        choose(wrong)


def test_budgets_name_settings_that_there_are() -> None:
    told = {name: kind.budget.format(**kind().model_dump()) for name, kind in METHODS.items()}
    limited = {name for name, words in told.items() if words}
    authors_have_more = {
        "l2t-data",
        "l2t-loss",
        "mentornet",
        "learning-to-reweight",
        "meta-weight-net",
    }
    assert limited == authors_have_more
    assert f"from {L2TDataConfig().episodes} trial" in told["l2t-data"]


def test_folders_have_names_that_every_disk_takes() -> None:
    config = RunConfig(method=OwnConfig(name="pack.age:Class"))
    assert folder_name("pack.age:Class", config).startswith("pack.age-Class_s0_")
    assert folder_name("focal-0.5", config).startswith("focal-0.5_s0_")
