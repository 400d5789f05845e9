"""The settings of a method of the user's own, by the name of its class."""

from pydantic import Field

from reweigh.config.methods.one import OneMethod, Option, OwnCode


class OwnConfig(OneMethod):
    """A method of one's own."""

    name: OwnCode
    """`module:Class`, a subclass of reweigh.methods.Method (runs that code)."""

    options: dict[str, Option | list[Option]] = Field(default_factory=dict)
    """Settings of its own, such as `gamma = 2.0`; `trusted_share` says that it trains on trusted
    samples."""
