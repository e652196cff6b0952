import assert from "node:assert/strict";
import { test } from "node:test";
import { listed, summary } from "./switching";

const nothing = { new_errors: [], new_warnings: [], renames: [], deprecations: [], defaults: [] };
const rename = { component_path: "exporters::otlp", line: 3, column: 5, from: "otlp", to: "otlp_grpc" };
const finding = { message: "m", component_path: "", code: "other" as const, line: 1, column: 1 };

test("a version that changes nothing says so", () => {
  assert.equal(
    summary("0.139.0", "0.158.0", nothing),
    "From collector 0.139.0 to 0.158.0: nothing changes for this text.",
  );
});

test("what a version changes is counted", () => {
  const report = { ...nothing, new_errors: [finding], renames: [rename, rename] };
  assert.equal(summary("0.139.0", "0.158.0", report), "From collector 0.139.0 to 0.158.0: 1 new error, 2 renames.");
});

test("each change has its place and says what it is", () => {
  const deprecation = { component_path: "processors::batch", line: 2, column: 3, message: "goes" };
  const report = {
    ...nothing,
    new_errors: [finding],
    new_warnings: [{ ...finding, line: null, column: null }],
    deprecations: [
      { ...deprecation, new: true },
      { ...deprecation, new: false },
    ],
    renames: [rename],
    defaults: [{ component_path: "exporters::otlp", line: 4, column: 1, key: "timeout", before: "5s", after: null }],
  };
  assert.deepEqual(listed(report), [
    { what: "New error", text: "m", line: 1, column: 1 },
    { what: "New warning", text: "m", line: null, column: null },
    { what: "Renamed", text: "otlp is otlp_grpc there", line: 3, column: 5 },
    { what: "Newly deprecated", text: "processors::batch: goes", line: 2, column: 3 },
    { what: "Deprecated", text: "processors::batch: goes", line: 2, column: 3 },
    { what: "Changed default", text: 'exporters::otlp::timeout: "5s" → null', line: 4, column: 1 },
  ]);
});
