from pathlib import Path

import pytest
from tests.training.small import settings
from tests.training.toy_text import toy

from reweigh.audit.opened import opened
from reweigh.config import RunConfig, TranslationConfig
from reweigh.config.writing import to_toml
from reweigh.errors import UsageError


@pytest.mark.parametrize(
    ("config", "wanted", "judged"),
    [(settings(), TranslationConfig, "labels"), (toy(Path("text")), RunConfig, "pairs")],
)
def test_a_run_of_another_kind_is_refused_before_its_data_is_read(
    config, wanted, judged, tmp_path: Path
) -> None:
    (tmp_path / "config.toml").write_text(to_toml(config))
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(UsageError, match=f"a run of {config.task}; its audit is of {judged}"):
        opened(tmp_path, wanted)
