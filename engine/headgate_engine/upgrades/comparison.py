"""Differences between two versions' answers about the same text: the default collector compares them."""

from dataclasses import replace
from functools import cache
from typing import Final

from pydantic import TypeAdapter
from pydantic_core import to_json, to_jsonable_python

from headgate_engine.checker.asker import Asker
from headgate_engine.upgrades.model import Renamed, Renaming, UpgradeReport, VersionAnswers

# A question may have 32 MB. What is over this is without the settings, of which a text can have the most.
_MAX_BYTES: Final = 30_000_000


def compare(
    source: VersionAnswers, target: VersionAnswers, renaming: Renaming, *, asker: Asker, timeout: float | None = None
) -> UpgradeReport:
    """The report of an upgrade from `source` to `target`, which may be the same version; it fits into an answer.

    Raises what `Collectors.call` raises, and ValidationError for an answer of an unknown form.
    """
    request: dict[str, object] = {
        "from": to_jsonable_python(source),
        "to": to_jsonable_python(target),
        "rename": _renamings().dump_python(renaming.answer, mode="json", by_alias=True),
        "rename_refused": renaming.refused,
    }
    if len(to_json(request)) > _MAX_BYTES:
        request |= {"from": _without_settings(source), "to": _without_settings(target)}
    report = UpgradeReport.model_validate(asker.ask("upgrade", request, timeout=timeout))
    sides = {
        "source": replace(report.verdict.source, valid_on_host=source.inspection.valid_on_host),
        "target": replace(report.verdict.target, valid_on_host=target.inspection.valid_on_host),
    }
    return report.model_copy(update={"verdict": report.verdict.model_copy(update=sides)})


def _without_settings(version: VersionAnswers) -> object:
    inspection = to_jsonable_python(version.inspection)
    for component in inspection["components"]:
        component["defaults"] = {}
    return to_jsonable_python(version) | {"inspection": {**inspection, "incomplete": True}}


@cache
def _renamings() -> TypeAdapter[Renamed | None]:
    return TypeAdapter(Renamed | None)
