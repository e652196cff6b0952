"""The environment, read once. Every name is set by template.yaml on AWS and by the local service on a laptop."""

import os
from dataclasses import dataclass
from functools import cache


class BadSetting(ValueError):
    """The message names the variable, its value, and what is allowed."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a deployment. Names of tables and buckets are empty for functions that have no access to them."""

    configurations_table: str
    versions_table: str
    fleets_table: str
    runs_table: str
    identity_table: str
    events_table: str
    bucket: str
    secrets_key: str
    export_bucket: str
    export_region: str
    deliveries_queue: str
    dead_deliveries_queue: str
    event_bus: str
    webhooks_to_loopback: bool
    rate_limit_per_minute: int
    person_rate_limit_per_minute: int
    checks_under_way: int
    runs_under_way: int
    jobs_under_way: int
    runs_waiting: int
    all_runs_under_way: int
    collector_version: str
    collector_versions: tuple[str, ...]
    collectors_dir: str
    checker_function: str
    state_machine_arn: str
    rollouts_state_machine_arn: str
    test_runs: bool
    fleet_limit: int
    fleet_endpoint: str
    supervisor_image: str
    releases_dirs: tuple[str, ...]
    fleet_heartbeat_seconds: int
    instance_limit: int
    new_instances_per_minute: int
    public_url: str
    user_pool_id: str
    user_pool_client_id: str


@cache
def settings() -> Settings:
    """Returns the settings of this process. Raises BadSetting if a number is malformed."""
    env = os.environ.get
    return Settings(
        configurations_table=env("HEADGATE_CONFIGURATIONS_TABLE", ""),
        versions_table=env("HEADGATE_VERSIONS_TABLE", ""),
        fleets_table=env("HEADGATE_FLEETS_TABLE", ""),
        runs_table=env("HEADGATE_RUNS_TABLE", ""),
        identity_table=env("HEADGATE_IDENTITY_TABLE", ""),
        events_table=env("HEADGATE_EVENTS_TABLE", ""),
        bucket=env("HEADGATE_BUCKET", ""),
        secrets_key=env("HEADGATE_SECRETS_KEY", ""),
        export_bucket=env("HEADGATE_EXPORT_BUCKET", ""),
        export_region=env("HEADGATE_EXPORT_REGION", ""),
        deliveries_queue=env("HEADGATE_DELIVERIES_QUEUE", ""),
        dead_deliveries_queue=env("HEADGATE_DEAD_DELIVERIES_QUEUE", ""),
        event_bus=env("HEADGATE_EVENT_BUS", ""),
        webhooks_to_loopback=env("HEADGATE_WEBHOOKS_TO_LOOPBACK", "no") == "yes",
        rate_limit_per_minute=_whole_number("HEADGATE_RATE_LIMIT_PER_MINUTE", default=60, least=1),
        person_rate_limit_per_minute=_whole_number("HEADGATE_PERSON_RATE_LIMIT_PER_MINUTE", default=600, least=1),
        checks_under_way=_whole_number("HEADGATE_CHECKS_UNDER_WAY", default=4, least=1),
        runs_under_way=_whole_number("HEADGATE_RUNS_UNDER_WAY", default=10, least=1),
        # Of these; on AWS each has processors of its own, so all may be jobs.
        jobs_under_way=_whole_number("HEADGATE_JOBS_UNDER_WAY", default=10_000, least=1),
        runs_waiting=_whole_number("HEADGATE_RUNS_WAITING", default=100, least=0),
        # The limit for all organizations together; 0 removes it.
        all_runs_under_way=_whole_number("HEADGATE_ALL_RUNS_UNDER_WAY", default=0, least=0),
        collector_version=env("HEADGATE_COLLECTOR_VERSION", "0.139.0"),
        collector_versions=tuple(filter(None, env("HEADGATE_COLLECTOR_VERSIONS", "").split(","))),
        collectors_dir=env("HEADGATE_COLLECTORS_DIR", "/opt/collectors"),
        checker_function=env("HEADGATE_CHECKER_FUNCTION", ""),
        state_machine_arn=env("HEADGATE_STATE_MACHINE_ARN", ""),
        rollouts_state_machine_arn=env("HEADGATE_ROLLOUTS_STATE_MACHINE_ARN", ""),
        test_runs=env("HEADGATE_TEST_RUNS", "yes") != "no",
        fleet_limit=_whole_number("HEADGATE_FLEET_LIMIT", default=25, least=0),
        fleet_endpoint=env("HEADGATE_FLEET_ENDPOINT", ""),
        supervisor_image=env("HEADGATE_SUPERVISOR_IMAGE", ""),
        releases_dirs=tuple(filter(None, env("HEADGATE_RELEASES_DIRS", "").split(os.pathsep))),
        fleet_heartbeat_seconds=_whole_number("HEADGATE_FLEET_HEARTBEAT_SECONDS", default=30, least=1),
        instance_limit=_whole_number("HEADGATE_INSTANCE_LIMIT", default=5_000, least=1),
        new_instances_per_minute=_whole_number("HEADGATE_NEW_INSTANCES_PER_MINUTE", default=600, least=1),
        public_url=env("HEADGATE_PUBLIC_URL", ""),
        user_pool_id=env("HEADGATE_USER_POOL", ""),
        user_pool_client_id=env("HEADGATE_USER_POOL_CLIENT", ""),
    )


def _whole_number(name: str, *, default: int, least: int) -> int:
    text = os.environ.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or int(text) < least:
        raise BadSetting(f"{name} is {text!r}, but must be a whole number of at least {least}")
    return int(text)
