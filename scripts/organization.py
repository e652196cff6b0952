"""Exports an organization's data to a file, and imports it, on AWS and on the local service alike.

    python -m scripts.organization list --stack headgate
    python -m scripts.organization export org_... --to acme.jsonl.gz --stack headgate
    python -m scripts.organization import acme.jsonl.gz --local

`--stack NAME` takes the tables of that CloudFormation stack, with the AWS credentials of the environment; `--local`
those of the running `make dev`. The file holds configurations as they are and hashes of tokens: keep it as you keep
the tables. docs/backup.md says what is in it and how to go about a restore.
"""

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import boto3
from botocore.exceptions import BotoCoreError, ClientError, NoRegionError

from headgate.backup import archive, export, restore
from headgate.foundation.errors import HeadgateError

# What the functions are told by template.yaml, by the logical id of the resource.
_RESOURCES: Final = {
    "ConfigurationsTable": "HEADGATE_CONFIGURATIONS_TABLE",
    "VersionsTable": "HEADGATE_VERSIONS_TABLE",
    "FleetsTable": "HEADGATE_FLEETS_TABLE",
    "IdentityTable": "HEADGATE_IDENTITY_TABLE",
    "Bucket": "HEADGATE_BUCKET",
    "UserPool": "HEADGATE_USER_POOL",
    "UserPoolClient": "HEADGATE_USER_POOL_CLIENT",
}


class CannotRun(Exception):
    """The message is for the person."""


def main() -> int:
    """Returns the exit status: 0, or 1 with a line on standard error."""
    options = _options()
    try:
        found = _of_local_service() if options.local else _of_stack(options.stack)
        # Names given by hand lead to restored tables; a local service is never anything but what it says.
        os.environ.update(found if options.local else {**found, **_given()})
        options.run(options)
    except NoRegionError:
        print("organization: no region is chosen: set AWS_REGION, as in AWS_REGION=eu-central-1", file=sys.stderr)
    except (CannotRun, BotoCoreError, ClientError, OSError) as error:
        print(f"organization: {error}", file=sys.stderr)
    except HeadgateError as error:
        print(f"organization: {error.detail}", file=sys.stderr)
    else:
        return 0
    return 1


def _given() -> Mapping[str, str]:
    return {name: os.environ[name] for name in _RESOURCES.values() if os.environ.get(name)}


def _list(_: argparse.Namespace) -> None:
    for organization_id, name in export.organizations():
        print(f"{organization_id}  {name}")


def _export(options: argparse.Namespace) -> None:
    path: Path = options.to
    if path.exists() and not options.force:
        raise CannotRun(f"{path} exists; name another file, or give --force")
    header = export.header(options.organization)
    size = archive.write(path, header, export.records(options.organization))
    print(f"{header.name}: {size.items} items and {size.objects} objects in {path}, {path.stat().st_size} bytes")


def _import(options: argparse.Namespace) -> None:
    header, strangers = restore.restore(options.file, lambda done: print(f"{done} entries", file=sys.stderr))
    print(f"{header.name} ({header.organization_id}), exported at {header.exported_at}, is imported")
    if strangers:
        print(f"Without an account here, and shown as invited: {', '.join(strangers)}")
        print(f"To mail each of them a temporary password: invite {header.organization_id}")


def _invite(options: argparse.Namespace) -> None:
    invited = restore.invite(options.organization, os.environ["HEADGATE_PUBLIC_URL"])
    print(f"Invited by mail: {', '.join(invited) or 'nobody, all have an account'}")


def _of_local_service() -> Mapping[str, str]:
    from headgate_local import connection
    from headgate_local.options import read_options

    data = read_options(os.environ).data
    try:
        return connection.of_service(data)
    except FileNotFoundError:
        raise CannotRun(f"no service runs on the data folder {data}: start it with `make dev`") from None


def _of_stack(stack: str) -> Mapping[str, str]:
    cloudformation = boto3.client("cloudformation")
    found: dict[str, str] = {}
    for page in cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack):
        for resource in page["StackResourceSummaries"]:
            name = _RESOURCES.get(resource["LogicalResourceId"])
            if name is not None:
                found[name] = resource["PhysicalResourceId"]
    missing = [logical_id for logical_id, name in _RESOURCES.items() if name not in found]
    if missing:
        raise CannotRun(f"the stack {stack} is no Headgate: it has no {', '.join(missing)}")
    described = cloudformation.describe_stacks(StackName=stack)["Stacks"][0]
    outputs = {output["OutputKey"]: output["OutputValue"] for output in described.get("Outputs", [])}
    return {**found, "HEADGATE_PUBLIC_URL": outputs.get("BaseUrl", "").partition("/api/")[0]}


def _options() -> argparse.Namespace:
    where = argparse.ArgumentParser(add_help=False)
    one = where.add_mutually_exclusive_group(required=True)
    one.add_argument("--stack", help="the CloudFormation stack")
    one.add_argument("--local", action="store_true", help="the running local service")
    parser = argparse.ArgumentParser(prog="organization", description="Export and import an organization's data.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", parents=[where], help="the organizations, by id and name")
    listing.set_defaults(run=_list)
    exporting = commands.add_parser("export", parents=[where], help="write all of an organization to a file")
    exporting.add_argument("organization", metavar="ORGANIZATION_ID")
    exporting.add_argument("--to", type=Path, required=True, metavar="FILE")
    exporting.add_argument("--force", action="store_true", help="replace the file if it exists")
    exporting.set_defaults(run=_export)
    importing = commands.add_parser("import", parents=[where], help="put it into a deployment that does not have it")
    importing.add_argument("file", type=Path, metavar="FILE")
    importing.set_defaults(run=_import)
    inviting = commands.add_parser("invite", parents=[where], help="mail a temporary password to who has no account")
    inviting.add_argument("organization", metavar="ORGANIZATION_ID")
    inviting.set_defaults(run=_invite)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
