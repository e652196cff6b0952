// How a rollout goes on: a preset or steps of one's own, who is first, its window, and what stops it.
import { h } from "../lib/dom";
import { pairs } from "../lib/pairs";
import { button, field, options } from "../lib/ui";

export interface Step {
  hosts?: number;
  percent?: number;
  canaries?: true;
  soak_seconds: number;
  approval: boolean;
}

export interface Strategy {
  preset?: string;
  steps?: Step[];
  canaries?: Record<string, string>;
  max_unavailable?: number;
  window?: { start: string; end: string; time_zone: string };
  on_failure: string;
}

export type Gates = Record<string, number | boolean | null>;

export const OWN = "own";
const MOST_STEPS = 20;
const SWITCHES: [string, string][] = [
  ["apply_failed", "It could not apply the version, or not within five minutes"],
  ["crash_loop", "It applied the version, and failed later"],
  ["silent", "Nothing is heard of it"],
  ["delivery", "What it sends goes to exporters that deliver nothing, such as debug, and went to others before"],
  ["not_judged", "It reported what it takes in and sends before, and does not any more"],
];
/** Each with what it is by default, and with what it counts. */
const LIMITS: [string, number, string, string][] = [
  ["left", 0, "Left", "collectors that stop or move away before they were well for the wait"],
  ["restarts", 1, "Ended by itself", "more often than this"],
  ["send_failed", 5, "Failed to send", "percent points more than before"],
  ["refused", 5, "Refused", "percent points more than before"],
  ["queue_growth", 25, "Fuller queue", "percent points more than before"],
  ["throughput_drop", 50, "Less telemetry", "percent less than before"],
  ["memory_growth", 100, "More memory", "percent more than before"],
  ["cpu_growth", 200, "More of a processor", "percent more than before"],
];

/** The form's part for rollouts. The ids of fields are the places that the API's errors name, with `-` between. */
export class StrategyForm {
  readonly element = h("div");
  private readonly rows = h("div");
  private readonly own = h("fieldset", {}, h("legend", {}, "Steps"), this.rows);
  private readonly canaries = h("input", {
    id: "strategy-canaries",
    spellcheck: "false",
    placeholder: "site=berlin, ring=1",
  });
  private readonly most = number("strategy-max_unavailable", "", 1);
  private readonly start = h("input", { id: "strategy-window-start", type: "time" });
  private readonly end = h("input", { id: "strategy-window-end", type: "time" });
  private readonly zone = h("input", {
    id: "strategy-window-time_zone",
    spellcheck: "false",
    value: Intl.DateTimeFormat().resolvedOptions().timeZone,
  });
  private readonly failure = h(
    "select",
    { id: "strategy-on_failure" },
    ...options(
      [
        ["roll_back_step", "The step goes back"],
        ["roll_back", "The whole rollout goes back"],
        ["halt", "It halts, and all stay as they are"],
      ],
      "roll_back_step",
    ),
  );
  private readonly tolerated = number("gates-tolerated_percent", "2", 0);
  private readonly switches = SWITCHES.map(([name, label]) => ({
    name,
    label,
    control: h("input", { id: `gates-${name}`, type: "checkbox", checked: true }),
  }));
  private readonly limits = LIMITS.map(([name, value, label, hint]) => ({
    name,
    label,
    hint,
    control: number(`gates-${name}`, String(value), 0),
  }));
  private readonly upgrade = h("input", { id: "upgrade_collector", type: "checkbox" });
  private readonly variables = h("input", { id: "variables_revision", type: "checkbox" });
  private readonly variablesRow = h("div", { hidden: true });
  private revision = 0;
  private steps: StepRow[] = [];
  private made = 0;

  constructor() {
    this.own.append(button("Add a step", () => this.add(), { class: "plain small" }));
    this.add({ hosts: 1, soak_seconds: 600, approval: false });
    this.add({ percent: 100, soak_seconds: 600, approval: false });
    this.element.append(
      checked(this.upgrade, "Also move hosts to the collector that this text is for"),
      h(
        "p",
        { class: "hint" },
        "Each host gets the collector with the configuration, in the same steps, and goes back to both if a gate fails. " +
          "Hosts whose collector Headgate cannot replace are listed with the command for them.",
      ),
      h("p", { class: "error", id: "upgrade_collector-error", hidden: true }),
      this.variablesRow,
      this.own,
      h(
        "details",
        {},
        h("summary", {}, "Canaries, window and gates"),
        h(
          "div",
          { class: "two" },
          field("Canaries", this.canaries, "Collectors with all of these labels come first"),
          field("Change at once", this.most, "At most so many collectors; empty for any number"),
        ),
        h(
          "fieldset",
          {},
          h("legend", {}, "Steps begin only"),
          h(
            "div",
            { class: "row" },
            h("div", {}, field("From", this.start)),
            h("div", {}, field("To", this.end)),
            h("div", {}, field("In the time zone", this.zone)),
          ),
        ),
        h(
          "fieldset",
          {},
          h("legend", {}, "Gates"),
          h(
            "div",
            { class: "two" },
            field("Tolerated, percent", this.tolerated, "A gate fails if more collectors than this do it"),
            field("If a gate fails", this.failure),
          ),
          ...this.switches.map(({ control, label }) => checked(control, label)),
          h(
            "div",
            { class: "row" },
            ...this.limits.map(({ control, label, hint }) =>
              h("div", {}, field(label, control, `${hint}; empty: off`)),
            ),
          ),
        ),
      ),
    );
  }

  /** Offers the revision of the group's stored variables, chosen or not. */
  offer(revision: number, chosen: boolean): void {
    this.revision = revision;
    this.variables.checked = chosen;
    this.variablesRow.hidden = false;
    this.variablesRow.replaceChildren(
      checked(this.variables, `Also move hosts to revision ${revision} of the variables`),
      h(
        "p",
        { class: "hint" },
        "Each host gets the values sealed for its key, in the same steps, and goes back to the ones before if a gate fails.",
      ),
      h("p", { class: "error", id: "variables_revision-error", hidden: true }),
    );
  }

  /** Whether the rollout brings variables. */
  get bringsVariables(): boolean {
    return this.variables.checked;
  }

  /** Shows what belongs to this way. */
  fit(way: string): void {
    this.own.hidden = way !== OWN;
  }

  /** What the API takes. */
  read(way: string): { strategy: Strategy; gates: Gates; upgrade_collector?: true; variables_revision?: number } {
    const canaries = pairs(this.canaries.value, /,/);
    const [start, end, most] = [this.start.value, this.end.value, this.most.value.trim()];
    const strategy: Strategy = {
      ...(way === OWN ? { steps: this.steps.map((step) => step.read()) } : { preset: way }),
      ...(Object.keys(canaries).length > 0 && { canaries }),
      ...(most && { max_unavailable: Number(most) }),
      ...((start || end) && { window: { start, end, time_zone: this.zone.value.trim() } }),
      on_failure: this.failure.value,
    };
    const gates: Gates = { tolerated_percent: Number(this.tolerated.value) };
    for (const { name, control } of this.switches) gates[name] = control.checked;
    for (const { name, control } of this.limits)
      gates[name] = control.value.trim() === "" ? null : Number(control.value);
    return {
      strategy,
      gates,
      ...(this.upgrade.checked && { upgrade_collector: true as const }),
      ...(this.variables.checked && { variables_revision: this.revision }),
    };
  }

  private add(step: Step = { percent: 100, soak_seconds: 600, approval: false }): void {
    if (this.steps.length === MOST_STEPS) return;
    this.made += 1;
    const row = new StepRow(`step-${this.made}`, step, () => {
      this.steps = this.steps.filter((one) => one !== row);
      row.element.remove();
    });
    this.steps.push(row);
    this.rows.append(row.element);
  }
}

class StepRow {
  readonly element: HTMLElement;
  private readonly kind: HTMLSelectElement;
  private readonly size: HTMLInputElement;
  private readonly soak: HTMLInputElement;
  private readonly approval: HTMLInputElement;

  constructor(id: string, step: Step, remove: () => void) {
    const kind = step.canaries ? "canaries" : step.hosts === undefined ? "percent" : "hosts";
    this.kind = h(
      "select",
      { id: `${id}-kind` },
      ...options(
        [
          ["hosts", "Collectors"],
          ["percent", "Percent"],
          ["canaries", "The canaries"],
        ],
        kind,
      ),
    );
    this.size = number(`${id}-size`, String(step.hosts ?? step.percent ?? ""), 1);
    this.soak = number(`${id}-soak`, String(step.soak_seconds / 60), 0);
    this.approval = h("input", { id: `${id}-approval`, type: "checkbox", checked: step.approval });
    const size = h("div", {}, field("How many", this.size));
    const fit = (): void => {
      size.hidden = this.kind.value === "canaries";
    };
    this.kind.addEventListener("change", fit);
    fit();
    this.element = h(
      "div",
      { class: "row rule-row" },
      h("div", {}, field("Up to", this.kind)),
      size,
      h("div", {}, field("Then wait, minutes", this.soak)),
      checked(this.approval, "After an approval"),
      button("Remove", remove, { class: "plain small", "aria-label": "Remove this step" }),
    );
  }

  read(): Step {
    const [kind, size] = [this.kind.value, Number(this.size.value)];
    return {
      ...(kind === "canaries" ? { canaries: true as const } : kind === "hosts" ? { hosts: size } : { percent: size }),
      soak_seconds: Math.round(Number(this.soak.value) * 60),
      approval: this.approval.checked,
    };
  }
}

function number(id: string, value: string, min: number): HTMLInputElement {
  return h("input", { id, type: "number", min, step: "any", value });
}

function checked(control: HTMLInputElement, label: string): HTMLElement {
  return h("div", { class: "check" }, control, h("label", { for: control.id }, label));
}
