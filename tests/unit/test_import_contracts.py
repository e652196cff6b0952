"""The import contracts of pyproject.toml leave nothing out, and the folders of shared/headgate do not grow together."""

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADGATE = ROOT / "shared" / "headgate"
CONTRACTS = {
    contract["name"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
}
MAX_IMPORTS_BETWEEN_FOLDERS = 118
"""Eight are those of `overview`, which gathers from the others and which nobody imports, eleven those of `captures`,
six those of `usage`, which tells where configurations run.

Lower it when there are fewer; each one more is something that a reader of one folder has to know of another."""


def test_every_function_is_under_the_contracts() -> None:
    folders = {path.relative_to(ROOT / "functions").parts[0] for path in (ROOT / "functions").rglob("*.py")}

    assert set(CONTRACTS["Functions ask services, never stores or clients"]["source_modules"]) == folders
    assert folders <= set(CONTRACTS["The domain knows neither functions nor the local service"]["forbidden_modules"])
    assert folders <= set(CONTRACTS["The command line knows the API and the engine"]["forbidden_modules"])


def test_every_store_is_under_the_contracts() -> None:
    paths = [*HEADGATE.glob("*/*_store.py"), *HEADGATE.glob("*/*/store.py")]
    stores = {".".join(path.relative_to(HEADGATE.parent).with_suffix("").parts) for path in paths}

    for name in (
        "A concept uses another concept's service, never its store",
        "Functions ask services, never stores or clients",
    ):
        forbidden = set(CONTRACTS[name]["forbidden_modules"])
        assert {module for module in forbidden if module.endswith(("_store", ".store"))} - {
            "headgate.*.store"
        } == stores


def test_the_imports_between_folders_grow_no_more() -> None:
    found = {
        (folder, imported)
        for path in HEADGATE.rglob("*.py")
        if (folder := path.relative_to(HEADGATE).with_suffix("").parts[0]) != "__init__"
        for module in imports(path)
        if (imported := module.split(".")[1]) != folder
    }

    assert len(found) <= MAX_IMPORTS_BETWEEN_FOLDERS, sorted(found)


def test_dynamodb_is_called_in_one_module() -> None:
    """The contracts cannot tell which of the clients a module takes from `storage.aws`."""
    sources = [*HEADGATE.rglob("*.py"), *(ROOT / "functions").rglob("*.py"), *(ROOT / "local").rglob("*.py")]
    callers = {
        path.relative_to(HEADGATE)
        for path in sources
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "dynamodb"
    }

    assert callers == {Path("storage/table.py")}


def imports(path: Path) -> set[str]:
    """The modules of headgate that a file imports, `headgate.` first."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "headgate":
            modules |= {f"headgate.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module)
    return {module for module in modules if module.startswith("headgate.")}
