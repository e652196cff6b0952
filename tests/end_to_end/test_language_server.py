"""`headgate lsp` with the running service."""

from pathlib import Path

from tests.support.cli_support import Cli
from tests.support.language_client import Editor, position
from tests.support.service import ROOT

TEXT = Path(ROOT, "flows", "tail-sampling", "collector.yaml").read_text()


def test_the_service_gives_findings_schema_and_ottl(cli: Cli) -> None:
    broken = TEXT.replace("check_interval", "check_intervall")
    condition = TEXT.replace(
        "  batch:\n", '  filter:\n    logs:\n      log_record:\n        - IsMatch(body, "a") and \n  batch:\n', 1
    )
    with Editor("--url", cli.url, SERVICE_API_TOKEN=cli.token, HOME=str(cli.folder)) as editor:
        uri = editor.open(broken)
        codes = {one.code for one in editor.findings(uri)}
        hover = editor.hover(uri, position(broken, "tail_sampling", 2))
        uri = editor.open(condition, "condition.yaml")
        offered = editor.complete(uri, position(condition, ") and ", 6))

        assert {"unknown_key", "listens_everywhere"} <= codes
        assert "Stability" in hover
        assert {"severity_number", "SEVERITY_NUMBER_ERROR", "IsMatch"} <= offered.keys()
        assert editor.messages == []
