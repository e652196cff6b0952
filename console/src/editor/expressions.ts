// The OTTL expressions of the text, where the linter found them, moved along while the text changes.
import { type EditorState, type Range, RangeSet, StateEffect, StateField, RangeValue } from "@codemirror/state";
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import type { LintItem } from "../lib/types";
import { unitOf } from "./lines";
import { tokens, type Word } from "./ottl";
import { typeOf } from "./reference";

export class Expression extends RangeValue {
  constructor(
    readonly component: string,
    readonly context: string,
  ) {
    super();
  }
  override startSide = -1;
  override endSide = 1;
}

const found = StateEffect.define<RangeSet<Expression>>();

const field = StateField.define<RangeSet<Expression>>({
  create: () => RangeSet.empty,
  update(value, transaction) {
    let next = value.map(transaction.changes);
    for (const effect of transaction.effects) if (effect.is(found)) next = effect.value;
    return next;
  },
});

const marks: Record<Word, Decoration> = {
  string: Decoration.mark({ class: "ottl-string" }),
  number: Decoration.mark({ class: "ottl-number" }),
  keyword: Decoration.mark({ class: "ottl-keyword" }),
  function: Decoration.mark({ class: "ottl-function" }),
  converter: Decoration.mark({ class: "ottl-function" }),
  enum: Decoration.mark({ class: "ottl-number" }),
  path: Decoration.mark({ class: "ottl-path" }),
  operator: Decoration.mark({ class: "ottl-keyword" }),
};

const coloured = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = colours(view);
    }
    update(update: ViewUpdate): void {
      const isNew = update.startState.field(field) !== update.state.field(field);
      if (update.docChanged || update.viewportChanged || isNew) this.decorations = colours(update.view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

export const expressions = [field, coloured];

/** Where the expressions of a check are in the text that was checked. */
export function located(state: EditorState, items: LintItem[]): StateEffect<RangeSet<Expression>> {
  const ranges: Range<Expression>[] = [];
  for (const { location, expression, context } of items) {
    if (!location.line || location.line > state.doc.lines || context === null) continue;
    const line = state.doc.line(location.line);
    const from = line.from + unitOf(line.text, location.column ?? 1);
    // Behind a quote or the mark of a block, as it stands in the text; an expression with escapes ends with its line.
    const at = state.doc.sliceString(from, from + 200 + expression.length).indexOf(expression);
    const range = at < 0 ? [from, line.to] : [from + at, from + at + expression.length];
    const [start = 0, end = 0] = range;
    if (end > start) ranges.push(new Expression(typeOf(location.path.split("::")[1] ?? ""), context).range(start, end));
  }
  return found.of(RangeSet.of(ranges, true));
}

export function expressionAt(state: EditorState, pos: number): Expression | null {
  const cursor = state.field(field).iter(pos);
  return cursor.value && cursor.from <= pos && pos <= cursor.to ? cursor.value : null;
}

function colours(view: EditorView): DecorationSet {
  const decorations: Range<Decoration>[] = [];
  const ranges = view.state.field(field);
  for (const { from, to } of view.visibleRanges)
    ranges.between(from, to, (start, end) => {
      const seen = Math.max(start, from);
      for (const token of tokens(view.state.doc.sliceString(seen, Math.min(end, to))))
        decorations.push(marks[token.word].range(seen + token.from, seen + token.to));
    });
  return Decoration.set(decorations, true);
}
