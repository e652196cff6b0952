// What a check found, as one list: the worst first, and then in the order of the text.
import type { Check, Finding } from "../lib/types";

export type Severity = "error" | "warning" | "info";

export interface Shown {
  severity: Severity;
  message: string;
  /** What can be done, empty if the finding does not say. */
  wayOut: string;
  /** Who says it: the collector, its OTTL parser, or the code of a policy. */
  source: string;
  path: string;
  line: number | null;
  column: number | null;
}

/** Parts that could not be checked are told without a place: nothing that is not said counts as right. */
export function shown(check: Check): Shown[] {
  const found: Shown[] = [];
  const lint = check.lint && "items" in check.lint ? check.lint.items : [];
  const ottl = lint.filter((item) => item.error !== null);
  for (const finding of check.errors) {
    // The linter has the same error at the expression itself.
    const isOttl = ottl.some(
      ({ location, error }) =>
        error !== null && location.path.startsWith(finding.component_path) && finding.message.includes(error),
    );
    if (!isOttl) found.push(of(finding, "error", "collector"));
  }
  found.push(...check.warnings.map((finding) => of(finding, "warning", "collector")));
  for (const { location, error, note } of ottl)
    found.push({ severity: "error", message: error ?? "", wayOut: note ?? "", source: "OTTL", ...location });
  if (check.policies && "findings" in check.policies)
    for (const finding of check.policies.findings)
      if (!finding.suppressed) found.push({ ...of(finding, finding.severity, finding.code), wayOut: finding.way_out });
  for (const [name, part] of [
    ["OTTL", check.lint],
    ["Policies", check.policies],
  ] as const)
    if (part && "problem" in part)
      found.push({
        severity: "warning",
        message: `Not checked: ${part.problem.detail}`,
        wayOut: "",
        source: name,
        path: "",
        line: null,
        column: null,
      });
  return found.sort(
    (a, b) => RANK[a.severity] - RANK[b.severity] || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  );
}

const RANK = { error: 0, warning: 1, info: 2 };

function of(finding: Finding, severity: Severity, source: string): Shown {
  return {
    severity,
    message: finding.message,
    wayOut: "",
    source,
    path: finding.component_path,
    line: finding.line,
    column: finding.column,
  };
}
