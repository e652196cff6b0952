// The graph and the table of a text's pipelines, with a choice of one of them and a search.
import { h } from "../lib/dom";
import type { Check, Graph } from "../lib/types";
import { across, options } from "../lib/ui";
import type { Shown } from "../editor/problems";
import { type GoTo, MOST_PIPELINES, picture, table } from "./draw";
import { type Health, MOST_HOSTS } from "./health";
import type { Facts } from "./model";
import type { Rates } from "./rates";

export class GraphPanel {
  readonly element: HTMLElement;
  private readonly choice = h("select", { "aria-label": "Pipeline" });
  private readonly search = h("input", {
    type: "search",
    "aria-label": "Search components and pipelines",
    placeholder: "Search",
    maxlength: 200,
    spellcheck: "false",
  });
  private readonly health = h("p", { class: "soft small", hidden: true });
  private readonly stale = h(
    "p",
    { class: "stale-note small", hidden: true },
    "The text has changed since it was checked: this is drawn of the text before.",
  );
  private readonly place = h("div", {});
  private readonly facts: Facts = { tests: new Map(), health: null, rates: new Map() };
  private last: { graph: Graph | null; problems: Shown[]; why: string } = {
    graph: null,
    problems: [],
    why: "Not checked yet.",
  };
  private as: "Graph" | "Table" | null = null;
  private drawn = "";

  constructor(private readonly goTo: GoTo) {
    this.choice.addEventListener("change", () => {
      this.search.value = "";
      this.draw();
    });
    this.search.addEventListener("input", () => {
      this.choice.value = "";
      this.draw();
    });
    const above = h(
      "div",
      { class: "row" },
      h("div", {}, this.choice),
      h("div", {}, this.search),
      across(() => this.element),
    );
    this.element = h("div", {}, above, this.health, this.stale, this.place);
  }

  /** Draws as one of both from now on, or nothing while another panel is open. */
  open(as: "Graph" | "Table" | null): void {
    this.as = as;
    this.draw();
  }

  /** Whether the text has changed since it was checked. */
  set isStale(isStale: boolean) {
    const shows = isStale && this.last.graph !== null;
    this.stale.hidden = !shows;
    this.place.classList.toggle("stale", shows);
  }

  /** What a check made of the text, or why it made nothing. */
  show(part: Check["graph"], problems: Shown[], why = part && "problem" in part ? part.problem.detail : ""): void {
    const graph = part && "pipelines" in part ? part : null;
    this.isStale = false;
    this.last = { graph, problems, why };
    const ids = graph?.pipelines.map(({ id }) => id) ?? [];
    const chosen = ids.includes(this.choice.value) ? this.choice.value : "";
    const all =
      ids.length > MOST_PIPELINES
        ? `The first ${MOST_PIPELINES} of ${ids.length} pipelines`
        : ids.length === 1
          ? "The pipeline"
          : `All pipelines (${ids.length})`;
    this.choice.replaceChildren(...options([["", all], ...ids.map((id): [string, string] => [id, id])], chosen));
    this.draw();
  }

  /** How many tests each pipeline has. */
  tested(tests: Map<string, number>): void {
    this.facts.tests = tests;
    this.draw();
  }

  /** What hosts report; null while the text is not what they run, with the reason. */
  reported(health: Health | null, why = ""): void {
    this.facts.health = health;
    this.facts.rates = health?.rates ?? new Map();
    this.health.textContent = health ? told(health) : why;
    this.health.hidden = this.health.textContent === "";
    this.draw();
  }

  /** What flows between the components of a group that runs this. */
  flowing(rates: Rates): void {
    this.facts.rates = rates;
    this.health.textContent = rates.size ? WRITTEN : "None of its collectors counted what flows in the last half hour.";
    this.health.hidden = false;
    this.draw();
  }

  private draw(): void {
    if (!this.as) return;
    const { graph, problems, why } = this.last;
    if (!graph) {
      this.place.replaceChildren(h("p", { class: "soft" }, why));
      this.drawn = "";
      return;
    }
    const asked = { graph, problems, facts: this.facts, chosen: this.choice.value, words: this.search.value };
    // While somebody types, the same graph is not drawn again.
    const key = JSON.stringify([
      this.as,
      asked.chosen,
      asked.words,
      graph,
      [...this.facts.tests],
      this.health.textContent,
      [...(this.facts.health?.exporters ?? [])],
      [...this.facts.rates],
      problems.map(({ severity, path }) => [severity, path]),
    ]);
    if (key === this.drawn) return;
    this.drawn = key;
    const go: GoTo = (line, place) => this.goTo(line, place);
    const before = this.parts();
    const focused = before.findIndex((part) => part === document.activeElement);
    this.place.replaceChildren(
      this.as === "Graph" ? picture(asked, go) : table(asked, go),
      ...(graph.incomplete ? [h("p", { class: "soft" }, "The lists are too long to be shown whole.")] : []),
    );
    // What hosts report changes while somebody goes from part to part by the keyboard: the same part stays in focus.
    const after = this.parts();
    if (focused >= 0 && after.length === before.length) after[focused]?.focus({ preventScroll: true });
    this.place.querySelector(".node.found")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** What can be reached by the keyboard, in its order. */
  private parts(): (HTMLElement | SVGElement)[] {
    return [...this.place.querySelectorAll<HTMLElement | SVGElement>("[tabindex], button")];
  }
}

// What the numbers on the lines are.
const WRITTEN =
  "On the lines: records a minute, over half an hour, of all hosts of their groups; where a collector does not count what a component gives on, nothing is written.";

function told({ hosts, old, records, newest, isCut, rates }: Health): string {
  if (hosts + old === 0) return "No host runs this version.";
  const count = (n: number): string => n.toLocaleString("en");
  const did = records
    ? `, which accepted ${count(records.accepted)} and refused ${count(records.refused)} records in the interval of their last report`
    : "";
  const lately = hosts ? `Runs on ${hosts} ${hosts === 1 ? "host" : "hosts"}${did}.` : "";
  const gone = old ? `${old} ${old === 1 ? "host was" : "hosts were"} not heard lately.` : "";
  const at = newest ? `Last report: ${new Date(newest).toLocaleTimeString()}.` : "";
  const flows = rates.size ? WRITTEN : "";
  return [lately, gone, at, flows, isCut ? `Only the first ${MOST_HOSTS} hosts of each fleet are counted.` : ""]
    .filter(Boolean)
    .join(" ");
}
