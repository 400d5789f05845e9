"""The page in a real browser: quiet, self-contained, usable, and deaf to hostile names."""

import csv
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.audit.made_up import audited
from tests.audit.made_up_pairs import audited_pairs
from tests.report.made_up import HOSTILE, report, table

from reweigh.data.table_file import plain
from reweigh.report.contents import Report
from reweigh.report.words import shown
from reweigh.report.write import write_report

CHROMIUM = shutil.which("chromium")
PATIENCE = 30_000  # milliseconds; for what the page does of itself, on a busy machine
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None and not os.environ.get("CI"):
        pytest.skip("chromium is not installed (Debian: apt-get install chromium)")
    assert CHROMIUM is not None, "chromium is missing, and in CI the page must be looked at"
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield opened
        opened.close()


@dataclass
class Visit:
    """An open page, and everything that it should not have done."""

    page: Page
    complaints: list[str] = field(default_factory=list)


def visit(
    browser: Browser, made: Report, folder: Path, width: int = 1280, dark: bool = False
) -> Visit:
    scheme = "dark" if dark else "light"
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.set_default_timeout(PATIENCE)
    seen = Visit(page)
    address = write_report(made, folder).as_uri()

    def request(url: str) -> None:
        if url != address and not url.startswith(("data:", "blob:")):
            seen.complaints.append(f"asked for {url}")

    page.on("console", lambda message: seen.complaints.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: seen.complaints.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (seen.complaints.append("dialog"), dialog.dismiss()))
    page.on("request", lambda request_: request(request_.url))
    page.goto(address)
    page.locator(".chart .main-svg").first.wait_for(state="attached")
    return seen


def cards(page: Page) -> list[dict[str, str]]:
    """What the visible cards carry, in their order."""
    return page.eval_on_selector_all(
        "#suspects li:not([hidden])", "cards => cards.map(card => ({...card.dataset}))"
    )


@pytest.mark.parametrize("width", [390, 1280])
def test_it_opens_from_disk_without_a_word_and_fits(browser, width: int, tmp_path: Path) -> None:
    seen = visit(browser, report(), tmp_path, width)
    drawn = "[...document.querySelectorAll('.chart')].every(c => c.querySelector('.main-svg'))"
    assert seen.page.evaluate(drawn)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert seen.complaints == []


def test_filter_sort_and_download_work(browser, tmp_path: Path) -> None:
    page = visit(browser, report(), tmp_path).page
    everything = cards(page)
    page.select_option("#given", "dog")
    dogs = cards(page)
    assert 0 < len(dogs) < len(everything)
    assert {card["given"] for card in dogs} == {"dog"}
    assert page.text_content("#count") == f"{len(dogs)} shown"
    page.select_option("#sort", "id")
    ids = [int(card["id"]) for card in cards(page)]
    assert ids == sorted(ids) != [int(card["id"]) for card in dogs]
    with page.expect_download() as download:
        page.click("#download")
    with open(download.value.path(), newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["id"]) for row in rows] == ids
    assert {row["given_label"] for row in rows} == {"dog"}
    page.fill("#search", str(ids[0]))
    assert [int(card["id"]) for card in cards(page)] == [ids[0]]


def test_what_is_needed_to_do_it_again_is_open_on_paper(browser, tmp_path: Path) -> None:
    page = visit(browser, report(), tmp_path).page
    parts = page.locator("#reproduce details")
    closed = page.locator("#reproduce details:not([open])")
    assert parts.count() == closed.count() == 3
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert closed.count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert closed.count() == 3


def test_controls_are_reached_and_used_by_keyboard(browser, tmp_path: Path) -> None:
    page = visit(browser, report(), tmp_path).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.focus("#given")
    page.keyboard.press("ArrowDown")
    assert {card["given"] for card in cards(page)} == {"cat"}


def test_hostile_names_are_shown_as_text(browser, tmp_path: Path) -> None:
    made = report(hostile=True)
    seen = visit(browser, made, tmp_path)
    page = seen.page
    title = page.text_content("h1") or ""
    assert HOSTILE[0] in title
    known = {shown(text, 1000).replace("\x00", "\ufffd") for text in HOSTILE}
    assert {card["name"] for card in cards(page)} == known
    assert {card["given"] for card in cards(page)} == set(HOSTILE[:3])
    visible = page.inner_text("#suspects")
    for text in ("<script>alert(1)</script>", "{{7*7}}", "</script><script>alert(1)", "&lt;i&gt;"):
        assert text in visible
    assert (
        page.evaluate("document.querySelectorAll('main script, main link, main style').length") == 0
    )
    assert (
        page.evaluate("document.querySelectorAll('[onerror], [onload], [onmouseover]').length") == 0
    )
    with page.expect_download() as download:
        page.click("#download")
    with open(download.value.path(), newline="", encoding="utf-8") as file:
        names = [row["name"] for row in csv.DictReader(file)]
    for name in names:
        number = name in ("+1", "-1")  # as they are: no formula, and common classes
        assert number or not name.startswith(("=", "+", "-", "@"))
    assert {plain(name) for name in names} == known
    assert seen.complaints == []


def test_it_works_with_nothing_to_suspect(browser, tmp_path: Path) -> None:
    made = report()
    clean = replace(made.audit, is_issue=np.zeros(len(made.audit.samples), bool))
    seen = visit(browser, replace(made, audit=clean), tmp_path)
    assert seen.page.is_visible("#none-found")
    assert seen.complaints == []


def test_texts_of_samples_are_searched_and_downloaded(browser, tmp_path: Path) -> None:
    made = report()
    sentences = np.array([f"=sentence {i} <b>{i % 2}</b>" for i in range(300)])
    seen = visit(browser, replace(made, texts=table({"source": sentences})), tmp_path)
    seen.page.fill("#search", "<B>1</B>")
    odd = [int(card["id"]) for card in cards(seen.page)]
    assert odd
    assert all(i % 2 for i in odd)
    with seen.page.expect_download() as download:
        seen.page.click("#download")
    with open(download.value.path(), newline="", encoding="utf-8") as file:
        rows = {int(row["id"]): row["source"] for row in csv.DictReader(file)}
    assert rows == {i: f"'=sentence {i} <b>1</b>" for i in odd}
    assert seen.complaints == []


def test_all_columns_are_downloaded_under_their_names(browser, tmp_path: Path) -> None:
    """Each card begins with the columns that tell its two labels apart, and folds the others."""
    made = report()
    labels = made.audit.samples.labels
    noise = np.random.default_rng(0).normal(size=(300, 10))
    values = {f"x{k}": noise[:, k].round(3) for k in range(10)}
    values |= {f"is{k}": np.where(labels == k, f"yes {k}", "no") for k in range(3)}
    seen = visit(browser, replace(made, texts=table(values)), tmp_path)
    first = seen.page.eval_on_selector_all(
        "#suspects li", "all => all.map(c => c.querySelector('dt').innerText)"
    )
    assert set(first) == {"is0", "is1"}  # of 1 and 2, too, is1 tells as much as is2
    assert seen.page.inner_text("#suspects li summary") == "5 more columns"
    with seen.page.expect_download() as download:
        seen.page.click("#download")
    with open(download.value.path(), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[6:] == list(values)
    for row in rows:
        assert [row[name] for name in values] == [
            str(values[name][int(row["id"])]) for name in values
        ]
    assert seen.complaints == []


def test_sentence_pairs_are_searched_sorted_and_downloaded(browser, tmp_path: Path) -> None:
    made = report()
    seen = visit(browser, Report(made.runs, made.main, None, pairs=audited_pairs()), tmp_path)
    page = seen.page
    everything = cards(page)
    page.fill("#search", "<mask>")
    assert 0 < len(cards(page)) < len(everything)
    page.select_option("#sort", "id")
    ids = [int(card["id"]) for card in cards(page)]
    assert ids == sorted(ids)
    with page.expect_download() as download:
        page.click("#download")
    with open(download.value.path(), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["id", "label_quality", "weight", "loss", "source", "target"]
    assert [int(row["id"]) for row in rows] == ids
    assert all("<MASK>" in row["source"] + row["target"] for row in rows)
    assert seen.complaints == []


@pytest.mark.parametrize(("dark", "blue"), [(False, "#0072b2"), (True, "#56b4e9")])
def test_charts_are_seen_on_either_ground(browser, dark: bool, blue: str, tmp_path: Path) -> None:
    seen = visit(browser, report(), tmp_path, dark=dark)
    bars = seen.page.evaluate("document.getElementById('chart-methods').data[0]")
    assert bars["marker"]["color"] == blue
    dots = seen.page.evaluate("document.getElementById('chart-states-weight').data[0].marker")
    assert dots["line"]["width"] > 0
    soft = "getComputedStyle(document.documentElement).getPropertyValue('--soft').trim()"
    assert dots["line"]["color"] == seen.page.evaluate(soft)


def test_one_seed_is_drawn_without_a_whisker(browser, tmp_path: Path) -> None:
    page = visit(browser, report(), tmp_path).page
    ends = page.eval_on_selector_all(
        "#chart-methods path.xerror", "paths => paths.map(path => path.getAttribute('d'))"
    )
    assert len([path for path in ends if path]) == 1  # of three methods


def test_cells_of_the_matrix_tell_their_classes(browser, tmp_path: Path) -> None:
    page = visit(browser, report(), tmp_path).page
    told = page.evaluate("document.getElementById('chart-noise-matrix').data[0].hovertext")
    assert told[0][1] == "cat is dog"


@pytest.mark.parametrize("width", [390, 1280])
def test_long_names_hide_neither_label_nor_the_file(browser, width: int, tmp_path: Path) -> None:
    made = report()
    names = np.array([f"{'folder/' * 20}file-{i}.png" for i in range(300)])
    audit = replace(
        made.audit,
        samples=replace(made.audit.samples, names=names),
        class_names=tuple(f"{name} {'of a long and winding name ' * 4}" for name in "abc"),
    )
    page = visit(browser, replace(made, audit=audit), tmp_path, width).page
    card = page.locator("#suspects li").first
    edge = card.bounding_box()
    for part in (".given", ".suggested", ".place"):
        box = card.locator(part).bounding_box()
        assert box["height"] > 15
        assert box["y"] + box["height"] <= edge["y"] + edge["height"]
    assert card.locator(".given").bounding_box()["height"] < 60  # two lines
    assert (card.locator(".suggested").get_attribute("title") or "").count("winding") > 2
    place = card.locator(".place")
    assert (place.text_content() or "").startswith("…")
    assert (place.text_content() or "").endswith(".png")
    assert place.evaluate("place => place.scrollHeight <= place.clientHeight + 1")


def test_numbers_stand_in_cells_that_are_wide_enough(browser, tmp_path: Path) -> None:
    made = report()
    audit = replace(audited(tuple("abcdefgh")), noise_matrix=np.full((8, 8), 0.125))
    page = visit(browser, replace(made, audit=audit), tmp_path).page
    written = "#chart-noise-matrix .heatmap-label"
    expect(page.locator(written)).to_have_count(64)
    page.set_viewport_size({"width": 390, "height": 900})
    expect(page.locator(written)).to_have_count(0)
