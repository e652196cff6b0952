"""Removes a stack, after listing what remains: `make destroy`."""

import argparse
import sys

from headgate_local import template
from scripts import protection, stack
from scripts.stack import ROOT


def main() -> int:
    parser = argparse.ArgumentParser(description="Remove a stack of the service.")
    parser.add_argument("--sam", default=str(ROOT / ".venv-sam" / "bin" / "sam"), help="the SAM command")
    return stack.command(parser, _destroy, "Nothing was removed.")


def _destroy(options: argparse.Namespace) -> None:
    name, account = stack.existing(options.stage)
    retained = set(template.read().holding_data())
    remaining = [
        f"  {logical_id}: {physical_id} ({kind})"
        for logical_id, kind, physical_id in stack.resources(name)
        if logical_id in retained
    ]
    print(f"This removes the stack {name}, account {account.id}, region {account.region}.")
    print("The service stops. Collectors keep the configuration that they have.")
    print("Test runs, the runner's images and alarms are deleted and cannot be restored. Logs stay until they expire.")
    print("\n".join(["These resources remain, and cost money, until you delete them yourself:", *remaining]))
    print("A new stack does not use them: export your organizations first (docs/backup.md).")
    stack.require_name(name, "remove it", "Nothing was removed.")
    protection.allow_deletion(name)
    command = [options.sam, "delete", "--stack-name", name, "--region", account.region, "--no-prompts"]
    stack.run(command, "`sam delete` failed; its error is above.")


if __name__ == "__main__":
    sys.exit(main())
