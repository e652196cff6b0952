"""What a folder of flows has to hold: a broken one stops the build with its name."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from headgate.flows import source

ROOT = Path(__file__).parents[2]
OURS = ROOT / "flows"

Break = Callable[[Path], object]


@pytest.fixture
def flows(tmp_path: Path) -> Path:
    """A gallery of two good flows."""
    folder = tmp_path / "flows"
    for slug in ("nginx", "redis"):
        shutil.copytree(OURS / slug, folder / slug)
    (folder / "gallery.yaml").write_text("order: [redis, nginx]\n", encoding="utf-8")
    return folder


def replace(path: str, old: str, new: str) -> Break:
    def change(folder: Path) -> None:
        text = (folder / path).read_text(encoding="utf-8")
        assert old in text
        (folder / path).write_text(text.replace(old, new), encoding="utf-8")

    return change


def remove(path: str) -> Break:
    return lambda folder: (folder / path).unlink()


def write(path: str, content: bytes) -> Break:
    return lambda folder: (folder / path).write_bytes(content)


def one_rule(folder: Path) -> None:
    rules = yaml.safe_load((folder / "nginx/rules.yaml").read_text(encoding="utf-8"))["rules"]
    (folder / "nginx/rules.yaml").write_text(yaml.safe_dump({"rules": rules[:1]}), encoding="utf-8")


BROKEN: list[tuple[Break, str]] = [
    (remove("nginx/flow.yaml"), "nginx: flow.yaml cannot be read"),
    (remove("nginx/collector.yaml"), "nginx: collector.yaml cannot be read"),
    (remove("nginx/rules.yaml"), "nginx: rules.yaml cannot be read"),
    (remove("nginx/sample.log"), "nginx: it needs one file sample"),
    (write("nginx/sample.json", b"{}"), "nginx: it needs one file sample"),
    (write("nginx/sample.log", b" \n"), "nginx: sample.log is empty"),
    (write("nginx/sample.log", b"x" * 1_048_577), "nginx: sample.log is empty or larger"),
    (write("nginx/sample.log", b"\xff\xfe"), "nginx: sample.log cannot be read"),
    (write("nginx/flow.yaml", b"name: [\n"), "nginx: flow.yaml is not YAML"),
    (write("nginx/collector.yaml", b"a: [\n"), "nginx: collector.yaml: no pipelines"),
    (write("nginx/collector.yaml", b"receivers: {}\n"), "nginx: collector.yaml: no pipelines"),
    (one_rule, "nginx: rules.yaml: rules: List should have at least 2 items"),
    (replace("nginx/rules.yaml", "expect: none", "expect: never"), "nginx: rules.yaml: rules.2.expect"),
    (replace("nginx/flow.yaml", "author:", "autor:"), "nginx: flow.yaml: author: Field required"),
    (replace("nginx/flow.yaml", "duration_seconds: 3", "duration_seconds: 61"), "nginx: flow.yaml: test.duration"),
    (replace("nginx/flow.yaml", "signals: [logs, metrics]", "signals: [logs]"), "nginx: flow.yaml: signals are"),
    (replace("nginx/flow.yaml", "target_pipeline: logs", "target_pipeline: log"), "nginx: flow.yaml: collector.yaml"),
    (replace("nginx/flow.yaml", "component: filelog/access", "component: filelog"), "nginx: flow.yaml: no pipeline"),
    (replace("nginx/flow.yaml", "  NGINX_ACCESS_LOG:", "  NGINX_LOG:"), "nginx: flow.yaml: settings does"),
    (replace("nginx/collector.yaml", "${env:OTLP_INSECURE:-false}", "false"), "nginx: flow.yaml: collector"),
    (replace("nginx/collector.yaml", "endpoint: ${env:OTLP_ENDPOINT", "endpoint: ${env:OTLP_INSECURE"), "nginx: "),
    (replace("gallery.yaml", "nginx", "nginx, nginx"), "gallery.yaml: nginx is named twice"),
    (replace("gallery.yaml", "redis, nginx", "redis"), "nginx: gallery.yaml does not name it"),
    (replace("gallery.yaml", "nginx", "nginx, apache"), "apache: flow.yaml cannot be read"),
    (replace("gallery.yaml", "nginx", "nginx, Apache_2"), "Apache_2: the folder's name is not a slug"),
    (remove("gallery.yaml"), "gallery.yaml cannot be read"),
]  # fmt: skip


@pytest.mark.parametrize(("break_it", "problem"), BROKEN, ids=[problem for _, problem in BROKEN])
def test_a_broken_flow_stops_the_build_with_its_name(flows: Path, break_it: Break, problem: str) -> None:
    break_it(flows)

    with pytest.raises(source.BrokenGallery) as raised:
        source.load(flows)

    assert any(line.startswith(problem) for line in raised.value.problems), raised.value.problems


def test_all_broken_flows_are_named_at_once(flows: Path) -> None:
    (flows / "nginx/rules.yaml").unlink()
    (flows / "redis/rules.yaml").unlink()

    with pytest.raises(source.BrokenGallery) as raised:
        source.load(flows)

    assert sorted(line.split(":")[0] for line in raised.value.problems) == ["nginx", "redis"]


def test_a_good_gallery_is_read_in_its_order(flows: Path) -> None:
    assert [flow.slug for flow in source.load(flows)] == ["redis", "nginx"]


def test_the_description_says_what_it_solves_what_to_set_and_what_it_costs(flows: Path) -> None:
    description = source.read(flows / "redis").published().description

    assert description.startswith("Reads `INFO`")
    assert "- `REDIS_ENDPOINT` (default `localhost:6379`): Host and port" in description
    assert "- `REDIS_PASSWORD`: Its password" in description
    assert description.index("**What to set**") < description.index("**What it costs**")


def build(flows: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts/build_flows.py"), "--flows", str(flows), *options]
    return subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), check=False)


def test_the_build_writes_an_index_and_an_object_for_each_flow(flows: Path, tmp_path: Path) -> None:
    built = build(flows, "--to", str(tmp_path / "built"))

    assert (built.returncode, built.stderr) == (0, "")
    written = {str(path.relative_to(tmp_path / "built")) for path in (tmp_path / "built").rglob("*.json")}
    slugs = ("nginx", "redis")
    assert written == {"flows/index.json", "flows/examples.json", *(f"flows/by-slug/{slug}.json" for slug in slugs)}


def test_the_build_of_a_broken_gallery_fails_and_writes_nothing(flows: Path, tmp_path: Path) -> None:
    (flows / "nginx/sample.log").unlink()

    built = build(flows, "--to", str(tmp_path / "built"))

    assert built.returncode == 1
    assert "broken flow: nginx: " in built.stderr
    assert not (tmp_path / "built").exists()
