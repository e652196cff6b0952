// What stands against publishing a version: its text, policies, tests, and how its components start.
import type { Api } from "../lib/api";
import type { Check, PolicyFinding } from "../lib/types";
import { messageOf } from "../lib/ui";
import { verdictForHosts } from "./problems";
import { question } from "./question";
import type { Session } from "./session";

interface Tests {
  items: { name: string }[];
  evidence: { passed: boolean; current: boolean }[];
}

/** What stands against it, with the line of the text or the panel where it is mended. */
export interface Against {
  text: string;
  line?: number | null;
  panel?: string;
}

// The most policy errors that are listed; all of them are counted.
const MOST = 5;

export function ofVerdict(check: Check): Against[] {
  return check.valid ? [] : [{ text: verdictForHosts(check), panel: "Problems" }];
}

/** What starting the components of the saved text shows; an outage of it stops nothing. */
export async function ofStart(api: Api, { saved }: Pick<Session, "saved">): Promise<Against[]> {
  try {
    const { body } = await api.request<Check>("POST", "/validate?start=true", {
      body: question(saved.version),
    });
    if (body.start && "problem" in body.start) return [{ text: notStarted(body.start.problem.detail) }];
    const shown = body.findings.filter(({ source, severity }) => source === "start" && severity !== "note");
    return shown.slice(0, MOST).map(located);
  } catch (error) {
    return [{ text: notStarted(messageOf(error)) }];
  }
}

function notStarted(reason: string): string {
  return `The components were not started: ${reason}`;
}

export function ofPolicies({ policies }: Check, requires: string[]): Against[] {
  if (!policies) return [];
  if ("problem" in policies) return [{ text: `Policies were not checked: ${policies.problem.detail}` }];
  const count = (severity: PolicyFinding["severity"]): number =>
    policies.findings.filter((one) => one.severity === severity && !one.suppressed).length;
  if (!policies.passed)
    return [
      {
        text: `${counted(count("error"), "policy error")}${requires.includes("policies") ? ": your organization publishes only versions without them" : ""}.`,
        panel: "Problems",
      },
      ...policies.findings
        .filter(({ severity, suppressed }) => severity === "error" && !suppressed)
        .slice(0, MOST)
        .map(located),
    ];
  const warnings = `${counted(count("warning"), "policy warning")}, which do not stop it.`;
  return count("warning") ? [{ text: warnings, panel: "Problems" }] : [];
}

function located({ message, line = null }: { message: string; line?: number | null }): Against {
  return { text: line === null ? message : `${message} (line ${line})`, line };
}

function counted(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? "" : "s"}`;
}

export async function ofTests(
  api: Api,
  session: Pick<Session, "configuration" | "n">,
  requires: string[],
): Promise<Against[]> {
  const { items, evidence } = await api.get<Tests>(
    `/configurations/${session.configuration}/versions/${session.n}/tests`,
  );
  const current = evidence.find((one) => one.current);
  if (current?.passed) return [];
  const state =
    items.length === 0
      ? "This version has no tests"
      : current
        ? "Its tests did not pass"
        : "Its tests have not run on exactly this text";
  return requires.includes("tests")
    ? [{ text: `${state}: your organization publishes only versions whose tests passed.`, panel: "Tests" }]
    : items.length
      ? [{ text: `${state}.`, panel: "Tests" }]
      : [];
}
