"""Settings with which a collector that others installed reports to an observed fleet, for each client."""

from __future__ import annotations

import json
from dataclasses import dataclass
from textwrap import indent
from typing import Final, Literal

from headgate.fleets import service as fleets
from headgate.fleets import tokens
from headgate.fleets.model import FleetTokenExpired
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.foundation.settings import settings
from headgate.installs.commands import OPAMP_PATH

Client = Literal["extension", "supervisor", "bridge", "chart", "operator"]
"""The collector's OpAMP extension, the official supervisor, the operator's bridge, and the values of the official
collector chart and the operator's collector, which add the extension."""

Transport = Literal["http", "websocket"]
"""An agent asks again and again over HTTP, or stays connected, which the local service alone offers."""

VARIABLE: Final = "HEADGATE_FLEET_TOKEN"
_IN_KUBERNETES: Final = "headgate-fleet-token"
"""The name of the Secret that holds the token."""

_EXTENSION: Final = """\
extensions:
  opamp:
    server:
      {protocol}:
        endpoint: {endpoint}
        headers: {{Authorization: "Bearer ${{env:{variable}}}"}}
service:
  extensions: [{extensions}]
"""
_SUPERVISOR: Final = """\
server:
  endpoint: {endpoint}
  headers: {{Authorization: "Bearer ${{{variable}}}"}}
capabilities:
  accepts_remote_config: false
  accepts_opamp_connection_settings: false
  reports_remote_config: false
  reports_effective_config: true
  reports_health: true
"""
# The bridge asks for all of these rights when it starts, and ends without them, although it only reports here.
_BRIDGE: Final = """\
apiVersion: v1
kind: Namespace
metadata:
  name: headgate
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: headgate-opamp-bridge
rules:
  - apiGroups: [opentelemetry.io]
    resources: [opentelemetrycollectors]
    verbs: [get, list, create, update, delete]
  - apiGroups: [""]
    resources: [pods]
    verbs: [get, list]
  - apiGroups: [apps]
    resources: [deployments, daemonsets, statefulsets]
    verbs: [get, patch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: headgate-opamp-bridge
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: headgate-opamp-bridge
subjects:
  - kind: ServiceAccount
    name: headgate-opamp-bridge
    namespace: headgate
---
apiVersion: opentelemetry.io/v1alpha1
kind: OpAMPBridge
metadata:
  name: headgate
  namespace: headgate
spec:
  endpoint: {endpoint}
  headers: {{Authorization: "Bearer ${{{variable}}}"}}
  capabilities:
    ReportsStatus: true
    ReportsHealth: true
    ReportsEffectiveConfig: true
    AcceptsRemoteConfig: false
  env:
{env}"""
_CHART: Final = """\
config:
{extension}extraEnvs:
{env}"""
_OPERATOR: Final = """\
spec:
  config:
{extension}  env:
{env}"""
_ENV: Final = """\
- name: {variable}
  valueFrom: {{secretKeyRef: {{name: {secret}, key: token}}}}
"""
_TEMPLATES: Final[dict[Client, tuple[str, int]]] = {
    "extension": ("{extension}", 0),
    "supervisor": (_SUPERVISOR, 0),
    "bridge": (_BRIDGE, 4),
    "chart": (_CHART, 2),
    "operator": (_OPERATOR, 4),
}
"""The text for each client, and by how many spaces the parts in it are indented."""
_TOKEN: Final = f"Set {VARIABLE} to the fleet's token where the collector runs; the text does not contain it"
_BESIDE: Final = "Write `opamp` beside the extensions that `service::extensions` lists already"
_SAME_HOST: Final = (
    "A collector without an id of its own is a new one after each restart: set `service::telemetry::resource` with "
    "`service.instance.id` to a UUID of the host, or `extensions::opamp::instance_uid`"
)
_KUBERNETES: Final = (
    "Create the Secret in the collector's namespace: "
    f"`kubectl create secret generic {_IN_KUBERNETES} --from-literal=token=TOKEN`"
)
_CONNECTED: Final = "Only the local service takes WebSocket: on AWS, a collector with this text does not report"
_POLLS_SECONDS: Final = 30
_POLLS: Final = (
    "The extension asks every 30 s, whatever it is told. For fewer messages write `polling_interval: {seconds}s`, the "
    "interval of other hosts, beside `endpoint`; collectors of before October 2024 do not know the setting"
)
_NOTES: Final[dict[Client, tuple[str, ...]]] = {
    "extension": (_TOKEN, _BESIDE, _SAME_HOST),
    "supervisor": (f"Set {VARIABLE} to the fleet's token in the supervisor's environment", "Restart the supervisor"),
    "bridge": (
        "Apply the text with `kubectl apply -f -`: the operator creates the bridge and its service account. It starts "
        f"once `kubectl create secret generic {_IN_KUBERNETES} --namespace headgate --from-literal=token=TOKEN` ran",
        "The bridge ends without any of the rights in the text, also those to change collectors, which it does not use "
        "while `AcceptsRemoteConfig` is off",
        'It reports collectors with the label `opentelemetry.io/opamp-reporting: "true"`',
    ),
    "chart": (_KUBERNETES, _BESIDE, _SAME_HOST),
    "operator": (_KUBERNETES, _BESIDE, _SAME_HOST),
}


class NotObserved(errors.Conflict):
    """The fleet's collectors are installed by Headgate."""

    code = "fleet_managed"
    detail = (
        "Headgate configures the collectors of this fleet; `headgate fleet create LABEL --mode observed` creates "
        "one for collectors that others configure"
    )


@dataclass(frozen=True, slots=True)
class Observing:
    """The YAML to add, and its needs. The text contains no token."""

    text: str
    endpoint: str
    token: str
    notes: tuple[str, ...]


def compose(caller: Caller, fleet_id: str, client: Client, transport: Transport = "http") -> Observing:
    """Compose the settings with which collectors report to the fleet; one read.

    Raises FleetNotFound, FleetsNotConfigured, NotObserved, FleetTokenExpired.
    """
    fleet = fleets.get(caller, fleet_id)
    endpoint = fleets.endpoint() + OPAMP_PATH
    if not fleet.observed:
        raise NotObserved
    if fleet.token_expired(clock.now()):
        raise FleetTokenExpired
    if transport == "websocket":
        endpoint = endpoint.replace("http", "ws", 1)
    return Observing(
        text=_text(client, endpoint),
        endpoint=endpoint,
        token=tokens.value_of(fleet.id, fleet.token_generation),
        notes=(*((_CONNECTED,) if transport == "websocket" else ()), *_NOTES[client], *_of_interval(client, transport)),
    )


def _of_interval(client: Client, transport: Transport) -> tuple[str, ...]:
    """The note on the interval of an extension that asks more often than other hosts."""
    seconds = settings().fleet_heartbeat_seconds
    asks = transport == "http" and client not in ("supervisor", "bridge")
    return (_POLLS.format(seconds=seconds),) if asks and seconds > _POLLS_SECONDS else ()


def _text(client: Client, endpoint: str) -> str:
    quoted = json.dumps(endpoint)
    protocol = "ws" if endpoint.startswith("ws") else "http"
    # A list in a chart's values replaces the default, without which the chart refuses to be installed.
    names = "health_check, opamp" if client == "chart" else "opamp"
    extension = _EXTENSION.format(protocol=protocol, endpoint=quoted, variable=VARIABLE, extensions=names)
    env = _ENV.format(variable=VARIABLE, secret=_IN_KUBERNETES)
    template, by = _TEMPLATES[client]
    return template.format(
        endpoint=quoted, variable=VARIABLE, extension=indent(extension, " " * by), env=indent(env, " " * by)
    )
