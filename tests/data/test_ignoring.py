import shlex

import pytest

from reweigh.config import read_config
from reweigh.data.ignoring import ignoring


@pytest.mark.parametrize(
    "names",
    [["a"], ["a", "b c"], ["it's", "€", "a"], ["1"], ["true", "x"], ['"q"'], ["2023-01-01"]],
)
def test_what_is_typed_ignores_these_columns(names):
    option, text = shlex.split(ignoring([*names, names[0]]))
    assert option == "--set"
    assert read_config(None, {}, [text]).data.ignore == ",".join(names)


def test_names_that_the_setting_cannot_hold():
    assert ignoring(["a", "net, EUR"]).startswith("rename or delete 'net, EUR' in the file")
    assert ignoring(["a", ""]).startswith("give the column without a name one in the file")
