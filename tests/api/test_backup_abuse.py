"""Archives that somebody changed: an import writes what belongs to the archive's organization, and nothing else."""

import base64
import gzip
import hashlib
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from configurations.app import router as configurations
from fleets.app import routers as fleets_routers
from headgate.backup import archive, restore, seals
from headgate.fleets import keys as fleet_keys
from headgate.foundation import clock
from headgate.foundation.hashing import hash_of
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.identity import keys, member_store, service_account_store, signing
from headgate.identity.model import Organization, User
from headgate.storage import aws, items
from headgate_local import template
from tests.support.backups import (
    YAML,
    alone,
    ann,
    contents,
    export_to,
    fleet_endpoint,
    forget_everything,
    furnished,
    policies_of,
    quietly,
)
from tests.support.members import API, JoinWith, Member

__all__ = ["alone", "ann", "fleet_endpoint", "furnished"]

pytestmark = pytest.mark.usefixtures("fleet_endpoint")

Entry = dict[str, Any]
PLANTED = "headgate_planted"
VICTIM = new_id("org")
FLEET = new_id("flt")
CONFIGURATION = new_id("cfg")


def entries_of(path: Path) -> list[Entry]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def write(path: Path, entries: list[Entry]) -> None:
    """An archive of these entries with a checksum that fits them, as anybody can compute it."""
    content = b"".join(json.dumps(entry, ensure_ascii=False).encode() + b"\n" for entry in entries)
    seal = {
        "seal": hashlib.sha256(content).hexdigest(),
        "items": sum("table" in entry for entry in entries),
        "objects": sum("object" in entry for entry in entries),
    }
    path.write_bytes(gzip.compress(content + json.dumps(seal).encode() + b"\n", 1))


def forge(path: Path, change: Callable[[list[Entry]], object]) -> None:
    """Change an archive's entries, without the seal and without the organization's own item, which stays the last."""
    *entries, own, _ = entries_of(path)
    change(entries)
    write(path, [*entries, own])


def encoded(attributes: items.Item) -> Entry:
    described: Entry = json.loads(json.dumps(items.marshal(attributes), default=archive.in_base64))
    return described


def item(table: str, **attributes: items.Value) -> Entry:
    return {"table": table, "item": encoded(attributes)}


def of(entries: list[Entry], table: str, start: str) -> Entry:
    """The attributes of the first item of the table whose sort key begins so."""
    sort = {"configurations": "configuration_id", "versions": "item"}.get(table, "sk")
    found: Entry = next(
        entry["item"] for entry in entries if entry.get("table") == table and entry["item"][sort]["S"].startswith(start)
    )
    return found


def token_of(organization_id: str) -> Entry:
    at = clock.rfc3339(clock.now())
    return item(
        "identity",
        **keys.token(hash_of(PLANTED)),
        token_id=new_id("tok"),
        organization_id=organization_id,
        service_account_id=new_id("sva"),
        name="planted",
        access="read_write",
        organization_name="Victim",
        service_account_name="planted",
        created_at=at,
    )


def session(entries: list[Entry]) -> None:
    user = of(entries, "identity", "user")
    entries.append(
        item(
            "identity",
            **keys.session(hash_of(PLANTED)),
            session_id=new_id("ses"),
            user_id=user["user_id"]["S"],
            email=user["email"]["S"],
            user_created_at=user["created_at"]["S"],
            kind="browser",
            created_at=user["created_at"]["S"],
            expires=4_000_000_000,
            expires_at="2096-01-01T00:00:00.000Z",
        )
    )


def planted(entry: Entry) -> Callable[[list[Entry]], None]:
    return lambda entries: entries.append(entry)


def named(key: str, content: bytes = b"{}") -> Callable[[list[Entry]], None]:
    return planted({"object": key, "content": base64.b64encode(content).decode()})


def setting(table: str, start: str, **attributes: items.Value) -> Callable[[list[Entry]], None]:
    return lambda entries: of(entries, table, start).update(encoded(attributes))


def without(start: str, attribute: str) -> Callable[[list[Entry]], None]:
    return lambda entries: of(entries, "fleets", start).pop(attribute)


def with_long_rule(entries: list[Entry]) -> None:
    stored = of(entries, "identity", "policies")
    settings = json.loads(stored["settings"]["S"])
    settings["rules"][0]["expression"] = "x" * 4_001
    stored["settings"] = {"S": json.dumps(settings)}


FORGERIES: dict[str, Callable[[list[Entry]], object]] = {
    "a token of another organization": planted(token_of(VICTIM)),
    "a token that no service account lists": lambda entries: entries.append(
        token_of(of(entries, "identity", "token#")["organization_id"]["S"])
    ),
    "a session": session,
    "a flow of the gallery": named("flows/by-slug/redis.json"),
    "the list of installable files": named("install/manifest.json"),
    "an installable file": named(f"install/{'0' * 64}"),
    "a text under the hash of another": named(f"versions/{'0' * 64}"),
    "an object out of its folder": named("versions/../install/manifest.json"),
    "the signing key": planted(item("identity", **keys.signing_key(), secret=b"0" * 32)),
    "the first organization": planted(item("identity", **keys.first_organization(), organization_id=VICTIM)),
    "a configuration of another organization": setting("configurations", "cfg_", organization_id=VICTIM),
    "a configuration in another one's list": setting("configurations", "cfg_", published=VICTIM),
    "a configuration in another member's list": setting("configurations", "cfg_", own=f"{VICTIM}#{new_id('usr')}"),
    "a version of another configuration": setting("versions", "v#", configuration_id=CONFIGURATION),
    "a version in another one's list": setting("versions", "v#", published_of=CONFIGURATION),
    "a version with a number that is not its key": setting("versions", "v#", n=7),
    "a text that is an object of others": setting("versions", "yaml#", content_key="install/manifest.json"),
    "a text that the archive does not hold": setting("versions", "yaml#", content_key=f"versions/{'1' * 64}"),
    "a fleet of another organization": setting("fleets", "fleet#", organization_id=VICTIM),
    "a fleet under the key of another": setting("fleets", "fleet#", fleet_id=FLEET),
    "a group of another fleet": setting("fleets", "deployment#", fleet_id=FLEET, pk=f"fleet#{FLEET}"),
    "a group that runs what the archive does not hold": setting(
        "fleets", "deployment#", configuration_id=CONFIGURATION
    ),
    "a label of another fleet": setting("fleets", "label#", sk="label#Other"),
    "a fleet token of another fleet": setting("fleets", "token", fleet_id=FLEET),
    "an audit record of another organization": planted(
        item("identity", pk=f"audit#{VICTIM}", sk=f"2026-01-01T00:00:00.000Z#{new_id('aud')}")
    ),
    "a member of another organization": setting("identity", "member#", pk=f"organization#{VICTIM}"),
    "a member who is not among the people": setting(
        "identity", "member#usr_", principal_id=new_id("usr"), sk=f"member#{new_id('usr')}"
    ),
    "a role that does not exist": setting("identity", "member#", role="owner"),
    "policies of another organization": setting("identity", "policies", pk=f"policies#{VICTIM}"),
    "policies that nothing reads": setting("identity", "policies", settings='{"publish_requires": ["surprise"]}'),
    "policies with a rule without end": lambda entries: with_long_rule(entries),
    "policies that no change can follow": setting("identity", "policies", revision=0),
    "sessions that end in the future": setting("identity", "user", sessions_ended_at="2096-01-01T00:00:00.000Z"),
    "a fleet token of the billionth generation": setting("fleets", "fleet#", token_generation=10**9),
    "a group token of the billionth generation": setting("fleets", "deployment#", token_generation=10**9),
    "variables of a group without any": without("env#", "variables"),
    "a group without its volume mounts": without("deployment#", "volume_mounts"),
    "an attribute that nothing reads": setting("identity", "member#", surprise="1"),
    "a number of a billion digits": lambda entries: of(entries, "fleets", "count").update(fleets={"N": "1e999999999"}),
    "a number that is text": lambda entries: of(entries, "fleets", "count").update(fleets={"S": "1"}),
    "a bool where a number belongs": lambda entries: of(entries, "fleets", "count").update(fleets={"BOOL": True}),
    "two values in one attribute": lambda entries: of(entries, "fleets", "count").update(fleets={"N": "1", "S": "1"}),
    "the same item twice": lambda entries: entries.append(entries[-1]),
    "a table that is not exported": planted({"table": "runs", "item": {"run_id": {"S": new_id("run")}}}),
    "an item that is a list": planted({"table": "identity", "item": []}),
    "an entry of neither kind": planted({"surprise": 1}),
}


def without(table: str, start: str, name: str) -> Callable[[list[Entry]], object]:
    return lambda entries: of(entries, table, start).pop(name)


def with_components(entries: list[Entry]) -> None:
    place = fleet_keys.components(of(entries, "fleets", "fleet#")["fleet_id"]["S"])
    entries.append(item("fleets", **place, revision=1, lists={"0" * 64: zlib.compress(b"otlp")}))


def lists(levels: int) -> items.Value:
    return [lists(levels - 1)] if levels else []


REFUSALS: dict[str, tuple[Callable[[list[Entry]], object], str]] = {
    "an audit record without its actor": (without("identity", "20", "actor"), "Audit record: it lacks actor"),
    "a group without its revision": (without("fleets", "deployment#", "revision"), "Deployment: it lacks revision"),
    "two fleets of which one is there": (setting("fleets", "count", fleets=2), "Number of fleets: the archive has"),
    "an Admin who is none": (setting("identity", "member#usr_", role="contributor"), "another number of Admins"),
    "a version without text": (without("versions", "yaml#", "content"), "it has no text, or two"),
    "a version with two texts": (
        setting("versions", "yaml#", content_key=f"versions/{'1' * 64}"),
        "it has no text, or two",
    ),
    "components under the hash of others": (with_components, "a list of components is not named by its hash"),
    "a group that runs version 9": (setting("fleets", "deployment#", version_number=9), "not hold 'version 9 of cfg_"),
    "a token with the id of another": (setting("identity", "token", token_id=new_id("tok")), "not hold 'tok_"),
    "a number of 39 digits": (setting("fleets", "count", fleets=10**38), "an attribute has the type 'N'"),
    "33 lists in each other": (setting("fleets", "count", fleets=lists(33)), "an attribute has the type 'L'"),
}


def test_a_forged_archive_is_refused_with_the_reason(exported: Path, tmp_path: Path) -> None:
    said = {name: outcome_of(change, exported, tmp_path) for name, (change, _) in REFUSALS.items()}

    assert {name: text for name, text in said.items() if REFUSALS[name][1] not in text} == {}


def test_forged_archives_are_refused_before_anything_is_written(exported: Path, tmp_path: Path) -> None:
    before = contents()
    imported = [name for name, change in FORGERIES.items() if outcome_of(change, exported, tmp_path) == "imported"]

    assert imported == []
    assert contents() == before
    assert aws.s3().list_objects_v2(Bucket=settings().bucket)["KeyCount"] == 0


def outcome_of(change: Callable[[list[Entry]], object], exported: Path, folder: Path) -> str:
    path = folder / "forged"
    path.write_bytes(exported.read_bytes())
    forge(path, change)
    try:
        restore.restore(path, quietly)
    except archive.BadArchive as refusal:
        return str(refusal)
    return "imported"


@pytest.fixture
def exported(alone: template.Template, ann: Member, tmp_path: Path) -> Path:
    """An archive, and a deployment that holds nothing."""
    path = tmp_path / "acme.jsonl.gz"
    policies_of(ann)
    export_to(path, ann.organization_id)
    write(path, [entry for entry in entries_of(path)[:-1] if not is_large(entry)])
    forget_everything(alone)
    signing.signing_key.cache_clear()
    signing.signing_key()
    return path


def is_large(entry: Entry) -> bool:
    """What a version has that is slow to read again and again."""
    return "object" in entry or str(entry.get("item", {}).get("item")).endswith("#00000002'}")


def test_another_text_under_the_key_of_an_archived_one_is_in_the_way(exported: Path) -> None:
    there = of(entries_of(exported), "versions", "yaml#") | {"content": {"B": zlib.compress(b"another text")}}
    aws.dynamodb().put_item(TableName=settings().versions_table, Item=there)

    with pytest.raises(restore.InTheWay, match="yaml#"):
        restore.restore(exported, quietly)


def test_without_the_key_of_the_seal_tokens_are_left_out_and_listed(exported: Path, ann: Member) -> None:
    restored = restore.restore(exported, quietly)

    assert sorted(name.split(" (")[0].split("_")[0] for name in restored.left_out) == [
        "token ann's token",
        "token of dep",
        "token of flt",
    ]
    assert ann.http.get(f"{API}/configurations").status_code == 401
    tokens = [one for table in contents().values() for one in table if str(one.get("pk")).startswith("token#")]
    assert len(tokens) == 2  # those that this deployment made for the fleet and its group
    assert not any(str(one.get("sk")).startswith("token#") for one in contents()["identity"])


def test_a_changed_archive_is_refused_with_the_key_of_its_seal(exported: Path, alone: template.Template) -> None:
    before = contents()
    forge(exported, setting("identity", "member#", role="admin"))

    with pytest.raises(seals.OtherSeal):
        restore.restore(exported, quietly, seals.shown(b"k" * 32))
    for text in ("", "seal_", "seal_ü", "k" * 43, seals.shown(b"k" * 31)):
        with pytest.raises(seals.BadSealKey):
            restore.restore(exported, quietly, text)

    assert contents() == before


def test_a_token_that_was_planted_before_the_export_was_sealed_again_is_left_out(exported: Path) -> None:
    forge(exported, lambda entries: plant_listed_token(entries))

    restored = restore.restore(exported, quietly)

    assert any("planted" in name for name in restored.left_out)
    assert service_account_store.caller_of_token(hash_of(PLANTED), clock.now()) is None


def plant_listed_token(entries: list[Entry]) -> None:
    """As the archive's own deployment would list it."""
    listed = of(entries, "identity", "token#")
    organization_id, account = listed["organization_id"]["S"], listed["service_account_id"]["S"]
    planted_token = token_of(organization_id)
    planted_token["item"]["service_account_id"] = {"S": account}
    listing = {
        name: value
        for name, value in planted_token["item"].items()
        if name not in ("organization_name", "service_account_name")
    }
    key = keys.token_listing(organization_id, account, listing["token_id"]["S"])
    listing |= item("identity", **key, value_hash=hash_of(PLANTED))["item"]
    entries += [planted_token, {"table": "identity", "item": listing}]


def test_an_address_of_ones_own_does_not_become_another_persons(exported: Path) -> None:
    path = exported
    victim = User(new_id("usr"), "victim@example.com", clock.now())
    member_store.put_user(victim)
    there = next(entry["item"]["user_id"]["S"] for entry in entries_of(path) if "user_id" in entry.get("item", {}))
    lines = gzip.decompress(path.read_bytes()).decode().replace(there, victim.id).splitlines()
    write(path, [json.loads(line) for line in lines][:-1])

    with pytest.raises(restore.InTheWay):
        restore.restore(path, quietly)

    address = next(entry["item"]["email"]["S"] for entry in entries_of(path) if "email" in entry.get("item", {}))
    assert member_store.user_by_email(address) is None
    assert member_store.memberships(victim.id) == []


def test_what_another_organization_has_under_the_same_id_gets_nothing_of_an_archive(
    alone: template.Template, ann: Member, join: JoinWith, tmp_path: Path
) -> None:
    path = tmp_path / "acme.jsonl.gz"
    member_store.put_organization(Organization(VICTIM, "Victim", clock.now()), None, "active")
    bea = join([configurations, *fleets_routers], "bea", organization_id=VICTIM)
    theirs = {
        "configurations": bea.http.post(f"{API}/configurations", json={"name": "a", "yaml": YAML}).json()["id"],
        "fleets": bea.http.post(f"{API}/fleets", json={"label": "a", "type": "server-supervisor"}).json()["id"],
    }
    for api, their_id in theirs.items():
        export_to(path, ann.organization_id)
        mine = ann.http.get(f"{API}/{api}").json()["items"][0]["id"]
        text = gzip.decompress(path.read_bytes()).decode()
        text = text.replace(mine, their_id).replace(ann.organization_id, new_id("org"))
        write(path, [json.loads(line) for line in text.splitlines()][:-1])
        before = contents()

        with pytest.raises(restore.InTheWay):
            restore.restore(path, quietly)

        assert contents() == before
