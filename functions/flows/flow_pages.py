"""The pages of the gallery: the flows with their pictures, by signal, tag and words, and one flow."""

import json
from collections.abc import Iterator, Sequence
from typing import Annotated, Final, get_args

from fastapi import Query, Response

from flows.pictures import picture
from flows.wire import Slug
from headgate.flows import service as flows
from headgate.flows.model import Flow, FlowPipeline, FlowTest
from headgate_engine.collector import DISTRIBUTION, StableSignal
from web.html import Html, html, with_code
from web.pages import Here, page_router
from web.parts import Fields, counted, empty, tags

router = page_router()

_TAB: Final = "flows"
_LONGEST: Final = 100
_SIGNALS: Final = [("", "Any"), *((signal, signal.capitalize()) for signal in get_args(StableSignal))]
_GALLERY: Final = """\
<h1>Flows</h1>
<p class="soft">Configurations that are ready to use. Each was run on the collector with a sample; the pictures
show what that collector resolves.</p>
<form method="get" action="{path}" class="card" id="filters" role="search" aria-label="Filter the flows">
<div class="row">{text}{signal}{tag}<button class="plain">Filter</button></div></form>
<div id="results"><p class="soft small" role="status">{count}</p><ul class="gallery">{flows}</ul></div>"""
_ENTRY: Final = """\
<li class="card"><h2><a href="{path}/{slug}">{name}</a></h2><p>{summary}</p><p>{signals}{tags}</p>{picture}</li>"""
_FLOW: Final = """\
<p class="small"><a href="{path}">Flows</a></p>
<h1>{name}</h1><p>{summary}</p>
<p class="soft small">{signals}{tags} collector {version} · {author} · {source}</p>
<div class="card"><h2>Use it</h2><div id="use" data-slug="{slug}" data-home="{home}" data-usable="{usable}">
<p class="last">{without} <code>headgate flow use {slug}</code> creates a configuration of it.</p></div></div>
<div class="card"><h2>Pipelines</h2><div id="pipelines" data-graph="{graph}">{picture}</div></div>
<div class="card">{description}</div>
<details class="card"><summary>Configuration</summary><pre tabindex="0" aria-label="YAML"><code>{yaml}</code></pre>
</details>{tests}"""
_TEST: Final = """\
<details class="card"><summary>Its sample, for {pipeline}, and {rules}</summary>
<pre class="wrapped" tabindex="0" aria-label="Sample"><code>{sample}</code></pre></details>"""
_NOT_USABLE: Final = "It is for the distribution {distribution}, which configurations here cannot have."


@router.get("/organizations/{organization_id}/flows")
def show_gallery(
    here: Here,
    text_: Annotated[str, Query(alias="text")] = "",
    signal: Annotated[str, Query(max_length=20)] = "",
    tag_: Annotated[str, Query(alias="tag", max_length=40)] = "",
) -> Response:
    searched, path = text_[:_LONGEST].strip(), f"{here.home}/flows"
    everything = flows.everything()
    matching = [flow for flow in everything if _is_wanted(flow, searched, signal, tag_)]
    known = sorted({each for flow in everything for each in flow.tags})
    fields = Fields()
    content = html(
        _GALLERY,
        path=path,
        text=fields.text("text", "Text", searched, most=_LONGEST, required=False, kind="search"),
        signal=fields.choice("signal", "Signal", _SIGNALS, signal),
        tag=fields.choice("tag", "Tag", [("", "Any"), *((each, each) for each in known)], tag_),
        count=counted(len(matching), "flow"),
        flows=[_entry(path, flow) for flow in matching]
        or html("<li>{none}</li>", none=empty("No flow matches: remove a filter.")),
    )
    return here.page(_TAB, "Flows", content, script="search")


@router.get("/organizations/{organization_id}/flows/{slug}")
def show_flow(here: Here, slug: Slug) -> Response:
    full = flows.get(slug)
    flow = full.flow
    usable = flow.collector_distribution == DISTRIBUTION
    content = html(
        _FLOW,
        home=here.home,
        path=f"{here.home}/flows",
        slug=flow.slug,
        name=flow.name,
        summary=flow.summary,
        signals=tags(flow.signals),
        tags=tags([each for each in flow.tags if each not in flow.signals]),
        version=flow.collector_version,
        author=flow.author,
        source=flow.source,
        usable="yes" if usable else "no",
        without="" if usable else _NOT_USABLE.format(distribution=flow.collector_distribution),
        picture=picture(flow.pipelines),
        graph=_graph(flow.pipelines),
        description=list(_described(full.description)),
        yaml=full.yaml,
        tests=[_test(test) for test in full.tests],
    )
    return here.page(_TAB, flow.name, content, script="flow")


def _is_wanted(flow: Flow, words: str, signal: str, tag: str) -> bool:
    about = f"{flow.slug} {flow.name} {flow.summary} {' '.join(flow.tags)}".lower()
    return (
        all(word in about for word in words.lower().split())
        and (not signal or signal in flow.signals)
        and (not tag or tag in flow.tags)
    )


def _entry(path: str, flow: Flow) -> Html:
    return html(
        _ENTRY,
        path=path,
        slug=flow.slug,
        name=flow.name,
        summary=flow.summary,
        signals=tags(flow.signals),
        tags=tags([each for each in flow.tags if each not in flow.signals]),
        picture=picture(flow.pipelines),
    )


def _graph(pipelines: Sequence[FlowPipeline]) -> str:
    """The pipelines as the page's script draws them."""

    def listed(components: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
        return [{"id": id, "section": section} for id, section in components]

    shown = [
        {
            "id": pipeline.id,
            "signal": pipeline.signal,
            "line": line,
            "column": 1,
            "receivers": listed(pipeline.receivers),
            "processors": listed(pipeline.processors),
            "exporters": listed(pipeline.exporters),
        }
        for line, pipeline in enumerate(pipelines, start=1)
    ]
    return json.dumps({"components": [], "pipelines": shown, "incomplete": False})


def _test(test: FlowTest) -> Html:
    rules = counted(len(test.rules), "rule")
    return html(_TEST, pipeline=test.target_pipeline, rules=rules, sample=test.sample)


def _described(text: str) -> Iterator[Html]:
    """The description's Markdown, as far as flows have it: paragraphs, headings in bold, lists, and code."""
    for block in text.split("\n\n"):
        lines = block.split("\n")
        if block.startswith("**") and block.endswith("**"):
            yield html("<h3>{text}</h3>", text=block.strip("*"))
        elif all(line.startswith("- ") for line in lines):
            yield html("<ul>{lines}</ul>", lines=[html("<li>{line}</li>", line=with_code(line[2:])) for line in lines])
        else:
            yield html("<p>{text}</p>", text=with_code(block))
