import assert from "node:assert/strict";
import { test } from "node:test";
import { lines, ofSides } from "./complaints";

const error = { component: "receivers::filelog", message: "no severity", count: 2, record: 3 };
const note = { code: "waits", message: "batch waits" };

test("an error is told with how often it came, and the first record that it is about", () => {
  assert.deepEqual(lines({ component_errors: [error, { ...error, count: 1, record: null }], notes: [note] }), [
    "receivers::filelog: no severity (2 times), the first in record 3",
    "receivers::filelog: no severity",
    "batch waits",
  ]);
});

test("what both sides complain of is told once", () => {
  const [left, right] = [
    { component_errors: [error], notes: [] },
    { component_errors: [error], notes: [note] },
  ];
  assert.deepEqual(ofSides(left, right), [
    "both: receivers::filelog: no severity (2 times), the first in record 3",
    "right: batch waits",
  ]);
});
