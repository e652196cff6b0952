// The help that the pointer shows, at the cursor and by a key: until the cursor moves, or Escape.
import { type Extension, StateEffect, StateField } from "@codemirror/state";
import { type EditorView, keymap, showTooltip, type Tooltip } from "@codemirror/view";

const shown = StateEffect.define<Tooltip | null>();
const field = StateField.define<Tooltip | null>({
  create: () => null,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(shown)) return effect.value;
    return transaction.docChanged || transaction.selection ? null : value;
  },
  provide: (of) => showTooltip.from(of),
});

export function helpAtCursor(help: (view: EditorView, pos: number) => Promise<Tooltip | null>): Extension {
  const ask = async (view: EditorView): Promise<void> => {
    const { head } = view.state.selection.main;
    const found = await help(view, head);
    // Somebody may have typed on while the reference was asked.
    if (view.state.selection.main.head === head) view.dispatch({ effects: shown.of(found && spoken(found)) });
  };
  return [
    field,
    keymap.of([
      {
        key: "Mod-i",
        run: (view) => {
          void ask(view);
          return true;
        },
      },
      {
        key: "Escape",
        run: (view) => {
          if (!view.state.field(field)) return false;
          view.dispatch({ effects: shown.of(null) });
          return true;
        },
      },
    ]),
  ];
}

/** It is read out, too. */
function spoken(tooltip: Tooltip): Tooltip {
  return {
    ...tooltip,
    create: (view) => {
      const made = tooltip.create(view);
      made.dom.setAttribute("role", "status");
      return made;
    },
  };
}
