"""The local service's start leaves out what it never uses."""

import subprocess
import sys

PROGRAM = """
import sys
from headgate_local import light_imports
light_imports.leave_out_batch()
import moto.stepfunctions.parser.models
print(*sys.modules)
import moto.batch
print(*vars(moto.batch))
"""


def test_the_interpreter_of_state_machines_starts_without_ec2_and_aws_batch_can_still_be_asked_for() -> None:
    # In a process of its own: this one may have imported moto's batch already.
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    modules, batch = (line.split() for line in done.stdout.splitlines())

    assert "moto.batch.utils" in modules
    assert [name for name in modules if name.startswith("moto.ec2")] == []
    assert "batch_backends" in batch
