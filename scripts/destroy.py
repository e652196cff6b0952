"""Removes a stack, and says what stays: `make destroy`."""

import argparse
import subprocess
import sys

from headgate_local import template
from scripts import stack
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
    retained = set(template.read().retained())
    kept = [
        f"  {logical_id}: {name} ({kind})"
        for logical_id, kind, name in stack.resources(stage.stack_name)
        if logical_id in retained
    ]
    print(f"This removes the stack {stage.stack_name}, account {account.id}, region {account.region}.")
    print("The service stops; collectors go on with what they have.")
    print("Gone for good: test runs, logs, the runner's images, alarms.")
    print("\n".join(["Kept, and paid for, until you delete them yourself:", *kept]))
    print("A new stack does not take them up again: export your organizations first (docs/backup.md).")
    if input(f"\nType the stack's name to remove it [{stage.stack_name}]: ").strip() != stage.stack_name:
        raise Stop("Nothing was removed.")
    command = [options.sam, "delete", "--stack-name", stage.stack_name, "--region", account.region, "--no-prompts"]
    if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
        raise Stop("`sam delete` failed; what it said is above.")


if __name__ == "__main__":
    sys.exit(main())
