"""How much script each page of the console loads."""

import json
import re
from typing import Final

import pytest

from web.assets import FOLDER

# Compressed, as it is sent.
MOST_BYTES: Final = 250_000
_IMPORT: Final = re.compile(r'(?:from|import)\s*"\./([^"]+)"')
MANIFEST: Final = FOLDER / "manifest.json"
PAGES: Final[dict[str, str]] = json.loads(MANIFEST.read_text()) if MANIFEST.exists() else {}


def loaded(file: str, found: set[str]) -> set[str]:
    """The file and all that it imports."""
    if file not in found:
        found.add(file)
        for imported in _IMPORT.findall((FOLDER / file).read_text()):
            loaded(imported, found)
    return found


def size(page: str) -> int:
    """Bytes, packed, of a page's script and of the one that every page has."""
    files = loaded(PAGES["shell"], set()) | loaded(PAGES[page], set())
    return sum((FOLDER / f"{name}.gz").stat().st_size for name in files)


def test_the_console_is_built() -> None:
    assert {"shell", "editor", "compare", "test_run"} <= PAGES.keys()


@pytest.mark.parametrize("page", sorted(PAGES))
def test_a_page_loads_at_most_250_kb_of_script(page: str) -> None:
    assert size(page) <= MOST_BYTES
