"""Configurations as hosts report them: what one text may cost."""

import tracemalloc

from headgate.opamp import effective


def test_a_text_with_too_many_settings_is_refused_before_a_node_of_it_is_built() -> None:
    text = b"receivers: [" + b"1," * 250_000 + b"]"
    effective.redacted({"": b"receivers: {}"})
    tracemalloc.start()
    try:
        redacted = effective.redacted({"": text})
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert "too many settings" in (redacted.problem or "")
    assert most < 20 << 20


def test_a_text_with_as_many_settings_as_may_be_is_read() -> None:
    # With the list, its name and the mapping.
    text = b"receivers: [" + b"1," * (effective.MOST_NODES - 3) + b"]"

    assert effective.redacted({"": text}).problem is None
    assert effective.redacted({"": text.replace(b"[", b"[1,")}).problem is not None
