"""The local service's start leaves out what it never uses."""

import subprocess
import sys

BEGUN = "from headgate_local import light_imports; light_imports.leave_out_batch(); "


def printed(program: str) -> str:
    """What a process of its own prints: this one may have imported moto's batch already."""
    done = subprocess.run([sys.executable, "-c", BEGUN + program], capture_output=True, text=True, check=True)
    return done.stdout


def test_the_interpreter_of_state_machines_starts_without_ec2() -> None:
    modules = printed("import moto.stepfunctions.parser.models, sys; print(*sys.modules)").split()

    assert "moto.batch.utils" in modules
    assert [name for name in modules if name.startswith("moto.ec2")] == []


def test_aws_batch_itself_can_still_be_asked_for() -> None:
    assert "batch_backends" in printed("import moto.batch; print(*vars(moto.batch))").split()
