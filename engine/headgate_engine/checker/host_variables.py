"""Variables that components read from their environment themselves, beside `${env:NAME}` in a text.

A question about a text that gives values to some of these is answered by a process that has them, answers this one
question, and ends. The list is closed: libraries give other names a meaning of their own, and let them name a file to
read, an address to call, or a program to run (AWS_CONFIG_FILE, HTTPS_PROXY, KUBERNETES_SERVICE_HOST, LD_PRELOAD).
"""

from collections.abc import Mapping
from typing import Final

LONGEST: Final = 32_768
"""Bytes of a value."""

NAMES: Final = frozenset(
    {
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_LAMBDA_FUNCTION_NAME",
        "AWS_LAMBDA_FUNCTION_VERSION",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
        "AWS_LAMBDA_LOG_GROUP_NAME",
        "AWS_LAMBDA_LOG_STREAM_NAME",
        "HEROKU_APP_ID",
        "HEROKU_APP_NAME",
        "HEROKU_DYNO_ID",
        "HEROKU_RELEASE_CREATED_AT",
        "HEROKU_RELEASE_VERSION",
        "HEROKU_SLUG_COMMIT",
        "HOSTNAME",
        "HOST_IP",
        "HOST_NAME",
        # Names that `node_from_env_var` and the like are given in charts and operators.
        "K8S_CLUSTER_NAME",
        "K8S_NAMESPACE",
        "K8S_NODE_IP",
        "K8S_NODE_NAME",
        "K8S_POD_IP",
        "K8S_POD_NAME",
        "K8S_POD_NAMESPACE",
        "K8S_POD_UID",
        "KUBE_NODE_NAME",
        "MY_NODE_NAME",
        "MY_POD_IP",
        "MY_POD_NAME",
        "NODE_IP",
        "NODE_NAME",
        "OTEL_K8S_NODE_NAME",
        "OTEL_K8S_POD_IP",
        "OTEL_K8S_POD_NAME",
        "OTEL_RESOURCE_ATTRIBUTES",
        "OTEL_SERVICE_NAME",
        "POD_IP",
        "POD_NAME",
        "POD_NAMESPACE",
    }
)


def fits(value: str) -> bool:
    """True if a process can have the value in its environment."""
    return "\0" not in value and len(value.encode(errors="surrogatepass")) <= LONGEST


def plain(env: object) -> dict[str, str]:
    """The values that a process of its own has in its environment. All others are for `${env:NAME}` alone."""
    if not isinstance(env, Mapping):
        return {}
    return {
        name: value for name, value in env.items() if name in NAMES and isinstance(value, str) and value and fits(value)
    }
