// What another collector version would make of the text.
import type { Api } from "../lib/api";
import { h } from "../lib/dom";
import type { UpgradeReport } from "../lib/shapes";

export type Report = Pick<UpgradeReport, "new_errors" | "new_warnings" | "renames" | "deprecations" | "defaults">;

interface Change {
  what: string;
  text: string;
  line: number | null;
  column: number | null;
}

// More would not be read, and each is an element.
const MOST = 100;

interface Question {
  yaml: string;
  from: string;
  to: string;
  feature_gates?: string[];
}

export async function changes(api: Api, body: Question): Promise<Report> {
  return (await api.request<Report>("POST", "/validate/upgrade-check", { body })).body;
}

/** In a sentence. */
export function summary(from: string, to: string, report: Report): string {
  const counts = [
    [report.new_errors.length, "new error"],
    [report.new_warnings.length, "new warning"],
    [report.renames.length, "rename"],
    [report.deprecations.length, "deprecation"],
    [report.defaults.length, "changed default"],
  ] as const;
  const told = counts
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${count} ${name}${count === 1 ? "" : "s"}`);
  return `From collector ${from} to ${to}: ${told.length ? told.join(", ") : "nothing changes for this text"}.`;
}

/** One by one, each with a button that leads to its place; null if there are none. */
export function details(report: Report, goTo: (line: number, column: number) => void): HTMLElement | null {
  const all = listed(report);
  if (all.length === 0) return null;
  return h(
    "details",
    {},
    h("summary", {}, "Show them"),
    h(
      "ul",
      { class: "problems" },
      ...all
        .slice(0, MOST)
        .map(({ what, text, line, column }) =>
          h(
            "li",
            {},
            line === null
              ? h("div", { class: "problem" }, h("strong", {}, what), text)
              : h(
                  "button",
                  { type: "button", class: "problem", click: () => goTo(line, column ?? 1) },
                  h("strong", {}, `${what}, line ${line}`),
                  h("span", {}, text),
                ),
          ),
        ),
    ),
    all.length > MOST && h("p", {}, `${all.length - MOST} more`),
  );
}

export function listed(report: Report): Change[] {
  const at = ({ line = null, column = null }: { line?: number | null; column?: number | null }) => ({ line, column });
  return [
    ...report.new_errors.map((one) => ({ what: "New error", text: one.message, ...at(one) })),
    ...report.new_warnings.map((one) => ({ what: "New warning", text: one.message, ...at(one) })),
    ...report.renames.map((one) => ({ what: "Renamed", text: `${one.from} is ${one.to} there`, ...at(one) })),
    ...report.deprecations.map((one) => ({
      what: one.new ? "Newly deprecated" : "Deprecated",
      text: `${one.component_path}: ${one.message}`,
      ...at(one),
    })),
    ...report.defaults.map((one) => ({
      what: "Changed default",
      text: `${one.component_path}::${one.key}: ${JSON.stringify(one.before)} → ${JSON.stringify(one.after)}`,
      ...at(one),
    })),
  ];
}
