import assert from "node:assert/strict";
import { test } from "node:test";
import type { Check, Finding } from "../lib/types";
import { shown } from "./problems";

const finding = (message: string, component_path: string, line: number | null): Finding => ({
  message,
  component_path,
  code: "other",
  line,
  column: 1,
});
const check = (parts: Partial<Check>): Check => ({
  valid: false,
  version: "0.139.0",
  errors: [],
  warnings: [],
  environment: [],
  ...parts,
});

test("errors are told first, and then the order of the text counts", () => {
  const found = shown(
    check({ errors: [finding("late", "b", 9), finding("early", "b", 3)], warnings: [finding("first", "a", 2)] }),
  );
  assert.deepEqual(
    found.map(({ severity, message }) => `${severity} ${message}`),
    ["error early", "error late", "warning first"],
  );
});

test("an OTTL error is told once, where it is", () => {
  const error = 'undefined function "sett"';
  const item = {
    location: { path: "processors::transform::log_statements[0]", line: 7, column: 9 },
    context: "log",
    kind: "statement",
    expression: "sett()",
    error,
    note: "did you mean `set`?",
  };
  const found = shown(
    check({
      errors: [
        finding(`unable to parse: ${error}`, "processors::transform", 5),
        finding("another", "processors::transform", 5),
      ],
      lint: { items: [item], skipped: [] },
    }),
  );
  assert.deepEqual(
    found.map(({ line, message, wayOut }) => [line, message, wayOut]),
    [
      [5, "another", ""],
      [7, error, "did you mean `set`?"],
    ],
  );
});

test("a part that was not checked is told, and never looks right", () => {
  const found = shown(check({ valid: true, policies: { problem: { code: "not_checked", detail: "No collector" } } }));
  assert.deepEqual(
    found.map(({ severity, message, source }) => [severity, message, source]),
    [["warning", "Not checked: No collector", "Policies"]],
  );
});

test("a suppressed finding of a policy is not told", () => {
  const one = {
    ...finding("m", "a", 1),
    severity: "error" as const,
    way_out: "w",
    suppressed: { line: 1, reason: "r" },
  };
  assert.deepEqual(shown(check({ policies: { passed: true, findings: [one] } })), []);
});
