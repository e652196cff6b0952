"""Tests in files: `NAME.tests/<name>.yaml` beside `NAME.yaml`, what is read of them and what is refused."""

from pathlib import Path

import pytest

from headgate_cli.suites import fields, files
from headgate_cli.suites.files import FileTest, WrongTests

YAML = "service: {pipelines: {logs: {}, traces/web: {}}}"
RULE = "rules: [{name: r, condition: log.body != nil}]"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a configuration of two pipelines and an empty folder for its tests."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edge.yaml").write_text(YAML)
    (tmp_path / "edge.tests").mkdir()
    return tmp_path


def read(content: str, name: str = "one.yaml", configuration: str = YAML) -> FileTest:
    Path("edge.tests", name).write_text(content)
    (test,) = files.beside(Path("edge.yaml"), configuration)
    return test


def refused(content: str, name: str = "one.yaml", configuration: str = YAML) -> str:
    with pytest.raises(WrongTests) as error:
        read(content, name, configuration)
    return error.value.message


def test_a_test_says_its_fields_and_where_they_stand() -> None:
    test = read(f"target_pipeline: logs\nsample: |\n  one\n  two\n{RULE}\nduration_seconds: 2\n")

    assert (test.name, test.file, test.line("duration_seconds"), test.line("rules", 0)) == (
        "one",
        "edge.tests/one.yaml",
        6,
        5,
    )
    assert test.fields == {
        "target_pipeline": "logs",
        "signal_type": "logs",
        "sample": "one\ntwo\n",
        "rules": [{"name": "r", "condition": "log.body != nil"}],
        "duration_seconds": 2,
    }


def test_samples_and_expected_outputs_may_be_files_of_the_folder() -> None:
    Path("edge.tests", "lines.log").write_bytes(b"one\r\n")
    Path("edge.tests", "out").mkdir()
    Path("edge.tests", "out", "one.json").write_text("{}\n")
    test = read("target_pipeline: logs\nsample_file: lines.log\nexpected_file: out/one.json\n")

    assert (test.fields["sample"], test.fields["expected"]) == ("one\r\n", "{}\n")
    assert "sample_file" not in test.fields


def test_the_only_pipeline_need_not_be_named() -> None:
    only = "service: {pipelines: {metrics/edge: {}}}"

    assert read(f"sample: '{{}}'\n{RULE}", configuration=only).fields["signal_type"] == "metrics"


def test_a_sample_that_is_not_text_is_otlp() -> None:
    test = read(f"target_pipeline: logs\nsample: [{{resourceLogs: []}}, {{resourceLogs: []}}]\n{RULE}")

    assert (test.fields["sample"], test.fields["sample_format"]) == (
        '{"resourceLogs":[]}\n{"resourceLogs":[]}',
        "otlp",
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("target_pipeline: logs\nsample: x\n", ":1: rules are missing: a test needs rules, an expected output as"),
        (f"target_pipeline: logs\n{RULE}", ":1: sample is missing: give the sample's text, or the name of its file"),
        (f"sample: x\n{RULE}", ":1: target_pipeline is missing: choose one of logs, traces/web"),
        (f"sample: x\ntarget_pipeline: log\n{RULE}", ":2: target_pipeline: edge.yaml has no pipeline log; it has logs"),
        (f"sample: x\nsample_file: x\n{RULE}", ":2: sample_file: excludes sample: give one of them"),
        (f"sample: x\nnotes: x\n{RULE}", ":2: notes: is not a field of a test: use target_pipeline, "),
        (f"samlpe: x\n{RULE}", ":1: samlpe: is not a field of a test: did you mean sample?"),
        ("sample: x\nrules: []\n", ":1: rules are missing"),
        (f"sample: x\n{RULE}\nduration_seconds: 5s", ":3: duration_seconds: must be a whole number of seconds from 1"),
        (f"sample: x\n{RULE}\nenv: {{PORT: 4317}}", ":3: env.PORT: must be text, and is a number: put it in quotes"),
        (f"sample: x\n{RULE}\nenv: [a]", ":3: env: must be names with values, and is a list"),
        ("sample: x\nrules:\n  - name: a\n", ":3: rules.1: condition is missing"),
        (
            "sample: x\nrules:\n  - {name: a, condition: b}\n  - name: 5\n    condition: b\n",
            ":4: rules.2.name: must be",
        ),
        (
            "sample: x\nrules:\n  - name: a\n    conditon: b\n",
            ":4: rules.1.conditon: is not a field of a rule: did you mean condition?",
        ),
        ("sample: x\nrules: {a: b}\n", ":2: rules: must be a list, and is a mapping"),
        (f"sample: 2026-01-01\n{RULE}", ":1: sample: must be text, an OTLP/JSON document or a list"),
        (f"sample: {{at: 2026-01-01}}\n{RULE}", ":1: sample.at: is a date in YAML: put it in quotes to make it text"),
        (f"sample: x\n{RULE}\nsample: y\n", ":3: column 1: sample is given twice, first in line 1"),
        ("sample: [\n", ":2: column 1: expected the node content, but found '<stream end>'"),
        ("rules: [{name: a, condition: a[0]}]", "but got '[': put a text that contains it in quotes"),
        ("- sample\n", ":1: must hold the fields of a test: `headgate test suite --help` shows them"),
        ("", ":1: must hold the fields of a test"),
        (
            f"target_pipeline: logs\nsample_file: no.log\n{RULE}",
            ":2: sample_file: cannot read edge.tests/no.log: No such",
        ),
        (f'sample: "\\ud800"\n{RULE}', ":1: sample: contains half of a character"),
        (f"sample: &a {{b: *a}}\n{RULE}", ":1: sample: is nested more than 60 deep, or contains itself"),
    ],
)
def test_what_is_wrong_is_told_with_file_line_and_field(content: str, said: str) -> None:
    message = refused(content)

    assert message.startswith("edge.tests/one.yaml:")
    assert said in message


def test_every_wrong_test_of_a_configuration_is_told_at_once() -> None:
    Path("edge.tests", "other.yaml").write_text("sample: 1\n")

    assert len(refused("sample: 2\n").splitlines()) == 2


@pytest.mark.parametrize("name", [" x.yaml", "x y.yaml", "ä.yaml", f"{'x' * 81}.yaml", "-x.yaml"])
def test_a_name_that_a_test_cannot_have_is_refused(name: str) -> None:
    Path("edge.tests", name).write_text("")
    with pytest.raises(Exception, match="cannot be the name of a test: use letters"):
        files.beside(Path("edge.yaml"), YAML)


def test_two_files_of_one_name_are_refused() -> None:
    Path("edge.tests", "One.yml").write_text(f"target_pipeline: logs\nsample: x\n{RULE}")

    assert "edge.tests/One.yml has the same name: rename or delete one" in refused(
        f"target_pipeline: logs\nsample: x\n{RULE}"
    )


def test_more_tests_than_a_version_has_are_refused() -> None:
    for number in range(51):
        Path("edge.tests", f"t{number}.yaml").touch()
    with pytest.raises(Exception, match="contains 51 tests; a configuration has at most 50"):
        files.beside(Path("edge.yaml"), YAML)


@pytest.mark.parametrize("outside", ["../secret", "/etc/passwd", "inner/../../secret", "a\\0b"])
def test_no_path_leads_out_of_the_folder(folder: Path, outside: str) -> None:
    (folder / "secret").write_text("secret")
    said = refused(f'target_pipeline: logs\nsample_file: "{outside}"\n{RULE}')

    assert "one.yaml:2: sample_file: " in said
    assert "leads out of edge.tests: name a file in that folder" in said


@pytest.mark.parametrize("working", [".", "elsewhere"])
@pytest.mark.parametrize("link", ["edge.tests/sample.log", "edge.tests/inner", "edge.tests/one.yaml", "edge.tests"])
def test_no_link_leads_out_of_the_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, link: str, working: str
) -> None:
    """Also not for a configuration that is outside of the working folder, which is trusted otherwise."""
    outside = folder.parent / f"{folder.name}-outside"
    outside.mkdir()
    (outside / "sample.log").write_text("secret")
    (outside / "one.yaml").write_text(f"target_pipeline: logs\nsample: secret\n{RULE}")
    sample = "inner/sample.log" if link.endswith("inner") else "sample.log"
    (folder / "edge.tests/one.yaml").write_text(f"target_pipeline: logs\nsample_file: {sample}\n{RULE}")
    linked = folder / link
    if link == "edge.tests":
        (linked / "one.yaml").unlink()
        linked.rmdir()
    linked.unlink(missing_ok=True)
    linked.symlink_to(outside if linked.name in ("inner", "edge.tests") else outside / linked.name)
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / working)
    with pytest.raises(Exception, match="is a link that leads out of its folder"):
        files.beside(folder / "edge.yaml" if working != "." else Path("edge.yaml"), YAML)


def test_a_folder_costs_no_more_than_its_files() -> None:
    """Aliases of aliases are a billion values that a kilobyte of YAML names."""
    bomb = "sample:\n  a0: &a0 [x]\n" + "".join(
        f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 20)
    )

    assert "sample: has more than 100,000 values: write the sample as text, or into a file" in refused(f"{bomb}{RULE}")


@pytest.mark.parametrize(
    "content",
    [
        "[" * 20_000,
        "a0: &a0 {k: v}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 8)}]}}\n" for n in range(1, 40)),
        "? " * 10_000,
        "".join(f"k{n}: {{}}\n" for n in range(3_000)),
    ],
    ids=["deep", "merges", "keys", "wide"],
)
def test_what_no_test_looks_like_is_refused(content: str) -> None:
    assert refused(content).startswith("edge.tests/one.yaml:")


def test_an_expected_output_may_await_its_first_run() -> None:
    content = "target_pipeline: logs\nsample: x\nexpected_file: out.json\n"

    assert ":3: expected_file: there is no file edge.tests/out.json: `headgate test suite --update`" in refused(content)
    (test,) = files.beside(Path("edge.yaml"), YAML, may_await=True)
    assert (test.awaits_expected, test.expected_path) == (True, "edge.tests/out.json")


def test_what_says_the_same_has_the_same_digest() -> None:
    short = read(f"target_pipeline: logs\nsample: x\n{RULE}").fields
    long: dict[str, object] = {
        **short,
        "duration_seconds": 5,
        "feature_gates": [],
        "sample_name": None,
        "name": "one",
        "updated_at": "now",
        "rules": [{"name": " r", "condition": "log.body != nil", "context": "log", "expect": "any", "min": None}],
    }

    assert fields.digest(short) == fields.digest(long)
    assert fields.digest({**short, "expected": ""}) != fields.digest(short)
    assert fields.digest({**short, "ignore": []}) != fields.digest(short)
