"""The folder that `headgate apply` takes: what it holds, and what is refused, with its file, line and way out."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headgate_cli.api import HttpApi
from headgate_cli.apply import wanted
from headgate_cli.apply.carry_fleets import remember
from headgate_cli.apply.found import CredentialOwner, FoundFleet, FoundGroup, ServerContent
from headgate_cli.apply.state import AppliedState, Recorder, SeenConfiguration, StateEntry, digest_of_tests
from headgate_cli.apply.wanted import FolderContent
from headgate_cli.apply.wanted_fleets import FolderAssignment
from headgate_cli.errors import Failed
from headgate_cli.login.credentials import Credential
from headgate_cli.upgrade.targets import files_of_folders

ORGANIZATION = "org_0123456789abcdefghjkmnpq0r"
CFG, FLT, DEP = (f"{kind}_0123456789abcdefghjkmnpq0r" for kind in ("cfg", "flt", "dep"))
CALLER = CredentialOwner(ORGANIZATION, "Shops", "service_account", "sva_1", "contributor", "read_write")
SEAL = HttpApi(Credential("http://127.0.0.1:1", "sv_mine")).seal
YAML = "service:\n  pipelines:\n    logs: {}\n"
TEST = "sample: a line\nrules:\n  - {name: all, condition: 'true'}\n"
FLEET = """\
expires_in: 1y
groups:
  Default:
    configuration: shop
    rollout:
      preset: careful
      canaries: {zone: a}
      gates: {silent: false, restarts: null}
      upgrade_collector: true
  web:
    configuration: web@3
    variables: {ZONE: a}
    secrets: [API_KEY]
  idle: {configuration: null}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = Path("all")
    write(folder, "configurations/shop.yaml", YAML)
    return folder


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def refused(folder: Path) -> str:
    with pytest.raises(Failed) as error:
        wanted.read(folder)
    return error.value.message


def read(folder: Path) -> FolderContent:
    return wanted.read(folder)


def test_a_folder_is_configurations_with_tests_settings_policies_and_fleets(place: Path) -> None:
    write(place, "configurations/shop.tests/checkout.yaml", TEST)
    write(place, "configurations/web.yml", YAML)
    write(place, "apply.yaml", "publish: true\nconfigurations:\n  web: {publish: false, description: Web}\n")
    write(place, "policies.yaml", "severities: {insecure_tls: off}\n")
    write(place, "fleets/edge.yaml", FLEET)
    write(place, "README.md", "# What this is")
    (place / ".git").mkdir()
    found = read(place)
    shop, web, edge = found.configurations["shop"], found.configurations["web"], found.fleets["edge"]

    assert (shop.publish, shop.text, [test.name for test in shop.tests or ()]) == (True, YAML, ["checkout"])
    assert (web.publish, web.description, web.tests) == (False, "Web", None)
    assert found.policies is not None
    assert found.policies.settings["severities"] == {"insecure_tls": "off"}
    assert (edge.type, edge.expires_in) == ("server-supervisor", "1y")
    assert edge.groups["Default"].rollout == {
        "strategy": {"preset": "careful", "canaries": {"zone": "a"}},
        "gates": {"silent": False, "restarts": None},
        "upgrade_collector": True,
    }
    assert edge.groups["web"].assignment == FolderAssignment("web", 3)
    assert (edge.groups["web"].variables, edge.groups["web"].secrets) == ({"ZONE": "a"}, ["API_KEY"])
    assert (edge.groups["idle"].assignment, edge.groups["idle"].clears) == (None, True)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "configurations").mkdir()

    assert "holds nothing to apply: it needs configurations/NAME.yaml" in refused(tmp_path)
    assert "is not a folder" in refused(tmp_path / "none")


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("apply.yaml", "publish: true\npublsh: x\n", "apply.yaml:2: publsh: is not a key here: did you mean publish?"),
        ("apply.yaml", "publish: yes please\n", "apply.yaml:1: publish: must be true or false"),
        ("apply.yaml", "configurations:\n  shp: {}\n", "apply.yaml:2: configurations.shp: there is no file"),
        ("apply.yaml", "collector_version: 0.139\n", "apply.yaml:1: collector_version: must be text, and is a number"),
        ("apply.yaml", "collector_version: latest\n", "'latest' is not a collector version: use X.Y.Z"),
        ("apply.yaml", "- publish\n", "apply.yaml:1: must hold keys with values"),
        ("apply.yaml", "publish: [\n", "apply.yaml:2: column 1:"),
        ("apply.yaml", "publish: true\npublish: false\n", "apply.yaml:2: column 1: publish is given twice"),
        ("fleets/edge.yaml", "groups:\n  'a': {configuration: a}\n  'a ': {}\n", "the name a is there twice"),
        ("fleets/edge.yaml", "type: docker\n", "edge.yaml:1: type: must be server or kubernetes"),
        (
            "fleets/edge.yaml",
            "groups:\n  web:\n    selector: {}\n",
            "edge.yaml:2: groups.web: configuration is missing",
        ),
        (
            "fleets/edge.yaml",
            "groups:\n  web:\n    configuration: a\n    rolout: {}\n",
            "edge.yaml:4: groups.web.rolout: is not a key here: did you mean rollout?",
        ),
        (
            "fleets/edge.yaml",
            "groups:\n  web:\n    configuration: a\n    replicas: 2\n",
            "edge.yaml:4: groups.web.replicas: is for fleets of the type kubernetes: leave it out",
        ),
        (
            "fleets/edge.yaml",
            "groups:\n  web: {configuration: a, rollout: {preset: slow}}\n",
            "groups.web.rollout.preset: must be canary or careful or fast or all_at_once",
        ),
        (
            "fleets/edge.yaml",
            "groups:\n  web: {configuration: a, variables: {A: b}, secrets: [A]}\n",
            "A is among the variables as well",
        ),
        ("fleets/edge.yaml", "type: kubernetes\nexpires_in: 1y\n", "edge.yaml:2: expires_in: is for server fleets"),
        ("policies.yaml", "severity: {}\n", "has the unknown field severity"),
        ("polices.yaml", "{}\n", "polices.yaml:1: is not a file that is applied"),
        ("configuration/a.yaml", YAML, "is not a folder that is applied: did you mean configurations?"),
        ("configurations/shop.yml", YAML, "is about the same name: rename or delete one"),
        ("configurations/ shop.yaml", YAML, "is about the same name: rename or delete one"),
        ("configurations/a\x1b[31m.yaml", YAML, "its name without the ending must be a name of 1 to 200 printable"),
        ("configurations/shop.tests/a.yaml", "sampel: x\n", "a.yaml:1: sampel: is not a field of a test"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(place: Path, file: str, text: str, says: str) -> None:
    write(place, file, text)

    assert says in refused(place)


def test_everything_that_is_wrong_is_told_at_once(place: Path) -> None:
    write(place, "apply.yaml", "a: 1\n")
    write(place, "fleets/edge.yaml", "b: 1\n")
    write(place, "configurations/shop.tests/a.yaml", "c: 1\n")

    assert [name in refused(place) for name in ("apply.yaml:1", "edge.yaml:1", "a.yaml:1")] == [True] * 3


@pytest.mark.parametrize(
    "name",
    ["configurations/a.yaml", "fleets/a.yaml", "policies.yaml", "apply.yaml", "configurations/shop.tests/t.yaml"],
)
def test_no_link_leads_out_of_the_folder(place: Path, name: str) -> None:
    outside = write(Path.cwd(), "outside.yaml", "secret: of somebody\n")
    (place / name).parent.mkdir(exist_ok=True)
    (place / name).symlink_to(outside.resolve())
    said = refused(place)

    assert "is a link that leads out of its folder" in said
    assert "somebody" not in said


def test_no_folder_of_the_folder_leads_out_of_it(place: Path) -> None:
    elsewhere = write(Path.cwd() / "elsewhere", "a.yaml", YAML).parent
    (place / "fleets").symlink_to(elsewhere)

    assert "leads out of its folder" in refused(place)


def test_a_file_that_expands_is_refused(place: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    write(place, "fleets/edge.yaml", "\n".join(lines))

    assert "has more than 100,000 values" in refused(place)


def test_a_file_over_a_megabyte_is_refused(place: Path) -> None:
    write(place, "configurations/big.yaml", "#" * 1_048_577)

    assert "is over 1 MB" in refused(place)


def test_a_state_is_read_as_it_was_written(place: Path) -> None:
    entry = StateEntry(CFG, created=True, seen=SeenConfiguration(2, "2026-11-22T10:00:00.000Z", "a", "b", "0.139.0"))
    recorder = Recorder(place, ORGANIZATION, SEAL)
    recorder.set("configurations", "shop", entry)
    recorder.set("groups", f"{FLT}/web", StateEntry("", created=True))
    recorder.set("groups", f"{FLT}/web", None)
    again = Recorder(place, ORGANIZATION, SEAL).state

    assert (again.configurations, again.fleets, again.groups) == ({"shop": entry}, {}, {})


def test_tests_that_were_applied_and_are_gone_from_the_folder_are_wanted_no_longer(place: Path) -> None:
    applied = StateEntry(CFG, created=True, seen=SeenConfiguration(1, tests=digest_of_tests({"checkout": "a"})))
    never = replace(applied, seen=SeenConfiguration(1, tests=digest_of_tests({})))

    assert AppliedState({"shop": applied}).managing(read(place)).configurations["shop"].tests == ()
    assert AppliedState({"shop": never}).managing(read(place)).configurations["shop"].tests is None
    assert AppliedState().managing(read(place)).configurations["shop"].tests is None


def test_what_was_created_when_the_answer_was_lost_is_recorded_by_the_next_apply(place: Path) -> None:
    recorder = Recorder(place, ORGANIZATION, SEAL)
    for kind, key in (("fleets", "edge"), ("fleets", "gone"), ("groups", f"{FLT}/web"), ("groups", f"{FLT}/gone")):
        recorder.set(kind, key, StateEntry("", created=True))
    web = FoundGroup(DEP, "web", False, CFG, 1, "", CALLER.mark)
    edge = FoundFleet(FLT, "edge", "server-supervisor", "never", {"web": web}, CALLER.mark)
    remember(recorder, read(place), ServerContent(CALLER, fleets={"edge": edge}))

    assert recorder.state.fleets == {"edge": StateEntry(FLT, created=True)}
    assert recorder.state.groups == {f"{FLT}/web": StateEntry(DEP, created=True)}


def test_an_entry_without_an_id_does_not_make_somebody_elses_fleet_and_group_an_applys(place: Path) -> None:
    recorder = Recorder(place, ORGANIZATION, SEAL)
    for kind, key in (("fleets", "edge"), ("groups", f"{FLT}/web")):
        recorder.set(kind, key, StateEntry("", created=True))
    web = FoundGroup(DEP, "web", False, CFG, 1, "", "")
    edge = FoundFleet(FLT, "edge", "server-supervisor", "never", {"web": web}, "headgate apply sva_2")
    remember(recorder, read(place), ServerContent(CALLER, fleets={"edge": edge}))

    assert (recorder.state.fleets, recorder.state.groups) == ({}, {})


@pytest.mark.parametrize("content", ["{", "[]", '{"configurations": {}}', '{"configurations": []}', "null"])
def test_a_state_that_is_none_is_refused(place: Path, content: str) -> None:
    write(place, f".headgate/{ORGANIZATION}.json", content)

    with pytest.raises(Failed, match="is not a state of headgate apply"):
        Recorder(place, ORGANIZATION, SEAL)


@pytest.mark.parametrize(
    ("kind", "name", "entry", "says"),
    [
        ("configurations", "a", {"id": "../x", "created": True}, "configurations.a.id: '../x' is not an id"),
        ("configurations", "a", {"id": FLT, "created": True}, "is not an id that begins with cfg_"),
        ("fleets", "a", {"id": CFG, "created": True}, f"fleets.a.id: '{CFG}' is not an id that begins with flt_"),
        ("groups", f"{FLT}/a", {"id": FLT, "created": True}, "is not an id that begins with dep_"),
        ("fleets", "a", {"id": FLT + "0", "created": True}, "is not an id that begins with flt_"),
        ("fleets", "a", {"id": FLT + "\n", "created": True}, "is not an id that begins with flt_"),
        ("fleets", "a", {"id": 1, "created": True}, "fleets.a.id: 1 is not an id"),
        ("fleets", "a", {"created": True}, "fleets.a.id: None is not an id"),
        ("fleets", "a", {"id": "", "created": False}, "fleets.a.created:"),
        ("fleets", "a", {"id": FLT, "created": "yes"}, "fleets.a.created:"),
        ("fleets", "a", None, "is not a state of headgate apply"),
        ("configurations", "a", {"id": CFG, "created": True, "seen": []}, "configurations.a.seen:"),
        ("configurations", "a\n", {"id": CFG, "created": True}, "cannot be the name of an entry"),
        ("groups", "edge/a", {"id": DEP, "created": True}, "groups.edge/a: this cannot be the name of an entry"),
    ],
)
def test_an_entry_that_no_apply_writes_is_refused_with_its_place(
    place: Path, kind: str, name: str, entry: object, says: str
) -> None:
    content: dict[str, object] = {"configurations": {}, "fleets": {}, "groups": {}, kind: {name: entry}}
    write(place, f".headgate/{ORGANIZATION}.json", json.dumps(content))

    with pytest.raises(Failed) as refused:
        Recorder(place, ORGANIZATION, SEAL)
    assert says in refused.value.message
    assert f".headgate/{ORGANIZATION}.json" in refused.value.message


def test_each_folder_has_an_id_of_its_own_that_the_server_is_not_told(place: Path, tmp_path: Path) -> None:
    recorder, other = Recorder(place, ORGANIZATION, SEAL), Recorder(tmp_path, ORGANIZATION, SEAL)
    recorder.set("configurations", "shop", StateEntry(CFG, created=True))
    file = place / ".headgate" / f"{ORGANIZATION}.json"

    assert Recorder(place, ORGANIZATION, SEAL).folder == recorder.folder != other.folder
    assert recorder.folder not in file.read_text()
    for forged in ("", recorder.folder, 1, None):
        file.write_text(json.dumps({**json.loads(file.read_text()), "folder": forged}))
        with pytest.raises(Failed, match="folder: this is not the id of a folder"):
            Recorder(place, ORGANIZATION, SEAL)


def recorded(place: Path) -> tuple[Path, dict[str, Any]]:
    """The file of a state in which a configuration is seen, and what it holds."""
    seen = SeenConfiguration(2, "2026-11-22T10:00:00.000Z", "a", "b", "0.139.0")
    Recorder(place, ORGANIZATION, SEAL).set("configurations", "shop", StateEntry(CFG, created=True, seen=seen))
    file = place / ".headgate" / f"{ORGANIZATION}.json"
    return file, json.loads(file.read_text())


@pytest.mark.parametrize(
    ("field", "forged"),
    [
        ("updated_at", "2026-11-22T10:00:00.001Z"),
        ("sha256", "c"),
        ("tests", "c"),
        ("version", 3),
        ("collector_version", "0.158.0"),
        ("seal", ""),
        ("seal", "\u00e9"),
    ],
)
def test_what_somebody_wrote_into_the_state_does_not_count_as_seen(place: Path, field: str, forged: object) -> None:
    file, content = recorded(place)
    content["configurations"]["shop"]["seen"][field] = forged
    file.write_text(json.dumps(content))
    entry = Recorder(place, ORGANIZATION, SEAL).state.configurations["shop"]

    assert entry == StateEntry(CFG, created=True)


def test_a_seal_is_for_one_entry_of_one_organization_and_one_credential(place: Path) -> None:
    file, content = recorded(place)
    another = f"{ORGANIZATION[:-1]}s"
    file.with_name(f"{another}.json").write_text(file.read_text())
    content["configurations"]["web"] = content["configurations"]["shop"]
    file.write_text(json.dumps(content))
    mine = Recorder(place, ORGANIZATION, SEAL).state.configurations
    theirs = Recorder(place, another, SEAL).state.configurations
    of_another = HttpApi(Credential("http://127.0.0.1:1", "sv_theirs")).seal

    assert [mine[name].seen.updated_at for name in ("shop", "web")] == ["2026-11-22T10:00:00.000Z", ""]
    assert theirs["shop"].seen.updated_at == ""
    assert Recorder(place, ORGANIZATION, of_another).state.configurations["shop"].seen.updated_at == ""
    # Without a credential there is nothing to seal with, so that nothing counts.
    assert Recorder(place, ORGANIZATION, lambda _: "").state.configurations["shop"].seen.updated_at == ""
    refreshed = Recorder(place, ORGANIZATION, SEAL, refreshes=True).state.configurations["shop"].seen
    assert (refreshed.updated_at, refreshed.tests) == ("", "b")


def test_tests_that_the_state_alone_says_were_applied_stay(place: Path) -> None:
    file, content = recorded(place)
    content["configurations"]["shop"]["seen"]["tests"] = "c"
    file.write_text(json.dumps(content))
    recorder = Recorder(place, ORGANIZATION, SEAL)

    assert recorder.state.managing(read(place)).configurations["shop"].tests is None
    assert recorder.unproven == ["shop"]


def test_the_state_holds_no_credential(place: Path) -> None:
    file, _ = recorded(place)

    assert "sv_mine" not in file.read_text()


def test_a_state_is_not_written_through_a_link(place: Path) -> None:
    elsewhere = Path.cwd() / "elsewhere"
    elsewhere.mkdir()
    (place / ".headgate").symlink_to(elsewhere)

    with pytest.raises(Failed, match="leads out of its folder"):
        Recorder(place, ORGANIZATION, SEAL)
    assert list(elsewhere.iterdir()) == []


def test_commands_that_take_folders_find_the_configurations_of_one_that_is_applied(tmp_path: Path) -> None:
    (tmp_path / "configurations").mkdir()
    for file in ("apply.yaml", "policies.yaml", "configurations/shop.yaml"):
        (tmp_path / file).write_text(YAML)
    assert files_of_folders([str(tmp_path)]) == [str(tmp_path / "configurations" / "shop.yaml")]

    (tmp_path / "edge.yaml").write_text(YAML)
    assert str(tmp_path / "edge.yaml") in files_of_folders([str(tmp_path)])
