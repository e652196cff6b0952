// The graph of a configuration as SVG, and the same as a table.
import { graphlib, layout } from "@dagrejs/dagre";
import type { Shown } from "../editor/problems";
import { h, svg } from "../lib/dom";
import type { Graph, Listed, Pipeline } from "../lib/types";
import { connected, drawn, type Edge, type Facts, type Node, searched } from "./model";

const HEIGHT = 46;
const NOTE_HEIGHT = 15;
const KIND: Record<string, string> = {
  receivers: "receiver",
  processors: "processor",
  exporters: "exporter",
  connectors: "connector",
  "": "not declared",
};

export type GoTo = (line: number) => void;

export interface Asked {
  graph: Graph;
  problems: Shown[];
  facts: Facts;
  /** The id of a pipeline, and what was searched; both may be empty. */
  chosen: string;
  words: string;
}

/** More would be a picture that nobody reads, and seconds of layout. */
export const MOST_PIPELINES = 40;

/** The picture of one pipeline with those that it is connected to, of those that a search finds, or of all. */
export function picture({ graph, problems, facts, chosen, words }: Asked, goTo: GoTo): HTMLElement {
  const pipelines = chosen ? connected(graph, chosen) : searched(graph.pipelines, words);
  if (pipelines.length === 0) return h("p", { class: "soft" }, nothing(graph, chosen));
  const { nodes, edges } = drawn(graph, pipelines.slice(0, MOST_PIPELINES), problems, facts, chosen, words);
  const laid = new graphlib.Graph()
    .setGraph({ rankdir: "LR", nodesep: 14, ranksep: 44, marginx: 8, marginy: 8 })
    .setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) laid.setNode(node.key, { width: widthOf(node), height: heightOf(node) });
  for (const { from, to } of edges) laid.setEdge(from, to);
  layout(laid);
  const { width = 0, height = 0 } = laid.graph();
  const lines = edges.map((edge) => line(edge, laid.edge(edge.from, edge.to).points ?? [], chosen));
  const boxes = nodes.map((node) => box(node, laid.node(node.key), goTo));
  const label = chosen ? `Pipeline ${chosen} and those connected to it` : "All pipelines";
  const more = pipelines.length - MOST_PIPELINES;
  return h(
    "div",
    {},
    h(
      "div",
      { class: "graph", tabindex: 0, role: "group", "aria-label": label },
      svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, ...lines, ...boxes),
    ),
    more > 0 && h("p", { class: "soft" }, `${more} more pipelines are not drawn: search, or read the table.`),
  );
}

function nothing(graph: Graph, chosen: string): string {
  if (chosen) return "This pipeline is not there any more.";
  return graph.pipelines.length ? "No pipeline has what you search." : "There are no pipelines to draw.";
}

function line({ pipeline, signal }: Edge, points: { x: number; y: number }[], chosen: string): SVGElement {
  const path = points.map(({ x, y }, at) => `${at ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join(" ");
  const dim = chosen === "" ? "" : chosen === pipeline ? " chosen" : " dim";
  return svg(
    "path",
    { d: path, class: `edge signal-${["logs", "metrics", "traces"].includes(signal) ? signal : "other"}${dim}` },
    svg("title", {}, pipeline),
  );
}

function box(node: Node, at: { x: number; y: number; width: number; height: number }, goTo: GoTo): SVGElement {
  const go = (): void => goTo(node.line);
  const { severity, problems } = node;
  const kind = KIND[node.section] ?? node.section;
  const sign = severity && `${{ error: "✕", warning: "!", info: "i" }[severity]} ${problems}`;
  // What is seen comes first in the name, so that somebody who speaks it is understood.
  const seen = [kind, shortened(node.id), sign, ...node.notes.map(({ text }) => text)].filter(Boolean).join(" ");
  const more = [
    node.pipeline && `of ${node.pipeline}`,
    severity && `worst finding: ${severity}`,
    seen.includes(node.id) ? "" : node.id,
    node.isFound && "found",
  ];
  const classes = [
    "node",
    `section-${node.section || "none"}`,
    severity && `has-${severity}`,
    node.isChosen && "chosen",
    node.isFound && "found",
  ];
  const name = [seen, ...more].filter(Boolean).join(", ");
  return svg(
    "g",
    {
      class: classes.filter(Boolean).join(" "),
      transform: `translate(${(at.x - at.width / 2).toFixed(1)} ${(at.y - at.height / 2).toFixed(1)})`,
      tabindex: 0,
      role: "button",
      "aria-label": name,
      click: go,
      keydown: (event) => {
        if (event instanceof KeyboardEvent && (event.key === "Enter" || event.key === " ")) {
          event.preventDefault();
          go();
        }
      },
    },
    svg("rect", { width: at.width, height: at.height, rx: 6 }),
    svg("text", { x: 10, y: 18, class: "kind" }, kind),
    // Not to be read as one word.
    " ",
    svg("text", { x: 10, y: 35 }, shortened(node.id)),
    " ",
    sign && svg("text", { x: at.width - 10, y: 18, class: "mark", "text-anchor": "end" }, sign),
    ...node.notes.map(({ text, kind: of }, n) =>
      svg("text", { x: 10, y: 50 + n * NOTE_HEIGHT, class: `note ${of}` }, ` ${text}`),
    ),
  );
}

function shortened(id: string): string {
  const letters = [...id];
  return letters.length > 28 ? `${letters.slice(0, 27).join("")}…` : id;
}

function widthOf({ id, notes }: Node): number {
  return Math.max(96, 20 + [...shortened(id)].length * 8, ...notes.map(({ text }) => 20 + text.length * 7));
}

function heightOf({ notes }: Node): number {
  return HEIGHT + notes.length * NOTE_HEIGHT;
}

/** The pipelines that a search finds as a table, with a button for each component that leads to its text. */
export function table({ graph, problems, facts, chosen, words }: Asked, goTo: GoTo): HTMLElement {
  const pipelines = chosen ? graph.pipelines.filter(({ id }) => id === chosen) : searched(graph.pipelines, words);
  if (pipelines.length === 0) return h("p", { class: "soft" }, nothing(graph, chosen));
  const lines = new Map(graph.components.map(({ section, id, line }) => [`${section}::${id}`, line]));
  // The same notes as in the picture.
  const nodes = new Map(
    drawn(graph, pipelines, problems, facts).nodes.map((node) => [
      `${node.section}::${node.id}::${node.pipeline}`,
      node,
    ]),
  );
  const known = ({ section, id }: Listed, { id: pipeline }: Pipeline): string => {
    const node = nodes.get(`${section}::${id}::${section === "processors" ? pipeline : ""}`);
    const findings = node?.severity ? [`${node.problems} ${node.problems === 1 ? "finding" : "findings"}`] : [];
    return [...findings, ...(node?.notes ?? []).map(({ text }) => text)].join(", ");
  };
  const names = (listed: Listed[], pipeline: Pipeline): HTMLElement =>
    h(
      "ul",
      { class: "names" },
      ...listed.map(({ id, section }) =>
        h(
          "li",
          {},
          h(
            "button",
            { type: "button", class: "link", click: () => goTo(lines.get(`${section}::${id}`) ?? pipeline.line) },
            id,
          ),
          section === "connectors" && h("span", { class: "soft small" }, " connector"),
          section === "" && h("span", { class: "tag bad" }, "not declared"),
          h("div", { class: "soft small" }, known({ id, section }, pipeline)),
        ),
      ),
    );
  const rows = pipelines.map((one) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("button", { type: "button", class: "link", click: () => goTo(one.line) }, one.id)),
      ...[one.receivers, one.processors, one.exporters].map((listed) => h("td", {}, names(listed, one))),
    ),
  );
  const head = h(
    "tr",
    {},
    ...["Pipeline", "Receivers", "Processors", "Exporters"].map((name) => h("th", { scope: "col" }, name)),
  );
  return h(
    "div",
    { class: "scrolls", tabindex: 0, role: "group", "aria-label": "Pipelines as a table" },
    h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows)),
  );
}
