"""`headgate lsp --local` as an editor drives it, on three flows of the gallery and the real collector."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from lsprotocol import types

from headgate_cli.local.api import LocalApi
from headgate_cli.lsp.ottl_fields import field_at
from headgate_cli.lsp.tree import Path as Steps
from headgate_cli.shaped import PlainAnswer
from tests.support.language_client import Editor, applied, position
from tests.support.second_version import needs_second_version, older_and_newer
from tests.support.service import ROOT

pytestmark = [pytest.mark.contract, pytest.mark.collector]


def flow(name: str) -> str:
    return Path(ROOT, "flows", name, "collector.yaml").read_text()


OTTL, ROUTED, QUEUED = flow("cardinality-control"), flow("multi-tenant-routing"), flow("fan-out-disk-queues")


@pytest.fixture(scope="module")
def editor() -> Iterator[Editor]:
    """One server for all tests of the module."""
    with Editor("--local") as editor:
        yield editor


@pytest.fixture
def opened(editor: Editor, request: pytest.FixtureRequest) -> Iterator[tuple[Editor, str, str]]:
    """The text of the parameter as it is open in the editor."""
    text = str(request.param)
    uri = editor.open(text, f"{request.node.name.partition('[')[0]}.yaml")
    yield editor, uri, text
    editor.close(uri)


def written(editor: Editor, marked: str) -> tuple[str, types.Position]:
    """Open a text; returns its address and where its mark `‸` is."""
    at = position(marked, "‸")
    return editor.open(marked.replace("‸", ""), f"{abs(hash(marked))}.yaml"), at


def messages(found: list[types.Diagnostic]) -> dict[str, str]:
    return {str(one.code): one.message for one in found}


@pytest.mark.parametrize("opened", [OTTL, ROUTED, QUEUED], indirect=True, ids=["ottl", "routed", "queued"])
def test_a_valid_flow_has_no_error(opened: tuple[Editor, str, str]) -> None:
    editor, uri, _ = opened

    assert [one for one in editor.findings(uri) if one.severity == types.DiagnosticSeverity.Error] == []


@pytest.mark.parametrize("opened", [OTTL], indirect=True, ids=["ottl"])
def test_verdict_and_lint_are_at_their_words(opened: tuple[Editor, str, str]) -> None:
    editor, uri, text = opened
    broken = text.replace("check_interval", "check_intervall").replace(
        "replace_pattern(datapoint.attributes", "replace_patern(datapoint.attributes", 1
    )
    version = editor.replace(uri, broken)
    found = {str(one.code): one for one in editor.findings(uri, version)}

    assert "check_interval" in found["unknown_key"].message
    assert found["unknown_key"].range == types.Range(
        position(broken, "check_intervall"), position(broken, "check_intervall", 15)
    )
    assert found["ottl"].range.start.line == position(broken, "replace_patern").line


@pytest.mark.parametrize("opened", [QUEUED], indirect=True, ids=["queued"])
def test_the_newest_text_is_the_one_that_is_judged(opened: tuple[Editor, str, str]) -> None:
    editor, uri, text = opened
    editor.findings(uri)
    for key in range(1, 20):
        at = position(text, "endpoint", 0)
        editor.change(uri, types.TextDocumentContentChangePartial(types.Range(at, at), f"x{key}"))
    version = editor.replace(uri, text.replace("timeout: 5s", "timeout: 5 parsecs"))

    assert "invalid_value" in messages(editor.findings(uri, version))
    versions = [shown.version for shown in editor.published if shown.uri == uri]
    assert versions == sorted(versions, key=lambda one: one or 0)
    assert len(versions) < 8


def test_component_types_are_offered_in_their_section(editor: Editor) -> None:
    uri, at = written(editor, ROUTED.replace("processors:\n", "processors:\n  ba‸\n", 1))
    found = editor.complete(uri, at)

    assert {"batch", "transform", "tail_sampling"} <= found.keys()
    assert not {"otlp", "debug"} & found.keys()
    assert isinstance(edit := found["batch"].text_edit, types.TextEdit)
    assert edit.new_text == "batch:"


@pytest.mark.parametrize(
    ("marked", "offered", "absent"),
    [
        (ROUTED.replace("receivers: [otlp]", "receivers: [‸]", 1), {"otlp", "routing/tenant-logs"}, {"batch"}),
        (ROUTED.replace("exporters: [otlp/a]", "exporters: [ot‸]", 1), {"otlp/a", "otlp/b"}, {"otlp"}),
        (ROUTED.replace("pipelines: [logs/a]", "pipelines: [‸]", 1), {"logs/a", "traces/b"}, {"otlp"}),
        (QUEUED.replace("extensions: [file", "extensions: [‸, file", 1), {"file_storage/primary"}, {"otlp"}),
        (QUEUED.replace("storage: file_storage/primary", "storage: ‸", 1), {"file_storage/secondary"}, {"otlp"}),
    ],
    ids=["receivers", "exporters", "pipelines of a connector", "extensions", "storage"],
)
def test_declared_ids_are_offered_where_they_are_named(
    editor: Editor, marked: str, offered: set[str], absent: set[str]
) -> None:
    uri, at = written(editor, marked)
    found = editor.complete(uri, at)

    assert offered <= found.keys()
    assert not absent & found.keys()


@pytest.mark.parametrize(
    ("marked", "offered"),
    [
        (OTTL.replace("    timeout: 5s", "    timeout: 5s\n    ‸"), {"send_batch_size", "metadata_keys"}),
        (OTTL.replace("error_mode: ignore", "error_mode: ‸"), {"ignore", "propagate", "silent"}),
        (OTTL.replace("      queue_size: 500", "      queue_size: 500\n      ‸"), {"storage", "num_consumers"}),
        (QUEUED.replace("{key: delivery,", "{key: delivery, ‸", 1), {"from_attribute"}),
        (OTTL.replace("queue_size: 500", "queue_size: ${en‸"), {"${env:OTLP_ENDPOINT}", "${env:"}),
        (OTTL.replace("insecure: ${env:OTLP_INSECURE:-false}", "insecure: ‸"), {"true", "false"}),
    ],
    ids=["keys", "values", "nested keys", "keys in brackets", "variables", "a boolean"],
)
def test_settings_are_offered_by_the_collectors_schema(editor: Editor, marked: str, offered: set[str]) -> None:
    uri, at = written(editor, marked)

    assert offered <= editor.complete(uri, at).keys()


STATEMENT = '          - aggregate_on_attributes("mean")'


@pytest.mark.parametrize(
    ("expression", "offered", "absent"),
    [
        ("‸", {"set", "delete_key"}, {"Concat", "datapoint.attributes"}),
        ("set(‸", {"Concat", "datapoint.attributes", "metric.name"}, {"set"}),
        ('set(datapoint.attributes["‸', set(), {"Concat"}),
        ('set(metric.name, "a") where metric.type == MET‸', {"METRIC_DATA_TYPE_SUM"}, {"set"}),
    ],
)
def test_ottl_is_offered_inside_of_statements(
    editor: Editor, expression: str, offered: set[str], absent: set[str]
) -> None:
    uri, at = written(editor, OTTL.replace(STATEMENT, f"          - {expression}\n{STATEMENT}"))
    found = editor.complete(uri, at)

    assert offered <= found.keys()
    assert not absent & found.keys()


def test_ottl_is_offered_in_the_context_that_stands_beside_the_condition(editor: Editor) -> None:
    uri, at = written(editor, ROUTED.replace('condition: attributes["tenant.id"] == "tenant-a"', "condition: ‸", 1))
    of_resource = editor.complete(uri, at).keys()
    uri, at = written(editor, QUEUED.replace("- severity_number < SEVERITY_NUMBER_ERROR", "- sever‸"))
    of_log = editor.complete(uri, at).keys()

    assert "attributes" in of_resource
    assert "severity_number" not in of_resource
    assert {"severity_number", "SEVERITY_NUMBER_ERROR"} <= of_log


@pytest.mark.parametrize(
    ("text", "word", "within", "told"),
    [
        (OTTL, "check_interval", 2, ["duration", "Default"]),
        (OTTL, "memory_limiter", 2, ["processor", "Stability", "beta"]),
        (OTTL, "[memory_limiter", 4, ["processor", "Stability"]),
        (OTTL, "delete_matching_keys", 4, ["delete_matching_keys(", "editor"]),
        (OTTL, "datapoint.attributes", 12, ["map", "writable"]),
        (OTTL, "METRIC_DATA_TYPE_SUM", 4, ["enum"]),
        (QUEUED, "max_elapsed_time", 3, ["duration"]),
        (ROUTED, "routing/tenant-logs", 3, ["connector"]),
    ],
)
def test_hover_tells_what_the_word_means(editor: Editor, text: str, word: str, within: int, told: list[str]) -> None:
    uri = editor.open(text, f"hover-{word.strip('[').replace('/', '-')}.yaml")
    shown = editor.hover(uri, position(text, word, within))

    assert [part for part in told if part not in shown] == []


def test_hover_and_completion_go_on_in_a_text_that_is_broken(editor: Editor) -> None:
    broken = QUEUED.replace("processors:\n", "processors:\n  ] {{ '\n  batch:\n    timeout: \n    send\n", 1)
    uri = editor.open(broken, "broken.yaml")

    assert "duration" in editor.hover(uri, position(broken, "batch:\n    timeout", 13))
    assert "send_batch_size" in editor.complete(uri, position(broken, "    send\n", 8))


@pytest.mark.parametrize(
    ("text", "word", "occurrence", "declared"),
    [
        (ROUTED, "otlp/a", 1, "  otlp/a:"),
        (ROUTED, "routing/tenant-logs", 2, "  routing/tenant-logs:"),
        (ROUTED, "logs/a", 0, "    logs/a:"),
        (QUEUED, "file_storage/primary", 1, "  file_storage/primary:"),
    ],
    ids=["exporter", "connector", "pipeline", "storage"],
)
def test_a_name_leads_to_its_declaration_and_back(
    editor: Editor, text: str, word: str, occurrence: int, declared: str
) -> None:
    uri = editor.open(text, "definition.yaml")
    found = editor.definition(uri, position(text, word, 2, occurrence))

    assert found is not None
    assert found.start == position(text, declared, len(declared) - len(declared.lstrip()))
    references = editor.references(uri, found.start)
    lines = text.splitlines()
    assert len(references) == text.count(word) > 1
    assert all(word in lines[one.start.line] for one in references)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (ROUTED, "routing/tenant-logs", "routing/tenants"),
        (QUEUED, "file_storage/primary", "file_storage/first"),
        (QUEUED, "forward/primary", "forward/main"),
        (ROUTED, "logs/quarantine", "logs/rest"),
        (OTTL, "transform/identifiers", "transform/ids"),
    ],
)
def test_rename_changes_a_name_everywhere_and_nothing_else(editor: Editor, text: str, old: str, new: str) -> None:
    uri = editor.open(text, "rename.yaml")
    edits = editor.rename(uri, position(text, old, 3), new)

    assert applied(text, edits) == text.replace(old, new)


def test_a_name_that_is_taken_or_malformed_is_refused_with_the_reason(editor: Editor) -> None:
    uri = editor.open(ROUTED, "taken.yaml")
    at = position(ROUTED, "otlp/a", 2)

    with pytest.raises(Exception, match="already"):
        editor.rename(uri, at, "otlp/b")
    with pytest.raises(Exception, match="this collector has no exporter otpl, did you mean otlp"):
        editor.rename(uri, at, "otpl/c")
    with pytest.raises(Exception, match="not an id"):
        editor.rename(uri, at, "otlp/a: b")


@pytest.mark.parametrize("opened", [ROUTED], indirect=True, ids=["routed"])
def test_symbols_are_the_sections_with_their_components(opened: tuple[Editor, str, str]) -> None:
    editor, uri, _ = opened
    found = {one.name: [child.name for child in one.children or ()] for one in editor.symbols(uri)}

    assert list(found) == ["receivers", "processors", "connectors", "exporters", "service"]
    assert found["connectors"] == ["routing/tenant-logs", "routing/tenant-traces"]
    assert "logs/quarantine" in found["service"]


@pytest.mark.parametrize(
    ("broken", "title", "fixed"),
    [
        (OTTL.replace("check_interval", "check_intervall"), "Change to check_interval", OTTL),
        (OTTL.replace("  batch:\n", "  bacth:\n"), "Change to batch", OTTL),
        (OTTL.replace("error_mode: ignore", "error_mode: ignor"), "Change to ignore", OTTL),
        (
            OTTL.replace("- replace_pattern(", "- replace_patern(", 1),
            "Change to replace_pattern",
            OTTL,
        ),
        (
            OTTL.replace("exporters:\n", "exporters:\n  debug:\n    verbosity: basic\n"),
            "Remove the unused exporter debug",
            OTTL,
        ),
        (
            OTTL.replace("exporters: [otlp]", "exporters: [otlp, debug]"),
            "Declare the exporter debug",
            OTTL.replace("exporters: [otlp]", "exporters: [otlp, debug]").replace(
                "exporters:\n", "exporters:\n  debug:\n", 1
            ),
        ),
    ],
    ids=["key", "type", "value", "function", "unused", "undeclared"],
)
def test_a_finding_has_its_fix(editor: Editor, broken: str, title: str, fixed: str) -> None:
    uri = editor.open(broken, f"{title.replace(' ', '-')}.yaml")
    found = editor.findings(uri)
    fixes = {name: edits for one in found for name, edits in editor.fixes(uri, one.range).items()}

    assert title in fixes, (found, list(fixes))
    assert applied(broken, fixes[title]) == fixed


def test_an_equal_fix_is_offered_once_and_all_errors_are_mended_at_once(editor: Editor) -> None:
    broken = OTTL.replace("- replace_pattern(", "- replace_patern(", 2)
    uri = editor.open(broken, "all.yaml")
    findings = [finding for finding in editor.findings(uri) if finding.severity == types.DiagnosticSeverity.Error]
    offered = editor.fixes(uri, findings[0].range)
    alone = [edits for title, edits in offered.items() if "all" not in title]

    assert len({str(edits) for edits in alone}) == len(alone), list(offered)
    assert applied(broken, offered["Mend all 2 errors that have a fix"]) == OTTL


@needs_second_version
def test_a_deprecated_name_is_replaced_everywhere() -> None:
    text = flow("nginx")
    with Editor("--local", "--version", older_and_newer()[1]) as editor:
        uri = editor.open(text)
        found = next(one for one in editor.findings(uri) if one.code == "deprecated_name")
        fixes = editor.fixes(uri, found.range)

    assert applied(text, fixes["Replace the deprecated name filelog by file_log"]) == text.replace(
        "filelog/access", "file_log/access"
    )


def test_other_yaml_is_left_alone(editor: Editor) -> None:
    uri = editor.open("services:\n  web:\n    image: [\n", "compose.yml")
    ours = editor.open("receivers:\n  otlp:\nexporters:\n", "ours.yml")
    editor.findings(ours)

    assert editor.hover(uri, types.Position(0, 2)) == ""
    assert [shown for shown in editor.published if shown.uri == uri] == []


BEYOND = 'receivers: {otlp: {protocols: {grpc: {endpoint: "😀", endpont: 1}}}}\nexporters: {debug: }\n'


def test_positions_are_in_utf_16_unless_the_editor_chooses_another(editor: Editor) -> None:
    assert editor.capabilities.position_encoding == "utf-16"
    _is_found_at(editor, BEYOND.index("endpont") + 1)


def test_positions_are_in_the_encoding_that_the_editor_chose() -> None:
    with Editor("--local", encodings=("utf-8", "utf-16")) as editor:
        assert editor.capabilities.position_encoding == "utf-8"
        _is_found_at(editor, BEYOND.index("endpont") + 3)


def _is_found_at(editor: Editor, character: int) -> None:
    uri = editor.open(BEYOND, "beyond.yaml")
    found = next(one for one in editor.findings(uri) if one.code == "unknown_key")

    assert found.range.start == types.Position(0, character)
    assert "tls" in editor.complete(uri, found.range.start)


def test_a_setting_holds_ottl_exactly_where_the_linter_says() -> None:
    texts = [file.read_text() for file in sorted(Path(ROOT, "flows").glob("*/collector.yaml"))]
    with closing(LocalApi()) as checks:
        items = [item for text in texts for item in _items(checks, text)]

    wrong = [
        (path, kind, context, field)
        for path, kind, context in items
        if (field := field_at(path)) is None
        or field.kind != kind
        or (context is not None and context not in field.contexts)
    ]
    assert len(items) > 50
    assert wrong == []


def _items(checks: LocalApi, text: str) -> list[tuple[Steps, object, object]]:
    answer = checks.post(PlainAnswer, "/ottl/lint", {"yaml": text})
    items = answer["items"]
    assert isinstance(items, list)
    return [(_steps(item["location"]["path"]), item["kind"], item["context"]) for item in items]


def _steps(path: str) -> Steps:
    """The steps of a path of the collector: `a::b[0]`."""
    steps: list[str | int] = []
    for part in path.split("::"):
        name, *indexes = part.rstrip("]").replace("]", "").split("[")
        steps += [name, *map(int, indexes)]
    return tuple(steps)
