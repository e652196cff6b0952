import assert from "node:assert/strict";
import { test } from "node:test";
import { cellOf, rowsOf } from "./matrix";
import type { StepRecord, StepWithRecords } from "./types";

const record = (number: number | null, outcome: StepRecord["outcome"], records: number[] = []): StepRecord => ({
  record: number,
  records,
  outcome,
  outputs: 1,
  name: `line ${number ?? records.join("+")}`,
  by: [],
  fields: [],
  fields_left_out: 0,
});
const step = (n: number, ...records: StepRecord[]): StepWithRecords => ({
  n,
  pipeline: "logs",
  feeds: [],
  signal: "logs",
  out_signal: "logs",
  kind: "processor",
  component: `step${n}`,
  replaces: [],
  exact: true,
  records_in: 0,
  records_out: 0,
  unchanged: 0,
  changed: 0,
  dropped: 0,
  created: 0,
  split: 0,
  merged: 0,
  errors: [],
  statements: [],
  left_out: 0,
  records,
  next_cursor: null,
});
const steps = [
  step(1, record(2, "unchanged"), record(1, "dropped")),
  step(2, record(2, "changed"), record(null, "created")),
  step(3, record(null, "merged", [2])),
];

test("each record of the sample is a row, in the sample's order, before what steps created", () => {
  assert.deepEqual(
    rowsOf(steps).map(({ label }) => label),
    ["Record 1 ", "Record 2 ", "Created by step2 "],
  );
});

test("a cell has what its step did to the row's record, also as one of several", () => {
  const [dropped, kept, created] = rowsOf(steps);
  const outcomes = (row: typeof dropped): string[] =>
    steps.map((one) => {
      const cell = cellOf(one, row!);
      return cell.records[0]?.outcome ?? (cell.isGone ? "gone" : "not here");
    });
  assert.deepEqual(outcomes(dropped), ["dropped", "gone", "gone"]);
  assert.deepEqual(outcomes(kept), ["unchanged", "changed", "merged"]);
  assert.deepEqual(outcomes(created), ["not here", "created", "not here"]);
});

test("a record that may be among those that were not read is not called gone", () => {
  const [, row] = rowsOf(steps);
  assert.equal(cellOf({ ...step(4, record(1, "unchanged")), next_cursor: "more" }, row!).isGone, false);
});
