"""Saving, publishing and removing configurations as a plan says, and recording each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from headgate_cli.api import Api, ServerError
from headgate_cli.apply import found as server
from headgate_cli.apply.found import CredentialOwner, FoundConfiguration, ServerContent
from headgate_cli.apply.state import Recorder, SeenConfiguration, StateEntry, digest_of_tests
from headgate_cli.apply.steps import ApplyPlan, ApplyStep, Publish, RemoveConfiguration, SaveConfiguration
from headgate_cli.apply.wanted import FolderContent
from headgate_cli.errors import Failed
from headgate_cli.shaped import PlainAnswer
from headgate_cli.shapes import ConfigurationDetail, ListedTestOut, VersionDetail
from headgate_cli.suites import stored

KIND: Final = "configurations"
CHANGED_MEANWHILE: Final = "somebody changed it after the plan was made, and nothing of it was changed: apply again"


class Configurations:
    """Carries out steps of configurations. `message` is the description of versions that are added.

    `caller` says what the server keeps of what is created.
    """

    def __init__(self, api: Api, recorder: Recorder, caller: CredentialOwner, message: str) -> None:
        self._api = api
        self._caller = caller
        self._recorder = recorder
        self._message = message
        self._now: Mapping[str, FoundConfiguration] = {}
        # The ids of those that were created, by name.
        self.ids: dict[str, str] = {}
        # The state of each draft that was saved, by name.
        self._saved: dict[str, str] = {}

    def look_again(self, plan: ApplyPlan) -> None:
        """Read what the lists say now, as a condition of each step; one request for each hundred."""
        steps = [step for step in plan.acts if isinstance(step, SaveConfiguration | Publish | RemoveConfiguration)]
        if steps:
            self._now = server.listed(self._api)
        if any(step.current and step.current.archived for step in steps):
            self._now = {**self._now, **server.listed(self._api, archived=True)}

    def save(self, step: SaveConfiguration) -> None:
        """Raises Failed; what was done is recorded all the same."""
        self._require_unchanged(step, step.current)
        before = self._recorder.state.configurations.get(step.name)
        try:
            state = self._save(step, _Progress(self._recorder, step, self._caller))
        except ServerError as error:
            if step.current is None and step.name not in self.ids:
                # It was refused: whoever creates one of that name is somebody else.
                self._recorder.set(KIND, step.name, before)
            if error.is_stale:
                raise Failed(CHANGED_MEANWHILE) from error
            raise
        self._saved[step.name] = state

    def publish(self, step: Publish) -> None:
        """Raises Failed if the draft is not the one that was saved or read."""
        if step.name not in self._saved:
            self._require_unchanged(step, step.current)
        configuration_id = step.current.id if step.current else self.ids[step.name]
        path = f"/configurations/{configuration_id}/versions/{step.n}"
        try:
            state = self._saved.get(step.name) or self._read(step, path)
            published = self._api.post(VersionDetail, f"{path}/publish", if_match=state)
        except ServerError as error:
            raise Failed(CHANGED_MEANWHILE) if error.is_stale else error from error
        entry = self._recorder.state.configurations[step.name]
        if entry.seen.updated_at:
            seen = replace(entry.seen, updated_at=max(entry.seen.updated_at, published["updated_at"]))
            self._recorder.set(KIND, step.name, replace(entry, seen=seen))

    def remove(self, step: RemoveConfiguration) -> None:
        self._require_unchanged(step, step.current)
        path = f"/configurations/{step.current.id}"
        if step.action == "archive":
            self._api.post(PlainAnswer, f"{path}/archive")
        else:
            self._api.delete(path)
        self._recorder.set(KIND, step.name, None)

    def _require_unchanged(self, step: ApplyStep, there: FoundConfiguration | None) -> None:
        if there is None:
            if any(
                configuration.name == step.name and not configuration.archived for configuration in self._now.values()
            ):
                raise Failed(CHANGED_MEANWHILE)
            return
        now = self._now.get(there.id)
        if now is None or (now.latest, now.published, now.updated_at) != (
            there.latest,
            there.published,
            there.updated_at,
        ):
            raise Failed(CHANGED_MEANWHILE)

    def _read(self, step: Publish, path: str) -> str:
        """The state of a draft that was saved earlier. Raises Failed if it has another text than the folder."""
        if step.current and step.current.version:
            return step.current.version.etag
        version, state = self._api.get_with_etag(VersionDetail, path)
        if version["yaml"] != step.desired.text:
            raise Failed(CHANGED_MEANWHILE)
        return state

    def _save(self, step: SaveConfiguration, progress: _Progress) -> str:
        """Returns the state of the draft."""
        api, desired, there = self._api, step.desired, step.current
        state = there.version.etag if there and there.version else ""
        if there is None:
            progress.begins()
            described = {} if desired.description is None else {"description": desired.description}
            body = {"name": step.name, "yaml": desired.text, "managed_by": self._caller.mark}
            created, state = api.create_with_etag(ConfigurationDetail, "/configurations", body | described)
            self.ids[step.name] = created["id"]
            progress.identify(created["id"])
            progress.saw(created)
            edits = {key: value for key, value in step.edits.items() if created["collector_version"] != value}
        else:
            progress.identify(there.id)
            edits = dict(step.edits)
        path = f"/configurations/{progress.id}"
        if step.restores:
            progress.saw(api.post(ConfigurationDetail, f"{path}/restore"))
        if step.describes:
            progress.saw(api.patch(ConfigurationDetail, path, step.describes))
        if step.appends and there:
            described = {"description": self._message} if self._message else {}
            request = {"yaml": desired.text} | described
            version, state = api.create_with_etag(VersionDetail, f"{path}/versions", request, if_match=state)
            progress.saw(version)
            edits.pop("yaml", None)
        if edits:
            version, state = api.patch_with_etag(VersionDetail, f"{path}/versions/{step.n}", edits, if_match=state)
            progress.saw(version)
        self._save_tests(step, progress)
        progress.ends()
        return state

    def _save_tests(self, step: SaveConfiguration, progress: _Progress) -> None:
        there = step.current.version.tests if step.current and step.current.version else None
        known = there or {}
        for name in step.delete:
            stored.delete(self._api, progress.id, step.n, name, known[name])
            progress.changed_unseen()
        for test in step.put:
            progress.saw(stored.saved(self._api, progress.id, step.n, test, known.get(test.name, "")))


class _Progress:
    """Record a configuration step by step while it is saved."""

    def __init__(self, recorder: Recorder, step: SaveConfiguration, caller: CredentialOwner) -> None:
        self._recorder, self._step = recorder, step
        self._known = recorder.state.configurations.get(step.name)
        # Nobody uses what is archived: whoever restores it has it as if it were new, if it was an apply's.
        restores = step.current is not None and step.current.archived and step.current.managed_by == caller.mark
        self._created = step.current is None or restores or was_created(recorder, step.name, step.current, caller)
        self._updated_at = step.current.updated_at if step.current else ""
        self._unseen = False
        self.id = ""

    def identify(self, configuration_id: str) -> None:
        """Record the id at once: an interruption must not lose it."""
        self.id = configuration_id
        self._recorder.set(KIND, self._step.name, StateEntry(configuration_id, self._created))

    def begins(self) -> None:
        """Record that it is about to be created: after a crash, a configuration of that name is this one."""
        self._recorder.set(KIND, self._step.name, StateEntry("", created=True))

    def saw(self, answer: ConfigurationDetail | VersionDetail | ListedTestOut) -> None:
        """An answer that says when something of it changed last."""
        self._updated_at, self._unseen = max(self._updated_at, answer["updated_at"]), False

    def changed_unseen(self) -> None:
        self._unseen = True

    def ends(self) -> None:
        step = self._step
        desired, there = step.desired, step.current.version if step.current else None
        digests = desired.test_digests
        collector_version = desired.collector_version
        if not collector_version:
            # As it was read, or as it was seen before if there was no need to.
            known = self._known.seen.collector_version if self._known else ""
            collector_version = there.collector_version if there else known
        seen = SeenConfiguration(
            step.n,
            "" if self._unseen else self._updated_at,
            desired.sha256,
            "" if digests is None else digest_of_tests(digests),
            collector_version,
        )
        self._recorder.set(KIND, step.name, StateEntry(self.id, self._created, seen))


def was_created(recorder: Recorder, name: str, there: FoundConfiguration, caller: CredentialOwner) -> bool:
    """True if an apply of the folder created the configuration that has the name now, as the server says too."""
    entry = recorder.state.configurations.get(name)
    return bool(entry and entry.created and entry.id in ("", there.id) and there.managed_by == caller.mark)


def remember(recorder: Recorder, desired: FolderContent, current: ServerContent, plan: ApplyPlan) -> None:
    """Record what was read and is as the folder wants it, so that it is not read again; forget what is gone."""
    planned = {step.name for step in plan.steps if step.kind == "configuration" and step.action != "publish"}
    for name, configuration in desired.configurations.items():
        there = current.configurations.get(name)
        if there is None or there.version is None or name in planned:
            continue
        tests = there.version.tests
        seen = SeenConfiguration(
            there.latest,
            there.updated_at,
            configuration.sha256,
            "" if tests is None else digest_of_tests(tests),
            there.version.collector_version,
        )
        recorder.set(KIND, name, StateEntry(there.id, was_created(recorder, name, there, current.caller), seen))
    for name, entry in list(recorder.state.configurations.items()):
        known = current.by_id.get(entry.id)
        if name not in desired.configurations and (not entry.created or known is None or known.archived):
            recorder.set(KIND, name, None)
