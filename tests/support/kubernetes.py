"""A real API server of Kubernetes with its etcd, built from their modules, and a client of it.

It validates, admits and authorizes as in a cluster. There is no scheduler, controller or kubelet: no pod runs, and
nothing writes a status or a default service account but the test.
"""

import json
import secrets
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from tests.support.go_programs import compiled
from tests.support.ports import free_port

MODULE: Final = Path(__file__).parent / "kubernetes_api"
VERSION: Final = "1.36.3"
# Otherwise it calls itself v0.0.0, and Helm refuses charts that need a newer one.
_VERSIONED: Final = f"-X k8s.io/component-base/version.gitVersion=v{VERSION}"
Thing = dict[str, Any]


@dataclass
class Cluster:
    """The API server, asked by an administrator."""

    url: str
    folder: Path
    admin: str
    _plurals: dict[str, dict[str, Thing]] = field(default_factory=dict)

    @property
    def authority(self) -> Path:
        return self.folder / "certificates/apiserver.crt"

    def asked(self, method: str, path: str, body: object = None, token: str = "", **params: str) -> httpx.Response:
        headers = {
            "authorization": f"Bearer {token or self.admin}",
            # JSON is YAML.
            "content-type": "application/apply-patch+yaml" if method == "PATCH" else "application/json",
        }
        content = None if body is None else json.dumps(body).encode()
        context = ssl.create_default_context(cafile=str(self.authority))
        with httpx.Client(base_url=self.url, verify=context, timeout=60) as http:
            return http.request(method, path, content=content, headers=headers, params=params)

    def ok(self, method: str, path: str, body: object = None, token: str = "", **params: str) -> Thing:
        answer = self.asked(method, path, body, token, **params)
        assert answer.is_success, answer.text
        content: Thing = answer.json()
        return content

    def path(self, thing: Mapping[str, Any]) -> str:
        """The address of an object."""
        version = str(thing["apiVersion"])
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        if thing["kind"] not in self._plurals.get(version, {}):
            listed = self.ok("GET", root)["resources"]
            self._plurals[version] = {each["kind"]: each for each in listed if "/" not in each["name"]}
        resource, metadata = self._plurals[version][thing["kind"]], thing["metadata"]
        scope = f"/namespaces/{metadata.get('namespace', 'default')}" if resource["namespaced"] else ""
        return f"{root}{scope}/{resource['name']}/{metadata['name']}"

    def sent(self, thing: Mapping[str, Any], *, dry_run: bool = False) -> httpx.Response:
        """What the API server answers to an object that is applied; it refuses fields that it does not know."""
        params = {"fieldManager": "headgate", "force": "true", "fieldValidation": "Strict"}
        return self.asked("PATCH", self.path(thing), thing, **params, **({"dryRun": "All"} if dry_run else {}))

    def apply(self, *things: Mapping[str, Any], dry_run: bool = False) -> list[Thing]:
        answers = [self.sent(thing, dry_run=dry_run) for thing in things]
        for answer in answers:
            assert answer.is_success, answer.text
        return [answer.json() for answer in answers]

    def define(self, *definitions: Mapping[str, Any]) -> None:
        """Apply definitions of resources, and wait until they are served."""
        for definition in definitions:
            (applied,) = self.apply(definition)
            path = self.path(applied)
            for _ in range(300):
                conditions = self.ok("GET", path).get("status", {}).get("conditions") or ()
                if any(each["type"] == "Established" and each["status"] == "True" for each in conditions):
                    break
                time.sleep(0.1)
            else:
                raise AssertionError(conditions)

    def namespace(self, name: str, **labels: str) -> None:
        """A namespace with its default service account, which a controller would create."""
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}}
        labelled = {"name": name, "labels": labels}
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": labelled}, account)

    def token(self, namespace: str, account: str) -> str:
        """A token of a service account, as its pod has one."""
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        return str(self.ok("POST", path, request)["status"]["token"])

    def may(self, namespace: str, account: str, verb: str, resource: str, group: str = "", within: str = "") -> bool:
        """Whether a service account has a right; `resource` may have a subresource, as in `nodes/stats`."""
        name, _, sub = resource.partition("/")
        attributes = {"verb": verb, "resource": name, "subresource": sub, "group": group, "namespace": within}
        spec = {"user": f"system:serviceaccount:{namespace}:{account}", "resourceAttributes": attributes}
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
        answer = self.ok("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
        return bool(answer["status"]["allowed"])

    def kubeconfig(self, token: str = "") -> Path:
        """A file with which a client signs in by a token, an administrator's if it is left out."""
        cluster = {"server": self.url, "certificate-authority": str(self.authority)}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "test", "user": {"token": token or self.admin}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "current-context": "test",
        }
        file = self.folder / f"kubeconfig-{secrets.token_hex(4)}"
        file.write_text(json.dumps(content))
        file.chmod(0o600)
        return file


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A new cluster, which ends with the block."""
    etcd, peers, port = free_port(), free_port(), free_port()
    admin = secrets.token_hex(16)
    (folder / "tokens.csv").write_text(f"{admin},admin,1,system:masters\n")
    key = folder / "accounts.key"
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
    data = [
        *(compiled("etcd", MODULE, "./etcd"), "--data-dir", folder / "etcd", "--unsafe-no-fsync"),
        *("--listen-client-urls", f"http://127.0.0.1:{etcd}", "--advertise-client-urls", f"http://127.0.0.1:{etcd}"),
        *("--listen-peer-urls", f"http://127.0.0.1:{peers}"),
        *("--initial-advertise-peer-urls", f"http://127.0.0.1:{peers}"),
        *("--initial-cluster", f"default=http://127.0.0.1:{peers}"),
    ]
    api = [
        compiled("kube-apiserver", MODULE, "./apiserver", flags=_VERSIONED),
        *("--etcd-servers", f"http://127.0.0.1:{etcd}"),
        *("--secure-port", port, "--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1"),
        *("--cert-dir", folder / "certificates", "--service-cluster-ip-range", "10.0.0.0/24"),
        *("--service-account-issuer", "https://kubernetes.default.svc"),
        *("--service-account-key-file", key, "--service-account-signing-key-file", key),
        *("--token-auth-file", folder / "tokens.csv", "--authorization-mode", "RBAC"),
        *("--endpoint-reconciler-type", "none"),
    ]
    with _running(data, folder / "etcd.log"), _running(api, folder / "api.log") as server:
        cluster = Cluster(f"https://127.0.0.1:{port}", folder, admin)
        for _ in range(600):
            assert server.poll() is None, (folder / "api.log").read_text()[-4_000:]
            try:
                if cluster.authority.is_file() and cluster.asked("GET", "/readyz").text == "ok":
                    break
            except (httpx.TransportError, ssl.SSLError):
                # Its certificate may be written by half.
                pass
            time.sleep(0.2)
        else:
            raise AssertionError((folder / "api.log").read_text()[-4_000:])
        yield cluster


@contextmanager
def _running(command: Sequence[object], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as file, subprocess.Popen([str(word) for word in command], stdout=file, stderr=file) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
