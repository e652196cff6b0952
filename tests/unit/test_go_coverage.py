"""The shares of statements that Go's profiles say are reached."""

from tests.go_coverage import covered

OWN = ["mode: set", "m/a/x.go:1.1,2.2 3 1", "m/a/x.go:3.1,4.2 1 0", "m/b/y.go:1.1,2.2 2 0", "m/c/z.go:1.1,1.1 0 0"]


def test_a_statement_is_reached_if_any_profile_reaches_it() -> None:
    hosts = ["mode: set", "m/a/x.go:1.1,2.2 3 0", "m/a/x.go:3.1,4.2 1 7", ""]

    assert covered([OWN]) == {"m/a": 75, "m/b": 0}
    assert covered([OWN, hosts]) == covered([hosts, OWN]) == {"m/a": 100, "m/b": 0}
