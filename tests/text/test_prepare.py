import tarfile
from pathlib import Path

import numpy as np
import pytest
from tests.text.texts import sentences, write_folder

from reweigh.errors import DataError, UsageError
from reweigh.text import cache
from reweigh.text import prepare as preparing
from reweigh.text.prepare import prepare
from reweigh.text.spec import TextSpec

PAIRS = sentences(400)
TRAIN, VALID, TEST = PAIRS[:300], PAIRS[300:350], PAIRS[350:]


@pytest.fixture
def folder(tmp_path):
    return write_folder(tmp_path / "text", train=TRAIN, valid=VALID, test_x=TEST)


def spec(folder, **more):
    return TextSpec(data=str(folder), **{"merges": 50, **more})


def sources(problem, part):
    return {" ".join(problem.codec.decode_words(part.source[k])) for k in range(len(part))}


def test_the_parts_are_whole_and_disjoint(folder):
    problem = prepare(spec(folder))
    assert problem.record["counts"] == {"train": 300, "trusted": 25, "valid": 25, "test_x": 50}
    parts = [problem.train, problem.trusted, problem.valid, problem.tests["test_x"]]
    found = [sources(problem, part) for part in parts]
    assert len(set.union(*found)) == sum(map(len, found)) == 400
    assert problem.tests["test_x"].references == tuple(b for _, b in TEST)
    assert problem.tests["test_x"].tokenised[0] == TEST[0][1].lower().replace(".", " .")
    assert problem.changed is problem.clean is None


def test_seeds_change_the_trusted_pairs_and_not_the_vocabulary(folder):
    a, b = prepare(spec(folder)), prepare(spec(folder, seed=1))
    assert a.trusted.ids.tolist() != b.trusted.ids.tolist()
    assert a.vocabulary.symbols == b.vocabulary.symbols
    assert len(prepare(spec(folder, trusted=40)).trusted) == 40
    assert len(prepare(spec(folder, trusted=50)).trusted) == 50
    with pytest.raises(DataError, match="51 pairs cannot be trusted where there are 50"):
        prepare(spec(folder, trusted=51))


def test_noise_is_planted_into_training_pairs_only(folder):
    clean, noisy = prepare(spec(folder)), prepare(spec(folder, noise="mask:0.5:0.5"))
    assert noisy.changed is not None
    assert noisy.changed.mean() == pytest.approx(0.5, abs=0.1)
    assert noisy.record["changed"] == noisy.changed.mean()
    assert noisy.vocabulary.symbols == clean.vocabulary.symbols
    masked = [4 in noisy.train.source[k] or 4 in noisy.train.target[k] for k in range(300)]
    assert masked == noisy.changed.tolist()
    right = noisy.put_right()
    assert right is not None
    assert np.array_equal(right.train.source.flat, clean.train.source.flat)
    assert clean.put_right() is None


def test_what_methods_ask_of_a_problem(folder):
    problem = prepare(spec(folder, noise="mask:0.5"))
    assert problem.trusted_alone().train is problem.trusted
    both = problem.with_trusted(2)
    assert len(both.train) == len(both.changed) == 300 + 2 * 25
    assert not both.changed[300:].any()
    assert (problem.mixed_in, both.mixed_in, problem.trusted_alone().mixed_in) == (0, 50, 25)


def test_it_is_worked_out_once_per_content(folder, tmp_path, monkeypatch):
    first = prepare(spec(folder, noise="mask:0.5"))
    monkeypatch.setattr(preparing, "split", lambda *_, **__: pytest.fail("prepared again"))
    moved = folder.rename(tmp_path / "elsewhere")
    again = prepare(spec(moved, noise="mask:0.5"))
    assert again.record == {**first.record, "data": str(moved)}
    assert again.codec.to_json() == first.codec.to_json()
    assert np.array_equal(again.changed, first.changed)
    assert np.array_equal(again.clean.target.flat, first.clean.target.flat)
    assert again.tests["test_x"].references == first.tests["test_x"].references
    (moved / "train.de").write_text("Neu.\n" * 300)
    with pytest.raises(pytest.fail.Exception, match="prepared again"):
        prepare(spec(moved, noise="mask:0.5"))


def test_a_damaged_cache_is_made_anew(folder):
    first = prepare(spec(folder))
    place = cache.place_of(first.record["content"])
    whole = place.read_bytes()
    rng = np.random.default_rng(0)
    damaged = [b"", whole[:1000], b"PK" + whole[50:]]
    for position in rng.integers(0, len(whole), 5):
        flipped = bytearray(whole)
        flipped[position] ^= 255
        damaged.append(bytes(flipped))
    for content in damaged:
        place.write_bytes(content)
        again = prepare(spec(folder))
        assert again.record == first.record
        assert np.array_equal(again.train.source.flat, first.train.source.flat)


def test_a_cache_that_cannot_be_written_costs_nothing_else(folder, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert len(prepare(spec(folder)).train) == 300


def test_filters_see_training_text_only(tmp_path):
    odd = [("ja " * 9, "yes " * 3), ("oh " * 40, "oh " * 40)]
    folder = write_folder(tmp_path, train=TRAIN + odd + [("", "x")], valid=VALID, test=TEST + odd)
    problem = prepare(spec(folder, max_length=30))
    assert problem.record["dropped"] == {"empty": 1, "by_length": 2, "copies_of_held_out": 0}
    assert problem.record["counts"]["test"] == 52


def test_few_copies_leave_training_and_many_are_an_error(tmp_path):
    folder = write_folder(
        tmp_path / "few", train=TRAIN + TEST[:3], valid=VALID + TEST[:1], test=TEST
    )
    problem = prepare(spec(folder))
    assert problem.record["counts"]["train"] == 300
    assert problem.record["dropped"]["copies_of_held_out"] == 3
    assert len(problem.trusted) + len(problem.valid) == 50
    folder = write_folder(tmp_path / "many", train=TRAIN + TEST[:9], valid=VALID, test=TEST)
    with pytest.raises(DataError, match="18% of the test pairs also occur in the train pairs"):
        prepare(spec(folder))


def test_repeats_in_ones_own_text_are_dropped_and_not_refused(tmp_path):
    """Parts that were cut off here nobody can mend; and checked pairs come from this very text."""
    path = tmp_path / "all.tsv"
    path.write_text("".join(f"{a}\t{b}\n" for a, b in [*PAIRS, *PAIRS[:150]]) + "\n")
    assert prepare(spec(path)).record["dropped"]["copies_of_held_out"] > 5
    folder = write_folder(tmp_path / "checked", train=TRAIN, trusted=TRAIN[:40], test=TEST)
    problem = prepare(spec(folder))
    assert len(problem.trusted) == 40
    assert problem.record["counts"]["train"] == len(TRAIN) - 40


def test_one_table_is_enough(tmp_path):
    path = tmp_path / "all.tsv"
    path.write_text("".join(f"{a}\t{b}\n" for a, b in PAIRS))
    problem, other = prepare(spec(path)), prepare(spec(path, seed=1))
    assert problem.record["counts"] == {"train": 324, "trusted": 36, "valid": 0, "test": 40}
    assert problem.tests["test"].ids.tolist() == other.tests["test"].ids.tolist()


def test_trusted_files_of_your_own(tmp_path):
    folder = write_folder(tmp_path, train=TRAIN, trusted=VALID[:9], dev=VALID[9:], test=TEST)
    problem = prepare(spec(folder))
    assert problem.record["counts"] == {"train": 300, "trusted": 9, "valid": 41, "test": 50}


def test_a_part_in_two_forms_is_refused(folder):
    (folder / "train.tsv").write_text("ein\ta\n")
    with pytest.raises(DataError, match=r"train\.tsv and train\.de and train\.en: leave one"):
        prepare(spec(folder))
    (folder / "train.tsv").unlink()
    (folder / "train.de.gz").write_bytes(b"")
    with pytest.raises(DataError, match=r"train\.de and train\.de\.gz: leave one"):
        prepare(spec(folder))


def test_one_pair_is_no_validation_set(tmp_path):
    folder = write_folder(tmp_path, train=TRAIN, valid=VALID[:1], test=TEST)
    with pytest.raises(DataError, match=r"The validation set has 1 pair\(s\)"):
        prepare(spec(folder))


def test_references_without_blanks_are_told(tmp_path):
    def chinese(pairs):
        return [(a, "狗看见了一只猫和很多鸟" + str(i)) for i, (a, _) in enumerate(pairs)]

    parts = {"train": TRAIN, "valid": VALID, "test": TEST}
    folder = write_folder(tmp_path, **{name: chinese(pairs) for name, pairs in parts.items()})
    (words,) = prepare(spec(folder, max_ratio=1000)).cautions
    assert "have no blanks between their words" in words
    cut = {name: [(a, " ".join(b)) for a, b in chinese(p)] for name, p in parts.items()}
    assert not prepare(spec(write_folder(tmp_path / "cut", **cut), max_ratio=1000)).cautions


def test_the_iwslt_archive_as_it_was_published(tmp_path):
    folder = tmp_path / "de-en"
    folder.mkdir()
    for side, language in enumerate(("de", "en")):
        about = "<url>x</url>\n<talkid>1</talkid>\n<keywords>k</keywords>\n"
        train = about + "".join(f"<title>{p[side]}</title>\n{p[side]}\n" for p in TRAIN)
        (folder / f"train.tags.de-en.{language}").write_text(train)
        tests = ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012")
        for number, name in enumerate(tests):
            lines = [f'<seg id="{k}"> {p[side]} </seg>\n' for k, p in enumerate(TEST[number::5])]
            (folder / f"IWSLT14.{name}.de-en.{language}.xml").write_text("<x>\n" + "".join(lines))
    unpacked = prepare(TextSpec(data="iwslt14", data_dir=tmp_path, merges=50))
    counts = unpacked.record["counts"]
    assert counts["test"] == 50
    assert counts["trusted"] + counts["valid"] <= 600 // 23
    with tarfile.open(tmp_path / "de-en.tgz", "w:gz") as archive:
        archive.add(folder, "de-en")
    packed = prepare(TextSpec(data="iwslt14", data_dir=tmp_path, merges=50))
    assert packed.record["counts"] == counts


def test_nothing_to_read(tmp_path):
    with pytest.raises(UsageError, match="did you mean multi30k"):
        prepare(TextSpec(data="multi-30k"))
    with pytest.raises(DataError, match="reweigh data get multi30k"):
        prepare(TextSpec(data="multi30k"))
    with pytest.raises(DataError, match=r"has no train\.de with train\.en"):
        prepare(TextSpec(data=str(Path(tmp_path))))
    (tmp_path / "train.de").write_text("a\n")
    with pytest.raises(DataError, match=r"train\.en does not exist"):
        prepare(TextSpec(data=str(tmp_path)))
