"""The official CIFAR pickles, read without running a pickle.

A pickle is a program; unpickling runs it. Here the program's instructions are only *listed* (by
`pickletools`), and a small stack machine that knows numbers, strings, lists, dictionaries and the
three names numpy writes around an array puts the data together. Names are never looked up and
nothing is ever called, so a hostile file can at worst be refused.
"""

import pickletools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweigh.errors import DataError

_ARRAY = "numpy.core.multiarray _reconstruct"
_NAMES = {_ARRAY, "numpy ndarray", "numpy dtype"}
_LITERALS = {"SHORT_BINSTRING", "BINSTRING", "BININT", "BININT1", "BININT2"}
_CONSTANTS = {"NONE": None, "NEWFALSE": False, "NEWTRUE": True}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_MARK = object()


class _Name(str):
    """A global's name, left unresolved."""


class _Built:
    """What a call would have made: the callee's name, and the state that was set afterwards."""

    def __init__(self, callee: _Name) -> None:
        self.callee = callee
        self.state: Any = None


def read_pickle(data: bytes, origin: str) -> dict[str, Any]:
    """The dictionary in an official CIFAR pickle; arrays of bytes become `uint8` arrays."""
    try:
        content = _run(data)
        if not isinstance(content, dict):
            raise ValueError("not a dictionary")
        return {key: _plain(value) for key, value in content.items()}
    except (ValueError, IndexError, KeyError, TypeError, AttributeError) as problem:
        raise DataError(
            f"{origin} is not an official CIFAR file ({problem}); nothing of it was executed."
        ) from None


def _run(data: bytes) -> Any:
    stack: list[Any] = []
    memo: dict[int, Any] = {}
    for opcode, argument, _ in pickletools.genops(data):
        name = opcode.name
        if name == "STOP":
            return stack.pop()
        if name in {"BINPUT", "LONG_BINPUT"}:
            memo[argument] = stack[-1]  # type: ignore[index]  # genops types every argument as Any | None
        elif name in {"BINGET", "LONG_BINGET"}:
            stack.append(memo[argument])  # type: ignore[index]
        elif name != "PROTO":
            _step(name, argument, stack)
    raise ValueError("no end")


def _step(name: str, argument: Any, stack: list[Any]) -> None:
    if name in _LITERALS:
        stack.append(argument)
    elif name in _CONSTANTS:
        stack.append(_CONSTANTS[name])
    elif name in {"MARK", "EMPTY_DICT", "EMPTY_LIST"}:
        stack.append({"MARK": _MARK, "EMPTY_DICT": {}, "EMPTY_LIST": []}[name])
    elif name in _TUPLES:
        size = _TUPLES[name]
        stack[-size:] = [tuple(stack[-size:])]
    elif name == "TUPLE":
        stack.append(tuple(_since_mark(stack)))
    elif name == "APPENDS":
        items = _since_mark(stack)
        stack[-1].extend(items)
    elif name == "SETITEMS":
        items = _since_mark(stack)
        stack[-1].update(zip(items[::2], items[1::2], strict=True))
    else:
        _object(name, argument, stack)


def _object(name: str, argument: Any, stack: list[Any]) -> None:
    if name == "GLOBAL" and argument in _NAMES:
        stack.append(_Name(argument))
    elif name == "REDUCE" and isinstance(stack[-2], _Name):
        stack[-2:] = [_Built(stack[-2])]
    elif name == "BUILD" and isinstance(stack[-2], _Built):
        state = stack.pop()
        stack[-1].state = state
    else:
        raise ValueError(f"it asks for {name} {argument!r}")


def _since_mark(stack: list[Any]) -> list[Any]:
    start = max(i for i, item in enumerate(stack) if item is _MARK)
    items = stack[start + 1 :]
    del stack[start:]
    return items


def _plain(value: Any) -> Any:
    return _array(value) if isinstance(value, _Built) else value


def _array(built: _Built) -> NDArray[np.uint8]:
    """`state` is (version, shape, dtype, column order?, bytes); only rows of bytes are accepted."""
    _, shape, _, by_columns, text = built.state
    if built.callee != _ARRAY or by_columns:
        raise ValueError("an object that is not an array in row order")
    return np.frombuffer(text.encode("latin-1"), dtype=np.uint8).reshape(shape)
