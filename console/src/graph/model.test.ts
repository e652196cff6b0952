import assert from "node:assert/strict";
import { test } from "node:test";
import type { Shown } from "../editor/problems";
import type { Graph, Listed } from "../lib/types";
import { healthOf } from "./health";
import { connected, drawn, type Node, searched } from "./model";

const of = (section: string, ...ids: string[]): Listed[] => ids.map((id) => ({ id, section }));
const graph: Graph = {
  components: [
    { section: "receivers", id: "otlp", line: 2, column: 3 },
    { section: "processors", id: "batch", line: 4, column: 3 },
    { section: "exporters", id: "debug", line: 6, column: 3 },
    { section: "connectors", id: "count", line: 8, column: 3 },
  ],
  pipelines: [
    {
      id: "logs",
      signal: "logs",
      line: 11,
      column: 5,
      receivers: of("receivers", "otlp"),
      processors: of("processors", "batch"),
      exporters: [...of("exporters", "debug"), ...of("connectors", "count")],
    },
    {
      id: "metrics",
      signal: "metrics",
      line: 12,
      column: 5,
      receivers: of("connectors", "count"),
      processors: [],
      exporters: of("exporters", "debug"),
    },
    {
      id: "traces",
      signal: "traces",
      line: 13,
      column: 5,
      receivers: of("receivers", "otlp"),
      processors: of("processors", "batch"),
      exporters: of("", "gone"),
    },
  ],
  incomplete: false,
};
const problem = (path: string, severity: Shown["severity"]): Shown => ({
  path,
  severity,
  message: "m",
  wayOut: "",
  source: "s",
  line: 1,
  column: 1,
  fix: null,
});

const nodesOf = (...asked: Parameters<typeof drawn>): Node[] =>
  drawn(...asked).lanes.flatMap(({ columns }) => columns.flat());

test("data flows through each pipeline, and connectors join the pipelines on both of their sides", () => {
  const { edges } = drawn(graph, graph.pipelines.slice(0, 2), []);
  assert.deepEqual(
    edges.map(({ from, to, joins }) => `${from} ${to}${joins ? " joins" : ""}`),
    [
      "logs/in/receivers/otlp logs/0/processors/batch",
      "logs/0/processors/batch logs/out/exporters/debug",
      "logs/0/processors/batch logs/out/connectors/count",
      "metrics/in/connectors/count metrics/out/exporters/debug",
      "logs/out/connectors/count metrics/in/connectors/count joins",
    ],
  );
});

test("pipelines stand in the order of the text, each with its own components", () => {
  const turned = [...graph.pipelines].reverse();
  const { lanes } = drawn(graph, turned, []);
  assert.deepEqual(
    lanes.map(({ id, columns }) => [id, ...columns.map((column) => column.map((node) => node.id).join())]),
    [
      ["logs", "otlp", "batch", "debug,count"],
      ["metrics", "count", "debug"],
      ["traces", "otlp", "batch", "gone"],
    ],
  );
});

test("a component that is not declared is drawn at its pipeline's line", () => {
  const gone = nodesOf(graph, graph.pipelines, []).find(({ id }) => id === "gone");
  assert.deepEqual([gone?.section, gone?.line], ["", 13]);
});

test("a node shows the worst of its own problems", () => {
  const nodes = nodesOf(graph, graph.pipelines, [
    problem("processors::batch", "info"),
    problem("processors::batch::timeout", "error"),
    problem("processors::batch2", "error"),
  ]);
  const batch = nodes.find(({ key }) => key === "logs/0/processors/batch");
  assert.deepEqual([batch?.severity, batch?.problems], ["error", 2]);
  assert.equal(nodes.find(({ id }) => id === "otlp")?.severity, null);
});

test("a pipeline is drawn with those that connectors join to it", () => {
  assert.deepEqual(
    connected(graph, "metrics").map(({ id }) => id),
    ["logs", "metrics"],
  );
  assert.deepEqual(
    connected(graph, "traces").map(({ id }) => id),
    ["traces"],
  );
  assert.deepEqual(connected(graph, "nothing"), []);
});

const host = (state: string, exporters = {}) => ({
  state,
  deployment_id: "dep_1",
  running: { configuration_id: "cfg_1", version_number: 1 },
  counters: { seconds: 60, accepted: 5, refused: 1, exporters },
  last_seen_at: "2026-11-22T20:00:00.000Z",
});
const notes = (health: ReturnType<typeof healthOf> | null, tests = new Map<string, number>()): string[] =>
  nodesOf(graph, graph.pipelines, [], { tests, health, rates: new Map() }).map(
    (node) => `${node.key}: ${node.notes.map(({ text, kind }) => `${text} (${kind})`).join("; ")}`,
  );

test("a node has the tests of its pipeline", () => {
  const told = notes(
    null,
    new Map([
      ["logs", 2],
      ["traces", 1],
    ]),
  );
  assert.ok(told.includes("logs/in/receivers/otlp: 2 tests (plain)"), told.join("\n"));
  assert.ok(told.includes("traces/0/processors/batch: 1 test (plain)"));
  assert.ok(told.includes("metrics/in/connectors/count: "));
});

test("an exporter tells what hosts counted, and others only that they run", () => {
  const health = healthOf([
    host("applied", { debug: { sent: 10, failed: 2, queue: 0.9 } }),
    host("applied", { debug: { sent: 5, failed: 0, queue: 0.1 } }),
  ]);
  const told = notes(health);
  assert.ok(told.includes("logs/in/receivers/otlp: runs on 2 hosts (plain)"), told.join("\n"));
  assert.ok(
    told.includes(
      "logs/out/exporters/debug: runs on 2 hosts (plain); sent 15 (plain); ! failed 2 (bad); ! queue 90 % (bad)",
    ),
  );
  assert.deepEqual(health.records, { accepted: 10, refused: 2 });
});

test("what is not heard lately counts for nothing, and is old news if it is all there is", () => {
  const quiet = host("silent", { debug: { sent: 10, failed: 2, queue: 0.9 } });
  assert.deepEqual(healthOf([quiet, host("applied")]).exporters.size, 0);
  assert.ok(notes(healthOf([quiet])).includes("logs/out/exporters/debug: last heard 11-22 20:00 (old)"));
  assert.ok(notes(healthOf([])).includes("logs/out/exporters/debug: "));
});

test("a search finds pipelines by their name and by their components", () => {
  const found = (words: string): string[] => searched(graph.pipelines, words).map(({ id }) => id);
  assert.deepEqual(
    [found("GONE"), found("metr"), found(" otlp "), found("")],
    [["traces"], ["metrics"], ["logs", "traces"], ["logs", "metrics", "traces"]],
  );
});

test("250 pipelines can be searched and drawn one by one", () => {
  const many = Array.from({ length: 250 }, (_, n) => ({
    ...graph.pipelines[0]!,
    id: `logs/${n}`,
    processors: of("processors", `batch/${n}`),
    exporters: of("exporters", "debug"),
  }));
  assert.deepEqual(
    searched(many, "batch/249").map(({ id }) => id),
    ["logs/249"],
  );
  assert.equal(connected({ ...graph, pipelines: many }, "logs/7").length, 1);
});

test("what a component gives on stands at it and on its lines", () => {
  const rates = new Map([["logs|receivers/otlp", 1_200]]);
  const { lanes, edges } = drawn(graph, graph.pipelines, [], { tests: new Map(), health: null, rates });
  const written = edges.filter(({ rate }) => rate).map(({ from, to, rate }) => `${from} ${to} ${rate}`);
  assert.deepEqual(written, ["logs/in/receivers/otlp logs/0/processors/batch 1.2 K/min"]);
  assert.equal(lanes[0]?.columns[0]?.[0]?.rate, "1.2 K/min");
  assert.equal(lanes[2]?.columns[0]?.[0]?.rate, "");
});
