// Where a new line of YAML begins, and whether Tab indents: by default it leaves the editor, as everywhere on a page.
import { indentLess, indentMore } from "@codemirror/commands";
import { indentService } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { keymap } from "@codemirror/view";
import { tabIndents } from "../lib/shortcuts";

const STEP = 2;

/** The columns before a line that follows this one: deeper after `key:`, below the key of a list's entry. */
export function indentAfter(line: string): number {
  const [, blanks = "", dashes = "", rest = ""] = /^(\s*)((?:-(?:\s+|$))*)(.*)$/.exec(line) ?? [];
  const content = rest.replace(/(^|\s)#.*$/, "").trimEnd();
  const entry = blanks.length + dashes.length;
  if (dashes && /^([|>][-+\d]{0,2})?$/.test(content)) return blanks.length + STEP;
  if (/:$/.test(content) || /:\s+[|>][+-]?\d?$/.test(content)) return entry + STEP;
  return /^("[^"]*"|'[^']*'|[^\s"'[{(,:]+):\s/.test(content) ? entry : blanks.length;
}

export const indentation: Extension = [
  indentService.of((context, pos) => indentAfter(context.lineAt(pos, -1).text)),
  // Escape, then Tab, leaves the editor all the same.
  keymap.of([
    {
      key: "Tab",
      run: (view) => tabIndents() && !view.state.readOnly && indentMore(view),
      shift: (view) => tabIndents() && !view.state.readOnly && indentLess(view),
    },
  ]),
];
