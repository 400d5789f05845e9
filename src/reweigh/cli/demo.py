"""`reweigh demo`: the teacher against plain training on planted noise, in a few minutes."""

from reweigh.cli import options
from reweigh.cli.compare import compare


def demo(
    out: options.Out = None,
    threads: options.Threads = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    no_color: options.NoColor = False,
    debug: options.Debug = False,
) -> None:
    """See it work: real handwritten digits, 40 % of the labels made wrong, three ways to train.

    The images come inside a dependency, so nothing is fetched. Plain training
    believes every label; trusted-only learns from the few checked ones; the
    teacher learns which labels to believe.

    [bold]Example[/bold]

    reweigh demo --out runs/first-look
    """
    compare(
        data="mnist5k",
        noise="flip:0.4",
        methods="uniform,trusted-only,trusted-mixed,deep",
        seeds=1,
        threads=threads,
        out=out,
        as_json=as_json,
    )
