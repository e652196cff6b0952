// Publishing: what stands against it, the notes, and the answer.
import type { Api } from "../lib/api";
import { h } from "../lib/dom";
import type { Check, PolicyFinding } from "../lib/types";
import { button, dialog, field, messageOf } from "../lib/ui";
import { question } from "./question";
import { Overtaken, type Session } from "./session";

interface Tests {
  items: { name: string }[];
  evidence: { passed: boolean; current: boolean }[];
}

/** What stands against it, with the line of the text or the panel where it is mended. */
interface Against {
  text: string;
  line?: number | null;
  panel?: string;
}

/** How the dialog leads to a place. */
export interface Places {
  goTo(line: number): void;
  open(panel: string): void;
}

// The most policy errors that are listed; all of them are counted.
const MOST = 5;

/** Asks for notes and publishes. True if it was published. */
export async function publish(api: Api, session: Session, check: Check, places: Places): Promise<boolean> {
  const requires = (await api.get<{ settings: { publish_requires: string[] } }>("/policies")).settings.publish_requires;
  const against = h(
    "ul",
    {},
    ...[...ofVerdict(check), ...ofPolicies(check, requires), ...(await ofTests(api, session, requires))].map(entry),
  );
  function entry({ text, line = null, panel }: Against): HTMLElement {
    const go = (): void => {
      before.closest("dialog")?.close();
      if (line !== null) places.goTo(line);
      else places.open(panel ?? "Problems");
    };
    return h("li", {}, text, " ", (line !== null || panel !== undefined) && button("Go there", go, { class: "link" }));
  }
  const before = h("div", { hidden: against.children.length === 0 }, h("p", {}, "Before you publish:"), against);
  const starting = h("p", { role: "status" }, "Starting the processors and connectors in a sandbox…");
  void ofStart(api, session).then((found) => {
    starting.remove();
    against.append(...found.map(entry));
    before.hidden = against.children.length === 0;
  });
  const notes = h("textarea", { id: "notes", rows: 3, maxlength: 2_000 }, session.saved.version.description ?? "");
  const problem = h("p", { class: "error", role: "alert" });
  return new Promise((done) => {
    let published = false;
    const act = async (): Promise<void> => {
      problem.textContent = "";
      try {
        const text = notes.value.trim();
        if (text !== (session.saved.version.description ?? "") && text !== "") await session.describe(text);
        await session.publish();
        published = true;
        shown.close();
      } catch (error) {
        problem.textContent =
          error instanceof Overtaken ? `${error.message}: close this and save again` : messageOf(error);
      }
    };
    const shown = dialog(
      `Publish version ${session.n}`,
      h("p", {}, "A published version does not change any more. Groups run it once it is assigned to them."),
      before,
      starting,
      field("Notes", notes, "What changed and why; shown with the version"),
      problem,
      h(
        "div",
        { class: "buttons" },
        button("Publish", act),
        button("Cancel", () => shown.close(), { class: "plain" }),
      ),
    );
    shown.addEventListener("close", () => done(published));
  });
}

function ofVerdict({ valid, version, errors }: Check): Against[] {
  const count = errors.length === 1 ? "one error" : `${errors.length} errors`;
  const text = `Collector ${version} does not accept this text (${count}): hosts would refuse it.`;
  return valid ? [] : [{ text, panel: "Problems" }];
}

/** What starting the components of the saved text shows; an outage of it stops nothing. */
async function ofStart(api: Api, session: Session): Promise<Against[]> {
  try {
    const { body } = await api.request<Check>("POST", "/validate?start=true", {
      body: question(session.saved.version),
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

function ofPolicies({ policies }: Check, requires: string[]): Against[] {
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

async function ofTests(api: Api, session: Session, requires: string[]): Promise<Against[]> {
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
