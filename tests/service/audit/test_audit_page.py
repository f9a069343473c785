"""The report's page in a real browser: it renders, sorts, filters, opens, on a phone and in the dark."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from service.audit.page.diffs import marked
from service.audit.page.report_page import rendered
from service.audit.page.waiting_page import waiting
from service.audit.report import Change, Skipped, Suspect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from service.audit.report import Report

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None
)
browsing = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here; Debian's is chromium-headless-shell"
)
HOSTILE = "</pre><script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Give a browser."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory, report: Report) -> Path:
    """Give the page of a report, one of whose programs printed a page of its own."""
    hostile = report.disagreements[0].model_copy(
        update={"id": HOSTILE + "x" * 90, "expected": "1 2\n", "actual": HOSTILE, "truth": "reject"}
    )
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(rendered(report.model_copy(update={"disagreements": [*report.disagreements, hostile]})))
    return path


@pytest.fixture
def page(browser: Browser, page_file: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Give the page, opened with the test's own options; nothing may be asked of a network or go to the console."""
    context = browser.new_context(**getattr(request, "param", {}))
    opened = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda one: asked.append(one.url))
    opened.goto(page_file.as_uri())
    yield opened
    context.close()
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def shown(page: Page) -> list[str]:
    return [row.locator("td").first.inner_text() for row in page.locator("#table tbody:visible").all()]


@browsing
def test_it_renders_headline_plots_and_tables(page: Page, report: Report) -> None:
    assert page.locator("h1").inner_text() == report.headline
    plots = page.locator("figure svg[role=img]")
    assert plots.count() == 2 + 2 * len(report.profiles)
    assert all((box := plot.bounding_box()) and box["width"] > 200 for plot in plots.all())
    assert "confusion matrix of microcoder: 7 accepted" in (plots.nth(2).get_attribute("aria-label") or "")
    assert len(shown(page)) == len(report.disagreements) + 1


@browsing
def test_it_sorts_by_any_column_in_both_directions(page: Page) -> None:
    heading = page.get_by_role("columnheader", name="Item")
    heading.get_by_role("button").click()
    rising = shown(page)
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert shown(page) == rising[::-1]
    assert rising != rising[::-1]


@browsing
def test_it_filters_by_words_profile_and_kind(page: Page) -> None:
    page.get_by_label("Wrong profile").select_option("published")
    assert shown(page) == ["pair/turned"]
    assert page.locator("#shown").inner_text() == "1 of 5"
    page.get_by_label("Wrong profile").select_option("any")
    page.get_by_label("Kind").select_option("false reject")
    assert sorted(shown(page)) == ["double/spread", "pair/tuple", "third/rounded"]
    page.get_by_label("Search").fill("THIRD")
    assert shown(page) == ["third/rounded"]
    page.get_by_label("Search").fill("nowhere")
    assert shown(page) == []
    assert page.get_by_text("No disagreement fits.").is_visible()


@browsing
def test_a_row_opens_to_both_sides_with_their_difference_marked(page: Page) -> None:
    button = page.get_by_role("button", name="third/rounded")
    assert button.get_attribute("aria-expanded") == "false"
    button.click()
    assert button.get_attribute("aria-expanded") == "true"
    detail = page.locator("tr.detail:visible")
    assert "expected, test 0" in detail.inner_text()
    assert detail.locator("del").inner_text() == "333333333"
    assert detail.locator("ins").inner_text() == "3333333"


@browsing
def test_what_programs_print_stays_text(page: Page) -> None:
    page.get_by_label("Search").fill("onerror")
    page.locator("button.more:visible").click()
    assert HOSTILE in page.locator("tr.detail:visible").inner_text()
    assert page.title().startswith("Audit of")
    assert page.locator("#table img, #table script").count() == 0


def hostile_everywhere(report: Report) -> Report:
    """Return the report with a page of its own in every place that names or outputs of others can reach."""
    one = report.disagreements[0]
    views = {
        name: view.model_copy(update={"feedback": HOSTILE, "right": False})
        for name, view in one.views.items()
    }
    skipped = [Skipped(name=HOSTILE, reason=HOSTILE)]
    groups = [
        profile.model_copy(
            update={"groups": [group.model_copy(update={"name": HOSTILE}) for group in profile.groups]}
        )
        for profile in report.profiles
    ]
    change = Change(id=HOSTILE, profile="strict", verdicts=["AC", "WA"], cause="the program")
    return report.model_copy(
        update={
            "source": HOSTILE,
            "headline": HOSTILE,
            "profiles": groups,
            "completeness": report.completeness.model_copy(
                update={"complete": False, "skipped": skipped, "unscored": skipped}
            ),
            "suspects": [Suspect(problem=HOSTILE, reason=HOSTILE)],
            "repeatability": report.repeatability.model_copy(update={"changed": [change]}),
            "disagreements": [
                one.model_copy(
                    update={
                        "id": HOSTILE, "source": HOSTILE, "views": views, "expected": HOSTILE, "actual": f"x{HOSTILE}"
                    }
                )
            ],
        }
    )  # fmt: skip


@browsing
def test_whatever_others_wrote_stays_text_wherever_it_is_shown(
    browser: Browser, report: Report, tmp_path: Path
) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(rendered(hostile_everywhere(report)))
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(path.as_uri())
    page.locator("button.more:visible").first.click()
    assert page.title() == f"Audit of {HOSTILE}"
    assert page.locator("h1").inner_text() == HOSTILE
    assert page.locator("img, iframe, object, embed, form[action]").count() == 0
    assert page.locator("script").count() == 1
    assert page.locator("body").inner_text().count("onerror") > 10
    assert said == []
    page.close()


@browsing
def test_long_lists_are_shown_a_part_at_a_time_and_filtered_as_a_whole(
    browser: Browser, report: Report, tmp_path: Path
) -> None:
    rows = [report.disagreements[0].model_copy(update={"id": f"item {n:03}"}) for n in range(120)]
    path = tmp_path / "long.html"
    path.write_text(rendered(report.model_copy(update={"disagreements": rows})))
    page = browser.new_page()
    page.goto(path.as_uri())
    more = page.locator("#more")
    assert (len(shown(page)), more.inner_text()) == (50, "Show 50 more of 70")
    more.click()
    assert (len(shown(page)), more.inner_text()) == (100, "Show 20 more of 20")
    more.click()
    assert len(shown(page)) == 120
    assert not more.is_visible()
    page.get_by_label("Search").fill("item 119")
    assert shown(page) == ["item 119"]
    page.get_by_label("Search").fill("")
    assert len(shown(page)) == 50
    heading = page.get_by_role("columnheader", name="Item").get_by_role("button")
    heading.click()
    heading.click()
    assert shown(page)[:2] == ["item 119", "item 118"]
    page.close()


@browsing
def test_reasons_name_the_profile_and_its_step(page: Page) -> None:
    row = page.locator("#table tbody", has_text="pair/turned")
    assert row.locator("td.reason").inner_text() == "published: accepted by step unordered"
    assert (
        "strict" in page.locator("#table tbody", has_text="third/rounded").locator("td.reason").inner_text()
    )


@browsing
def test_parts_of_the_data_on_which_somebody_is_wrong_stand_in_tables(page: Page) -> None:
    rows = page.locator("section[aria-labelledby=groups] tbody tr")
    found = {row.locator("th").inner_text(): row.inner_text() for row in rows.all()}
    assert "1 false accept" in found["returned"]
    assert "asserted" not in found
    assert page.get_by_text("All profiles are right on asserted (2), checked (2)").count() == 1


@browsing
@pytest.mark.parametrize(
    "page", [{"viewport": {"width": 360, "height": 740}, "is_mobile": True}], indirect=True
)
def test_it_is_readable_at_phone_width(page: Page) -> None:
    """Nothing makes the page itself wider than the screen, and no text is small."""
    page.locator("button.more").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    # Nor does any table hide columns to the right of it.
    for table in page.locator("table").all():
        assert table.evaluate("table => table.parentElement.scrollWidth") <= 360
    sizes: list[float] = page.evaluate(
        "[...document.querySelectorAll('p, td, th, li, pre, small, figcaption')]"
        ".map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 11.5
    plot: Any = page.locator("figure svg").first.bounding_box()
    assert plot["width"] > 300


LUMINANCE = """element => {
  const channel = c => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const light = text => {
    const [r, g, b] = text.match(/[\\d.]+/g).map(Number);
    return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  };
  const style = getComputedStyle(element);
  const ink = light(element.namespaceURI.includes('svg') ? style.fill : style.color);
  const paper = light(getComputedStyle(document.body).backgroundColor);
  return [paper, (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05)];
}"""


@browsing
@pytest.mark.parametrize(
    ("page", "dark"),
    [({"color_scheme": "light"}, False), ({"color_scheme": "dark"}, True)],
    indirect=["page"],
    ids=["light", "dark"],
)
def test_text_and_plots_have_contrast(page: Page, dark: bool) -> None:  # noqa: FBT001 -- a parameter of the test
    """4.5 to 1 or better, as WCAG AA asks of text, on paper that is as dark as the reader wants it."""
    for selector in ("h1", ".muted", "td.good", "td.bad", "figure svg text"):
        for element in page.locator(selector).all()[:10]:
            paper, contrast = element.evaluate(LUMINANCE)
            assert (paper < 0.1) is dark
            assert contrast >= 4.5, selector


@browsing
def test_an_unfinished_audit_has_a_page_as_well(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content(waiting("running", 3, 9, ""))
    assert page.locator("h1").inner_text() == "Running, 3 of 9 runs"
    assert page.locator("meta[http-equiv=refresh]").count() == 1
    page.set_content(waiting("failed", 0, 0, "no <sandbox>"))
    assert page.locator(".notice").inner_text() == "no <sandbox>"
    assert page.locator("meta[http-equiv=refresh]").count() == 0
    page.set_content(waiting("cancelled", 1, 9, None))
    assert page.locator("h1").inner_text() == "Cancelled, 1 of 9 runs"
    assert page.locator("meta[http-equiv=refresh], .notice").count() == 0
    page.close()


@pytest.mark.parametrize(
    ("expected", "actual", "left", "right"),
    [
        ("1 2 3\n", "1 5 3\n", "1 <del>2</del> 3\n", "1 <ins>5</ins> 3\n"),
        ("a\n", "a \n", "a<del>⏎\n</del>", "a<ins>·⏎\n</ins>"),
        ("<x>", "<y>", "&lt;<del>x</del>&gt;", "&lt;<ins>y</ins>&gt;"),
        ("same", "same", "same", "same"),
        ("", "more", "", "<ins>more</ins>"),
    ],
)
def test_differences_are_marked_blanks_visibly(expected: str, actual: str, left: str, right: str) -> None:
    assert marked(expected, actual) == (left, right)


def test_marking_takes_linear_time_on_long_outputs() -> None:
    """What lies between the first and the last difference is marked as a whole where it is long."""
    wanted = " ".join(map(str, range(1000)))
    got = " ".join(map(str, range(1000, 2000)))
    left, right = marked(f"a {wanted} z", f"a {got} z")
    assert left == f"a <del>{wanted}</del> z"
    assert right == f"a <ins>{got}</ins> z"
