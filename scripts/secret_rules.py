"""Writes layers/collector/secrets/gitleaks.json, the forms of secrets, from the rules of a gitleaks release.

    git clone --depth 1 --branch v8.30.1 https://github.com/gitleaks/gitleaks
    python -m scripts.secret_rules gitleaks/config/gitleaks.toml --release v8.30.1

What its rules need beyond a text is left out: rules about paths, lists of examples, identifiers that are public, and
the rule about any name with any value, which our own search of names replaces. A rule's beginning that only widens what
is shown goes too, and a secret may end at every sign that it cannot contain, as logs have more of them than source
code.
"""

import argparse
import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Any, Final

TARGET: Final = Path(__file__).parents[1] / "layers" / "collector" / "secrets" / "gitleaks.json"
_SOURCE: Final = "https://github.com/gitleaks/gitleaks/blob/{}/config/gitleaks.toml"
# Ids of applications and keys that are meant to be seen; forms that our own search of names and addresses finds.
_PUBLIC: Final = re.compile(r"-(client-id|public-key|publishable-key|app-id)$")
_OURS: Final = ("generic-api-key", "private-key", "curl-auth-user", "curl-auth-header")
_WIDENS: Final = re.compile(r"^\(\?i\)\[\\w\.-\]\{0,50\}\?")
_ENDS: Final = r"""(?:[\x60'"\s;]|\\[nr]|$)"""
_ENDS_HERE: Final = r"(?:[^\w-]|$)"


def main() -> int:
    parser = argparse.ArgumentParser(prog="secret_rules", description="Write the forms of secrets.")
    parser.add_argument("rules", type=Path, metavar="FILE", help="gitleaks' config/gitleaks.toml")
    parser.add_argument("--release", required=True, metavar="TAG", help="the release that it is of")
    options = parser.parse_args()
    content = options.rules.read_bytes()
    rules = [_rule(rule) for rule in tomllib.loads(content.decode())["rules"] if _is_taken(rule)]
    header = {
        "generated": "by scripts/secret_rules.py; do not edit",
        "source": _SOURCE.format(options.release),
        "sha256": hashlib.sha256(content).hexdigest(),
        "licence": "MIT, Copyright (c) 2019 Zachary Rice",
    }
    lines = ",\n".join(json.dumps(rule, ensure_ascii=False) for rule in rules)
    described = json.dumps(header, indent=1)[1:-2]
    TARGET.write_text(f'{{{described},\n "rules": [\n{lines}\n ]\n}}\n', encoding="utf-8")
    print(f"{len(rules)} rules of {options.release} in {TARGET}")
    return 0


def _is_taken(rule: dict[str, Any]) -> bool:
    return "regex" in rule and "path" not in rule and rule["id"] not in _OURS and not _PUBLIC.search(rule["id"])


def _rule(rule: dict[str, Any]) -> dict[str, Any]:
    pattern = _WIDENS.sub("(?i)", rule["regex"]).replace(_ENDS, _ENDS_HERE)
    written = {
        "id": rule["id"],
        "pattern": pattern,
        "keywords": sorted({word.lower() for word in rule["keywords"]}),
        "entropy": rule.get("entropy", 0),
        "group": rule.get("secretGroup", 0),
    }
    return {name: value for name, value in written.items() if value}


if __name__ == "__main__":
    raise SystemExit(main())
