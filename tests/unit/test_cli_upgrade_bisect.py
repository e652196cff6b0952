"""`headgate upgrade bisect` against a server that answers what a test wants: the versions asked, and the result."""

import json

import pytest

from tests.support.answering import Answer, Server
from tests.support.upgrade_reports import FINDING, Upgrade, asked

INSTALLED = ["0.158.0", "0.150.0", "0.145.0", "0.140.0", "0.139.0"]


def bisecting(
    server: Server, refuse: list[str], lack: list[str], installed: list[str] = INSTALLED, **more: object
) -> list[str]:
    """Versions that refuse the text or lack a component. Returns the list of the versions that are asked."""
    tried: list[str] = []

    def answer(path: str) -> Answer:
        if path.startswith("GET"):
            return 200, {}, {"items": [{"version": one} for one in installed], "next_cursor": None}
        version = json.loads(server.requests[-1][2])["version"]
        tried.append(version)
        if version in lack:
            return 503, {}, {"detail": f"{version} lacks the receiver tail", "code": "component_not_in_build"}
        errors = [FINDING] if version in refuse else []
        return 200, {}, {"valid": not errors, "errors": errors, "warnings": [], **more}

    server.answering = answer
    return tried


@pytest.mark.parametrize("first", range(1, 5))
def test_bisect_names_the_first_version_that_breaks_it(server: Server, upgrade: Upgrade, first: int) -> None:
    oldest_first = INSTALLED[::-1]
    tried = bisecting(server, refuse=oldest_first[first:], lack=[])
    code, out, _ = upgrade("bisect a.yaml")

    assert code == 1
    assert out.splitlines()[0] == f"a.yaml: {oldest_first[first]} is the first installed version that breaks it"
    assert "error: no such file [invalid_value]" in out
    assert len(tried) == len(set(tried)) <= 4


def test_bisect_of_a_file_that_no_version_breaks(server: Server, upgrade: Upgrade) -> None:
    bisecting(server, refuse=[], lack=[])
    code, out, _ = upgrade("bisect a.yaml")

    assert (code, out) == (0, "a.yaml: no installed version up to 0.158.0 breaks it\n")


def test_what_only_the_host_decides_breaks_nothing(server: Server, upgrade: Upgrade) -> None:
    on_host = FINDING | {"code": "depends_on_host"}

    def answer(path: str) -> Answer:
        if path.startswith("GET"):
            return 200, {}, {"items": [{"version": one} for one in INSTALLED], "next_cursor": None}
        errors = [on_host, FINDING] if b"0.158.0" in server.requests[-1][2] else [on_host]
        return 200, {}, {"valid": False, "valid_on_host": len(errors) < 2, "errors": errors, "warnings": []}

    server.answering = answer
    code, out, err = upgrade("bisect a.yaml")

    assert (code, "0.139.0: valid\n" in err) == (1, True)
    assert out.startswith("a.yaml: 0.158.0 is the first installed version that breaks it\n")
    assert (out.count("[invalid_value]"), "depends_on_host" in out) == (1, False)


def test_a_configuration_inside_of_another_text_is_searched_alone(server: Server, upgrade: Upgrade) -> None:
    bisecting(server, refuse=INSTALLED, lack=[], wrapped={"path": "data.relay"})
    code, _, err = upgrade("bisect a.yaml")

    assert code == 1
    assert "the configuration is under data.relay: take it out with `headgate config import`" in err


def test_versions_that_could_not_check_it_are_said_to_be_skipped(server: Server, upgrade: Upgrade) -> None:
    bisecting(server, refuse=["0.158.0"], lack=["0.139.0", "0.150.0"])
    code, out, err = upgrade("bisect a.yaml")

    assert code == 1
    assert "0.158.0 breaks it; it may be one of the skipped versions before it: 0.150.0" in out
    assert "0.139.0: skipped: 0.139.0 lacks the receiver tail" in err


@pytest.mark.parametrize(("lack", "last"), [(["0.158.0", "0.150.0"], "0.145.0"), (INSTALLED[:-1], "0.139.0")])
def test_bisect_does_not_pass_if_the_newest_could_not_check_it(
    server: Server, upgrade: Upgrade, lack: list[str], last: str
) -> None:
    bisecting(server, refuse=[], lack=lack)
    code, out, _ = upgrade("bisect a.yaml")

    skipped = ", ".join(lack[::-1])
    assert code == 1
    assert out == (
        f"a.yaml: no installed version up to {last} breaks it; the newer ones could not check it: {skipped}\n"
    )


def test_bisect_passes_if_only_older_versions_could_not_check_it(server: Server, upgrade: Upgrade) -> None:
    bisecting(server, refuse=[], lack=["0.139.0", "0.150.0"])

    assert upgrade("bisect a.yaml")[0] == 0


def test_if_no_version_can_check_it_there_is_no_answer(server: Server, upgrade: Upgrade) -> None:
    bisecting(server, refuse=[], lack=INSTALLED)
    code, out, err = upgrade("bisect a.yaml")

    assert (code, out) == (1, "")
    assert "no installed version could check a.yaml" in err


def test_a_file_that_the_oldest_refuses_is_not_searched(server: Server, upgrade: Upgrade) -> None:
    tried = bisecting(server, refuse=INSTALLED, lack=[])
    code, _, err = upgrade("bisect a.yaml --good 0.140.0")

    assert (code, tried) == (1, ["0.140.0"])
    assert "a.yaml is invalid on 0.140.0 already" in err


def test_bisect_as_json(server: Server, upgrade: Upgrade) -> None:
    bisecting(server, refuse=["0.150.0", "0.158.0"], lack=["0.145.0"])
    code, out, _ = upgrade("bisect a.yaml --json --good 0.140.0")

    assert code == 1
    assert json.loads(out) == {
        "file": "a.yaml",
        "first_invalid": "0.150.0",
        "skipped": [{"version": "0.145.0", "reason": "0.145.0 lacks the receiver tail"}],
        "errors": [FINDING],
    }


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--good 0.100.0", "collector 0.100.0 is not installed on the server; installed: 0.139.0, 0.140.0"),
        ("--good 0.158.0", "there are not two installed versions to search"),
    ],
)
def test_bisect_needs_two_installed_versions(server: Server, upgrade: Upgrade, line: str, said: str) -> None:
    tried = bisecting(server, refuse=[], lack=[])
    code, _, err = upgrade(f"bisect a.yaml {line}")

    assert (code, tried) == (1, [])
    assert said in err


def test_a_version_of_many_digits_is_not_taken_for_one(server: Server, upgrade: Upgrade) -> None:
    tried = bisecting(server, refuse=[], lack=[], installed=[f"{'9' * 5000}.0.0", "0.158.0"])
    code, _, err = upgrade("bisect a.yaml")

    assert (code, tried) == (1, [])
    assert "is not a collector version: is it a Headgate server?" in err


def test_bisect_validates_with_the_values_of_variables(server: Server, upgrade: Upgrade) -> None:
    bisecting(server, refuse=["0.140.0"], lack=[])
    upgrade("bisect a.yaml --env PASSWORD=x")

    bodies = asked(server, "/validate")
    assert bodies
    assert all(body["env"] == {"PASSWORD": "x"} for body in bodies)
