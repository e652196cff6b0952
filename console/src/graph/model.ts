// What is drawn of a configuration: components as nodes, and what flows between them.
import type { Severity, Shown } from "../editor/problems";
import type { Health } from "./health";
import { perMinute, type Rates } from "./rates";
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
  /** What it gives on, empty if that is not known. */
  rate: string;
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
  rates: Rates;
}

export interface Edge {
  from: string;
  to: string;
  pipeline: string;
  signal: string;
  /** It leads from a pipeline's connector to the same connector of another one. */
  joins: boolean;
  /** What flows along it, empty if that is not known. */
  rate: string;
}

/** A pipeline: its receivers, each processor, and its exporters from left to right. */
export interface Lane {
  id: string;
  line: number;
  columns: Node[][];
}

export interface Drawn {
  lanes: Lane[];
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

/**
 * The nodes of each pipeline are its own, so that pipelines are framed in the order of the text; connectors join them.
 * `chosen` is the id of a pipeline, `words` what was searched; both may be empty.
 */
export function drawn(
  graph: Graph,
  pipelines: Pipeline[],
  problems: Shown[],
  facts: Facts = { tests: new Map(), health: null, rates: new Map() },
  chosen = "",
  words = "",
): Drawn {
  const lines = new Map(graph.components.map(({ section, id, line }) => [`${section}::${id}`, line]));
  const edges = new Map<string, Edge>();
  const ordered = [...pipelines].sort((a, b) => a.line - b.line);
  const lanes = ordered.map((pipeline): Lane => {
    const tests = facts.tests.get(pipeline.id) ?? 0;
    const node = (listed: Listed, place: string): Node => {
      const path = `${listed.section}::${listed.id}`;
      const own =
        listed.section === "" ? [] : problems.filter((one) => one.path === path || one.path.startsWith(`${path}::`));
      const severity = own.map((one) => one.severity).sort((a, b) => RANK.indexOf(b) - RANK.indexOf(a))[0] ?? null;
      return {
        key: `${pipeline.id}/${place}/${listed.section}/${listed.id}`,
        ...listed,
        pipeline: listed.section === "processors" ? pipeline.id : "",
        line: lines.get(path) ?? pipeline.line,
        severity,
        problems: own.length,
        notes: [
          ...(tests > 0 ? [{ text: tests === 1 ? "1 test" : `${tests} tests`, kind: "plain" } as const] : []),
          ...ofHealth(listed, facts.health),
        ],
        rate: rateOf(pipeline.id, listed, facts.rates),
        isFound: words.trim() !== "" && matches(listed.id, words),
        isChosen: pipeline.id === chosen,
      };
    };
    // A component may stand twice in a list.
    const unique = (listed: Listed[], place: string): Node[] => [
      ...new Map(listed.map((one) => [`${one.section}/${one.id}`, node(one, place)])).values(),
    ];
    const columns = [
      unique(pipeline.receivers, "in"),
      ...pipeline.processors.map((listed, at) => [node(listed, String(at))]),
      unique(pipeline.exporters, "out"),
    ];
    for (const [at, column] of columns.entries())
      for (const from of column)
        for (const to of columns[at + 1] ?? [])
          edges.set(`${from.key}|${to.key}`, {
            from: from.key,
            to: to.key,
            pipeline: pipeline.id,
            signal: pipeline.signal,
            joins: false,
            rate: from.rate,
          });
    return { id: pipeline.id, line: pipeline.line, columns };
  });
  for (const from of lanes)
    for (const to of lanes)
      for (const out of from.columns.at(-1) ?? [])
        for (const into of to.columns[0] ?? [])
          if (out.section === "connectors" && into.section === "connectors" && out.id === into.id)
            edges.set(`${out.key}|${into.key}`, {
              from: out.key,
              to: into.key,
              pipeline: to.id,
              signal: ordered.find(({ id }) => id === to.id)?.signal ?? "",
              joins: true,
              rate: "",
            });
  return { lanes, edges: [...edges.values()] };
}

function rateOf(pipeline: string, { section, id }: Listed, rates: Rates): string {
  const rate = rates.get(`${pipeline}|${section}/${id}`);
  return rate === undefined ? "" : perMinute(rate);
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
