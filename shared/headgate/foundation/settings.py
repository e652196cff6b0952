"""The environment, read once. Every name is set by template.yaml on AWS and by the local service on a laptop."""

import os
from dataclasses import Field, dataclass, fields
from functools import cache
from typing import Any, Final


class BadSetting(ValueError):
    """The message names the variable, its value, and what is allowed."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a deployment, with their defaults; each has a variable of its name, `HEADGATE_BUCKET`.

    Names of tables and buckets are empty for functions that have no access to them.
    """

    configurations_table: str = ""
    versions_table: str = ""
    fleets_table: str = ""
    runs_table: str = ""
    identity_table: str = ""
    events_table: str = ""
    bucket: str = ""
    secrets_key: str = ""
    export_bucket: str = ""
    export_region: str = ""
    deliveries_queue: str = ""
    dead_deliveries_queue: str = ""
    event_bus: str = ""
    webhooks_to_loopback: bool = False
    rate_limit_per_minute: int = 60
    person_rate_limit_per_minute: int = 600
    checks_under_way: int = 4
    runs_under_way: int = 10
    # Of these; on AWS each has processors of its own, so all may be jobs.
    jobs_under_way: int = 10_000
    runs_waiting: int = 100
    # The limit for all organizations together; 0 removes it.
    all_runs_under_way: int = 0
    collector_version: str = "0.139.0"
    collector_versions: tuple[str, ...] = ()
    collectors_dir: str = "/opt/collectors"
    checker_function: str = ""
    state_machine_arn: str = ""
    rollouts_state_machine_arn: str = ""
    test_runs: bool = True
    fleet_limit: int = 25
    fleet_endpoint: str = ""
    supervisor_image: str = ""
    releases_dirs: tuple[str, ...] = ()
    fleet_heartbeat_seconds: int = 30
    instance_limit: int = 5_000
    new_instances_per_minute: int = 600
    public_url: str = ""
    user_pool_id: str = ""
    user_pool_client_id: str = ""


_OTHER_NAMES: Final = {"user_pool_id": "HEADGATE_USER_POOL", "user_pool_client_id": "HEADGATE_USER_POOL_CLIENT"}
# All other numbers are at least 1.
_MAY_BE_ZERO: Final = ("runs_waiting", "all_runs_under_way", "fleet_limit")
_SEPARATORS: Final = {"collector_versions": ",", "releases_dirs": os.pathsep}


@cache
def settings() -> Settings:
    """Returns the settings of this process. Raises BadSetting if a number is malformed."""
    return Settings(**{field.name: _read(field) for field in fields(Settings)})


def _read(field: Field[Any]) -> Any:
    name = _OTHER_NAMES.get(field.name, f"HEADGATE_{field.name.upper()}")
    match field.default:
        case bool(default):
            return {"yes": True, "no": False}.get(os.environ.get(name, ""), default)
        case int(default):
            return _whole_number(name, default=default, least=0 if field.name in _MAY_BE_ZERO else 1)
        case tuple():
            return tuple(filter(None, os.environ.get(name, "").split(_SEPARATORS[field.name])))
    return os.environ.get(name, field.default)


def _whole_number(name: str, *, default: int, least: int) -> int:
    text = os.environ.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or int(text) < least:
        raise BadSetting(f"{name} is {text!r}, but must be a whole number of at least {least}")
    return int(text)
