"""The site of the documents: every page has its place, links lead somewhere, the reference is whole."""

import json
import re
from pathlib import Path
from typing import Any, Final, get_args

import click
import pytest
import yaml

from headgate.configurations.model import VersionIsPublished
from headgate_engine.reference.model import KINDS
from headgate_engine.validation.model import Code
from scripts.openapi import DOCUMENT
from scripts.site import errors, hooks, policies, settings, staging
from scripts.site.staging import DOCS, ROOT, stage
from tests.support.cli_commands import walk
from tests.support.markdown import broken_links


class _Configuration(yaml.SafeLoader):
    """mkdocs.yml names a Python function with a tag; the tests need no function."""


_Configuration.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)
MKDOCS: Final = yaml.load((ROOT / "mkdocs.yml").read_text(), _Configuration)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages; those that built programs tell are without text, tests/contract/ compares them."""
    folder = tmp_path_factory.mktemp("site") / "docs"
    names = ("components/index", *(f"components/{kind}s" for kind in KINDS), "licences")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(staging, "built", lambda: {f"{name}.md": f"# {name}\n" for name in names})
        monkeypatch.setattr(policies, "listed", str)
        stage(folder)
    return folder


def test_the_navigation_has_every_page_once(site: Path) -> None:
    pages = {str(path.relative_to(site)) for path in site.rglob("*.md")}
    elsewhere = {page for page in pages if page.startswith("project/") or re.match(r"decisions/\d", page)}

    assert sorted(_leaves(hooks.expanded(MKDOCS["nav"], site))) == sorted(pages - elsewhere)


def test_every_link_of_a_staged_page_leads_somewhere(site: Path) -> None:
    broken = {str(page.relative_to(site)): broken_links(page) for page in site.rglob("*.md")}

    assert {page: links for page, links in broken.items() if links} == {}


def test_a_link_out_of_the_documents_leads_to_a_page_with_that_file(site: Path) -> None:
    shown = (site / "project" / "shared" / "headgate" / "http" / "statuses.py.md").read_text()

    assert (ROOT / "shared" / "headgate" / "http" / "statuses.py").read_text().rstrip() in shown


def test_a_link_to_nothing_stops_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page.md").write_text("[gone](gone.md)\n")
    monkeypatch.setattr("scripts.site.staging.DOCS", tmp_path)
    monkeypatch.setattr("scripts.site.staging.ROOT", tmp_path)

    with pytest.raises(FileNotFoundError, match=r"page\.md links to gone\.md, which is not a file"):
        stage(tmp_path / "staged")


def test_a_page_that_loads_from_another_host_stops_the_build() -> None:
    hooks.on_post_page('<script src="../assets/a.js"></script><a href="https://example.com">', "page.md")

    with pytest.raises(SystemExit, match=r"page\.md would load something from another host: <script"):
        hooks.on_post_page('<script src="https://example.com/a.js"></script>', "page.md")


def test_the_dialog_of_the_search_has_a_name() -> None:
    assert 'role="dialog" aria-label="Search">' in hooks.on_post_page('<div role="dialog">', "page.md")


def test_a_list_begins_after_an_empty_line() -> None:
    """Without one, GitHub begins a list and mkdocs goes on with the paragraph."""
    begun = re.compile(r"^(?![-*|#> ]|\d+\. )(.+)\n(?:[-*]|\d+\.) ", re.MULTILINE)
    pages = {
        str(page.relative_to(DOCS)): re.sub(r"(?ms)^```.*?^```$", "", page.read_text()) for page in DOCS.rglob("*.md")
    }

    assert {name: found[1] for name, text in pages.items() if (found := begun.search(text))} == {}


def test_a_list_in_a_list_stays_one(site: Path) -> None:
    nested = re.findall(r"^  - .+", (DOCS / "incidents.md").read_text(), re.MULTILINE)

    assert nested
    assert re.findall(r"^ {4}- .+", (site / "incidents.md").read_text(), re.MULTILINE) == [f"  {one}" for one in nested]


def test_every_operation_of_the_api_has_its_section(site: Path) -> None:
    document = json.loads(DOCUMENT.read_text())
    ids = {one["operationId"] for item in document["paths"].values() for one in item.values()}
    sections = set(re.findall(r"^## (\w+)", _all(site / "reference" / "api"), re.MULTILINE))

    assert ids | document["components"]["schemas"].keys() <= sections


def test_every_command_has_a_section_with_its_options(site: Path) -> None:
    pages = _all(site / "reference" / "commands")
    commands = {" ".join(("headgate", *words)) for words, command in walk() if not isinstance(command, click.Group)}

    assert set(re.findall(r"^## (.+)", pages, re.MULTILINE)) == commands
    assert "| `--upgrade-collector` |" in pages


def test_an_error_has_its_status_and_meaning() -> None:
    assert VersionIsPublished.__doc__ is not None
    assert f"| 409 | `version_published` | {VersionIsPublished.__doc__.strip()} |" in errors.page()


def test_the_variables_that_programs_read_are_explained() -> None:
    sources = [*(ROOT / "cli").rglob("*.py"), ROOT / "local" / "headgate_local" / "options.py"]
    read = {name for path in sources for name in re.findall(r'"(HEADGATE_[A-Z_]+)"', path.read_text())}
    # What `headgate dev` tells the service that it starts, and `headgate accept` the host that it installs.
    internal = {"HEADGATE_STOP_WITH_STDIN", "HEADGATE_HEALTH_ENDPOINT"}

    assert read - internal - set(re.findall(r"`(HEADGATE_[A-Z_]+)`", settings.page())) == set()


def test_every_code_of_a_finding_is_explained() -> None:
    written = re.findall(r"^\| `(\w+)` \| (?:error|warning) \|", (DOCS / "findings.md").read_text(), re.MULTILINE)

    assert sorted(written) == sorted(get_args(Code))


def _all(folder: Path) -> str:
    return "\n".join(path.read_text() for path in folder.glob("*.md"))


def _leaves(entries: list[Any]) -> list[str]:
    found = []
    for entry in entries:
        page = next(iter(entry.values())) if isinstance(entry, dict) else entry
        found += _leaves(page) if isinstance(page, list) else [page]
    return found
