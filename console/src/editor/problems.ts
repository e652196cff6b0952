// What a check found, as one list: the worst first, and then in the order of the text.
import type { Check, Edit, ListedFinding } from "../lib/types";

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
  fix: Edit[] | null;
}

/** The service has merged them: here they are only put in order. */
export function shown(check: Check): Shown[] {
  return check.findings
    .map(({ severity, source, code, message, way_out, component_path, line, column, fix }): Shown => ({
      severity: severity === "note" ? "info" : severity,
      message,
      wayOut: way_out ?? "",
      source: source === "policy" && code !== "not_checked" ? code : SOURCES[source],
      path: component_path ?? "",
      line: line ?? null,
      column: column ?? null,
      fix: fix ?? null,
    }))
    .sort(
      (a, b) =>
        RANK[a.severity] - RANK[b.severity] || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
    );
}

const RANK = { error: 0, warning: 1, info: 2 };
const SOURCES: Record<ListedFinding["source"], string> = {
  collector: "collector",
  start: "collector",
  lint: "OTTL",
  policy: "Policies",
  schema: "schema",
};
