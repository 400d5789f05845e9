"""Methods and teachers of one's own: `method.name = "module:Class"`, `method.teacher = "module:factory"`."""

from reweigh.config.methods import MethodConfig, OwnConfig, own_code
from reweigh.errors import UsageError
from reweigh.methods.base import Method, Setting
from reweigh.own_code import failing_as, imported
from reweigh.reweigher import Reweigher
from reweigh.teachers import Teacher


def own_method(config: OwnConfig) -> Method:
    """The user's method, built with its settings."""
    kind = imported(config.name, "method", "class")
    if not (isinstance(kind, type) and issubclass(kind, Method)):
        raise UsageError(
            f"the method {config.name!r} is no class that is a reweigh.methods.Method: write it as "
            f"class {config.name.partition(':')[2]}(reweigh.methods.Method)"
        )
    with failing_as(f"the method {config.name!r}", f"{kind.__name__}({config!r})"):
        method = kind(config)
    method.config = config  # whatever its constructor did
    return method


def own_teacher(name: str, setting: Setting) -> Teacher:
    """What the user's factory makes of a setting."""
    factory = imported(name, "teacher", "factory")
    with failing_as(f"the factory {name!r}", "factory(setting)"):
        teacher = factory(setting)
    if not isinstance(teacher, Teacher):
        raise UsageError(
            f"the factory {name!r} returned {type(teacher).__name__}, expected a reweigh.Teacher"
        )
    return teacher


def reweigher_of(method: Method, setting: Setting) -> Reweigher:
    """The loop's reweigher; a method of the user's own is told by name where it gives none."""
    if not isinstance(method.config, OwnConfig):
        return method.reweigher(setting)
    name = method.config.name
    with failing_as(f"the method {name!r}", "reweigher(setting)"):
        made = method.reweigher(setting)
    if not isinstance(made, Reweigher):
        raise UsageError(
            f"reweigher(setting) of the method {name!r} returned {type(made).__name__}, expected what "
            "setting.reweigher(teacher) gives"
        )
    return made


def check_own(config: MethodConfig) -> None:
    """Refuse, before anything is trained, code that is not there."""
    if isinstance(config, OwnConfig):
        own_method(config)
    elif (name := own_code(config)) is not None:
        imported(name, "teacher", "factory")
