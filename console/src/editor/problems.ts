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

export interface Verdict {
  text: string;
  /** The same in a few words, for a tag. */
  short: string;
  kind: "good" | "warn" | "bad";
}

/** The collector's verdict in words. What only a host can decide is not called an error, nor valid. */
export function verdictOf(check: Check): Verdict {
  const on = `collector ${check.version}`;
  if (check.valid) return { text: `✓ Valid on ${on}`, short: "valid", kind: "good" };
  if (check.valid_on_host === true)
    return { text: `! Valid on ${on} only on a host that has what the warnings name`, short: "on hosts", kind: "warn" };
  if (check.valid_on_host === null)
    return {
      text: `! Not known for ${on}: the host decides what the warnings name`,
      short: "host decides",
      kind: "warn",
    };
  const errors = check.findings.filter(({ severity }) => severity === "error").length;
  const short = errors === 1 ? "1 error" : `${errors} errors`;
  return { text: `✕ Not valid on ${on}: ${short}`, short, kind: "bad" };
}

/** The same as a sentence before a text is published or assigned. */
export function verdictForHosts(check: Check): string {
  const { text, kind } = verdictOf(check);
  return `${text}${kind === "bad" ? ", so that hosts would refuse it" : ""}.`;
}

const RANK = { error: 0, warning: 1, info: 2 };
const SOURCES: Record<ListedFinding["source"], string> = {
  collector: "collector",
  start: "collector",
  lint: "OTTL",
  policy: "Policies",
  schema: "schema",
};
