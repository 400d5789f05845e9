"""The files of the named data sets: where they officially live, and what they must be.

The checksums are those that independent readers publish for the official files: torchvision-ruby,
GoMLX and MLDatasets.jl agree on the CIFAR archives (and the six CIFAR-10 members, rebuilt from the
md5-checked python files, have the SHA-256 values that torchvision-ruby gives); Flux.jl and others
agree on Fashion-MNIST's, whose md5 is in its own README. Multi30k's are those of files whose md5
torchtext published. For IWSLT'14, whose first home is gone, the mirror that fairseq uses is the
public source; its digest is published nowhere, its size is seen in logs of its users.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class RemoteFile:
    """A file of a data set, where it officially lives, and what it must be."""

    base: str
    name: str
    sha256: str | None
    """None where nobody publishes it: the size is checked, and the user is shown the digest."""
    size: int | None = None
    """Bytes, where there is no digest."""


def _files(base: str, digests: dict[str, str]) -> tuple[RemoteFile, ...]:
    """One file a line: its name, and its SHA-256."""
    return tuple(RemoteFile(base, name, digest) for name, digest in digests.items())


_TORONTO = "https://www.cs.toronto.edu/~kriz"
_ZALANDO = "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion"
_MULTI30K = "https://github.com/multi30k/dataset/raw/master/data/task1/raw"
_FAIRSEQ = "https://dl.fbaipublicfiles.com/fairseq/data/iwslt14"
FILES = {
    "cifar10": _files(_TORONTO, {
        "cifar-10-binary.tar.gz": "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
    }),
    "cifar100": _files(_TORONTO, {
        "cifar-100-binary.tar.gz": "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
    }),
    "fashion-mnist": _files(_ZALANDO, {
        "train-images-idx3-ubyte.gz": "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
        "train-labels-idx1-ubyte.gz": "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        "t10k-images-idx3-ubyte.gz": "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        "t10k-labels-idx1-ubyte.gz": "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
    }),
    "multi30k": _files(_MULTI30K, {
        "train.de.gz": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
        "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
        "val.de.gz": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
        "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
        "test_2016_flickr.de.gz": "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
        "test_2016_flickr.en.gz": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
        "test_2017_flickr.de.gz": "a2c89666db00c495cd8513b9d708d5a3acc205d7de312ef2bf5fb7ebc1540aee",
        "test_2017_flickr.en.gz": "76a444ee25172e72695cddb13ae4a3bda59430617be88e0bb46b60504f054074",
    }),
    "iwslt14": (RemoteFile(_FAIRSEQ, "de-en.tgz", None, size=19_982_877),),
}  # fmt: skip
