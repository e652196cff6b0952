// What is drawn of a configuration: components as nodes, and what flows between them.
import type { Severity, Shown } from "../editor/problems";
import type { Health } from "./health";
import type { Graph, Listed, Pipeline } from "../lib/types";

export interface Node {
  key: string;
  id: string;
  /** Where it is declared, empty if it is not. */
  section: string;
  /** The pipeline of a processor: each pipeline has its own. */
  pipeline: string;
  line: number;
  /** The worst of what a check found in it, null if nothing. */
  severity: Severity | null;
  problems: number;
  /** What else is known of it, a line each. */
  notes: Note[];
  /** It matches a search, or belongs to the pipeline that was chosen. */
  isFound: boolean;
  isChosen: boolean;
}

export interface Note {
  text: string;
  kind: "plain" | "bad" | "old";
}

/** What is known beside the check: tests by pipeline, and what hosts report. */
export interface Facts {
  tests: Map<string, number>;
  health: Health | null;
}

export interface Edge {
  from: string;
  to: string;
  pipeline: string;
  signal: string;
}

export interface Drawn {
  nodes: Node[];
  edges: Edge[];
}

// A sending queue that is so full will refuse soon.
const FULL = 0.8;
const RANK: Severity[] = ["info", "warning", "error"];

/** The pipelines that a pipeline gets from and gives to through connectors, and that one itself. */
export function connected(graph: Graph, id: string): Pipeline[] {
  const byConnector = new Map<string, Pipeline[]>();
  const connectors = (one: Pipeline): string[] =>
    [...one.receivers, ...one.exporters].filter(({ section }) => section === "connectors").map((listed) => listed.id);
  for (const one of graph.pipelines)
    for (const connector of connectors(one)) byConnector.set(connector, [...(byConnector.get(connector) ?? []), one]);
  const found = new Set(graph.pipelines.filter((one) => one.id === id));
  for (const one of found)
    for (const connector of connectors(one)) for (const other of byConnector.get(connector) ?? []) found.add(other);
  return graph.pipelines.filter((one) => found.has(one));
}

/** The pipelines that a search finds by their name or by a component's; all for an empty one. */
export function searched(pipelines: Pipeline[], words: string): Pipeline[] {
  return pipelines.filter((one) => [one.id, ...listedIn(one).map(({ id }) => id)].some((id) => matches(id, words)));
}

export function matches(id: string, words: string): boolean {
  return id.toLowerCase().includes(words.trim().toLowerCase());
}

function listedIn(one: Pipeline): Listed[] {
  return [...one.receivers, ...one.processors, ...one.exporters];
}

/** `chosen` is the id of a pipeline, `words` what was searched; both may be empty. */
export function drawn(
  graph: Graph,
  pipelines: Pipeline[],
  problems: Shown[],
  facts: Facts = { tests: new Map(), health: null },
  chosen = "",
  words = "",
): Drawn {
  const lines = new Map(graph.components.map(({ section, id, line }) => [`${section}::${id}`, line]));
  const nodes = new Map<string, Node>();
  const edges = new Map<string, Edge>();
  const tests = new Map<string, number>();
  // A component may stand twice in one pipeline.
  const counted = new Set<string>();
  const testsOf = ({ id }: Pipeline): number => facts.tests.get(id) ?? 0;
  const node = (listed: Listed, pipeline: Pipeline, key: string): string => {
    const path = `${listed.section}::${listed.id}`;
    const known = nodes.get(key);
    if (known) {
      tests.set(key, (tests.get(key) ?? 0) + (counted.has(`${key}|${pipeline.id}`) ? 0 : testsOf(pipeline)));
      known.isChosen ||= pipeline.id === chosen;
    } else {
      tests.set(key, testsOf(pipeline));
      const own =
        listed.section === "" ? [] : problems.filter((one) => one.path === path || one.path.startsWith(`${path}::`));
      const severity = own.map((one) => one.severity).sort((a, b) => RANK.indexOf(b) - RANK.indexOf(a))[0] ?? null;
      nodes.set(key, {
        key,
        ...listed,
        pipeline: listed.section === "processors" ? pipeline.id : "",
        line: lines.get(path) ?? pipeline.line,
        severity,
        problems: own.length,
        notes: ofHealth(listed, facts.health),
        isFound: words.trim() !== "" && matches(listed.id, words),
        isChosen: pipeline.id === chosen,
      });
    }
    counted.add(`${key}|${pipeline.id}`);
    return key;
  };
  for (const pipeline of pipelines) {
    const shared = (listed: Listed, side: string): string =>
      node(
        listed,
        pipeline,
        listed.section === "" ? `?${side}/${pipeline.id}/${listed.id}` : `${listed.section}/${listed.id}`,
      );
    const chain = pipeline.processors.map((listed, at) => node(listed, pipeline, `processors/${pipeline.id}/${at}`));
    const layers = [
      pipeline.receivers.map((one) => shared(one, "in")),
      ...chain.map((key) => [key]),
      pipeline.exporters.map((one) => shared(one, "out")),
    ];
    for (const [at, layer] of layers.entries())
      for (const from of layer)
        for (const to of layers[at + 1] ?? [])
          edges.set(`${pipeline.id}|${from}|${to}`, { from, to, pipeline: pipeline.id, signal: pipeline.signal });
  }
  for (const [key, count] of tests)
    if (count > 0) nodes.get(key)?.notes.unshift({ text: count === 1 ? "1 test" : `${count} tests`, kind: "plain" });
  return { nodes: [...nodes.values()], edges: [...edges.values()] };
}

/** Hosts tell what each exporter did; of other components only that they run. */
function ofHealth({ section, id }: Listed, health: Health | null): Note[] {
  if (!health || section === "" || health.hosts + health.old === 0) return [];
  if (health.hosts === 0) return [{ text: `last heard ${health.newest.slice(5, 16).replace("T", " ")}`, kind: "old" }];
  const hosts: Note = { text: health.hosts === 1 ? "runs on 1 host" : `runs on ${health.hosts} hosts`, kind: "plain" };
  const exporter = section === "exporters" ? health.exporters.get(id) : undefined;
  if (!exporter) return [hosts];
  const { sent, failed, queue } = exporter;
  const isFull = queue >= FULL;
  return [
    hosts,
    { text: `sent ${sent.toLocaleString("en")}`, kind: "plain" },
    ...(failed > 0 ? [{ text: `! failed ${failed.toLocaleString("en")}`, kind: "bad" } as const] : []),
    ...(isFull ? [{ text: `! queue ${Math.round(queue * 100)} %`, kind: "bad" } as const] : []),
  ];
}
