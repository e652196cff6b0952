"""Links between the pages lead somewhere, the index lists every decision, and every test that a page names exists."""

import json
import re
from pathlib import Path
from typing import Final

import pytest

from tests.support.markdown import broken_links, uneven_rows

ROOT: Final = Path(__file__).parents[2]
DECISIONS: Final = ROOT / "docs" / "decisions"
PAGES: Final = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
MODULES: Final = frozenset(path.name for path in (ROOT / "tests").rglob("test_*.py"))


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert broken_links(page) == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_row_of_a_table_has_the_cells_of_its_head(page: Path) -> None:
    assert uneven_rows(page) == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_test_that_a_page_names_exists(page: Path) -> None:
    names = set(re.findall(r"\btest_\w+\.py\b", page.read_text()))

    assert names - MODULES == set()


def test_the_consoles_page_has_a_place_for_every_path_of_the_api_and_names_what_it_leaves_out() -> None:
    described = json.loads((ROOT / "functions" / "identity" / "openapi.json").read_text())["paths"]
    paths = {
        operation["operationId"]: path.removeprefix("/api/v1/public")
        for path, item in described.items()
        for operation in item.values()
    }
    page = (ROOT / "docs" / "console.md").read_text()
    places, rest = page.split("| Place | Paths |")[1].split("These are not in the console:")
    starts = re.findall(r"`(/[^`]+)`", places)
    absent = re.findall(r"`([a-z]+[A-Z]\w+)`", "\n".join(re.findall(r"^\| (`.+) \| ", rest, re.MULTILINE)))
    covered = {start: [name for name, path in paths.items() if f"{path}/".startswith(f"{start}/")] for start in starts}

    assert [path for path in paths.values() if not any(f"{path}/".startswith(f"{start}/") for start in starts)] == []
    assert absent
    assert set(absent) <= set(paths)
    assert [start for start, operations in covered.items() if not set(operations) - set(absent)] == []


def test_every_place_of_a_new_endpoint_is_there() -> None:
    table = (
        (ROOT / "docs" / "developing.md").read_text().split("## Add an endpoint\n")[1].split("\nThen `make openapi`")[0]
    )
    places = [row.split("|")[2] for row in table.splitlines() if re.match(r"\| \d+\. ", row)]
    paths = {path for place in places for path in re.findall(r"`(\w[\w<>*./]*)`", place) if "/" in path or "." in path}
    api = {path for path in paths if path.startswith("/")}

    assert len(places) == 6
    assert {"functions/<group>/api.py", "tests/support/endpoints.py"} <= paths
    assert max(len(re.findall(r"`\w[^`]*`", place)) for place in places) == 1
    assert [path for path in sorted(paths - api) if not _is_there(path)] == []


def _is_there(path: str) -> bool:
    """As a path of the checkout, or of a file in some folder of it."""
    pattern = re.sub(r"<\w+>", "*", path).rstrip("/")
    return any(
        next(ROOT.glob(start + pattern), None)
        for start in ("", "shared/headgate/*/", "shared/headgate/", "functions/*/")
    )


def test_every_decision_that_the_code_cites_exists() -> None:
    folders = ("cli", "functions", "layers", "local", "scripts", "shared", "tests")
    sources = [path for folder in folders for kind in ("py", "go") for path in (ROOT / folder).rglob(f"*.{kind}")]
    cited = {
        (named(path), name)
        for path in [*sources, ROOT / "template.yaml", ROOT / "pyproject.toml"]
        for name in re.findall(r"docs/decisions/(\d[\w-]+)", path.read_text())
    }

    assert [row for row in sorted(cited) if not list(DECISIONS.glob(f"{row[1]}*.md"))] == []


def test_the_index_lists_every_decision_by_its_title() -> None:
    rows = re.findall(
        r"^\| \[(.+?)\]\((\d{4}-[\w-]+\.md)\) \| .+ \|$", (DECISIONS / "README.md").read_text(), re.MULTILINE
    )
    titles = {path.name: path.read_text().partition("\n")[0] for path in DECISIONS.glob("[0-9]*.md")}

    assert {name: f"# {title}" for title, name in rows} == titles


def test_the_readme_names_modules_that_have_what_it_says() -> None:
    modules = {
        name: (ROOT / name).read_text()
        for name in re.findall(r"`(functions/\w[\w/]*\.py)`", (ROOT / "README.md").read_text())
    }

    assert '/publish",\n' in modules["functions/configurations/api.py"]
    assert {
        name for name, source in modules.items() if not re.search(r"^@\w+\.(get|post|put)\(", source, re.M)
    } == set()


def test_the_last_fixed_part_of_a_path_finds_its_route_as_the_readme_says() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "functions").rglob("*.py") if path.name != "paths.py")
    paths = json.loads((ROOT / "functions/identity/openapi.json").read_text())["paths"]
    last = {[part for part in path.split("/") if "{" not in part][-1] for path in paths}

    assert [part for part in sorted(last) if f"/{part}" not in sources] == []


def test_pages_for_users_explain_and_do_not_point_to_decisions() -> None:
    for_developers = {"developing.md", "data.md"}
    pages = [ROOT / "README.md", *(page for page in (ROOT / "docs").glob("*.md") if page.name not in for_developers)]

    assert [page.name for page in pages if re.search(r"decisions/\d|\b[Dd]ecision \d", page.read_text())] == []


@pytest.mark.parametrize("page", sorted(DECISIONS.glob("[0-9]*.md")), ids=lambda page: page.stem[:4])
def test_the_title_of_a_decision_begins_with_its_number(page: Path) -> None:
    assert page.read_text().startswith(f"# {page.name[:4]}. ")


def test_each_alarm_in_the_runbook_has_symptom_meaning_cure_and_check() -> None:
    alarms = (ROOT / "docs" / "incidents.md").read_text().split("## Alarms\n")[1].split("\n## ")[0]
    labels = {
        section.partition("\n")[0]: re.findall(
            r"^- \*\*(You see|It means|Do|It worked when)\*\*", section, re.MULTILINE
        )
        for section in re.split(r"^### ", alarms, flags=re.MULTILINE)[1:]
    }

    assert labels == {alarm: ["You see", "It means", "Do", "It worked when"] for alarm in labels}


def test_every_message_of_the_page_on_troubleshooting_is_one_that_is_written_somewhere() -> None:
    folders = ("cli", "engine", "functions", "layers/collector", "layers/supervisor", "local", "shared")
    kinds = (".py", ".go", ".sh")
    sources = "".join(
        re.sub(r"\"\s+f?\"", "", path.read_text())
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in kinds and path.is_file()
    )
    sources = re.sub(r"%[sqdv]|\{[^{}\n]*\}|\$\w+", "…", sources)
    page = (ROOT / "docs" / "troubleshooting.md").read_text()
    messages = [
        one for row in re.findall(r"^\| (`[^|]+) \|", page, re.MULTILINE) for one in re.findall(r"`([^`]+)`", row)
    ]
    parts = [part.strip(" :,()") for one in messages for part in one.split("…")]

    assert len(messages) > 20
    assert [part for part in parts if len(part) > 3 and part not in sources] == []
