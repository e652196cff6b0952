"""The chart, installed by the printed command with the real Helm into a real API server of Kubernetes.

The API server validates, admits and authorizes. There is no kubelet: no pod runs.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import helm, kubernetes
from tests.support.cli_support import Cli
from tests.support.kubernetes import Cluster
from tests.support.sources import repository_files

pytestmark = [pytest.mark.end_to_end, pytest.mark.full]

# Chart 0.170.0.
_OFFICIAL_CHARTS = ("open-telemetry/opentelemetry-helm-charts", "dd5665c06f376c00a5e2147aa84b70c3d105ecfb")
ROLES = ("node", "cluster", "gateway")
_VALUES = {
    "endpoint": "https://headgate.example/v1/opamp",
    "deploymentId": "dep_01m7xw1t89ecebpd8k2cyqf92t",
    "token": "ft_secret",
    "image": {"repository": "registry.example:5000/headgate-supervisor", "tag": "0.139.0"},
}
# By role: what its receivers and processors read; nobody's account may do what comes after.
_RIGHTS = {
    "node": [("get", "nodes/stats", ""), ("watch", "pods", ""), ("list", "replicasets", "apps")],
    "cluster": [("watch", "events", ""), ("list", "cronjobs", "batch"), ("list", "resourcequotas", "")],
    "gateway": [("list", "namespaces", ""), ("get", "jobs", "batch")],
}
_NOBODY = [("get", "secrets", ""), ("create", "pods", ""), ("get", "nodes/proxy", ""), ("list", "configmaps", "")]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with kubernetes.cluster(tmp_path_factory.mktemp("cluster")) as running:
        running.namespace("observed")
        yield running


def _objects(folder: Path, role: str, **values: object) -> list[dict[str, Any]]:
    """The objects that Helm renders from the chart, each with its namespace."""
    file = folder / "values.yaml"
    file.write_text(yaml.safe_dump({**_VALUES, "role": role, **values}))
    objects = helm.rendered([f"headgate-{role}", helm.CHART, "--namespace", "observed", "--values", file], folder)
    for rendered in objects:
        rendered["metadata"].setdefault("namespace", "observed")
    return objects


def _pod_of(thing: dict[str, Any], namespace: str) -> dict[str, Any]:
    """The pod that a controller would make of a workload."""
    template = thing["spec"]["template"]
    metadata = {**template["metadata"], "name": "tried", "namespace": namespace}
    spec = {**template["spec"], "serviceAccountName": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


@pytest.mark.parametrize("role", ROLES)
def test_the_api_server_accepts_each_object_and_grants_what_the_role_reads_and_no_more(
    tmp_path: Path, cluster: Cluster, role: str
) -> None:
    things = _objects(tmp_path, role, env={"A": "b"}, priorityClassName="system-node-critical")
    cluster.apply(*things, dry_run=True)
    applied = cluster.apply(*things)
    again = cluster.apply(*things)
    assert [each["metadata"].get("generation") for each in again] == [
        each["metadata"].get("generation") for each in applied
    ]

    account = f"headgate-{role}"
    for verb, resource, group in _RIGHTS[role]:
        assert cluster.may("observed", account, verb, resource, group), (verb, resource)
    for verb, resource, group in _NOBODY:
        assert not cluster.may("observed", account, verb, resource, group), (verb, resource)
    assert cluster.may("observed", account, "get", "nodes/stats") == (role == "node")
    assert cluster.may("observed", account, "list", "events") == (role == "cluster")
    token = cluster.token("observed", account)
    assert cluster.asked("GET", "/api/v1/pods", token=token).status_code == 200
    assert cluster.asked("GET", "/api/v1/secrets", token=token).status_code == 403


@pytest.mark.parametrize("role", ROLES)
def test_a_namespace_that_enforces_a_standard_admits_the_roles_that_the_page_says(
    tmp_path: Path, cluster: Cluster, role: str
) -> None:
    (workload,) = [thing for thing in _objects(tmp_path, role) if thing["kind"] in ("DaemonSet", "Deployment")]
    for standard, admitted in (("restricted", role != "node"), ("baseline", role != "node"), ("privileged", True)):
        namespace = f"{role}-{standard}"
        cluster.namespace(namespace, **{"pod-security.kubernetes.io/enforce": standard})
        answer = cluster.sent(_pod_of(workload, namespace), dry_run=True)
        assert answer.is_success == admitted, answer.text
        assert admitted or f'violates PodSecurity "{standard}' in answer.json()["message"]


def test_the_printed_command_installs_upgrades_and_what_is_wrong_is_refused(cli: Cli, cluster: Cluster) -> None:
    cli.ok("fleet", "create", "cluster", "--type", "kubernetes")
    (cli.folder / "edge.yaml").write_text(
        "receivers: {nop: }\nexporters: {nop: }\nservice: {pipelines: {logs: {receivers: [nop], exporters: [nop]}}}\n"
    )
    cli.ok("config", "create", "edge.yaml", "--name", "edge", "--publish")
    cli.ok("deployment", "create", "cluster", "nodes", "edge", "--role", "node")
    (install,) = cli.run("fleet", "install", "cluster", "--platform", "kubernetes", "--json").json
    environment = {"KUBECONFIG": str(cluster.kubeconfig()), "HOME": str(cli.folder), "NO_PROXY": "127.0.0.1"}
    environment["PATH"] = f"{Path(helm.program()).parent}:/usr/bin:/bin"
    command = str(install["command"])
    for revision in (1, 2):
        done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert f"REVISION: {revision}" in done.stdout
    (daemon_set,) = cluster.ok("GET", "/apis/apps/v1/namespaces/headgate/daemonsets")["items"]
    variables = {
        each["name"]: each.get("value") for each in daemon_set["spec"]["template"]["spec"]["containers"][0]["env"]
    }
    assert variables["HEADGATE_ENDPOINT"] == cli.url + "/v1/opamp"
    secrets = {each["metadata"]["name"] for each in cluster.ok("GET", "/api/v1/namespaces/headgate/secrets")["items"]}
    assert daemon_set["metadata"]["name"] in secrets
    assert json.dumps(daemon_set).count(str(daemon_set["metadata"]["name"])) > 1

    (workload,) = [thing for thing in _objects(cli.folder, "node") if thing["kind"] == "DaemonSet"]
    workload["spec"]["template"]["spec"]["restartPolicy"] = "Never"
    refused = cluster.sent(workload, dry_run=True)
    assert (refused.status_code, "restartPolicy" in refused.text) == (422, True)


@pytest.mark.parametrize("mode", ["daemonset", "deployment", "statefulset"])
def test_the_official_chart_takes_the_printed_values(cli: Cli, cluster: Cluster, mode: str) -> None:
    cli.ok("fleet", "create", "cluster", "--type", "kubernetes", "--mode", "observed")
    (composed,) = cli.run("fleet", "observe", "cluster", "--client", "chart", "--json").json
    file = cli.folder / "values.yaml"
    file.write_text(str(composed["text"]))
    chart = repository_files(*_OFFICIAL_CHARTS) / "charts/opentelemetry-collector"
    more = ["--set", f"mode={mode}", "--set", "image.repository=otel/opentelemetry-collector-contrib"]
    things = helm.rendered(["official", chart, "--namespace", "observed", "--values", file, *more], cli.folder)
    for thing in things:
        thing["metadata"].setdefault("namespace", "observed")
    cluster.apply(*things, dry_run=True)
    (config,) = [thing for thing in things if thing["kind"] == "ConfigMap"]
    assert yaml.safe_load(config["data"]["relay"])["service"]["extensions"] == ["health_check", "opamp"]
