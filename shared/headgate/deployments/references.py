"""References in the values of variables, such as `${file:/run/key}`: the host resolves them, with its own rights.

The collector reads the value of a variable as it reads its text. Headgate resolves none: a check uses a stand-in.
"""

from __future__ import annotations

import re
from typing import Final

from headgate.deployments.environment import Environment, refers
from headgate_engine.validation.model import Finding

_REFERENCE: Final = re.compile(r"\$\{([A-Za-z][A-Za-z0-9+.-]{1,40}):")
# Providers of the official distribution, layers/collector/versions/*/manifest.yaml; a reduced build lacks some.
_SCHEMES: Final = frozenset(
    {"env", "file", "yaml", "http", "https", "aes", "s3", "secretsmanager", "googlesecretmanager"}
)


def findings(environment: Environment, text: str) -> list[Finding]:
    """The references of variables that the text uses, which a check does not resolve."""
    used = {name: value for name, value in environment.plain.items() if refers(value) and f"env:{name}" in text}
    return [Finding(_message(name, value), "", "depends_on_host") for name, value in used.items()]


def _message(name: str, value: str) -> str:
    unknown = sorted(set(_REFERENCE.findall(value.replace("$$", ""))) - _SCHEMES)
    if unknown:
        return (
            f"The variable {name} refers to {', '.join(unknown)}, for which the official collector has no provider: "
            "let an agent of the host write a file, and refer to it by ${file:/path}"
        )
    return f"The variable {name} refers to what its host has: it was checked with a stand-in"
