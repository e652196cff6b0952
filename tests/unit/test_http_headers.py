"""What a request's headers accept, and which document it has already."""

import pytest

from headgate.http.parameters import accepts_gzip, matches


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        (None, False),
        ("", False),
        ("gzip", True),
        ("GZIP", True),
        ("deflate, gzip;q=1.0, *;q=0.5", True),
        ("br;q=1.0, gzip;q=0.001", True),
        ("x-gzip", True),
        ("*", True),
        ("*;q=0", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("identity", False),
        ("br, zstd", False),
        ("gzip;q=many", False),
        ("gzip;q=nan", False),
        ("notgzip", False),
    ],
)
def test_gzip_is_sent_to_who_accepts_it(header: str | None, accepted: bool) -> None:
    assert accepts_gzip(header) is accepted


@pytest.mark.parametrize(
    ("header", "matched"),
    [
        (None, False),
        ('"a"', True),
        ('W/"a"', True),
        ('"b", "a"', True),
        ("*", True),
        ('"b"', False),
        ("a", False),
        ('"a', False),
        ('"*"', False),
    ],
)
def test_the_tag_of_the_clients_document_is_compared(header: str | None, matched: bool) -> None:
    assert matches(header, '"a"') is matched
