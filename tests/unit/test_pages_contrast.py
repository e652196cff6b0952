"""The colours of the pages, as WCAG 2.2 measures them: 4.5 to 1 for text, 3 to 1 for the edge of a field."""

import re

import pytest

from tests.support.service import ROOT

STYLE = (ROOT / "functions" / "application" / "style.css").read_text()
_BOTH = re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", STYLE)
LIGHT, DARK = ({name: colours[at] for name, *colours in _BOTH} for at in (0, 1))
STATES = ("good", "bad", "warn", "busy", "silent")
CODE = ("key", "string", "number", "keyword", "function")
TEXT = [
    *((ink, ground) for ink in ("ink", "soft", "accent") for ground in ("paper", "ground", "side")),
    *((state, ground) for state in STATES for ground in ("paper", "hover", f"{state}-ground")),
    ("ink", "selection"),
    ("accent-ink", "accent"),
    *((ink, ground) for ink in ("ink", "soft") for ground in ("ground", "hover")),
    *((f"code-{word}", ground) for word in CODE for ground in ("paper", "hover")),
]


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * one for one in colour[1:])
    channels = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("ink", "ground"), TEXT)
def test_text_stands_out_from_what_it_is_on(colours: dict[str, str], ink: str, ground: str) -> None:
    assert contrast(colours[ink], colours[ground]) >= 4.5


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("edge", ["soft", "bad"])
def test_the_edge_of_a_field_can_be_seen(colours: dict[str, str], edge: str) -> None:
    assert contrast(colours[edge], colours["paper"]) >= 3


def test_black_on_white_is_21_to_1() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)
