// The step-through of a traced run: each component of the pipeline is a column, and each record of the sample a row.
import type { Api } from "../lib/api";
import { h } from "../lib/dom";
import { button, field, messageOf, options } from "../lib/ui";
import { cellOf, type Cell, rowsOf } from "./matrix";
import type { Reason, Step, StepRecord, Steps, StepWithRecords } from "./types";

const CHANGES = { added: "+ added", removed: "− removed", changed: "~ changed" };
const OUTCOMES: Record<StepRecord["outcome"], string> = {
  unchanged: "= unchanged",
  changed: "~ changed",
  dropped: "✕ dropped",
  created: "+ created",
  split: "⋔ split",
  merged: "⋈ merged",
};
// Records that a column shows: nobody reads more, and each one is an element in each column.
const MOST_RECORDS = 100;
// Columns, each of which is a request.
const MOST_STEPS = 40;

/** The steps of the target pipeline first; another one that a connector feeds can be chosen. */
export function stepThrough(api: Api, run: string, steps: Steps, textOf: (line: number) => string): HTMLElement {
  if (!steps.available)
    return h("p", { class: "soft" }, `The steps are not available: ${steps.reason ?? "the run was not traced"}`);
  const pipelines = [...new Set(steps.items.map(({ pipeline }) => pipeline))];
  const place = h("div", {});
  const choice = h(
    "select",
    { id: "steps-of" },
    ...options(
      pipelines.map((id) => [id, id]),
      "",
    ),
  );
  const draw = async (): Promise<void> => {
    const all = steps.items.filter(({ pipeline }) => pipeline === choice.value);
    const listed = all.slice(0, MOST_STEPS);
    try {
      const read = await Promise.all(
        listed.map(({ n }) => api.get<StepWithRecords>(`/testing/runs/${run}/steps/${n}?limit=${MOST_RECORDS}`)),
      );
      place.replaceChildren(...matrix(read, textOf));
      if (all.length > MOST_STEPS)
        place.append(h("p", { class: "soft" }, `Step ${MOST_STEPS} of ${all.length} is the last shown.`));
    } catch (error) {
      place.replaceChildren(h("p", { class: "error" }, messageOf(error)));
    }
  };
  choice.addEventListener("change", () => void draw());
  void draw();
  return h(
    "div",
    {},
    pipelines.length > 1 && field("Pipeline", choice),
    !steps.complete && h("p", { class: "soft" }, `${steps.left_out.records} records were over the limits.`),
    place,
  );
}

function matrix(steps: StepWithRecords[], textOf: (line: number) => string): HTMLElement[] {
  const detail = h("div", { "aria-live": "polite" });
  const rows = rowsOf(steps);
  const head = h(
    "tr",
    {},
    h("th", { scope: "col" }, "Record"),
    ...steps.map((step) => h("th", { scope: "col" }, ...heading(step, detail, textOf))),
  );
  const body = rows.map((row) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, row.label, h("code", { class: "soft small" }, row.name)),
      ...steps.map((step) => h("td", {}, cell(step, cellOf(step, row), detail, textOf))),
    ),
  );
  const isCut = steps.some(({ next_cursor }) => next_cursor !== null);
  return [
    h(
      "div",
      { class: "scrolls", tabindex: 0, role: "group", "aria-label": "Steps" },
      h("table", { class: "matrix" }, h("thead", {}, head), h("tbody", {}, ...body)),
    ),
    ...(rows.length ? [] : [h("p", { class: "soft" }, "No record came into this pipeline.")]),
    ...(isCut ? [h("p", { class: "soft" }, `The first ${MOST_RECORDS} records of each step are shown.`)] : []),
    detail,
  ];
}

function heading(step: StepWithRecords, detail: HTMLElement, textOf: (line: number) => string): HTMLElement[] {
  const about = [
    `${step.records_in} in, ${step.records_out} out`,
    step.dropped ? `${step.dropped} dropped` : "",
    step.replaces.length ? `in the place of ${step.replaces.join(", ")}` : "",
    step.exact ? "" : "records are matched by what they contain",
  ];
  return [
    button(`${step.n}. ${step.component}`, () => show(detail, step, step.records, textOf), { class: "link" }),
    h("div", { class: "soft small" }, [step.kind, ...about].filter(Boolean).join(" · ")),
    ...step.errors.map(({ message, count }) => h("div", { class: "error" }, `${count} × ${message}`)),
  ];
}

function cell(step: Step, found: Cell, detail: HTMLElement, textOf: (line: number) => string): HTMLElement {
  const [first] = found.records;
  if (!first) return h("span", { class: "soft" }, found.isGone ? "– gone" : "– not here");
  const { label, kind } = seen(step, first);
  return h(
    "div",
    {},
    button(label, () => show(detail, step, found.records, textOf), {
      class: `link outcome ${kind}`,
      "aria-label": `${label}, ${step.component}`,
    }),
    // Why it is gone stands where it went.
    ...(kind === "dropped" ? first.by.map((reason) => because(reason, textOf)) : []),
  );
}

/** A receiver creates what the sample has, and a connector takes what it makes something else of. */
function seen(step: Step, one: StepRecord): { label: string; kind: string } {
  if (step.kind === "receiver" && one.outcome === "created") return { label: "→ came in", kind: "unchanged" };
  if (step.kind === "connector" && one.outcome === "dropped") return { label: "→ taken", kind: "unchanged" };
  const changes = one.outcome === "changed" ? ` ${one.fields.length + one.fields_left_out}` : "";
  return { label: `${OUTCOMES[one.outcome]}${changes}`, kind: one.outcome };
}

function show(detail: HTMLElement, step: Step, records: StepRecord[], textOf: (line: number) => string): void {
  detail.replaceChildren(
    h("h4", {}, `${step.n}. ${step.component}`),
    ...(records.length
      ? records.map((one) => record(step, one, textOf))
      : [h("p", { class: "soft" }, "No record came here.")]),
  );
}

function record(step: Step, one: StepRecord, textOf: (line: number) => string): HTMLElement {
  const fields = one.fields.map(({ path, change, before, after }) =>
    h(
      "li",
      { class: `change ${change}` },
      h("strong", {}, `${CHANGES[change]} `),
      h("code", {}, path),
      change !== "added" && h("del", {}, shown(before)),
      change !== "removed" && h("ins", {}, shown(after)),
    ),
  );
  const { label, kind } = seen(step, one);
  const number =
    one.record === null ? (one.records.length ? `of records ${one.records.join(", ")}` : "") : `record ${one.record}`;
  return h(
    "section",
    { class: "record" },
    h("p", {}, h("span", { class: `outcome ${kind}` }, label), ` ${number} `, h("code", {}, one.name)),
    ...one.by.map((reason) => because(reason, textOf)),
    fields.length > 0 && h("ul", { class: "names" }, ...fields),
    one.fields_left_out > 0 && h("p", { class: "soft small" }, `${one.fields_left_out} more fields`),
  );
}

function because(reason: Reason, textOf: (line: number) => string): HTMLElement {
  const { statement, condition, component, path, line } = reason;
  const what = statement ?? condition ?? component ?? path;
  return h("div", { class: "soft small" }, line === null ? `by ${what}` : `by ${what}, line ${line}: ${textOf(line)}`);
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
