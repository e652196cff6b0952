import assert from "node:assert/strict";
import { test } from "node:test";
import type { Check, ListedFinding } from "../lib/types";
import { shown, verdictOf } from "./problems";

const finding = (parts: Partial<ListedFinding>): ListedFinding => ({
  severity: "error",
  source: "collector",
  code: "other",
  message: "m",
  way_out: "",
  component_path: "processors::batch",
  line: 1,
  column: 1,
  end_line: null,
  end_column: null,
  fix: null,
  ...parts,
});
const check = (findings: ListedFinding[]): Check => ({
  valid: false,
  version: "0.139.0",
  distribution: "contrib",
  errors: [],
  warnings: [],
  environment: [],
  findings,
});

test("errors are told first, and then the order of the text counts", () => {
  const found = shown(
    check([
      finding({ severity: "warning", message: "first", line: 2 }),
      finding({ message: "early", line: 3 }),
      finding({ message: "late", line: 9 }),
    ]),
  );
  assert.deepEqual(
    found.map(({ severity, message }) => `${severity} ${message}`),
    ["error early", "error late", "warning first"],
  );
});

test("the service's list is shown as it is, with the way out and who says it", () => {
  const found = shown(
    check([
      finding({ source: "lint", code: "ottl", message: "undefined", way_out: "did you mean `set`?", line: 7 }),
      finding({ source: "policy", code: "insecure_tls", severity: "note", line: 8 }),
      finding({ source: "policy", code: "not_checked", severity: "warning", line: null, column: null }),
    ]),
  );
  assert.deepEqual(
    found.map(({ severity, source, wayOut, line }) => [severity, source, wayOut, line]),
    [
      ["error", "OTTL", "did you mean `set`?", 7],
      ["warning", "Policies", "", null],
      ["info", "insecure_tls", "", 8],
    ],
  );
});

test("what only the host decides is called neither valid nor an error", () => {
  const onHost = finding({ severity: "warning", code: "depends_on_host" });
  const tagOf = (parts: Partial<Check>, ...findings: ListedFinding[]): string => {
    const { short, kind } = verdictOf({ ...check(findings), ...parts });
    return `${short} (${kind})`;
  };
  assert.equal(tagOf({ valid: true, valid_on_host: true }), "valid (good)");
  assert.equal(tagOf({ valid_on_host: true }, onHost), "on hosts (warn)");
  assert.equal(tagOf({ valid_on_host: null }, onHost), "host decides (warn)");
  assert.equal(tagOf({ valid_on_host: false }, onHost, finding({})), "1 error (bad)");
  assert.equal(tagOf({}, finding({}), finding({})), "2 errors (bad)");
});
