// The graph of a configuration as SVG, and the same as a table.
import type { Shown } from "../editor/problems";
import { h, svg } from "../lib/dom";
import type { Graph, Listed, Pipeline } from "../lib/types";
import { connected, drawn, type Edge, type Facts, type Lane, type Node, searched } from "./model";
import { Viewport } from "./viewport";

const HEIGHT = 46;
const NOTE_HEIGHT = 15;
// Between nodes across and down, within a frame, and its title.
const [ACROSS, DOWN, PADDING, TITLE, BETWEEN] = [28, 12, 12, 22, 18];
// Between nodes across where what flows is written on the line.
const WRITTEN = 92;
const KIND: Record<string, string> = {
  receivers: "receiver",
  processors: "processor",
  exporters: "exporter",
  connectors: "connector",
  "": "not declared",
};

/** A component where it stands in a pipeline; `isLast` if nothing of the pipeline comes after it. */
export interface Place {
  pipeline: string;
  id: string;
  isLast: boolean;
}

/** What a click on a component does; without a place, on a pipeline. */
export type GoTo = (line: number, place?: Place) => void;

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

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The picture of one pipeline with those that it is connected to, of those that a search finds, or of all. */
export function picture({ graph, problems, facts, chosen, words }: Asked, goTo: GoTo): HTMLElement {
  const pipelines = chosen ? connected(graph, chosen) : searched(graph.pipelines, words);
  if (pipelines.length === 0) return h("p", { class: "soft" }, nothing(graph, chosen));
  const { lanes, edges } = drawn(graph, pipelines.slice(0, MOST_PIPELINES), problems, facts, chosen, words);
  const { nodes, frames, width, height } = placed(lanes, edges.some(({ rate }) => rate) ? WRITTEN : ACROSS);
  const label = chosen ? `Pipeline ${chosen} and those connected to it` : "All pipelines";
  const more = pipelines.length - MOST_PIPELINES;
  const content = [
    ...lanes.map((lane, at) => frame(lane, frames[at] ?? { x: 0, y: 0, width: 0, height: 0 }, lane.id === chosen)),
    ...edges.map((edge) => line(edge, nodes.get(edge.from), nodes.get(edge.to), chosen)),
    ...lanes.map((lane) =>
      svg(
        "g",
        { role: "group", "aria-label": `Pipeline ${lane.id}` },
        ...lane.columns.flatMap((column, at) =>
          column.map((node) => {
            const place = { pipeline: lane.id, id: node.id, isLast: at === lane.columns.length - 1 };
            return box(node, nodes.get(node.key), (line) => goTo(line, place));
          }),
        ),
      ),
    ),
  ];
  const view = new Viewport(label, width, height, content, [...nodes.values()]);
  return h(
    "div",
    {},
    view.element,
    more > 0 && h("p", { class: "soft" }, `${more} more pipelines are not drawn: search, or read the table.`),
  );
}

/** Where everything stands: pipelines below each other, each column of a pipeline as wide as its widest node. */
function placed(lanes: Lane[], gap: number): { nodes: Map<string, Box>; frames: Box[]; width: number; height: number } {
  const nodes = new Map<string, Box>();
  const frames: Box[] = [];
  let [y, widest] = [1, 0];
  for (const { id, columns } of lanes) {
    const heights = columns.map((column) => column.reduce((sum, node) => sum + heightOf(node) + DOWN, -DOWN));
    const inner = Math.max(HEIGHT, ...heights);
    let x = PADDING + 1;
    for (const [at, column] of columns.entries()) {
      const width = Math.max(0, ...column.map(widthOf));
      let top = y + TITLE + PADDING + (inner - (heights[at] ?? 0)) / 2;
      for (const node of column) {
        nodes.set(node.key, { x, y: top, width, height: heightOf(node) });
        top += heightOf(node) + DOWN;
      }
      if (column.length > 0) x += width + gap;
    }
    const frame = {
      x: 1,
      y,
      width: Math.max(x - gap + PADDING, id.length * 8 + 24),
      height: inner + TITLE + 2 * PADDING,
    };
    frames.push(frame);
    widest = Math.max(widest, frame.width);
    y += frame.height + BETWEEN;
  }
  return {
    nodes,
    frames: frames.map((frame) => ({ ...frame, width: widest })),
    width: widest + 2,
    height: y - BETWEEN + 1,
  };
}

function frame({ id }: Lane, at: Box, isChosen: boolean): SVGElement {
  return svg(
    "g",
    { class: isChosen ? "frame chosen" : "frame" },
    svg("rect", { ...at, rx: 8 }),
    svg("text", { x: at.x + PADDING, y: at.y + 19 }, id),
  );
}

function nothing(graph: Graph, chosen: string): string {
  if (chosen) return "This pipeline is not there any more.";
  return graph.pipelines.length ? "No pipeline has what you search." : "There are no pipelines to draw.";
}

function line(
  { pipeline, signal, joins, rate }: Edge,
  from: Box | undefined,
  to: Box | undefined,
  chosen: string,
): SVGElement {
  const dim = chosen === "" ? "" : chosen === pipeline ? " chosen" : " dim";
  const known = ["logs", "metrics", "traces"].includes(signal) ? signal : "other";
  const path = svg(
    "path",
    {
      d: from && to ? (joins ? across(from, to) : along(from, to)) : "",
      class: `edge signal-${known}${joins ? " joins" : ""}${dim}`,
    },
    svg("title", {}, [pipeline, rate].filter(Boolean).join(", ")),
  );
  if (!rate || !from || !to) return path;
  return svg("g", {}, path, svg("text", { ...beside(from, to), class: `rate${dim}` }, rate));
}

/** The place of words on an edge: over the middle of a straight one, and outside of the bend of one that goes up or down. */
function beside(from: Box, to: Box): Record<string, string | number> {
  const [x1, y1, x2, y2] = [from.x + from.width, from.y + from.height / 2, to.x, to.y + to.height / 2];
  if (y1 === y2) return { x: (x1 + x2) / 2, y: y2 - 5, "text-anchor": "middle" };
  return { x: x2 - 4, y: y1 > y2 ? y2 - 5 : y2 + 13, "text-anchor": "end" };
}

function along(from: Box, to: Box): string {
  const [x1, y1, x2, y2] = [from.x + from.width, from.y + from.height / 2, to.x, to.y + to.height / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

/** From a connector to itself in another pipeline, which stands below or above. */
function across(from: Box, to: Box): string {
  const isBelow = to.y > from.y;
  const [x1, y1] = [from.x + from.width / 2, isBelow ? from.y + from.height : from.y];
  const [x2, y2] = [to.x + to.width / 2, isBelow ? to.y : to.y + to.height];
  const bend = (isBelow ? 1 : -1) * Math.max(24, Math.abs(y2 - y1) / 2);
  return `M${x1} ${y1} C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
}

function box(node: Node, at: Box = { x: 0, y: 0, width: 0, height: 0 }, goTo: GoTo): SVGElement {
  const go = (): void => goTo(node.line);
  const { severity, problems } = node;
  const kind = KIND[node.section] ?? node.section;
  const sign = severity && `${{ error: "✕", warning: "!", info: "i" }[severity]} ${problems}`;
  // What is seen comes first in the name, so that somebody who speaks it is understood.
  const seen = [kind, shortened(node.id), sign, ...node.notes.map(({ text }) => text)].filter(Boolean).join(" ");
  const more = [
    node.pipeline && `of ${node.pipeline}`,
    severity && `worst finding: ${severity}`,
    node.rate && `gives on ${node.rate}`,
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
      transform: `translate(${at.x.toFixed(1)} ${at.y.toFixed(1)})`,
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
  const { lanes } = drawn(graph, pipelines, problems, facts);
  const nodes = new Map(
    lanes.flatMap(({ id, columns }) => columns.flat().map((node) => [`${id}/${node.section}/${node.id}`, node])),
  );
  const known = ({ section, id }: Listed, { id: pipeline }: Pipeline): string => {
    const node = nodes.get(`${pipeline}/${section}/${id}`);
    const findings = node?.severity ? [`${node.problems} ${node.problems === 1 ? "finding" : "findings"}`] : [];
    const rate = node?.rate ? [`gives on ${node.rate}`] : [];
    return [...findings, ...(node?.notes ?? []).map(({ text }) => text), ...rate].join(", ");
  };
  const names = (listed: Listed[], pipeline: Pipeline, isLast: boolean): HTMLElement =>
    h(
      "ul",
      { class: "names" },
      ...listed.map(({ id, section }) =>
        h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              class: "link",
              click: () => goTo(lines.get(`${section}::${id}`) ?? pipeline.line, { pipeline: pipeline.id, id, isLast }),
            },
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
      ...[one.receivers, one.processors, one.exporters].map((listed, at) => h("td", {}, names(listed, one, at === 2))),
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
