"""Writes the classes of the OpAMP messages: `make protobuf`.

opamp.proto and anyvalue.proto are those of github.com/open-telemetry/opamp-spec v0.16.0, which opamp-go v0.23.0 and so
the supervisor v0.149.0 are made from, unchanged (Apache-2.0, see their heads).
"""

import re
import sys
from pathlib import Path
from typing import Final

from grpc_tools import protoc

FOLDER: Final = Path(__file__).parents[1] / "shared" / "headgate" / "opamp" / "wire"
NAMES: Final = ("anyvalue", "opamp")
_PACKAGE: Final = "headgate.opamp.wire"


def generate(into: Path) -> None:
    """Write the modules and their types. Raises RuntimeError if the compiler does not take a file."""
    arguments = ["protoc", f"-I{FOLDER}", f"--python_out={into}", f"--pyi_out={into}"]
    if protoc.main([*arguments, *(f"{name}.proto" for name in NAMES)]):
        raise RuntimeError("protoc failed; it says why on standard error")
    for name in NAMES:
        for path in (into / f"{name}_pb2.py", into / f"{name}_pb2.pyi"):
            # The compiler imports a neighbour as if it stood at the top of the path.
            text = re.sub(r"^import (\w+_pb2) as", rf"from {_PACKAGE} import \1 as", path.read_text(), flags=re.M)
            path.write_text(text)


if __name__ == "__main__":
    generate(FOLDER)
    sys.stdout.write(f"Wrote {', '.join(f'{name}_pb2' for name in NAMES)}\n")
