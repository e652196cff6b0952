import assert from "node:assert/strict";
import { test } from "node:test";
import { linesOf } from "./lines";
import { outline, parse, placeAt } from "./place";

// `|` is the cursor.
function at(text: string): { path: string; key: string | null; inKey: boolean } {
  const offset = text.indexOf("|");
  const before = text.slice(0, offset).split("\n");
  const { path, key, inKey } = placeAt(linesOf(text.replace("|", "")), before.length, before.at(-1)?.length ?? 0);
  return { path: path.join("/"), key, inKey };
}

const cases: [string, string, { path: string; key: string | null; inKey: boolean }][] = [
  ["an empty text", "|", { path: "", key: null, inKey: true }],
  ["a first key", "rec|", { path: "", key: null, inKey: true }],
  ["below a section", "receivers:\n  |", { path: "receivers", key: null, inKey: true }],
  ["below a component", "receivers:\n  otlp:\n    proto|", { path: "receivers/otlp", key: null, inKey: true }],
  [
    "in a value",
    "receivers:\n  otlp:\n    endpoint: lo|",
    { path: "receivers/otlp/endpoint", key: "endpoint", inKey: false },
  ],
  [
    "in a key that has a value",
    "exporters:\n  debug:\n    verb|osity: basic",
    { path: "exporters/debug", key: "verbosity", inKey: true },
  ],
  ["after siblings", "a:\n  b:\n    c: 1\n    d: 2\n  e:\n    |", { path: "a/e", key: null, inKey: true }],
  ["an entry of a list", "a:\n  b:\n    - x|", { path: "a/b/[]", key: null, inKey: true }],
  ["an entry as far left as its key", "a:\n  b:\n  - x\n  - |", { path: "a/b/[]", key: null, inKey: true }],
  ["a key in an entry", "a:\n  - context: log\n    stat|", { path: "a/[]", key: null, inKey: true }],
  ["a value in an entry", "a:\n  - context: l|", { path: "a/[]/context", key: "context", inKey: false }],
  ["behind comments and empty lines", "a:\n\n# b:\n  # c:\n  |", { path: "a", key: null, inKey: true }],
  ["a quoted key", '"a/b: c":\n  |', { path: "a/b: c", key: null, inKey: true }],
  [
    "a key with a slash",
    "receivers:\n  otlp/my-backend.eu:\n    |",
    { path: "receivers/otlp/my-backend.eu", key: null, inKey: true },
  ],
  ["where the line goes on to the right", "a:\n  |b: c", { path: "a", key: null, inKey: true }],
];

for (const [name, text, place] of cases) test(`the place of ${name}`, () => assert.deepEqual(at(text), place));

test("not all of a very long text is read for a place", () => {
  let read = 0;
  const lines = { count: 300_001, text: () => ((read += 1), "    x") };
  placeAt(lines, 300_001, 4);
  assert.ok(read <= 20_001, `${read} lines`);
});

test("not all dashes of a line are entries", () => {
  assert.equal(parse("- ".repeat(10_000)).levels.length, 64);
});

test("the outline has components and pipelines", () => {
  const text =
    "receivers:\n  otlp:\n    protocols:\n      grpc:\n  filelog: {}\nx:\n  y:\nexporters:\n    debug:\nservice:\n  telemetry:\n    logs:\n  pipelines:\n    logs/a:\n      receivers: [otlp]\n    metrics:\n  extensions: [x]\n";
  assert.deepEqual(
    outline(linesOf(text)).map(({ section, id, line }) => `${section} ${id} ${line}`),
    ["receivers otlp 2", "receivers filelog 5", "exporters debug 9", "pipelines logs/a 14", "pipelines metrics 16"],
  );
});
