// What stands beside the text: problems, graph, table, outline and tests.
import { GraphPanel } from "../graph/panel";
import { h } from "../lib/dom";
import { clock, zone } from "../lib/times";
import type { Check, Edit } from "../lib/types";
import { button, type Tab, tabs } from "../lib/ui";
import type { Entry } from "./place";
import type { Shown } from "./problems";

const SIGN = { error: "✕ Error", warning: "! Warning", info: "i Info" };
// More would not be read, and each is an element.
const MOST = 300;

/** What the panel does with the text. */
export interface Changes {
  mend(fix: Edit[]): void;
  takeOut(yaml: string): void;
}

export class Panels {
  readonly element: HTMLElement;
  readonly graph: GraphPanel;
  private readonly problems = h("div", {});
  private readonly outage = h("p", { class: "notice", hidden: true });
  private since: Date | null = null;
  private readonly outline = h("div", {});

  /**
   * `tests` are those of a text that is saved; `opened` is called when somebody looks at another panel. `changes` is null
   * for a text that only can be read; `run` runs a sample through the text.
   */
  constructor(
    private readonly goTo: (line: number, column?: number) => void,
    tests: HTMLElement | null = null,
    opened: (name: string) => void = () => undefined,
    private readonly changes: Changes | null = null,
    run: HTMLElement | null = null,
  ) {
    this.graph = new GraphPanel((line) => this.goTo(line));
    const [graph, table] = [h("div", {}), h("div", {})];
    const all: Tab[] = [
      { name: "Problems", panel: h("div", {}, this.outage, this.problems) },
      { name: "Graph", panel: graph },
      { name: "Table", panel: table },
      { name: "Outline", panel: this.outline },
      ...(tests ? [{ name: "Tests", panel: h("div", {}, tests) }] : []),
      ...(run ? [{ name: "Run", panel: h("div", {}, run) }] : []),
    ];
    this.element = tabs("About this text", all, (name) => {
      const as = name === "Graph" || name === "Table" ? name : null;
      // One choice and one search for both.
      if (as) (as === "Graph" ? graph : table).append(this.graph.element);
      this.graph.open(as);
      opened(name);
    });
  }

  /** Opens a panel by its name. */
  open(name: string): void {
    this.element.querySelector<HTMLElement>(`#tab-${name}`)?.click();
  }

  /** Says why the text is not checked, and since when; problems of an earlier text stay listed. */
  notChecked(why: string, kind: string): void {
    this.since ??= new Date();
    const earlier = this.problems.childElementCount > 0 ? ". What is listed is of an earlier text" : "";
    this.outage.textContent = `Since ${clock(this.since, true, zone())}: ${why}${earlier}.`;
    this.outage.className = `notice ${kind}`;
    this.outage.hidden = false;
  }

  /** What a check of the newest text found. */
  show(check: Check, problems: Shown[]): void {
    this.since = null;
    this.outage.textContent = "";
    this.outage.hidden = true;
    this.graph.show(check.graph, problems);
    const rows = problems.slice(0, MOST).map((one) => {
      const place = one.line === null ? "" : `line ${one.line}`;
      const text = [
        h("span", { class: `severity ${one.severity}` }, SIGN[one.severity]),
        h("span", {}, one.message),
        h("span", { class: "soft small" }, [place, one.path, one.source].filter(Boolean).join(" · ")),
        one.wayOut && h("span", { class: "soft small" }, one.wayOut),
      ];
      const line = one.line;
      return h(
        "li",
        {},
        line === null
          ? h("div", { class: "problem" }, ...text)
          : h("button", { type: "button", class: "problem", click: () => this.goTo(line, one.column ?? 1) }, ...text),
        ...this.offer(one.fix, "Fix it", (changes, fix) => changes.mend(fix)),
      );
    });
    const more = problems.length - rows.length;
    const needs = check.environment.map(({ name, has_default }) => (has_default ? `${name} (has a default)` : name));
    const wrapped = check.wrapped?.yaml ?? null;
    this.problems.replaceChildren(
      ...this.offer(wrapped, "Take the configuration out", (changes, yaml) => changes.takeOut(yaml)),
      rows.length ? h("ul", { class: "problems" }, ...rows) : h("p", { class: "soft" }, "Nothing found."),
      ...(more > 0 ? [h("p", { class: "soft" }, `${more} more`)] : []),
      ...(needs.length
        ? [h("p", { class: "soft small" }, `Variables that an install has to supply: ${needs.join(", ")}`)]
        : []),
    );
  }

  /** A button that changes the text, if it can be changed and there is something to change. */
  private offer<T>(what: T | null, label: string, act: (changes: Changes, what: T) => void): HTMLElement[] {
    const { changes } = this;
    return changes && what !== null ? [button(label, () => act(changes, what), { class: "plain small" })] : [];
  }

  outlined(entries: Entry[]): void {
    const groups = new Map<string, Entry[]>();
    for (const entry of entries) groups.set(entry.section, [...(groups.get(entry.section) ?? []), entry]);
    this.outline.replaceChildren(
      ...[...groups].flatMap(([section, all]) => [
        h("h3", {}, section),
        h(
          "ul",
          { class: "names" },
          ...all
            .slice(0, MOST)
            .map(({ id, line }) =>
              h("li", {}, h("button", { type: "button", class: "link", click: () => this.goTo(line) }, id)),
            ),
        ),
      ]),
      ...(groups.size ? [] : [h("p", { class: "soft" }, "No components yet.")]),
    );
  }
}
