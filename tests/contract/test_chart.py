"""The chart: what the real Helm makes of it, held to the schemas of the Kubernetes versions that it is for."""

import base64
import json
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from headgate.installs import publish
from tests.support import helm

ROLES = ("node", "cluster", "gateway")
# The oldest that the chart allows, and the newest whose schemas there are.
VERSIONS = ("1.25", kubernetes_validate.latest_version())
VALUES = {
    "endpoint": "https://headgate.example/v1/opamp",
    "deploymentId": "dep_01m7xw1t89ecebpd8k2cyqf92t",
    "token": "ft_secret",
    "image": {"repository": "registry.example:5000/headgate-supervisor", "tag": "0.139.0"},
}


def objects(folder: Path, role: str, **values: object) -> list[dict[str, Any]]:
    file = folder / "values.yaml"
    file.write_text(yaml.safe_dump({**VALUES, "role": role, **values}))
    return helm.rendered(["headgate-x", helm.CHART, "--namespace", "observed", "--values", file], folder)


def workload(folder: Path, role: str, **values: object) -> dict[str, Any]:
    (found,) = [one for one in objects(folder, role, **values) if one["kind"] in ("DaemonSet", "Deployment")]
    return found


def pod(folder: Path, role: str, **values: object) -> dict[str, Any]:
    spec: dict[str, Any] = workload(folder, role, **values)["spec"]["template"]["spec"]
    return spec


@pytest.mark.parametrize("role", ROLES)
def test_helm_finds_nothing_to_complain_of(tmp_path: Path, role: str) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump({**VALUES, "role": role}))
    done = helm.run("lint", "--strict", helm.CHART, "--values", file, home=tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("role", ROLES)
def test_every_object_is_as_kubernetes_has_it(tmp_path: Path, role: str, version: str) -> None:
    more = {
        "rules": [{"apiGroups": [""], "resources": ["endpoints"], "verbs": ["list"]}],
        "securityContext": {"seLinuxOptions": {"type": "spc_t"}},
        "volumes": [{"name": "host", "hostPath": {"path": "/"}}],
        "volumeMounts": [{"name": "host", "mountPath": "/hostfs", "readOnly": True}],
        "priorityClassName": "system-node-critical",
    }
    for one in objects(tmp_path, role, env={"A": "b"}, serviceAccount={"annotations": {"role": "x"}}, **more):
        kubernetes_validate.validate(one, version, strict=True)


def test_a_mistake_would_be_found() -> None:
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"port": []}},
            VERSIONS[-1],
            strict=True,
        )


@pytest.mark.parametrize(
    ("role", "kind", "replicas"),
    [("node", "DaemonSet", None), ("cluster", "Deployment", 1), ("gateway", "Deployment", 5)],
)
def test_each_role_is_its_kind_of_workload(tmp_path: Path, role: str, kind: str, replicas: int | None) -> None:
    made = workload(tmp_path, role, replicas=5)

    assert (made["kind"], made["spec"].get("replicas")) == (kind, replicas)


@pytest.mark.parametrize("role", ROLES)
def test_the_token_is_in_the_secret_alone(tmp_path: Path, role: str) -> None:
    made = objects(tmp_path, role)
    secret = helm.one_of(made, "Secret", "headgate-x")
    others = [one for one in made if one is not secret]

    assert base64.b64decode(secret["data"]["token"]) == b"ft_secret"
    assert "ft_secret" not in json.dumps(others)
    assert secret["data"]["token"] not in json.dumps(others)


@pytest.mark.parametrize("role", ROLES)
def test_a_pod_may_do_as_little_as_its_role_allows(tmp_path: Path, role: str) -> None:
    spec = pod(tmp_path, role)
    context = spec["containers"][0]["securityContext"]

    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert (context["allowPrivilegeEscalation"], context["readOnlyRootFilesystem"]) == (False, True)
    assert "privileged" not in context
    if role == "node":
        assert context["capabilities"] == {"drop": ["ALL"], "add": ["DAC_READ_SEARCH"]}
        assert [one["hostPath"]["path"] for one in spec["volumes"] if "hostPath" in one] == ["/var/log"]
    else:
        assert (context["runAsNonRoot"], context["capabilities"]) == (True, {"drop": ["ALL"]})
        assert not [one for one in spec["volumes"] if "hostPath" in one]


@pytest.mark.parametrize("role", ROLES)
def test_a_cluster_that_allows_less_or_needs_more_is_told_by_values(tmp_path: Path, role: str) -> None:
    mount = {"name": "host", "mountPath": "/hostfs"}
    rule = {"apiGroups": [""], "resources": ["endpoints"], "verbs": ["list"]}
    changed: dict[str, object] = {
        "securityContext": {"capabilities": {"add": []}, "seLinuxOptions": {"type": "spc_t"}},
        "volumes": [{"name": "host", "hostPath": {"path": "/"}}],
        "volumeMounts": [mount],
        "priorityClassName": "system-node-critical",
    }
    spec, plain = pod(tmp_path, role, **changed), pod(tmp_path, role)
    context = dict(spec["containers"][0]["securityContext"])

    assert context.pop("seLinuxOptions") == {"type": "spc_t"}
    assert context.pop("capabilities") == {"drop": ["ALL"], "add": []}
    before = plain["containers"][0]["securityContext"]
    assert context == {name: value for name, value in before.items() if name != "capabilities"}
    assert mount in spec["containers"][0]["volumeMounts"]
    assert spec["priorityClassName"] == "system-node-critical"
    assert "priorityClassName" not in plain
    assert rule in helm.one_of(objects(tmp_path, role, rules=[rule]), "ClusterRole")["rules"]


@pytest.mark.parametrize("role", ["node", "cluster", "gateway"])
def test_a_pod_is_told_where_it_is_and_has_time_to_say_goodbye(tmp_path: Path, role: str) -> None:
    spec = pod(tmp_path, role)
    fields = {
        one["name"]: one["valueFrom"]["fieldRef"]["fieldPath"]
        for one in spec["containers"][0]["env"]
        if "valueFrom" in one
    }

    # The supervisor's labels k8s.node.name and k8s.namespace.name.
    assert (fields["K8S_NODE_NAME"], fields["K8S_NAMESPACE"]) == ("spec.nodeName", "metadata.namespace")
    # Kubernetes sends SIGTERM to the entry point, which is the supervisor itself.
    assert spec["terminationGracePeriodSeconds"] == 30
    assert not {"command", "args", "lifecycle"} & spec["containers"][0].keys()


def test_the_gallerys_flow_for_nodes_finds_what_it_needs(tmp_path: Path) -> None:
    flow = (helm.ROOT / "flows" / "kubernetes-node" / "collector.yaml").read_text()
    container = pod(tmp_path, "node")["containers"][0]
    env = {one["name"]: one.get("value") for one in container["env"]}

    # It does not feed on its own output.
    assert f"exclude: [/var/log/pods/*/{container['name']}/*.log]" in flow
    assert (env["KUBELET_AUTH_TYPE"], env["KUBELET_ENDPOINT"]) == ("serviceAccount", "https://$(K8S_NODE_NAME):10250")
    # Kubernetes expands a name that stands before.
    assert list(env).index("K8S_NODE_NAME") < list(env).index("KUBELET_ENDPOINT")
    own = pod(tmp_path, "node", env={"KUBELET_AUTH_TYPE": "none"})["containers"][0]["env"]
    assert "KUBELET_AUTH_TYPE" not in [one["name"] for one in own]


def test_a_nodes_pods_stay_away_from_nodes_that_take_none(tmp_path: Path) -> None:
    spec = pod(tmp_path, "node")
    (term,) = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    refused = {one["key"]: one["values"] for one in term["matchExpressions"] if one["operator"] == "NotIn"}
    own = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}

    assert spec["tolerations"] == [{"operator": "Exists"}]
    assert refused == {"eks.amazonaws.com/compute-type": ["fargate"], "type": ["virtual-kubelet"]}
    assert pod(tmp_path, "node", affinity=own)["affinity"] == own
    assert "affinity" not in pod(tmp_path, "gateway")


def test_probes_reach_a_pod_whatever_its_addresses_are(tmp_path: Path) -> None:
    env = {one["name"]: one.get("value") for one in pod(tmp_path, "gateway")["containers"][0]["env"]}

    # Without an address it listens on IPv4 and IPv6.
    assert env["HEADGATE_HEALTH_ENDPOINT"] == ":13143"


# What each component's README of v0.139.0 asks for, in addition to what the chart's role is for.
@pytest.mark.parametrize("role", ROLES)
def test_workloads_of_pods_can_be_looked_up(tmp_path: Path, role: str) -> None:
    rules = helm.one_of(objects(tmp_path, role), "ClusterRole")["rules"]
    allowed = {
        (group, one, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for one in rule["resources"]
        for verb in rule["verbs"]
    }
    asked = [("apps", one) for one in ("daemonsets", "deployments", "replicasets", "statefulsets")]
    asked += [("batch", "jobs"), ("", "pods"), ("", "namespaces"), ("", "nodes")]

    assert {(*one, verb) for one in asked for verb in ("get", "list", "watch")} <= allowed


@pytest.mark.parametrize("role", ROLES)
def test_the_cluster_is_only_read(tmp_path: Path, role: str) -> None:
    rules = helm.one_of(objects(tmp_path, role), "ClusterRole")["rules"]

    assert {verb for rule in rules for verb in rule["verbs"]} <= {"get", "list", "watch"}
    assert not {"secrets", "configmaps", "nodes/proxy", "*"} & {one for rule in rules for one in rule["resources"]}


def test_no_variable_of_a_configuration_replaces_the_connection(tmp_path: Path) -> None:
    spec = pod(tmp_path, "gateway", env={"HEADGATE_ENDPOINT": "https://elsewhere.example", "A": "$(HEADGATE_ENDPOINT)"})
    container = spec["containers"][0]
    env = {one["name"]: one.get("value") for one in container["env"]}

    # Kubernetes takes `env` over `envFrom`, and expands nothing in the latter.
    assert env["HEADGATE_ENDPOINT"] == VALUES["endpoint"]
    assert container["envFrom"] == [{"secretRef": {"name": "headgate-x-env"}}]


def test_a_change_of_token_or_variables_starts_new_pods(tmp_path: Path) -> None:
    def checksum(**values: object) -> str:
        annotations = workload(tmp_path, "node", **values)["spec"]["template"]["metadata"]["annotations"]
        return str(annotations["checksum/secrets"])

    assert len({checksum(), checksum(token="ft_other"), checksum(env={"A": "b"})}) == 3
    assert checksum() == checksum()


@pytest.mark.parametrize("role", ROLES)
def test_a_token_may_be_in_a_secret_that_helm_does_not_know(tmp_path: Path, role: str) -> None:
    made = objects(tmp_path, role, token="", tokenSecret="mine")
    spec = pod(tmp_path, role, token="", tokenSecret="mine")

    assert [one["metadata"]["name"] for one in made if one["kind"] == "Secret"] == ["headgate-x-env"]
    assert [one["secret"]["secretName"] for one in spec["volumes"] if one["name"] == "token"] == ["mine"]


@pytest.mark.parametrize(
    "values",
    [
        {"role": "master"},
        {"token": ""},
        {"tokenSecret": "mine"},
        {"token": "", "tokenSecret": ""},
        {"endpoint": "ftp://x"},
        {"deploymentId": "x"},
        {"replicas": "3"},
        {"image": {"repository": "x", "tag": ""}},
        {"env": {"1A": "x"}},
        {"env": {"A": 1}},
        {"replica": 3},
    ],
)
def test_wrong_values_install_nothing(tmp_path: Path, values: dict[str, object]) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump({**VALUES, "role": "gateway", **values}))
    done = helm.run("template", "--kube-version", "1.33", "x", helm.CHART, "--values", file, home=tmp_path)

    assert done.returncode != 0
    assert "values don't meet the specifications" in done.stderr


def test_the_chart_as_it_is_served_is_the_chart(tmp_path: Path) -> None:
    packed = tmp_path / "chart.tgz"
    packed.write_bytes(publish.packed_chart(helm.CHART))
    shown, of_folder = (helm.run("show", "all", chart, home=tmp_path) for chart in (packed, helm.CHART))

    assert shown.returncode == 0, shown.stderr
    assert shown.stdout == of_folder.stdout
    assert packed.read_bytes() == publish.packed_chart(helm.CHART)
