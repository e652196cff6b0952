"""Exports an organization's data to a file, and imports it, on AWS and on the local service alike.

    python -m scripts.organization list --stack headgate
    python -m scripts.organization export org_... --to acme.jsonl.gz --stack headgate
    python -m scripts.organization import acme.jsonl.gz --local --seal-key seal_...
    python -m scripts.organization seal-key acme.jsonl.gz --stack headgate

`--stack NAME` uses the tables of that CloudFormation stack, with the AWS credentials of the environment; `--local` uses
those of the running `make dev`. The file contains configurations unencrypted and hashes of tokens: protect it like the
tables. docs/backup.md describes its content and how to restore it.
"""

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError, NoRegionError

from headgate.backup import archive, export, restore, seals
from headgate.foundation.errors import HeadgateError
from scripts import stack
from scripts.stack import Stop

# The functions' variables in template.yaml, by the logical id of their resource.
_RESOURCES: Final = {
    "ConfigurationsTable": "HEADGATE_CONFIGURATIONS_TABLE",
    "VersionsTable": "HEADGATE_VERSIONS_TABLE",
    "FleetsTable": "HEADGATE_FLEETS_TABLE",
    "IdentityTable": "HEADGATE_IDENTITY_TABLE",
    "EventsTable": "HEADGATE_EVENTS_TABLE",
    "Bucket": "HEADGATE_BUCKET",
    "SecretsKey": "HEADGATE_SECRETS_KEY",
    "UserPool": "HEADGATE_USER_POOL",
    "UserPoolClient": "HEADGATE_USER_POOL_CLIENT",
}


def main() -> int:
    """Returns the exit status: 0, or 1 with a line on standard error."""
    options = _options()
    try:
        result = _of_local_service() if options.local else _of_stack(options.stack)
        # Names in the environment replace the stack's, for restored tables. A local service has only its own.
        os.environ.update(result if options.local else {**result, **_given()})
        options.run(options)
    except NoRegionError:
        print("organization: there is no AWS region: set AWS_REGION, as in AWS_REGION=eu-central-1", file=sys.stderr)
    except (Stop, BotoCoreError, ClientError, OSError) as error:
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
        raise Stop(f"{path} exists: name another file, or add --force")
    header, size = export.to_file(path, options.organization)
    print(f"{header.name}: {size.items} items and {size.objects} objects in {path}, {path.stat().st_size} bytes")
    print(f"The key of its seal: {seals.shown(seals.key_of(header))}")
    print("An import into another deployment takes tokens and webhooks only with this key. Keep it apart from the file")


def _seal_key(options: argparse.Namespace) -> None:
    header, seal = archive.read_header(options.file)
    key = seals.key_of(header)
    if not seals.fits(key, seal):
        raise seals.NotSealedHere
    print(seals.shown(key))


def _progress(done: int) -> None:
    print(f"{done} entries", file=sys.stderr)


def _import(options: argparse.Namespace) -> None:
    restored = restore.restore(options.file, _progress, options.seal_key)
    header = restored.header
    print(f"{header.name} ({header.organization_id}), exported at {header.exported_at}, is imported")
    if restored.left_out:
        print("Not imported, because no key vouches for the archive's seal (--seal-key):")
        for name in restored.left_out:
            print(f"  {name}")
    if restored.strangers:
        print(f"These members have no account here and are shown as invited: {', '.join(restored.strangers)}")
        print(f"`invite {header.organization_id}` mails each of them a temporary password")


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
        raise Stop(f"no service runs on the data folder {data}: start it with `make dev`") from None


def _of_stack(stack_name: str) -> Mapping[str, str]:
    described = stack.find(stack_name)
    if described is None:
        raise Stop(f"there is no stack {stack_name} in this account and region")
    resources = {logical_id: name for logical_id, _, name in stack.resources(stack_name)}
    missing = [logical_id for logical_id in _RESOURCES if logical_id not in resources]
    if missing:
        raise Stop(f"the stack {stack_name} is not a Headgate stack: it has no {', '.join(missing)}")
    matches = {name: resources[logical_id] for logical_id, name in _RESOURCES.items()}
    return {**matches, "HEADGATE_PUBLIC_URL": described.outputs.get("BaseUrl", "").partition("/api/")[0]}


def _options() -> argparse.Namespace:
    where = argparse.ArgumentParser(add_help=False)
    entry = where.add_mutually_exclusive_group(required=True)
    entry.add_argument("--stack", help="the CloudFormation stack")
    entry.add_argument("--local", action="store_true", help="the running local service")
    parser = argparse.ArgumentParser(prog="organization", description="Export and import an organization's data.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", parents=[where], help="print the id and name of each organization")
    listing.set_defaults(run=_list)
    exporting = commands.add_parser("export", parents=[where], help="write an organization's data to a file")
    exporting.add_argument("organization", metavar="ORGANIZATION_ID")
    exporting.add_argument("--to", type=Path, required=True, metavar="FILE")
    exporting.add_argument("--force", action="store_true", help="replace the file if it exists")
    exporting.set_defaults(run=_export)
    importing = commands.add_parser(
        "import", parents=[where], help="read the data into a stack or local service without this organization"
    )
    importing.add_argument("file", type=Path, metavar="FILE")
    importing.add_argument(
        "--seal-key",
        metavar="KEY",
        help="what the export printed: take the tokens too. The deployment that exported needs none",
    )
    importing.set_defaults(run=_import)
    showing = commands.add_parser(
        "seal-key", parents=[where], help="print the key of a file's seal again, where it was exported"
    )
    showing.add_argument("file", type=Path, metavar="FILE")
    showing.set_defaults(run=_seal_key)
    inviting = commands.add_parser(
        "invite", parents=[where], help="mail a temporary password to members without an account"
    )
    inviting.add_argument("organization", metavar="ORGANIZATION_ID")
    inviting.set_defaults(run=_invite)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
