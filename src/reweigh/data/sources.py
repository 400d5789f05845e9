"""From what the user wrote (a name or a path) to the reader that knows it."""

from pathlib import Path

from reweigh.data.catalogue import names, text_names
from reweigh.data.checks import check
from reweigh.data.columns import Columns
from reweigh.data.samples import Source
from reweigh.errors import UsageError
from reweigh.nearest import nearest


def load(
    data: str,
    data_dir: Path | None = None,
    label_column: str = "label",
    image_size: int | None = None,
    ignore: tuple[str, ...] = (),
    id_column: str | None = None,
) -> Source:
    """Read and check a named data set, or a folder, `.npz`, `.csv` or `.parquet` file."""
    if image_size is not None and image_size < 1:
        raise UsageError(f"image_size is {image_size}; expected at least 1 pixel.")
    if data in text_names():
        raise UsageError(f'{data!r} holds sentence pairs; set task = "translation" to use it.')
    source = (
        _named(data, data_dir)
        if data in names()
        else _path(Path(data), label_column, image_size, ignore, id_column)
    )
    check(source)
    return source


def table_of(data: str) -> Columns | None:
    """The columns behind the rows of a table, as they were written; None where there are none."""
    from reweigh.data.readers import breast_cancer

    if data in names():
        return breast_cancer.columns() if data == "breast-cancer" else None
    return Columns.read(Path(data)) if Path(data).suffix.lower() in (".csv", ".parquet") else None


def _named(name: str, data_dir: Path | None) -> Source:
    from reweigh.data.readers import breast_cancer, cifar, digits, fashion_mnist, mnist5k

    readers = {
        "digits": digits.read,
        "breast-cancer": breast_cancer.read,
        "mnist5k": mnist5k.read,
        "fashion-mnist": lambda: fashion_mnist.read(data_dir),
        "cifar10": lambda: cifar.read(cifar.CIFAR10, data_dir),
        "cifar100": lambda: cifar.read(cifar.CIFAR100, data_dir),
    }
    return readers[name]()


def _path(
    path: Path,
    label_column: str,
    image_size: int | None,
    ignore: tuple[str, ...],
    id_column: str | None,
) -> Source:
    from reweigh.data.readers import arrays, images, tables

    if path.is_dir():
        return images.read_folder(path, image_size)
    if path.is_file() and path.suffix.lower() == ".npz":
        return arrays.read(path)
    if path.is_file() and path.suffix.lower() in {".csv", ".parquet"}:
        return tables.read(path, label_column, image_size, ignore, id_column)
    if path.is_file() and path.suffix.lower() in {".tsv", ".txt", ".gz"}:
        raise UsageError(
            f"{str(path)!r} would be read as sentence pairs; add --task translation, or give a table "
            "as .csv or .parquet."
        )
    raise UsageError(
        f"{str(path)!r} is neither a data set's name nor a folder, .npz, .csv or .parquet file in "
        f"{Path.cwd()}{nearest(str(path), names())}"
    )
