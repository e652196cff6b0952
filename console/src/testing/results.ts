// A run while it is under way, and what it came to.
import type { Api } from "../lib/api";
import { h } from "../lib/dom";
import { poll } from "../lib/poll";
import { messageOf } from "../lib/ui";
import { complaints } from "./complaints";
import { stepThrough } from "./steps";
import type { RuleResult, Run, Steps } from "./types";

// What a run takes beside the time for which the collector runs.
const MORE_SECONDS = 4;

export function isFinal({ status }: Run): boolean {
  return status === "Success" || status === "Fail" || status === "Error";
}

/** Shows how far the run is in `place`, and returns it when it has ended. */
export async function followed(api: Api, run: Run, duration: number, place: HTMLElement): Promise<Run> {
  const began = Date.now();
  const progress = h("progress", { "aria-label": "Run", max: duration + MORE_SECONDS });
  const state = h("p", { role: "status" }, run.status);
  const seconds = h("p", { class: "soft small" });
  place.replaceChildren(h("div", { class: "card" }, h("h2", {}, "Run"), state, progress, seconds));
  const tell = (): void => {
    const passed = Math.round((Date.now() - began) / 1_000);
    seconds.textContent = `${passed} s of about ${duration + MORE_SECONDS} s`;
    progress.value = Math.min(passed, duration + MORE_SECONDS);
  };
  tell();
  const ticking = setInterval(tell, 1_000);
  try {
    if (isFinal(run)) return run;
    // It is not done before: asking earlier would take a turn for nothing.
    if (run.status === "Queued") await new Promise((resolve) => setTimeout(resolve, duration * 1_000 + 2_500));
    return await poll(
      () => api.get<Run>(`/testing/runs/${run.id}`),
      isFinal,
      ({ status }) => {
        state.textContent = status;
      },
    );
  } finally {
    clearInterval(ticking);
  }
}

/** The result of each rule, as a list. */
export function ruleResults(results: RuleResult[]): HTMLElement {
  return h(
    "ul",
    { class: "names" },
    ...results.map(({ passed, condition, message }) =>
      h(
        "li",
        {},
        h("span", { class: `tag ${passed ? "good" : "bad"}` }, passed ? "passed" : "failed"),
        h("code", {}, ` ${condition} `),
        h("div", { class: "soft small" }, message),
      ),
    ),
  );
}

/** A run that has ended; `textOf` is a line of the text that it was of. */
export async function results(api: Api, run: Run, textOf: (line: number) => string): Promise<HTMLElement> {
  const rules = run.validation_results ?? [];
  const card = h(
    "div",
    { class: "card" },
    h("h2", {}, "Run ", h("span", { class: `tag ${run.status === "Success" ? "good" : "bad"}` }, run.status)),
    rules.length > 0 && ruleResults(rules),
    run.component_errors.length + run.notes.length > 0 && complaints(run),
  );
  if (run.status !== "Error") {
    const steps = run.trace
      ? await part(async () => stepThrough(api, run.id, await api.get<Steps>(`/testing/runs/${run.id}/steps`), textOf))
      : h("p", { class: "soft" }, "The run was not traced: a run with steps shows what each component did.");
    const output = await part(async () => {
      const text = await api.get<string>(`/testing/runs/${run.id}/output`);
      return h("pre", { tabindex: 0, "aria-label": "Output" }, text || "Nothing came out.");
    });
    card.append(h("h3", {}, "Steps"), steps, h("details", { open: !run.trace }, h("summary", {}, "Output"), output));
  }
  card.append(
    h(
      "details",
      { open: run.status === "Error" },
      h("summary", {}, "What the collector wrote"),
      h("pre", { class: "wrapped", tabindex: 0, "aria-label": "Standard error" }, run.stderr || "Nothing."),
    ),
  );
  return card;
}

async function part(make: () => Promise<HTMLElement>): Promise<HTMLElement> {
  try {
    return await make();
  } catch (error) {
    return h("p", { class: "error" }, messageOf(error));
  }
}
