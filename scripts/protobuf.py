"""Writes the classes of the OpAMP messages: `make protobuf`.

They are generated from the descriptors in the official client library (github.com/open-telemetry/opamp-go, Apache-2.0,
at the version in tests/opamp_client/go.mod, which the supervisor uses too). It needs Go.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from grpc_tools import protoc

ROOT: Final = Path(__file__).parents[1]
NAMES: Final = ("anyvalue", "opamp")
# A package of its own, in the wheel of the command line and in the layer of the functions.
PACKAGE: Final = "headgate_opamp"
FOLDER: Final = ROOT / "shared" / PACKAGE


def generate(into: Path) -> None:
    """Write the modules of the messages, with types. Raises RuntimeError if the compiler refuses the descriptors."""
    with tempfile.NamedTemporaryFile(suffix=".binpb") as descriptors:
        subprocess.run(
            ["go", "run", "./descriptors"],
            cwd=ROOT / "tests" / "opamp_client",
            env={**os.environ, "GOFLAGS": "-mod=readonly", "GOWORK": "off"},
            stdout=descriptors,
            check=True,
        )
        arguments = [f"--descriptor_set_in={descriptors.name}", f"--python_out={into}", f"--pyi_out={into}"]
        if protoc.main(["protoc", *arguments, *(f"{name}.proto" for name in NAMES)]):
            raise RuntimeError("protoc failed; its error is above")
    for name in NAMES:
        for path in (into / f"{name}_pb2.py", into / f"{name}_pb2.pyi"):
            # The compiler imports the other module as if it were at the top of the path.
            text = re.sub(r"^import (\w+_pb2) as", rf"from {PACKAGE} import \1 as", path.read_text(), flags=re.M)
            path.write_text(text)


if __name__ == "__main__":
    generate(FOLDER)
    sys.stdout.write(f"Wrote {', '.join(f'{name}_pb2' for name in NAMES)}\n")
