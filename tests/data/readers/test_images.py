import sys

import numpy as np
import pytest

from reweigh.data.ids import read_ids
from reweigh.data.sources import load
from reweigh.errors import DataError

Image = pytest.importorskip("PIL.Image")


def picture(path, seed, size=(6, 5), mode="RGB"):
    path.parent.mkdir(parents=True, exist_ok=True)
    shape = (*size, 3) if mode == "RGB" else size
    pixels = np.random.default_rng(seed).integers(0, 255, shape, dtype=np.uint8)
    Image.fromarray(pixels).save(path)
    return pixels


def tree(root, parts=("train", "test"), n=5, mode="RGB"):
    seed = 0
    for part in parts:
        for name in ("cat", "dog"):
            for i in range(n):
                picture(root / part / name / f"{i}.png", seed := seed + 1, mode=mode)
    return root


def test_parts_and_classes_are_folders(tmp_path):
    tree(tmp_path, ("train", "test", "trusted"))
    pixels = picture(tmp_path / "train" / "cat" / "deep" / "x.png", 99)
    (tmp_path / "train" / "cat" / ".hidden").write_text("")
    source = load(str(tmp_path))
    assert source.class_names == ("cat", "dog")
    assert source.split == "given"
    assert [len(p) for p in (source.train, source.test, source.trusted)] == [11, 10, 10]
    where = source.train.names.tolist().index("cat/deep/x.png")
    np.testing.assert_array_equal(source.train.inputs[where], pixels)
    assert source.train.labels[where] == 0


def test_without_parts_a_fifth_is_the_test_set(tmp_path):
    source = load(str(tree(tmp_path, ("",), n=10)))
    assert source.split == "ours"
    assert np.bincount(source.test.labels).tolist() == [2, 2]
    assert len(source.counted) == 20


def test_grey_stays_grey_and_mixed_becomes_colour(tmp_path):
    assert load(str(tree(tmp_path / "a", mode="L"))).train.inputs.shape == (10, 6, 5, 1)
    picture(tree(tmp_path / "b") / "train" / "cat" / "g.png", 77, mode="L")
    assert load(str(tmp_path / "b")).train.inputs.shape == (11, 6, 5, 3)


def test_sizes_must_agree_unless_resized(tmp_path):
    picture(tree(tmp_path) / "train" / "dog" / "big.png", 1, size=(9, 9))
    with pytest.raises(DataError, match=r"big\.png has size \(9, 9\) but .* set image_size"):
        load(str(tmp_path))
    assert load(str(tmp_path), image_size=4).train.inputs.shape == (11, 4, 4, 3)


@pytest.mark.parametrize("content", [b"", b"no image", None])
def test_an_unreadable_image_is_named(tmp_path, content):
    path = tree(tmp_path) / "train" / "dog" / "0.png"
    path.write_bytes(path.read_bytes()[:60] if content is None else content)
    with pytest.raises(DataError, match=r"0\.png cannot be read as an image"):
        load(str(tmp_path))


def test_all_unreadable_images_of_all_parts_are_named_at_once(tmp_path):
    tree(tmp_path, n=6)
    broken = [f"train/cat/{i}.png" for i in range(3)] + [f"test/dog/{i}.png" for i in range(4)]
    for name in broken:
        (tmp_path / name).write_bytes(b"no")
    with pytest.raises(DataError) as refused:
        load(str(tmp_path))
    for name in broken[:5]:
        assert f"{tmp_path / name} cannot be read as an image" in str(refused.value)
    assert str(refused.value).endswith(" and 2 more images; repair or remove them.")


def test_sixteen_bits_are_refused_not_clipped(tmp_path):
    tree(tmp_path)
    deep = np.linspace(0, 65535, 30).reshape(6, 5).astype(np.uint16)
    Image.fromarray(deep).save(tmp_path / "train" / "cat" / "deep.png")
    with pytest.raises(DataError, match=r"deep\.png has more than 8 bits a pixel .*I;16"):
        load(str(tmp_path))


def test_an_empty_folder_and_an_unknown_class_are_refused(tmp_path):
    with pytest.raises(DataError, match="no images in sub-folders"):
        load(str(tmp_path))
    picture(tree(tmp_path) / "test" / "cow" / "0.png", 1)
    with pytest.raises(DataError, match="label 'cow' is neither"):
        load(str(tmp_path))


def test_a_listing_names_paths_labels_and_parts(tmp_path):
    lines = ["path,label,split,trusted"]
    for i in range(12):
        picture(tmp_path / "pics" / f"{i}.png", i)
        part = "test" if i >= 8 else "train"
        lines.append(f"pics/{i}.png,{'ab'[i % 2]},{part},{'true' if i < 2 else 'false'}")
    (tmp_path / "list.csv").write_text("\n".join(lines))
    source = load(str(tmp_path / "list.csv"))
    assert [len(p) for p in (source.train, source.test, source.trusted)] == [6, 4, 2]
    assert source.train.names[0] == "pics/2.png"
    assert source.train.ids.tolist() == [2, 3, 4, 5, 6, 7]
    assert source.kind == "image"


def test_a_listing_may_name_its_images_by_another_column(tmp_path):
    lines = ["path,label,number"]
    for i in range(12):
        picture(tmp_path / f"{i}.png", i)
        lines.append(f"{i}.png,{'ab'[i % 2]},{i + 1}")
    (tmp_path / "list.csv").write_text("\n".join(lines))
    (tmp_path / "sure.txt").write_text("3\n4\n")
    source = load(str(tmp_path / "list.csv"), id_column="number")
    assert read_ids(tmp_path / "sure.txt", source).ids.tolist() == [2, 3]
    with pytest.raises(DataError, match="stand in the column 'number' of the data"):
        read_ids(tmp_path / "sure.txt", load(str(tmp_path / "list.csv")))
    with pytest.raises(DataError, match="no column 'no' to name its rows"):
        load(str(tmp_path / "list.csv"), id_column="no")


def test_a_missing_pillow_names_the_extra(tmp_path, monkeypatch):
    tree(tmp_path)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(DataError, match=r"reweigh\[images\]"):
        load(str(tmp_path))


def test_transparent_parts_are_white_and_opaque_ones_as_they_are(tmp_path):
    """A picture may live in its transparency alone."""
    pixels = picture(tmp_path / "x.png", 1)
    alpha = np.full((*pixels.shape[:2], 1), 255, np.uint8)
    alpha[0] = 0
    tree(tmp_path / "all")
    path = tmp_path / "all/train/cat/0.png"
    Image.fromarray(np.concatenate([pixels, alpha], axis=2)).save(path)
    train = load(str(tmp_path / "all")).train
    found = train.inputs[train.names.tolist().index("cat/0.png")]
    assert (found[0] == 255).all()
    np.testing.assert_array_equal(found[1:], pixels[1:])


@pytest.mark.parametrize(
    ("first", "words"),
    [("", "data row 1 has no path"), ("a.txt", "a.txt cannot be read as an image")],
)
def test_a_list_whose_first_path_is_odd_is_still_one_of_images(tmp_path, first, words):
    for i in range(4):
        picture(tmp_path / f"{i}.png", i)
    lines = ["path,label", f"{first},cat", *(f"{i}.png,{['cat', 'dog'][i % 2]}" for i in range(4))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with pytest.raises(DataError, match=words):
        load(str(tmp_path / "t.csv"))


def test_a_trusted_folder_without_a_test_folder_counts_by_itself(tmp_path):
    """A file that names one of its images would else mean another one in training."""
    source = load(str(tree(tmp_path, ("train", "trusted"), n=10)))
    assert len(source.trusted) == 20
    assert len(source.counted) == 20
    picture(tmp_path / "trusted/cat/only.png", 99)
    with pytest.raises(DataError, match=r"'cat/only.png' is neither"):
        read_ids(_listing(tmp_path, "cat/only.png"), load(str(tmp_path)))


def _listing(folder, name):
    (folder / "list.txt").write_text(name)
    return folder / "list.txt"


def test_links_to_folders_are_followed_and_circles_are_not(tmp_path):
    tree(tmp_path / "more", ("",), n=3)
    tree(tmp_path / "all", ("",), n=10)
    (tmp_path / "all/cat/batch2").symlink_to(tmp_path / "more/cat")
    (tmp_path / "all/cat/back").symlink_to(tmp_path / "all")
    (tmp_path / "all/cat/batch2/up").symlink_to(tmp_path / "all/cat")
    assert len(load(str(tmp_path / "all")).counted) == 23
