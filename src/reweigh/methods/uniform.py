"""Plain training: every sample weighs the same."""

from reweigh.methods.base import Method, Setting
from reweigh.reweigher import Reweigher


class Uniform(Method):
    """The baseline that every table must show on the same schedule."""

    def reweigher(self, setting: Setting) -> Reweigher:
        """No teacher."""
        return setting.reweigher(None)
