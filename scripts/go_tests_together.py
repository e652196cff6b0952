"""`python -m scripts.go_tests_together FOLDER`: write the overlay by which one program tests whole collectors.

`go test` links a program for each package. To link the whole collector takes longer than the tests of such a package,
so with `go test -overlay FOLDER/overlay.json` the package internal/linked has the tests of all packages whose tests
import the collector: their test files become files of the packages, and one file calls each test and fuzz target.
The script prints the paths of the other packages, whose tests stay programs of their own.
"""

import json
import re
import sys
from pathlib import Path
from typing import Final

COLLECTOR: Final = Path(__file__).resolve().parents[1] / "layers" / "collector"
MODULE: Final = "github.com/headgate/headgate/layers/collector"
_IMPORTS_THE_COLLECTOR: Final = re.compile(rf'^\s+"{MODULE}/(version/distribution|internal/linked)"$', re.MULTILINE)
_FUNCTION: Final = re.compile(r"^func (Test|Fuzz|Example)(\w*)\(", re.MULTILINE)
_PACKAGE: Final = re.compile(r"^package (\w+)$", re.MULTILINE)
_TYPES: Final = {"Test": "*testing.T", "Fuzz": "*testing.F"}


def main(folder: Path) -> None:
    together, apart = [], []
    for tested in sorted({file.parent for file in COLLECTOR.glob("**/*_test.go")} - {COLLECTOR / "extract"}):
        texts = {file: file.read_text(encoding="utf-8") for file in sorted(tested.glob("*_test.go"))}
        if any(map(_IMPORTS_THE_COLLECTOR.search, texts.values())):
            together.append((tested, texts))
        else:
            apart.append(tested)
    replaced: dict[str, str] = {}
    imports, calls = [], []
    for tested, texts in together:
        for file, text in texts.items():
            (package,) = _PACKAGE.findall(text)[:1]
            # Tests from outside of a package stay a package of their own.
            home = tested / "outside" if package.endswith("_test") else tested
            replaced[str(home / f"{file.stem}ed.go")] = str(file)
            path = home.relative_to(COLLECTOR).as_posix()
            name = path.replace("/", "_")
            for kind, rest in _FUNCTION.findall(text):
                if kind + rest == "TestMain" or kind not in _TYPES:
                    raise SystemExit(f"{file}: {kind}{rest} cannot be called from the tests of another package")
                # A package that has benchmarks only is not imported.
                imports.append(f'\t{name} "{MODULE}/{path}"\n')
                calls.append(f"func {kind}_{name}_{rest}(t {_TYPES[kind]}) {{ {name}.{kind}{rest}(t) }}\n")
    source = ["package linked_test\n\nimport (\n", '\t"testing"\n\n', *sorted(set(imports)), ")\n\n", *calls]
    generated = folder / "together_test.go"
    generated.write_text("".join(source), encoding="utf-8")
    replaced[str(COLLECTOR / "internal" / "linked" / generated.name)] = str(generated)
    (folder / "overlay.json").write_text(json.dumps({"Replace": replaced}), encoding="utf-8")
    for tested in apart:
        print(f"{MODULE}/{tested.relative_to(COLLECTOR).as_posix()}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
