"""Plays a stack's life against moto and prints what each command says: `python -m tests.played`.

A first deployment, an update, one that would lose data, a restore, and the removal. SAM is a stand-in that makes what
the stack holds in moto; docs/operating.md shows the transcript.
"""

import json
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import boto3

from scripts import restore
from tests.contract.test_restore import STACK, put
from tests.support import operators_machine
from tests.support.operators_machine import stack_of_the_template

AT = (datetime.now(UTC) - timedelta(minutes=10)).replace(microsecond=0)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, operators_machine.machine(Path(folder)) as machine:
        machine.has("docker")
        body = stack_of_the_template()
        tables = {name: one for name, one in STACK["Resources"].items() if name.endswith("Table")}
        body["Resources"] |= {name: {**one, "DeletionPolicy": "Retain"} for name, one in tables.items()}
        machine.stack.write_text(json.dumps(body))
        show("A first deployment", machine.make("deploy", given="Acme\nada@example.com\n\ny\n", terminal=True))
        show("An update", machine.make("deploy", "YES=1", "PARAMETERS=FleetLimit=50"))
        refused = json.loads(json.dumps(body))
        del refused["Resources"]["Bucket"]
        refused["Outputs"]["BucketName"]["Value"] = "another"
        machine.stack.write_text(json.dumps(refused))
        show("An update that would lose data", machine.make("deploy", "YES=1"))
        machine.stack.write_text(json.dumps(body))
        show("A restore", restored())
        show("The removal", machine.make("destroy", given="headgate\n"))


def restored() -> subprocess.CompletedProcess[str]:
    """Delete a group after a time, and bring it back."""
    found = restore.pairs("headgate", AT)
    (live,) = [pair.live for pair in found if pair.logical_id == "FleetsTable"]
    put(live, "fleet#1", "group#web", "v1")
    restore.begin(found, AT)
    boto3.client("dynamodb").delete_item(TableName=live, Key={"pk": {"S": "fleet#1"}, "sk": {"S": "group#web"}})
    command = [sys.executable, "-m", "scripts.restore", "--at", f"{AT:%Y-%m-%dT%H:%M:%SZ}"]
    return subprocess.run(command, input="headgate\n", capture_output=True, text=True, check=False)


def show(title: str, done: "subprocess.CompletedProcess[str]") -> None:
    print(f"\n== {title} (exit status {done.returncode})\n{done.stdout}{done.stderr}", flush=True)


if __name__ == "__main__":
    main()
