"""The flows as they are written: one folder each, checked as far as that is possible without a collector.

Tests run them on the real collector; `publish` turns them into what the API serves.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from headgate.flows.model import SLUG, Flow, FlowPipeline, FlowRule, FlowTest, FullFlow
from headgate.foundation.yaml_text import safe_load
from headgate_engine.collector import VARIABLE_NAME, StableSignal

GALLERY_FILE: Final = "gallery.yaml"
GRAPHS_FILE: Final = "graphs.json"
"""The file that `python -m scripts.gallery_graphs` writes: the pipelines of each flow by its slug."""
FEWEST_RULES: Final = 2
_LARGEST_SAMPLE: Final = 1_048_576
Graphs: TypeAlias = dict[str, tuple[FlowPipeline, ...]]
_GRAPHS: Final = TypeAdapter(Graphs)
_VARIABLE: Final = re.compile(r"\$\{env:(" + VARIABLE_NAME + r")(?::-([^{}]*))?\}")

Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\n]+$")]
Prose = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
Tag = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,32}$")]
SourceModel = TypeVar("SourceModel", bound=BaseModel)


class BrokenFlow(Exception):
    """A flow that cannot be published. The message begins with the flow's name."""


class BrokenGallery(Exception):
    """The message has a line for each problem."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class _Source(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class FlowTrial(_Source):
    """The pipeline test that proves a flow: which pipeline the sample enters, and for how long it runs.

    Without `main_component` at least one rule has to fail, which shows that the rules test the flow.
    """

    target_pipeline: Sentence
    signal_type: StableSignal
    duration_seconds: int = Field(default=5, ge=1, le=60)
    main_component: Sentence


class FlowFile(_Source):
    """`flow.yaml`. `settings` explains every variable of the YAML, which has their defaults."""

    name: Sentence
    summary: Sentence
    source: Sentence
    author: Sentence
    signals: list[StableSignal] = Field(min_length=1)
    tags: list[Tag] = Field(min_length=1)
    collector_version: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+$")]
    collector_distribution: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,64}$")]
    solves: Prose
    settings: dict[str, Sentence]
    costs: Prose
    test: FlowTrial


class FlowFileRule(_Source):
    """A validation rule, as the API takes it."""

    name: Sentence
    condition: Annotated[str, StringConstraints(min_length=1, max_length=4_096)]
    context: Sentence | None = None
    expect: Literal["any", "all", "none", "count"] = "any"
    min: int | None = None
    max: int | None = None


class RuleFile(_Source):
    rules: list[FlowFileRule] = Field(min_length=FEWEST_RULES, max_length=20)


class GalleryFile(_Source):
    order: list[str]


@dataclass(frozen=True, slots=True)
class FlowSource:
    """One flow's folder, read and checked."""

    slug: str
    file: FlowFile
    yaml: str
    sample: str
    rules: tuple[FlowFileRule, ...]

    def published(self, pipelines: tuple[FlowPipeline, ...] = ()) -> FullFlow:
        """The flow as the API serves it, with its pipelines as the collector resolves them, if that is known."""
        file = self.file
        flow = Flow(
            slug=self.slug,
            name=file.name,
            summary=file.summary,
            source=file.source,
            author=file.author,
            signals=tuple(file.signals),
            tags=tuple(file.tags),
            collector_version=file.collector_version,
            collector_distribution=file.collector_distribution,
            pipelines=pipelines,
        )
        return FullFlow(flow, self._description(), self.yaml, (self._test(),))

    def _test(self) -> FlowTest:
        trial = self.file.test
        return FlowTest(
            name=self.slug,
            target_pipeline=trial.target_pipeline,
            signal_type=trial.signal_type,
            duration_seconds=trial.duration_seconds,
            sample=self.sample,
            rules=tuple(FlowRule(**rule.model_dump()) for rule in self.rules),
        )

    def _description(self) -> str:
        defaults = _variables(self.yaml)
        settings = [
            f"- `{name}`{_default(defaults[name])}: {meaning}" for name, meaning in self.file.settings.items()
        ] or ["Nothing."]
        parts = [self.file.solves, "**What to set**", "\n".join(settings), "**What it costs**", self.file.costs]
        return "\n\n".join(parts)


def load(folder: Path) -> list[FlowSource]:
    """Every flow in gallery order. Raises BrokenGallery, naming each broken flow."""
    order = _gallery_order(folder)
    problems = [f"{GALLERY_FILE}: {slug} is named twice" for slug in sorted({s for s in order if order.count(s) > 1})]
    folders = {entry.name for entry in folder.iterdir() if entry.is_dir()}
    unnamed = sorted(folders - set(order))
    problems += [f"{slug}: {GALLERY_FILE} does not name it" for slug in unnamed]
    sources = []
    for slug in dict.fromkeys([*order, *unnamed]):
        try:
            sources.append(read(folder / slug))
        except BrokenFlow as error:
            problems.append(str(error))
    if problems:
        raise BrokenGallery(problems)
    return sources


def graphs(folder: Path) -> Graphs:
    """The pipelines of the flows, without those that the file does not know; of none without the file."""
    file = folder / GRAPHS_FILE
    return _GRAPHS.validate_json(file.read_bytes()) if file.exists() else {}


def graphs_file(graphs: Graphs) -> str:
    """The content of the file, with a line for each flow."""
    lines = (
        f"{json.dumps(slug)}: {json.dumps([asdict(each) for each in pipelines])}" for slug, pipelines in graphs.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read(folder: Path) -> FlowSource:
    """One flow. Raises BrokenFlow."""
    slug = folder.name
    if not SLUG.fullmatch(slug):
        raise BrokenFlow(f"{slug}: the folder's name is not a slug; rename it to 1 to 64 of a-z, 0-9 and -")
    file = _model(FlowFile, folder / "flow.yaml")
    text = _text(folder / "collector.yaml")
    rules = tuple(_model(RuleFile, folder / "rules.yaml").rules)
    source = FlowSource(slug, file, text, _sample(folder), rules)
    for problem in _inconsistencies(source):
        raise BrokenFlow(f"{slug}: {problem}")
    return source


def _gallery_order(folder: Path) -> list[str]:
    try:
        return _model(GalleryFile, folder / GALLERY_FILE).order
    except BrokenFlow as error:
        raise BrokenGallery([str(error)]) from error


def _sample(folder: Path) -> str:
    samples = sorted(folder.glob("sample.*"))
    if len(samples) != 1:
        raise BrokenFlow(f"{folder.name}: it needs one file sample.*, and has {len(samples)}")
    text = _text(samples[0])
    if not text.strip() or len(text.encode()) > _LARGEST_SAMPLE:
        raise BrokenFlow(f"{folder.name}: {samples[0].name} is empty or larger than a test run takes")
    return text


def _inconsistencies(source: FlowSource) -> Iterator[str]:
    """Problems between the files of a flow."""
    pipelines = _pipelines(source)
    signals = {name.partition("/")[0] for name in pipelines}
    if signals != set(source.file.signals):
        yield f"flow.yaml: signals are {sorted(source.file.signals)}, and the pipelines have {sorted(signals)}"
    trial = source.file.test
    if trial.target_pipeline not in pipelines:
        yield f"flow.yaml: collector.yaml has no pipeline {trial.target_pipeline}"
    if trial.main_component not in {name for parts in pipelines.values() for name in parts}:
        yield f"flow.yaml: no pipeline uses the main component {trial.main_component}"
    try:
        used = _variables(source.yaml)
    except ValueError as error:
        yield f"collector.yaml: {error}"
        return
    if undescribed := sorted(used.keys() - source.file.settings.keys()):
        yield f"flow.yaml: settings does not explain {', '.join(undescribed)}"
    if unused := sorted(source.file.settings.keys() - used.keys()):
        yield f"flow.yaml: collector.yaml does not use {', '.join(unused)}"
    names = [rule.name for rule in source.rules]
    if len(set(names)) < len(names):
        yield "rules.yaml: two rules have the same name"


def _pipelines(source: FlowSource) -> Mapping[str, list[str]]:
    """The components of each pipeline. Raises BrokenFlow if the text has no pipelines."""
    try:
        document: Any = safe_load(source.yaml)
        return {name: [*_each(body)] for name, body in document["service"]["pipelines"].items()}
    except (yaml.YAMLError, TypeError, KeyError, AttributeError) as error:
        raise BrokenFlow(f"{source.slug}: collector.yaml: no pipelines can be read from it: {error!r}") from error


def _each(pipeline: Mapping[str, list[str]]) -> Iterator[str]:
    for section in ("receivers", "processors", "exporters"):
        yield from pipeline.get(section) or []


def _variables(text: str) -> dict[str, str | None]:
    """The variables a text refers to, each with its default. Raises ValueError where one has two defaults."""
    variables: dict[str, str | None] = {}
    for name, default in _VARIABLE.findall(text):
        if variables.setdefault(name, default or None) != (default or None):
            raise ValueError(f"{name} has two different defaults")
    return variables


def _default(value: str | None) -> str:
    return f" (default `{value}`)" if value else ""


def _model(model: type[SourceModel], path: Path) -> SourceModel:
    try:
        return TypeAdapter(model).validate_python(safe_load(_text(path)))
    except yaml.YAMLError as error:
        raise BrokenFlow(f"{_place(path)} is not YAML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise BrokenFlow(f"{_place(path)}: {where}: {first['msg']}") from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BrokenFlow(f"{_place(path)} cannot be read: {error.__class__.__name__}") from error


def _place(path: Path) -> str:
    return path.name if path.name == GALLERY_FILE else f"{path.parent.name}: {path.name}"
