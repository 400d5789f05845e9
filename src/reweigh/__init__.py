"""Train good models on imperfect data.

A *teacher* looks at every training sample through the *student's* internal states and gives it a
weight; it learns by meta-gradients from a small *trusted* set, through the student's own
optimisation steps ("Learning to Reweight with Deep Interactions", AAAI 2021).

Public names load on first use, so that `import reweigh` does not wait for torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_HOME = {
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'reweigh' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
