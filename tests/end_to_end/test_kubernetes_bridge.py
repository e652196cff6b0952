"""The operator's OpAMP bridge, the real program, with a real API server of Kubernetes and the operator's resources."""

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml

from headgate.foundation.settings import settings
from tests.support import kubernetes
from tests.support.cli_support import Cli
from tests.support.kubernetes import Cluster
from tests.support.operators_bridge import ACCOUNT, bridge, definitions

pytestmark = [pytest.mark.end_to_end, pytest.mark.full]

_LABEL = "opentelemetry.io/opamp-reporting"
_MANAGED = "opentelemetry.io/opamp-managed"
_COLLECTORS = "/apis/opentelemetry.io/v1beta1/opentelemetrycollectors"
_CONFIG = {
    "receivers": {"nop": {}},
    "exporters": {"nop": {}, "otlphttp": {"endpoint": "https://otlp.example.com", "headers": {"x-team": "pl4nted"}}},
    "service": {"pipelines": {"logs": {"receivers": ["nop"], "exporters": ["nop"]}}},
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with kubernetes.cluster(tmp_path_factory.mktemp("cluster")) as made:
        made.define(*definitions())
        for name in ("shop", "ops"):
            made.namespace(name)
        yield made


@pytest.fixture(autouse=True)
def _without_collectors(cluster: Cluster) -> None:
    """Nothing is left of the test before."""
    for namespace in ("shop", "ops"):
        for path in ("/apis/opentelemetry.io/v1beta1", "/api/v1"):
            kind = "pods" if path == "/api/v1" else "opentelemetrycollectors"
            cluster.ok("DELETE", f"{path}/namespaces/{namespace}/{kind}", gracePeriodSeconds="0")


@pytest.fixture
def observed(cli: Cli, cluster: Cluster, request: pytest.FixtureRequest) -> dict[str, Any]:
    """What `fleet observe` prints for a new fleet, applied to the cluster as `kubectl apply -f -` does."""
    cli.ok("fleet", "create", "cluster", "--type", "kubernetes", "--mode", "observed")
    (composed,) = cli.run("fleet", "observe", "cluster", "--client", "bridge", *request.param, "--json").json
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT, "namespace": "headgate"}}
    # The operator would create the account.
    applied = cluster.apply(*yaml.safe_load_all(str(composed["text"])), account)
    (resource,) = [thing for thing in applied if thing["kind"] == "OpAMPBridge"]
    return {
        **composed,
        "spec": resource["spec"],
        "role": next(each for each in applied if each["kind"] == "ClusterRole"),
    }


def _collector(name: str, label: str = _LABEL, **spec: object) -> dict[str, Any]:
    namespace, _, plain = name.partition("/")
    return {
        "apiVersion": "opentelemetry.io/v1beta1",
        "kind": "OpenTelemetryCollector",
        "metadata": {"name": plain, "namespace": namespace, "labels": {label: "true"}},
        "spec": {"mode": "deployment", "config": _CONFIG, **spec},
    }


def _runs_pod(cluster: Cluster, name: str, phase: str) -> None:
    """A pod of a collector, with the labels that the operator gives it, in a phase that its kubelet would report."""
    namespace, _, plain = name.partition("/")
    labels = {
        "app.kubernetes.io/managed-by": "opentelemetry-operator",
        "app.kubernetes.io/instance": f"{namespace}.{plain}",
        "app.kubernetes.io/part-of": "opentelemetry",
        "app.kubernetes.io/component": "opentelemetry-collector",
    }
    metadata = {"name": f"{plain}-collector-0", "namespace": namespace, "labels": labels}
    spec = {"containers": [{"name": "otc-container", "image": "otelcol"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    cluster.apply(pod)
    status = {"phase": phase, "startTime": "2026-11-26T12:00:00Z"}
    status_of = {**pod, "status": status}
    params = {"fieldManager": "kubelet", "force": "true"}
    assert cluster.asked("PATCH", f"{cluster.path(pod)}/status", status_of, **params).is_success


def until(what: Callable[[], Any], *, seconds: int = 60) -> Any:
    """Returns the first result that is true, and fails if there is none in time."""
    for _ in range(seconds * 5):
        if seen := what():
            return seen
        time.sleep(0.2)
    raise AssertionError(seen)


def _parts(cli: Cli) -> dict[str, object]:
    """The parts of the bridge by their names, with whether they are healthy."""
    listed = cli.run("fleet", "instances", "cluster", "--json").json
    if not listed:
        return {}
    shown = json.loads(cli.ok("instance", "show", "cluster", str(listed[0]["id"]), "--json"))
    return {part["path"][-1]: part["healthy"] for part in (shown["health"] or {"parts": ()})["parts"]}


@pytest.mark.parametrize("observed", [(), ("--websocket",)], ids=["http", "websocket"], indirect=True)
def test_a_bridge_reports_the_collectors_of_a_cluster_as_they_come_change_and_go(
    cli: Cli, cluster: Cluster, observed: dict[str, Any]
) -> None:
    cluster.apply(_collector("shop/gateway"), _collector("shop/edge"), _collector("ops/audit"))
    cluster.apply(_collector("ops/hidden", "team"))
    _runs_pod(cluster, "shop/gateway", "Running")
    _runs_pod(cluster, "ops/audit", "Pending")
    account = cluster.token("headgate", ACCOUNT)
    with bridge(cluster, cli.folder, observed["spec"], str(observed["token"]), account):
        until(lambda: _parts(cli).get("shop/gateway"))
        (listed,) = cli.run("fleet", "instances", "cluster", "--json").json
        assert (listed["state"], listed["state_message"]) == ("unhealthy", "Not healthy: ops/audit")
        shown = cli.ok("fleet", "configuration", "cluster", str(listed["id"]))
        named = [line for line in shown.splitlines() if line.startswith("# ")]
        assert named == ["# ops/audit", "# shop/edge", "# shop/gateway"]
        assert "pl4nted" not in shown
        adopted = cli.ok("fleet", "adopt", "cluster", str(listed["id"]), "--collector", "shop/edge", "--dry-run")
        assert set(yaml.safe_load(adopted)) == {"receivers", "exporters", "service"}
        works = cli.ok("fleet", "findings", "cluster", str(listed["id"]), "--collector", "shop/edge")
        assert f"works on collector {settings().collector_version}" in works

        cluster.ok("DELETE", cluster.path(_collector("ops/audit")))
        cluster.apply(_collector("shop/new"))
        parts = until(lambda: (seen := _parts(cli)).get("shop/new") and seen)
        assert "ops/audit" not in parts
        assert cli.run("fleet", "instances", "cluster", "--json").json[0]["state"] == "running"
        cluster.apply(_collector("shop/edge", replicas=3))
        # The operator would start another pod.
        _runs_pod(cluster, "shop/edge", "Running")
        shown = until(
            lambda: (
                (text := cli.ok("fleet", "configuration", "cluster", str(listed["id"])))
                and "replicas: 3" in text
                and "# shop/new" in text
                and text
            )
        )
        assert "ops/audit" not in shown


@pytest.mark.parametrize("observed", [()], ids=["http"], indirect=True)
def test_a_bridge_has_the_rights_that_are_printed_and_no_others(
    cli: Cli, cluster: Cluster, observed: dict[str, Any]
) -> None:
    def rights() -> set[tuple[str, str, str]]:
        return {
            (verb, group, resource)
            for rule in observed["role"]["rules"]
            for verb in rule["verbs"]
            for group in rule["apiGroups"]
            for resource in rule["resources"]
        }

    assert all(cluster.may("headgate", ACCOUNT, verb, name, group) for verb, group, name in rights())
    for verb, name in (("get", "secrets"), ("list", "configmaps"), ("create", "pods"), ("get", "pods/log")):
        assert not cluster.may("headgate", ACCOUNT, verb, name, within="shop")
    account = cluster.token("headgate", ACCOUNT)
    refused = cluster.asked("GET", "/api/v1/namespaces/shop/secrets", token=account)
    assert (refused.status_code, refused.json()["reason"]) == (403, "Forbidden")
    # Without them it ends and names each that it needs.
    binding = {
        "apiVersion": observed["role"]["apiVersion"],
        "kind": "ClusterRoleBinding",
        "metadata": {"name": ACCOUNT},
    }
    cluster.ok("DELETE", cluster.path(binding))
    with bridge(cluster, cli.folder, observed["spec"], str(observed["token"]), account) as started:
        assert started.process.wait(timeout=60) != 0
        needed = re.findall(r"missing (\w+) permission for (?:([\w.]+)/)?(\w+):", started.log())
        assert set(needed) == rights()


def test_a_collector_of_the_operator_takes_what_is_printed_for_it(cli: Cli, cluster: Cluster) -> None:
    cli.ok("fleet", "create", "cluster", "--type", "kubernetes", "--mode", "observed")
    (composed,) = cli.run("fleet", "observe", "cluster", "--client", "operator", "--json").json
    printed, collector = yaml.safe_load(str(composed["text"]))["spec"], _collector("shop/edge")
    config = printed["config"]
    config["service"] |= _CONFIG["service"]
    (applied,) = cluster.apply({**collector, "spec": {**collector["spec"], **printed, "config": _CONFIG | config}})
    assert applied["spec"]["config"]["extensions"] == config["extensions"]
    assert applied["spec"]["env"] == printed["env"]


def test_what_is_printed_is_refused_by_the_operators_schema_if_a_field_is_wrong(cluster: Cluster) -> None:
    spec = {"endpoint": "https://headgate.example.com/v1/opamp", "capabilities": {"ReportsHealth": True}}
    thing = {
        "apiVersion": "opentelemetry.io/v1alpha1",
        "kind": "OpAMPBridge",
        "metadata": {"name": "wrong", "namespace": "shop"},
    }
    cluster.apply({**thing, "spec": spec}, dry_run=True)
    assert (
        "endpoints: field not declared in schema"
        in cluster.sent({**thing, "spec": {**spec, "endpoints": "x"}}, dry_run=True).text
    )
    refused = cluster.sent({**thing, "spec": {**spec, "replicas": 5}}, dry_run=True)
    assert (refused.status_code, "spec.replicas" in refused.text) == (422, True)


def test_a_bridge_that_accepts_configurations_keeps_every_collector_of_its_cluster(cli: Cli, cluster: Cluster) -> None:
    """Offered a configuration, the real bridge deletes all collectors that it may change."""
    (cli.folder / "edge.yaml").write_text(yaml.safe_dump(_CONFIG))
    cli.ok("config", "create", "edge.yaml", "--name", "edge")
    cli.ok("config", "publish", "edge")
    cli.ok("fleet", "create", "cluster")
    cli.ok("deployment", "assign", "cluster", "Default", "edge", "--force")
    (install,) = cli.run("fleet", "install", "cluster", "--json").json
    connection = install["connection"]
    assert isinstance(connection, dict)
    mine = [_collector("shop/managed-a", _MANAGED), _collector("ops/managed-b", _MANAGED)]
    cluster.apply(*mine)
    names = ("ReportsStatus", "ReportsHealth", "ReportsEffectiveConfig", "AcceptsRemoteConfig", "ReportsRemoteConfig")
    spec = {
        "endpoint": connection["endpoint"],
        "headers": {"Authorization": "Bearer ${HEADGATE_FLEET_TOKEN}"},
        "capabilities": dict.fromkeys(names, True),
    }
    with bridge(cluster, cli.folder, spec, str(connection["token"]), cluster.admin) as started:
        until(lambda: cli.run("fleet", "instances", "cluster", "--json").json)
        # It sends its health each second.
        time.sleep(5)
        left = [each["metadata"]["name"] for each in cluster.ok("GET", _COLLECTORS)["items"]]
        assert left == ["managed-b", "managed-a"]
        assert {"shop/managed-a", "ops/managed-b"} <= set(_parts(cli))
        (listed,) = cli.run("fleet", "instances", "cluster", "--json").json
        assert "does not accept remote configuration" in str(listed["state_message"])
        assert "failed to apply remote config" not in started.log()
