// Rules on a run's output, each checked by the real OTTL parser when it was typed.
import { type Api, ApiError } from "../lib/api";
import { h } from "../lib/dom";
import type { LintItem } from "../lib/types";
import { button, field, mark, options } from "../lib/ui";
import type { Context, Expect, RuleIn } from "./types";

// The first is the one that a rule has unless it says otherwise.
const CONTEXTS: Record<string, Context[]> = {
  logs: ["log", "resource", "scope", "component_error"],
  traces: ["span", "spanevent", "resource", "scope", "component_error"],
  metrics: ["datapoint", "metric", "resource", "scope", "component_error"],
  profiles: ["profile", "profilesample", "resource", "scope", "component_error"],
};
const EXPECTS: [Expect, string][] = [
  ["any", "at least one matches"],
  ["all", "all match"],
  ["none", "none matches"],
  ["count", "so many match"],
];
const MOST_NAME = 150;

interface Row {
  element: HTMLElement;
  id: string;
  name: string;
  condition: HTMLInputElement;
  context: HTMLSelectElement;
  expect: HTMLSelectElement;
  min: HTMLInputElement;
  max: HTMLInputElement;
}

export class Rules {
  readonly element = h("fieldset", {}, h("legend", {}, "Rules"));
  private readonly list = h("div", {});
  private rows: Row[] = [];
  private next = 1;

  constructor(
    private readonly api: Api,
    private readonly signal: () => string,
  ) {
    this.element.append(
      h("p", { class: "hint" }, "Conditions in OTTL on what comes out. Without a rule, every output passes."),
      this.list,
      button("Add a rule", () => this.add().condition.focus(), { class: "plain small" }),
    );
  }

  /** The rules with a condition; their names are unique. */
  get all(): RuleIn[] {
    const names = new Set<string>();
    return this.rows.flatMap(({ name, condition, context, expect, min, max }) => {
      const text = condition.value.trim();
      if (text === "") return [];
      const wanted = name || text.slice(0, MOST_NAME);
      let unique = wanted;
      for (let n = 2; names.has(unique); n += 1) unique = `${wanted} (${n})`;
      names.add(unique);
      const isCount = expect.value === "count";
      return [
        {
          name: unique,
          condition: text,
          context:
            Object.values(CONTEXTS)
              .flat()
              .find((name) => name === context.value) ?? null,
          expect: EXPECTS.map(([key]) => key).find((key) => key === expect.value) ?? "any",
          ...(isCount && min.value !== "" && { min: Number(min.value) }),
          ...(isCount && max.value !== "" && { max: Number(max.value) }),
        },
      ];
    });
  }

  /** Those of a test or an earlier run, in place of what is there. */
  set all(rules: RuleIn[]) {
    this.rows = [];
    this.list.replaceChildren();
    for (const rule of rules) this.add(rule);
  }

  /** Another pipeline may have another signal, whose telemetry has other parts. */
  refit(): void {
    for (const { context } of this.rows) {
      const possible = this.contexts();
      if (!possible.includes(context.value)) context.replaceChildren(...contextOptions(possible, ""));
    }
  }

  private contexts(): string[] {
    return CONTEXTS[this.signal()] ?? ["log"];
  }

  private add(rule?: RuleIn): Row {
    const id = `rule-${this.next}`;
    this.next += 1;
    const condition = h("input", {
      id,
      maxlength: 4_096,
      spellcheck: "false",
      placeholder: 'attributes["service"] == "nginx"',
      value: rule?.condition ?? "",
    });
    const context = h("select", { id: `${id}-context` }, ...contextOptions(this.contexts(), rule?.context ?? ""));
    const expect = h("select", { id: `${id}-expect` }, ...options(EXPECTS, rule?.expect ?? "any"));
    const bound = (of: string, value: number | null | undefined): HTMLInputElement =>
      h("input", { id: `${id}-${of}`, type: "number", min: 0, value: value ?? "" });
    const [min, max] = [bound("min", rule?.min), bound("max", rule?.max)];
    const bounds = [h("div", {}, field("At least", min)), h("div", {}, field("At most", max))];
    const fit = (): void => {
      for (const one of bounds) one.hidden = expect.value !== "count";
    };
    fit();
    const check = (): void => void this.lint(row);
    condition.addEventListener("change", check);
    context.addEventListener("change", check);
    expect.addEventListener("change", fit);
    const element: HTMLElement = h(
      "div",
      { class: "row rule-row" },
      h("div", {}, field("Condition", condition)),
      h("div", {}, field("Of each", context)),
      h("div", {}, field("Expected", expect)),
      ...bounds,
      button("Remove", () => this.remove(row), { class: "plain small", "aria-label": "Remove the rule" }),
    );
    const row: Row = { element, id, name: rule?.name ?? "", condition, context, expect, min, max };
    this.rows.push(row);
    this.list.append(element);
    return row;
  }

  private remove(row: Row): void {
    this.rows = this.rows.filter((one) => one !== row);
    row.element.remove();
  }

  private async lint({ id, condition, context }: Row): Promise<void> {
    mark(id, "", false);
    const text = condition.value.trim();
    if (text === "") return;
    try {
      // To a condition, an error of a component is a log record.
      const body = { context: context.value === "component_error" ? "log" : context.value, conditions: [text] };
      const answer = await this.api.request<{ items: LintItem[] }>("POST", "/ottl/lint", { body });
      if (condition.value.trim() === text) mark(id, answer.body.items[0]?.error ?? "", false);
    } catch (error) {
      // The run itself will say so if it is wrong.
      if (!(error instanceof ApiError)) throw error;
    }
  }
}

function contextOptions(possible: string[], chosen: string): HTMLOptionElement[] {
  return options(
    possible.map((one) => [one, one]),
    chosen || (possible[0] ?? ""),
  );
}
