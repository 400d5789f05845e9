import pytest

from reweigh.errors import UsageError
from reweigh.text.spec import TextSpec


@pytest.mark.parametrize(
    ("options", "sentence"),
    [({"merges": 0}, "merges is 0"), ({"max_ratio": float("nan")}, "max_ratio is nan"),
     ({"target": "de"}, "both 'de'"), ({"noise": "flip:1"}, "expected none, mask")],
)  # fmt: skip
def test_wrong_settings(options, sentence):
    with pytest.raises(UsageError, match=sentence):
        TextSpec(data="x", **options)
