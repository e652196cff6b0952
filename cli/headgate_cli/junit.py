"""JUnit XML, as GitLab, Jenkins and others read it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from xml.etree import ElementTree

# What XML 1.0 cannot hold, also not as a reference.
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text(content: str) -> str:
    """A text, with a replacement character for each that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", content)


def document(root: ElementTree.Element, counted: Mapping[str, str]) -> bytes:
    """The report. Each suite, and all together, get the number of cases and of the reasons in `counted`, and the time.

    `counted` has the elements of reasons by the attribute that counts them.
    """
    for element in (*root, root):
        for name, tag in {"tests": "testcase", **counted}.items():
            element.set(name, str(sum(1 for _ in element.iter(tag))))
        element.set("time", f"{sum(float(case.get('time', '0')) for case in element.iter('testcase')):.3f}")
    ElementTree.indent(root)
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"
