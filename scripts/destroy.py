"""Removes a stack, after listing what remains: `make destroy`."""

import argparse
import sys

from headgate_local import template
from scripts import protection, stack
from scripts.stack import ROOT, Stop


def main() -> int:
    parser = argparse.ArgumentParser(description="Remove a stack of the service.")
    parser.add_argument("--stage", default="prod", help="a stage of samconfig.toml")
    parser.add_argument("--sam", default=str(ROOT / ".venv-sam" / "bin" / "sam"), help="the SAM command")
    options = parser.parse_args()
    try:
        _destroy(options)
    except Stop as reason:
        print(f"\n{reason}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, EOFError):
        print("\nNothing was removed.", file=sys.stderr)
        return 130
    return 0


def _destroy(options: argparse.Namespace) -> None:
    stage = stack.stage(options.stage)
    account = stack.account()
    if stack.find(stage.stack_name) is None:
        raise Stop(f"There is no stack {stage.stack_name} in account {account.id}, region {account.region}.")
    retained = set(template.read().holding_data())
    remaining = [
        f"  {logical_id}: {name} ({kind})"
        for logical_id, kind, name in stack.resources(stage.stack_name)
        if logical_id in retained
    ]
    print(f"This removes the stack {stage.stack_name}, account {account.id}, region {account.region}.")
    print("The service stops. Collectors keep the configuration that they have.")
    print("Test runs, the runner's images and alarms are deleted and cannot be restored. Logs stay until they expire.")
    print("\n".join(["These resources remain, and cost money, until you delete them yourself:", *remaining]))
    print("A new stack does not use them: export your organizations first (docs/backup.md).")
    if input(f"\nType the stack's name to remove it [{stage.stack_name}]: ").strip() != stage.stack_name:
        raise Stop("Nothing was removed.")
    protection.allow_deletion(stage.stack_name)
    command = [options.sam, "delete", "--stack-name", stage.stack_name, "--region", account.region, "--no-prompts"]
    stack.run(command, "`sam delete` failed; its error is above.")


if __name__ == "__main__":
    sys.exit(main())
