import pytest

from reweigh.data.places import find, search_path
from reweigh.errors import DataError


def test_the_given_folder_is_the_only_one(tmp_path, monkeypatch):
    monkeypatch.setenv("REWEIGH_DATA", str(tmp_path / "env"))
    assert search_path(tmp_path) == [tmp_path]
    assert search_path(None)[0] == tmp_path / "env"


def test_files_are_found_in_place_in_the_sub_folder_or_as_the_folder(tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "a.gz").touch()
    assert find("set", ["b", "a.gz"], tmp_path) == tmp_path / "set" / "a.gz"
    assert find("other", ["a.gz"], tmp_path / "set") == tmp_path / "set" / "a.gz"
    assert find("other", ["set"], tmp_path / "set") == tmp_path / "set"


def test_missing_files_name_the_way_out(tmp_path):
    with pytest.raises(DataError, match="reweigh data get set"):
        find("set", ["a"], tmp_path)
