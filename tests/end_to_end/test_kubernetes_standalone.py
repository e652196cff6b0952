"""The operator's bridge in standalone mode: a workload whose ConfigMap it changes is observed, adopted and managed."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.end_to_end.test_kubernetes_bridge import until
from tests.support import kubernetes
from tests.support.cli_support import Cli
from tests.support.kubernetes import Cluster
from tests.support.operators_bridge import bridge

pytestmark = [pytest.mark.end_to_end, pytest.mark.full]

_RUNS = """\
receivers: {otlp: {protocols: {grpc: {endpoint: "${env:POD_IP}:4317"}}}}
exporters: {debug: }
service: {pipelines: {logs: {receivers: [otlp], exporters: [debug]}}}
"""
_WORKLOAD = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "gateway"}
# What the bridge asks for when it starts, for this workload alone as far as it allows that.
_RULES = [
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]},
    {"apiGroups": ["apps"], "resources": ["deployments", "daemonsets", "statefulsets"], "verbs": ["list", "watch"]},
    {"apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": ["gateway"], "verbs": ["get", "patch"]},
    {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["gateway-config"], "verbs": ["get", "update"]},
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with kubernetes.cluster(tmp_path_factory.mktemp("cluster")) as made:
        made.namespace("shop")
        yield made


def _named(kind: str, name: str, version: str = "v1") -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "shop"}}


def _config_map(cluster: Cluster) -> str:
    return str(cluster.ok("GET", "/api/v1/namespaces/shop/configmaps/gateway-config")["data"]["collector.yaml"])


@pytest.mark.parametrize("transport", [(), ("--websocket",)], ids=["http", "websocket"])
def test_a_workload_behind_a_standalone_bridge_is_adopted_rolled_out_to_and_goes_back(
    cli: Cli, cluster: Cluster, transport: tuple[str, ...]
) -> None:
    rbac, group = "rbac.authorization.k8s.io/v1", "rbac.authorization.k8s.io"
    labels = {"app": "gateway"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "otel", "image": "otelcol"}]}}
    workload = _named("Deployment", "gateway", "apps/v1")
    cluster.apply(
        {**_named("ConfigMap", "gateway-config"), "data": {"collector.yaml": _RUNS}},
        {**workload, "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}},
        _named("ServiceAccount", "bridge"),
        {**_named("Role", "bridge", rbac), "rules": _RULES},
        {
            **_named("RoleBinding", "bridge", rbac),
            "roleRef": {"apiGroup": group, "kind": "Role", "name": "bridge"},
            "subjects": [{"kind": "ServiceAccount", "name": "bridge", "namespace": "shop"}],
        },
    )
    # What the controller of Deployments would write.
    ready = {**workload, "status": {"replicas": 2, "readyReplicas": 2, "updatedReplicas": 2, "availableReplicas": 2}}
    cluster.ok("PATCH", f"{cluster.path(workload)}/status", ready, fieldManager="controller", force="true")
    cli.ok("fleet", "create", "workloads", "--mode", "observed")
    (composed,) = cli.run("fleet", "observe", "workloads", "--client", "supervisor", *transport, "--json").json
    names = ("ReportsStatus", "ReportsHealth", "ReportsEffectiveConfig", "AcceptsRemoteConfig", "ReportsRemoteConfig")
    config = {"collector": {"kind": "configmap", "name": "gateway-config", "key": "collector.yaml"}}
    spec = {
        "mode": "standalone",
        "endpoint": composed["endpoint"],
        "headers": {"Authorization": "Bearer ${HEADGATE_FLEET_TOKEN}"},
        "capabilities": dict.fromkeys(names, True),
        "standalone": {
            "agents": [{"namespace": "shop", "type": "collector", "workloadRef": _WORKLOAD, "config": config}]
        },
    }

    def shown() -> dict[str, Any]:
        listed = cli.run("fleet", "instances", "workloads", "--json").json
        return listed[0] if listed else {}

    with bridge(cluster, cli.folder, spec, str(composed["token"]), cluster.token("shop", "bridge")):
        until(lambda: shown().get("state") == "running")
        host = str(shown()["id"])
        assert (shown()["host_name"], shown()["distribution"]) == ("gateway", "gateway")
        draft = yaml.safe_load(cli.ok("fleet", "adopt", "workloads", host, "--dry-run"))
        assert draft == yaml.safe_load(_RUNS)
        cli.ok("fleet", "adopt", "workloads", host, "--name", "gateway")
        cli.ok("config", "publish", "gateway")
        cli.ok("fleet", "mode", "workloads", "managed", "--yes")
        cli.ok("rollout", "start", "workloads", "Default", "gateway", "--step", "100%:5s", "--watch")
        assert yaml.safe_load(_config_map(cluster)) == draft
        pods = cluster.ok("GET", cluster.path(workload))["spec"]["template"]["metadata"]["annotations"]
        assert "kubectl.kubernetes.io/restartedAt" in pods

        wrong = {**draft, "service": {"pipelines": {"logs": {"receivers": ["missing"], "exporters": ["debug"]}}}}
        (cli.folder / "gateway.yaml").write_text(yaml.safe_dump(wrong))
        cli.ok("config", "push", "gateway.yaml", "--to", "gateway", "--no-validate")
        cli.ok("config", "publish", "gateway", "--force")
        halted = cli.run(
            "rollout", "start", "workloads", "Default", "gateway", "--step", "100%:5s", "--force", "--watch"
        )
        assert halted.code == 1, halted
        assert "references non-existent receiver missing" in cli.ok("instance", "history", "workloads", host)
        assert yaml.safe_load(_config_map(cluster)) == draft
