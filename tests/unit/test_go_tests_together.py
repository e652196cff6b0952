"""Each Go test of the collector is run once: by the one program of the whole collector, or by that of its package."""

import json
import re
from pathlib import Path

import pytest

from scripts import go_tests_together

FUNCTION = re.compile(r"^func ((?:Test|Fuzz)\w*)\(", re.MULTILINE)


def test_each_test_is_called_by_one_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    go_tests_together.main(tmp_path)
    apart = {line.removeprefix(f"{go_tests_together.MODULE}/") for line in capsys.readouterr().out.split()}
    replaced = json.loads((tmp_path / "overlay.json").read_text())["Replace"]
    source = (tmp_path / "together_test.go").read_text()
    calls = re.findall(r"\{ \w+\.(\w+)\(t\) \}$", source, re.MULTILINE)
    sources = go_tests_together.COLLECTOR
    files = {file for file in sources.glob("**/*_test.go") if file.parent != sources / "extract"}

    together = {file for file in files if file.parent.relative_to(sources).as_posix() not in apart}
    assert together == set(map(Path, replaced.values())) - {tmp_path / "together_test.go"}
    assert sorted(calls) == sorted(name for file in together for name in FUNCTION.findall(file.read_text()))
    # Go refuses an import that is not used: packages may have benchmarks only.
    assert set(re.findall(r"^\t(\w+) ", source, re.MULTILINE)) == set(re.findall(r"\{ (\w+)\.", source))
    assert "internal/linked/together_test.go" in " ".join(replaced)
    assert {"internal/lint", "internal/reference"}.isdisjoint(apart)
    assert "internal/validate" in apart


def test_what_cannot_be_called_from_another_package_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "internal" / "lint"
    package.mkdir(parents=True)
    imported = f'import (\n\t"{go_tests_together.MODULE}/version/distribution"\n)\n'
    (package / "lint_test.go").write_text(f"package lint\n\n{imported}\nfunc TestMain(m *testing.M) {{}}\n")
    monkeypatch.setattr(go_tests_together, "COLLECTOR", tmp_path)

    with pytest.raises(SystemExit, match=r"lint_test\.go: TestMain cannot be called from the tests of another package"):
        go_tests_together.main(tmp_path)
