// What tests notice of each line, in a gutter: a mark has its own form, and its meaning as a title.
import { type Extension, type Range, RangeSet, StateEffect, StateField } from "@codemirror/state";
import { type EditorView, gutter, GutterMarker } from "@codemirror/view";
import type { Mutant } from "../testing/types";

type Outcome = Mutant["outcome"];

const SIGNS: Record<Outcome, string> = { killed: "●", survived: "○", unreached: "–" };
export const MEANING: Record<Outcome, string> = {
  killed: "tests notice a change here",
  survived: "no test notices a change here",
  unreached: "no sample makes a difference here",
};
// What is worse is shown of a line that has several.
const ORDER: Outcome[] = ["survived", "unreached", "killed"];

class Mark extends GutterMarker {
  constructor(
    private readonly outcome: Outcome,
    private readonly title: string,
  ) {
    super();
  }

  override eq(other: GutterMarker): boolean {
    return other instanceof Mark && other.outcome === this.outcome && other.title === this.title;
  }

  override toDOM(): HTMLElement {
    const element = document.createElement("span");
    element.className = `coverage ${this.outcome}`;
    element.title = this.title;
    element.textContent = SIGNS[this.outcome];
    return element;
  }
}

const found = StateEffect.define<RangeSet<GutterMarker>>();
const field = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(value, transaction) {
    let next = value.map(transaction.changes);
    for (const effect of transaction.effects) if (effect.is(found)) next = effect.value;
    return next;
  },
});

/** No column is taken while there are no marks. */
export const coverage: Extension = [
  field,
  gutter({ class: "cm-coverage", markers: (view) => view.state.field(field), renderEmptyElements: false }),
];

/** Marks the lines of the text as it is now; they move along while somebody types. */
export function markCoverage(view: EditorView, mutants: Mutant[]): void {
  const { doc } = view.state;
  const lines = new Map<number, Mutant[]>();
  for (const one of mutants)
    if (one.line >= 1 && one.line <= doc.lines) lines.set(one.line, [...(lines.get(one.line) ?? []), one]);
  const ranges = [...lines].map(([line, all]): Range<GutterMarker> => {
    const worst = ORDER.find((outcome) => all.some((one) => one.outcome === outcome)) ?? "killed";
    const told = all.map((one) => `${one.description}: ${MEANING[one.outcome]}`).join("\n");
    return new Mark(worst, told).range(doc.line(line).from);
  });
  view.dispatch({ effects: found.of(RangeSet.of(ranges, true)) });
}
