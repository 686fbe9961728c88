"""The report, seen as its readers see it: in a browser, without network, also on a phone.

The site is made of what is committed: every notebook, every recorded dataset. Verdicts are
synthetic, to have all kinds of them.
"""

from __future__ import annotations

import dataclasses
import gzip
import html
import itertools
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import numpy as np
import pandas as pd
import pytest

import made_up_comparison
from ndblab import dataset
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.formatting import sentence
from ndblab.judging import publication, verdict
from ndblab.measuring import recorded
from ndblab.publishing import effects, notebook, processes, rendering, report
from ndblab.publishing.comparisons import history
from ndblab.publishing.comparisons.history import History
from ndblab.publishing.report import dataset_page
from publishing.browser import Browser, ensure

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
MOST_BYTES, MOST_BYTES_OF_A_PAGE = 12_000_000, 1_500_000
DESK_SCREENS, PHONE_SCREENS, EFFECTS = 2, 4, 8
"""Heights of the first page; a screen of a desk has 900 pixels, of a phone 800."""
PHONE_PX, DESK_PX = 400, 1280
PAPER_PX = 717, 976
"""What margins of 1 cm leave of the width of A4 and of the height of letter paper, of which A4 has
more; 96 pixels an inch."""
KINDS = (
    verdict.REPRODUCED,
    verdict.CONTRADICTED,
    verdict.INCONCLUSIVE,
    verdict.NOT_TESTABLE,
    verdict.NOT_COMPARABLE,
    verdict.UNKNOWN,
)

LINKS = (
    "[...document.querySelectorAll('[href], [src]')]"
    ".map(e => new URL(e.getAttribute('href') ?? e.getAttribute('src'), document.baseURI).href)"
)
ANCHORS = "[...document.querySelectorAll('[id]')].map(e => e.id)"
HEADINGS = "[...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map(e => +e.tagName[1])"
UNSEEN = (
    "[...document.images].filter(i => i.naturalWidth === 0 || !i.alt.trim()).map(i => i.outerHTML)"
)
OPEN_ALL = "document.querySelectorAll('details').forEach(d => d.open = true)"
WIDTH = "document.documentElement.scrollWidth"
HEIGHT = "document.documentElement.scrollHeight"
UNSCOPED = "[...document.querySelectorAll('th:not([scope])')].map(e => e.textContent)"
VISIBLE_CLAIMS = (
    "[...document.querySelectorAll('.claim')].filter(e => e.checkVisibility()).map(e => e.id)"
)


def choosing(name: str, value: str) -> str:
    """Give the script that filters claims, and returns those that are left."""
    field = f"document.querySelector('.search').elements['{name}']"
    event = "new Event('input', {bubbles: true})"
    reset = "document.querySelector('.search').reset()"
    return f"{reset}; {field}.value = '{value}'; {field}.dispatchEvent({event}); {VISIBLE_CLAIMS}"


# WCAG 2.1, success criterion 1.4.3 and its definition of contrast ratio; large text needs 3 only,
# which is not made use of.
FAINT = """
(() => {
  const rgba = text => text.match(/[\\d.]+/g).map(Number);
  const light = rgb => rgb.slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = e => {
    for (; e; e = e.parentElement) {
      const colour = rgba(getComputedStyle(e).backgroundColor);
      if (colour[3] !== 0) return colour;
    }
    return [255, 255, 255];
  };
  const faint = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !e.checkVisibility() || e.closest('style')) continue;
    const [a, b] = [light(rgba(getComputedStyle(e).color)), light(ground(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.add(`${ratio.toFixed(2)} ${e.className} ${e.textContent.slice(0, 40)}`);
  }
  return [...faint];
})()
"""


@pytest.fixture(scope="module")
def sections() -> list[report.Section]:
    """A section for every experiment, with verdicts of all kinds where it has a dataset."""
    made, drawn = [], drawings()
    for experiment in catalogue.every().values():
        name, folders = experiment.name, recorded.folders_of(experiment)
        data = dataset.read(folders[-1]) if folders else None
        judged = synthetic_verdicts(name) if data else None
        page = catalogue.notebook(experiment)
        section = report.Section(name, experiment.question, page, judged, data, drawn[name])
        made.append(section)
    return made


def drawings() -> dict[str, dict[str, str]]:
    """Draw every figure as `report` does."""
    notebook.prepare()
    names = list(catalogue.every())
    calls = [(catalogue.find(name),) for name in names]
    return dict(zip(names, processes.run(rendering.drawn, calls, processes.AT_ONCE), strict=True))


def synthetic_verdicts(name: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": [f"{name}-{i}" for i in range(len(KINDS))],
            "statement": "Synthetic: a < b & <script>alert(1)</script>",
            "verdict": KINDS,
            "reason": "made up for a test",
            "published": "at least 1.6",
            "measured": [1.92, 1.2, 1.5, 0.9, 12345.0, np.nan],
            "low": [1.73, 1.1, 1.4, 0.8, 12000.0, np.nan],
            "high": [2.19, 1.3, 1.7, 1.0, 13000.0, np.nan],
            "unit": "ratio",
        }
    )


def forest() -> str:
    """Draw the effects of synthetic verdicts, linked to a claim that the site has."""
    claims = [claim for claim in publication.claims() if claim.effect][:EFFECTS]
    every = pd.concat(
        [synthetic_verdicts(c.id).iloc[:1].assign(id=c.id, dataset="") for c in claims]
    )
    return re.sub(r'(?<=claims\.html#)[^"]+', "tpc-h-0", effects.on_site(every, claims))


@pytest.fixture(scope="module")
def measured(sections: list[report.Section]) -> list[dataset.Dataset]:
    """The datasets of the site."""
    return [section.dataset for section in sections if section.dataset]


@pytest.fixture(scope="module")
def scaling(site: Path) -> str:
    """The address of the page of scaling."""
    [page] = site.glob("questions/*multi_server_scaling.html")
    return page.as_uri()


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> list[History]:
    """Two comparisons of the user's own, of the same sides."""
    folder = tmp_path_factory.mktemp("runs")
    for seed in (1, 2):
        made_up_comparison.write(folder, seed=seed)
    return history.read(folder / "compare")


@pytest.fixture(scope="module")
def site(
    sections: list[report.Section],
    compared: list[History],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The report of all that is committed, with comparisons of the user's own."""
    return write_whole(tmp_path_factory.mktemp("out") / "report", sections, compared)


def write_whole(out: Path, sections: list[report.Section], compared: list[History]) -> Path:
    unjudged = synthetic_verdicts("unjudged").assign(verdict=verdict.UNKNOWN)
    findings = rendering.findings()
    return report.write(out, sections, unjudged, findings, forest(), compared=compared).parent


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all of these tests; without one they are skipped, with the line to type."""
    folder = tmp_path_factory.mktemp("browser")
    try:
        program = ensure(folder / "apt.log")
    except LabError as error:
        pytest.skip(str(error))
    with Browser(program, folder / "profile") as opened:
        yield opened


@pytest.fixture
def small(tmp_path: Path) -> report.Section:
    """A section with a notebook of one cell and nothing to judge."""
    path = tmp_path / "repository/notebooks/small.ipynb"
    write_notebook(path, "# Small")
    return report.Section("small", "Is it small?", path)


def write_notebook(path: Path, *prose: str) -> None:
    cells = [nbformat.v4.new_markdown_cell(text, id=f"cell-{i}") for i, text in enumerate(prose)]
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)


def files(site: Path) -> dict[str, bytes]:
    return {str(f.relative_to(site)): f.read_bytes() for f in site.rglob("*") if f.is_file()}


@pytest.fixture(scope="module")
def seen(site: Path, browser: Browser) -> dict[Path, dict]:
    """What the browser sees of each page: as it is, then unfolded, dark, and on a phone."""
    looks = {}
    for page in sorted(site.rglob("*.html")):
        browser.open(page.as_uri(), DESK_PX)
        look = {script: browser.ask(script) for script in (LINKS, ANCHORS, HEADINGS, UNSEEN)}
        look |= {"requests": [*browser.requests], "complaints": [*browser.complaints]}
        look[UNSCOPED] = browser.ask(UNSCOPED)
        browser.ask(OPEN_ALL)
        look |= {DESK_PX: browser.ask(WIDTH), "light": browser.ask(FAINT)}
        browser.open(page.as_uri(), DESK_PX, dark=True)
        browser.ask(OPEN_ALL)
        look["dark"] = browser.ask(FAINT)
        browser.open(page.as_uri(), PHONE_PX)
        browser.ask(OPEN_ALL)
        looks[page] = look | {PHONE_PX: browser.ask(WIDTH)}
    return looks


def test_every_link_leads_somewhere(site: Path, seen: dict[Path, dict]) -> None:
    """Followed from the first page, every link finds its file and its place there, and every file
    of the site is found."""
    waiting, wanted, reached = [site / "index.html"], [], {site / report.MARKER}
    while waiting:
        page = waiting.pop()
        reached.add(page)
        for link in seen[page][LINKS] if page.suffix == ".html" else ():
            address = urlsplit(link)
            if address.scheme in ("http", "https", "data"):
                continue
            assert address.scheme == "file", f"{page}: {link}"
            target = Path(unquote(address.path))
            assert target.is_file(), f"{page}: {link}"
            if address.fragment:
                wanted.append((page, target, unquote(address.fragment)))
            if target not in reached and target not in waiting:
                waiting.append(target)
    assert [want for want in wanted if want[2] not in seen[want[1]][ANCHORS]] == []
    assert reached == {file for file in site.rglob("*") if file.is_file()}


def test_pages_need_no_network_and_have_no_fault(site: Path, seen: dict[Path, dict]) -> None:
    """A page loads files of the site only, and the browser has nothing to complain about."""
    for page, look in seen.items():
        loaded = [url for url in look["requests"] if not url.startswith("data:")]
        assert all(url.startswith(site.as_uri()) for url in loaded), page
        assert loaded[0] == page.as_uri()
        assert look["complaints"] == [], page


@pytest.mark.parametrize(
    ("what", "expected"),
    [(UNSEEN, []), (PHONE_PX, PHONE_PX), (DESK_PX, DESK_PX), ("light", []), ("dark", [])],
    ids=["pictures", "phone", "desk", "light", "dark"],
)
def test_every_page_can_be_read(seen: dict[Path, dict], what: object, expected: object) -> None:
    """Each picture has loaded, and has words for those who cannot see it. With everything unfolded
    a page is as wide as the screen, and wide tables scroll inside. Every text has a contrast of 4.5
    or more to what is behind it, in both colour schemes."""
    assert {page: look[what] for page, look in seen.items() if look[what] != expected} == {}


def test_pages_have_an_outline(seen: dict[Path, dict]) -> None:
    """One main heading, no level left out, and every head of a table says what it heads."""
    for page, look in seen.items():
        levels = look[HEADINGS]
        assert levels[0] == 1, page
        assert levels.count(1) == 1, page
        assert all(b <= a + 1 for a, b in itertools.pairwise(levels)), page
        assert look[UNSCOPED] == [], page


def test_claims_can_be_searched(site: Path, browser: Browser) -> None:
    """A reader sees the claims with a verdict, an experiment and words of theirs, and no others."""
    browser.open((site / "claims.html").as_uri())
    everything = browser.ask(VISIBLE_CLAIMS)
    assert browser.ask(choosing("verdict", "contradicted")) == [
        name for name in everything if name.endswith("-1") and not name.startswith("unjudged")
    ]
    assert browser.ask(choosing("experiment", "tpc-h")) == [
        name for name in everything if name.startswith("tpc-h-")
    ]
    assert browser.ask(choosing("words", "no such word")) == []
    browser.open(f"{(site / 'claims.html').as_uri()}?verdict=unknown")
    shown = browser.ask(VISIBLE_CLAIMS)
    assert shown
    assert set(shown) < set(everything)
    assert [name for name in shown if not name.startswith("unjudged") and name[-1] != "5"] == []


def test_claims_need_no_script(site: Path, browser: Browser) -> None:
    """Without JavaScript every claim is shown, and nothing that would do nothing."""
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open((site / "claims.html").as_uri())
        assert len(browser.ask(VISIBLE_CLAIMS)) == browser.ask(
            "document.querySelectorAll('.claim').length"
        )
        assert not browser.ask("document.querySelector('.search').checkVisibility()")
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_a_point_of_a_figure_leads_to_its_rows(scaling: str, browser: Browser) -> None:
    """The keyboard reaches a point; it tells its value, interval and runs, and links to a run."""
    browser.open(scaling)
    points = (
        "[...document.querySelectorAll('.explore a')].filter(e => e.href.baseVal.includes('#run-'))"
    )
    browser.ask(f"{points}[0].focus()")
    # The page scrolls to the point.
    browser.ask("new Promise(done => setTimeout(done, 300))")
    told = browser.ask("document.querySelector('.tip').textContent").splitlines()
    assert browser.ask("document.querySelector('.tip').checkVisibility()")
    assert told[0] == "1 server"
    assert re.fullmatch(r"Clients: \d+", told[1])
    assert re.fullmatch(r"Throughput, queries/s: [\d\s]+ \([\d\s]+ to [\d\s]+\)", told[2])
    assert re.fullmatch(r"\d+ runs: s01_c\d+_r\d+, .*", told[3])
    browser.open(browser.ask(f"new URL({points}[0].href.baseVal, document.baseURI).href"))
    row = browser.ask("document.querySelector(':target').textContent")
    assert told[3].split(": ")[1].split(",")[0] in row


def test_a_figure_can_be_zoomed(scaling: str, browser: Browser) -> None:
    """A button makes a figure larger within its box; the page stays as it was."""
    browser.open(scaling)
    box = "document.querySelector('.explore').clientHeight"
    width = "document.querySelector('.explore svg').getBoundingClientRect().width"
    before = [browser.ask(what) for what in (width, box, WIDTH)]
    button = "[...document.querySelectorAll('[aria-label=Larger]')].find(e => e.checkVisibility())"
    browser.ask(f"{button}.click()")
    after = [browser.ask(what) for what in (width, box, WIDTH)]
    assert after[0] == pytest.approx(1.5 * before[0], rel=0.02)
    assert after[1:] == pytest.approx(before[1:], abs=1)


def test_a_figure_fits_a_phone(scaling: str, browser: Browser) -> None:
    """Its panels are below each other, and nothing of it is out of sight."""
    browser.open(scaling, PHONE_PX)
    seen = "[...document.querySelectorAll('.explore')].filter(e => e.checkVisibility())"
    assert browser.ask(f"{seen}.length") > 0
    assert browser.ask(f"{seen}.every(e => e.scrollWidth <= e.clientWidth)")


def test_a_page_prints_whole(site: Path, browser: Browser) -> None:
    """On paper nothing reaches over the edge, no figure is higher than a sheet, what is only for
    screens is left out, and each claim has its reason."""
    pages = ["index.html", "claims.html", "data.html"]
    pages += ["questions/06_availability.html", "questions/03_shm_vs_tcp.html"]
    pages += [str(next(site.glob(f"datasets/{name}-*/index.html")).relative_to(site))
              for name in ("costs", "availability")]  # fmt: skip
    only_screens = ".bar, .search, .tools, .neighbours, .code, button, nav"
    shown = f"[...document.querySelectorAll('{only_screens}')].filter(e => e.checkVisibility())"
    highest = "Math.max(0, ...[...document.querySelectorAll('.drawn')].map(e => e.offsetHeight))"
    hidden = "[...document.querySelectorAll('.claims details p')].filter(e => !e.checkVisibility())"
    for page in pages:
        browser.open((site / page).as_uri(), PAPER_PX[0])
        browser.call("Emulation.setEmulatedMedia", media="print")
        try:
            assert browser.ask(WIDTH) <= PAPER_PX[0], page
            assert browser.ask(highest) < PAPER_PX[1], page
            assert browser.ask(f"{shown}.length") == 0, page
            assert browser.ask(f"{hidden}.length") == 0, page
        finally:
            browser.call("Emulation.setEmulatedMedia", media="")


def test_the_first_page_is_short(site: Path, browser: Browser) -> None:
    """It has at most two screens at a desk, and four on a phone."""
    for width, screens, height in ((DESK_PX, DESK_SCREENS, 900), (PHONE_PX, PHONE_SCREENS, 800)):
        browser.open((site / "index.html").as_uri(), width)
        assert browser.ask(HEIGHT) <= screens * height


def test_a_verdict_has_its_word_its_interval_and_its_reason(site: Path) -> None:
    """The page of claims says of each what was published, measured and why; text stays text."""
    text = (site / "claims.html").read_text()
    assert "1.92 (1.73 to 2.19)" in text
    assert "Made up for a test." in text
    assert "a &lt; b &amp; &lt;script&gt;" in text
    for word in KINDS:
        assert f"</span> {word}</span>" in html.unescape(text)


def test_a_page_begins_with_its_answer(site: Path, sections: list[report.Section]) -> None:
    """Each finding of a notebook stands on the page of its question, before any code."""
    for section in sections:
        text = html.unescape((site / section.page).read_text())
        for finding in section.answer.certain:
            assert 0 < text.find(sentence(finding)) < text.find("<summary>Code")


def test_the_picture_of_the_first_page_names_effects_as_claims_do() -> None:
    """A name that is folded for a narrow picture has no sign more than it is told with."""
    written = html.unescape(" ".join(re.findall(r"<text[^>]*>([^<]*)", forest())))
    effects_of_claims = [claim.effect for claim in publication.claims() if claim.effect]
    assert [name for name in effects_of_claims[:EFFECTS] if name not in written] == []


def test_the_first_page_has_the_findings_of_the_readme(site: Path) -> None:
    """Finding and advice are the words of the README."""
    first = " ".join(html.unescape((site / "index.html").read_text()).split())
    said = [line for line in README.read_text().splitlines() if "](notebooks/" in line]
    said = [line.removeprefix("- ").rpartition(" ([")[0] for line in said if line[0] == "-"]
    # A number has narrow spaces, which count as any other here.
    said = [" ".join(words.split()) for words in said]
    plain = re.sub(r"</?strong>", "", first)
    assert said
    assert [words for words in said if words not in plain] == []


def test_a_dataset_is_downloaded_as_it_was_measured(
    site: Path, measured: list[dataset.Dataset]
) -> None:
    """Tables, configuration and logs of the site unpack to the bytes of the recorded dataset. Only
    what is too large for a site is named without a link."""
    assert measured
    for data in measured:
        folder = site / "datasets" / data.id
        for name in data.manifest["files"]:
            original = (data.path / name).read_bytes()
            if (folder / name).exists():
                assert (folder / name).read_bytes() == original
            elif (folder / f"{name}.gz").exists():
                assert gzip.decompress((folder / f"{name}.gz").read_bytes()) == original
            else:
                assert len(original) > dataset_page.MOST_BYTES
                assert f">{name}<" in (folder / "index.html").read_text()
        assert data.configs()
        page = html.unescape((folder / "index.html").read_text())
        for name, original in data.configs().items():
            assert (folder / "config" / name).read_bytes() == original
            assert f">config/{name}<" in page
            assert original.decode() in page


def test_a_page_says_where_the_periods_of_quotas_differ(
    site: Path, measured: list[dataset.Dataset]
) -> None:
    """Datasets whose processes share all CPUs have no quotas."""
    said = {
        data.id: "of a different length for each node"
        in (site / "datasets" / data.id / "index.html").read_text()
        for data in measured
    }
    assert said == {data.id: "staggered" in data.manifest["plan"] for data in measured}
    assert set(said.values()) == {True, False}


def test_the_site_is_small(site: Path) -> None:
    """All that is committed makes a site that can be mailed."""
    sizes = {name: len(content) for name, content in files(site).items()}
    assert sum(sizes.values()) < MOST_BYTES
    assert max(n for name, n in sizes.items() if name.endswith(".html")) < MOST_BYTES_OF_A_PAGE


def test_the_same_input_gives_the_same_bytes(
    site: Path, sections: list[report.Section], compared: list[History], tmp_path: Path
) -> None:
    """A report can be compared with the last one: it has no time and no chance in it."""
    assert files(write_whole(tmp_path / "again", sections, compared)) == files(site)


def test_a_new_report_takes_the_place_of_the_old(small: report.Section, tmp_path: Path) -> None:
    """Nothing of the last report is left, and no temporary folder; its tally is on page one."""
    out = tmp_path / "out/report"
    report.write(out, [small])
    (out / "stale.html").touch()
    report.write(out, [small], tally="81 claims: 11 reproduced")
    assert "81 claims: 11 reproduced" in (out / "index.html").read_text()
    assert not (out / "stale.html").exists()
    assert [entry.name for entry in out.parent.iterdir()] == ["report"]


def test_a_folder_that_is_no_report_is_left_alone(small: report.Section, tmp_path: Path) -> None:
    """A folder with other files in it is never replaced."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "thesis.txt").write_text("years")
    with pytest.raises(LabError, match="is not a report"):
        report.write(work, [small])
    assert files(work) == {"thesis.txt": b"years"}


def test_a_damaged_dataset_leaves_the_last_report(small: report.Section, tmp_path: Path) -> None:
    """What is not as it was measured is not published, and the report before it stays whole."""
    out = report.write(tmp_path / "out", [small]).parent
    before = files(out)
    whole = dataset.read(recorded.folder(catalogue.find("locking-reads")))
    copy = shutil.copytree(whole.path, tmp_path / "copy")
    (copy / "runs.csv").write_text("changed\n")
    damaged = dataclasses.replace(whole, path=copy)
    with pytest.raises(LabError, match="changed since it was measured"):
        report.write(out, [dataclasses.replace(small, dataset=damaged)])
    assert files(out) == before


@pytest.mark.parametrize(
    "prose",
    [
        "![remote](https://example.org/x.png)",
        '<script src="https://example.org/x.js"></script>',
        "<script>alert(1)</script>",
        "<style>@import 'https://example.org/x.css';</style>",
    ],
)
def test_a_notebook_that_needs_the_network_is_refused(
    small: report.Section, tmp_path: Path, prose: str
) -> None:
    """What a page would have to load or run does not get into the site."""
    write_notebook(small.notebook, "# Small", prose)
    with pytest.raises(LabError, match="load or run"):
        report.write(tmp_path / "out", [small])


def test_links_of_notebooks_lead_into_the_site(small: report.Section, tmp_path: Path) -> None:
    """A link to another notebook finds its page, one to a published table finds the table, one to
    what the site does not have becomes plain words, and sources stay links."""
    other = small.notebook.with_name("other.ipynb")
    write_notebook(other, "# Other")
    claims = os.path.relpath(publication.FOLDER / "claims.csv", small.notebook.parent)
    prose = (
        f"[next](other.ipynb) [claims]({claims}) [code](../lib/x.py) "
        "[source](https://example.org/a)"
    )
    write_notebook(small.notebook, "# Small", prose)
    another = dataclasses.replace(small, name="other", notebook=other)
    out = report.write(tmp_path / "out", [small, another]).parent
    text = (out / "questions/small.html").read_text()
    assert '<a href="other.html">next</a>' in text
    assert '<a href="../published/claims.csv">claims</a>' in text
    assert " code " in text
    assert '<a href="https://example.org/a">source</a>' in text
