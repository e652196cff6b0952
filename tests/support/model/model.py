"""The specification as a small program in memory: what each operation has to answer, and what becomes of the state.

`Model.step` takes an operation with the answer that the service gave. It raises Mismatch if the specification does not
allow that answer in this state; otherwise the model goes on to the state after it.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Actor = Literal["ann", "bob", "reader", "admin"]
# `reader` is a read-only token of ann's service account: the same principal, without write access.
PRINCIPAL: Final[Mapping[Actor, str]] = {"ann": "ann", "reader": "ann", "bob": "bob", "admin": "admin"}


class Mismatch(Exception):
    """The service answered what the specification does not allow."""


@dataclass(frozen=True)
class Operation:
    """What is asked, by whom. `args` are those of the method of the same name of `Model`."""

    kind: str
    actor: Actor
    args: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any
    etag: str | None = None


@dataclass
class Version:
    by: str
    yaml: str
    status: str = "draft"
    revision: int = 1
    rules: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class Configuration:
    owner: str
    name: str
    versions: list[Version]

    @property
    def published(self) -> int | None:
        return max((n for n, one in enumerate(self.versions, 1) if one.status == "published"), default=None)


@dataclass
class Group:
    name: str
    assigned: tuple[str, int] | None


@dataclass
class Fleet:
    label: str
    groups: dict[str, Group]


@dataclass
class Model:
    fleet_limit: int
    configurations: dict[str, Configuration] = field(default_factory=dict)
    fleets: dict[str, Fleet] = field(default_factory=dict)
    tokens: dict[str, bool] = field(default_factory=dict)

    def after(self, operation: Operation, answer: Answer) -> "Model":
        """A copy that has gone on. Raises Mismatch."""
        found = copy.deepcopy(self)
        found.step(operation, answer)
        return found

    def step(self, operation: Operation, answer: Answer) -> None:
        """Raises Mismatch."""
        getattr(self, operation.kind)(operation.actor, answer, *operation.args)

    # Configurations and versions

    def create(self, actor: Actor, answer: Answer, name: str, yaml: str) -> None:
        if self._refused(actor, answer):
            return
        expect(answer, 201, {"name": name, "yaml": yaml, "latest_version": 1, "published_version": None})
        made = answer.body["id"]
        same(made in self.configurations, False, "an id is given once")
        self.configurations[made] = Configuration(PRINCIPAL[actor], name, [Version(PRINCIPAL[actor], yaml)])

    def get(self, actor: Actor, answer: Answer, configuration_id: str) -> None:
        """The configuration itself; its text is `text_of_latest`, another read."""
        found = self._visible(actor, configuration_id)
        if found is None:
            expect(answer, 404)
            return
        latest = len(found.versions) if found.owner == PRINCIPAL[actor] else found.published
        expect(answer, 200, {"name": found.name, "latest_version": latest, "published_version": found.published})

    def text_of_latest(self, actor: Actor, answer: Answer, configuration_id: str) -> None:
        if answer.status == 200:
            n = answer.body["latest_version"]
            same(answer.body["yaml"], self.configurations[configuration_id].versions[n - 1].yaml, "its text")

    def rename(self, actor: Actor, answer: Answer, configuration_id: str, name: str) -> None:
        found = self._changeable(actor, answer, configuration_id)
        if found is not None:
            found.name = name
            expect(answer, 200, {"name": name, "published_version": found.published})

    def append(self, actor: Actor, answer: Answer, configuration_id: str, yaml: str) -> None:
        found = self._changeable(actor, answer, configuration_id)
        if found is not None:
            found.versions.append(Version(PRINCIPAL[actor], yaml))
            expect(answer, 201, {"n": len(found.versions), "status": "draft", "yaml": yaml})

    def read(self, actor: Actor, answer: Answer, configuration_id: str, n: int) -> None:
        found = self._version(actor, configuration_id, n)
        if found is None:
            expect(answer, 404)
            return
        expect(answer, 200, {"n": n, "status": found.status, "yaml": found.yaml})
        same(answer.etag, f'"{n}-{found.revision}"', "ETag")

    def edit(
        self, actor: Actor, answer: Answer, configuration_id: str, n: int, yaml: str, if_match: str | None
    ) -> None:
        found = self._changeable_version(actor, answer, configuration_id, n)
        if found is None:
            return
        if if_match is not None and if_match != f'"{n}-{found.revision}"':
            expect(answer, 412)
        elif found.status == "published":
            expect(answer, 409)
        else:
            found.yaml = yaml
            found.revision += 1
            expect(answer, 200, {"n": n, "status": "draft", "yaml": yaml})
            same(answer.etag, f'"{n}-{found.revision}"', "ETag")

    def publish(self, actor: Actor, answer: Answer, configuration_id: str, n: int) -> None:
        found = self._changeable_version(actor, answer, configuration_id, n)
        if found is None:
            return
        if found.status == "draft":
            found.status = "published"
            found.revision += 1
        expect(answer, 200, {"n": n, "status": "published", "yaml": found.yaml})
        same(answer.etag, f'"{n}-{found.revision}"', "ETag")

    def versions(self, actor: Actor, answer: Answer, configuration_id: str) -> None:
        found = self._visible(actor, configuration_id)
        if found is None:
            expect(answer, 404)
            return
        own = found.owner == PRINCIPAL[actor]
        seen = [(n, one.status) for n, one in enumerate(found.versions, 1) if own or one.status == "published"]
        expect(answer, 200)
        same([(one["n"], one["status"]) for one in answer.body["items"]], seen[::-1], "the versions, newest first")

    def configurations_of(self, actor: Actor, answer: Answer) -> None:
        """The list, in one page."""
        expect(answer, 200)
        seen = {key for key in self.configurations if self._visible(actor, key) is not None}
        items = answer.body["items"]
        same({one["id"] for one in items}, seen, "the configurations that the caller sees")
        order = [(one["updated_at"], one["id"]) for one in items]
        same(order, sorted(order, reverse=True), "most recently updated first")

    # Rules

    def save_rules(
        self, actor: Actor, answer: Answer, configuration_id: str, n: int, pipeline: str, names: Sequence[str]
    ) -> None:
        found = self._changeable_version(actor, answer, configuration_id, n)
        if found is not None:
            found.rules[pipeline] = list(names)
            expect(answer, 200)
            same([one["name"] for one in answer.body["rules"]], list(names), "the rules")

    def rules(self, actor: Actor, answer: Answer, configuration_id: str, n: int) -> None:
        found = self._version(actor, configuration_id, n)
        if found is None:
            expect(answer, 404)
            return
        expect(answer, 200)
        seen = {one["pipeline"]: [rule["name"] for rule in one["rules"]] for one in answer.body["items"]}
        same(seen, found.rules, "the rules by pipeline")

    # Fleets and deployments

    def create_fleet(self, actor: Actor, answer: Answer, label: str) -> None:
        if self._refused(actor, answer):
            return
        if any(one.label == label for one in self.fleets.values()):
            expect(answer, 409)
        elif len(self.fleets) >= self.fleet_limit:
            expect(answer, 403)
        else:
            expect(answer, 201, {"label": label})
            self.fleets[answer.body["id"]] = Fleet(label, {})

    def fleets_of(self, actor: Actor, answer: Answer) -> None:
        expect(answer, 200)
        seen = [(one["id"], one["label"]) for one in answer.body["items"]]
        same(seen, [(key, self.fleets[key].label) for key in sorted(self.fleets, reverse=True)], "newest first")

    def add_group(self, actor: Actor, answer: Answer, fleet_id: str, name: str, configuration_id: str, n: int) -> None:
        if self._refused(actor, answer):
            return
        version = self._version(actor, configuration_id, n)
        if version is None:
            expect(answer, 404)
        elif version.status != "published":
            expect(answer, 422)
        elif self._name_taken(fleet_id, name):
            expect(answer, 409)
        else:
            expect(answer, 201, {"name": name, "configuration_id": configuration_id, "version_number": n})
            self.fleets[fleet_id].groups[answer.body["id"]] = Group(name, (configuration_id, n))

    def change_group(
        self, actor: Actor, answer: Answer, fleet_id: str, group_id: str, changes: Mapping[str, Any]
    ) -> None:
        if self._refused(actor, answer):
            return
        group = self.fleets[fleet_id].groups[group_id]
        assigned = group.assigned
        if "configuration_id" in changes:
            configuration_id = changes["configuration_id"]
            assigned = None
            if configuration_id is not None:
                found = self._visible(actor, configuration_id)
                if found is None:
                    expect(answer, 404)
                    return
                if found.published is None:
                    expect(answer, 422)
                    return
                assigned = (configuration_id, found.published)
        name = changes.get("name", group.name)
        if name != group.name and self._name_taken(fleet_id, name):
            expect(answer, 409)
            return
        group.name, group.assigned = name, assigned
        expect(answer, 200, _shown(group))

    def group(self, actor: Actor, answer: Answer, fleet_id: str, group_id: str) -> None:
        expect(answer, 200, _shown(self.fleets[fleet_id].groups[group_id]))

    def groups(self, actor: Actor, answer: Answer, fleet_id: str) -> None:
        """The groups of the fleet by name, without its Default one."""
        expect(answer, 200)
        seen = [(one["id"], one["name"]) for one in answer.body["items"] if not one["is_default"]]
        known = [(key, one.name) for key, one in self.fleets[fleet_id].groups.items()]
        same(seen, sorted(known, key=lambda entry: entry[1].encode()), "the groups by name")

    # Tokens

    def create_token(self, actor: Actor, answer: Answer) -> None:
        expect(answer, 201)
        self.tokens[answer.body["id"]] = True

    def delete_token(self, actor: Actor, answer: Answer, token_id: str) -> None:
        expect(answer, 204 if self.tokens[token_id] else 404)
        self.tokens[token_id] = False

    def use_token(self, actor: Actor, answer: Answer, token_id: str) -> None:
        expect(answer, 200 if self.tokens[token_id] else 401)

    def _refused(self, actor: Actor, answer: Answer) -> bool:
        """Whether the caller has no write access; then the answer has to be 403."""
        if actor == "reader":
            expect(answer, 403)
        return actor == "reader"

    def _visible(self, actor: Actor, configuration_id: str) -> Configuration | None:
        found = self.configurations[configuration_id]
        return found if found.owner == PRINCIPAL[actor] or found.published is not None else None

    def _changeable(self, actor: Actor, answer: Answer, configuration_id: str) -> Configuration | None:
        """None where the change has to be refused, which the answer is held to."""
        if self._refused(actor, answer):
            return None
        found = self._visible(actor, configuration_id)
        if found is None:
            expect(answer, 404)
            return None
        if found.owner != PRINCIPAL[actor] and actor != "admin":
            expect(answer, 403)
            return None
        return found

    def _version(self, actor: Actor, configuration_id: str, n: int) -> Version | None:
        found = self._visible(actor, configuration_id)
        if found is None or n > len(found.versions):
            return None
        version = found.versions[n - 1]
        who = PRINCIPAL[actor]
        return version if version.status == "published" or who in (found.owner, version.by) else None

    def _changeable_version(self, actor: Actor, answer: Answer, configuration_id: str, n: int) -> Version | None:
        if self._refused(actor, answer):
            return None
        version = self._version(actor, configuration_id, n)
        if version is None:
            expect(answer, 404)
            return None
        return version if self._changeable(actor, answer, configuration_id) is not None else None

    def _name_taken(self, fleet_id: str, name: str) -> bool:
        return name == "Default" or any(one.name == name for one in self.fleets[fleet_id].groups.values())


def _shown(group: Group) -> dict[str, Any]:
    configuration_id, n = group.assigned or (None, None)
    return {"name": group.name, "configuration_id": configuration_id, "version_number": n}


def expect(answer: Answer, status: int, fields: Mapping[str, Any] | None = None) -> None:
    same(answer.status, status, f"the status ({answer.body})")
    for name, value in (fields or {}).items():
        same(answer.body[name], value, name)


def same(seen: object, expected: object, what: str) -> None:
    if seen != expected:
        raise Mismatch(f"{what}: {seen!r}, where {expected!r} was due")
