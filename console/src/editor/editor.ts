// The editor of a configuration's text, in a shadow root: the page's policy allows no styles that scripts add.
import { autocompletion, closeBrackets, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, indentOnInput, indentUnit } from "@codemirror/language";
import { type Diagnostic, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  hoverTooltip,
  keymap,
  lineNumbers,
  tooltips,
} from "@codemirror/view";
import type { Edit, LintItem } from "../lib/types";
import { assist, help } from "./assist";
import { helpAtCursor } from "./help_at_cursor";
import { expressions, located } from "./expressions";
import { declaration } from "./go_to";
import { indentation } from "./indentation";
import { unitOf } from "./lines";
import { coverage } from "./marks";
import type { Shown } from "./problems";
import type { Reference } from "./reference";
import { theme } from "./theme";

export interface Options {
  text: string;
  label: string;
  readOnly: boolean;
  reference: () => Reference;
  changed: (text: string) => void;
}

// The directions of a text that only seems to say what it says are shown as dots.
const BIDI = /[؜‎‏‪-‮⁦-⁩]/g;

/** What all editors and comparisons have. */
export function common(label: string): Extension[] {
  return [
    lineNumbers(),
    highlightSpecialChars({ addSpecialChars: BIDI }),
    drawSelection(),
    yaml(),
    search(),
    theme,
    indentUnit.of("  "),
    EditorView.contentAttributes.of({
      tabindex: "0",
      "aria-label": label,
      spellcheck: "false",
      autocorrect: "off",
      autocapitalize: "off",
    }),
  ];
}

/** A shadow root below the element, for editors. */
export function shadowOf(host: HTMLElement): ShadowRoot {
  return host.shadowRoot ?? host.attachShadow({ mode: "open" });
}

export class Editor {
  readonly view: EditorView;
  private checked = "";

  constructor(host: HTMLElement, options: Options) {
    const root = shadowOf(host);
    this.view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: options.text,
        extensions: [
          common(options.label),
          // A text keeps the ends of its lines.
          EditorState.lineSeparator.of(lineEnd(options.text)),
          history(),
          foldGutter(),
          coverage,
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          highlightSelectionMatches(),
          autocompletion({ override: [assist(options.reference)], icons: false }),
          hoverTooltip(help(options.reference)),
          tooltips({ position: "fixed" }),
          helpAtCursor(help(options.reference)),
          expressions,
          EditorView.domEventHandlers({
            mousedown: (event, view) => {
              const pos = event.ctrlKey || event.metaKey ? view.posAtCoords(event) : null;
              return pos !== null && this.goToDeclaration(pos);
            },
          }),
          EditorState.readOnly.of(options.readOnly),
          indentation,
          keymap.of([{ key: "Mod-b", run: (view) => this.goToDeclaration(view.state.selection.main.head) }]),
          keymap.of([...completionKeymap, ...searchKeymap, ...historyKeymap, ...lintKeymap, ...defaultKeymap]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) options.changed(this.text);
          }),
        ],
      }),
    });
  }

  get text(): string {
    return this.view.state.sliceDoc();
  }

  set text(text: string) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: this.view.state.toText(text) } });
  }

  /** What a check of the text as it is now found. */
  show(problems: Shown[], items: LintItem[]): void {
    const { state } = this.view;
    this.checked = this.text;
    const diagnostics = problems.flatMap(({ severity, message, wayOut, source, line, column, fix }): Diagnostic[] => {
      if (line === null || line < 1 || line > state.doc.lines) return [];
      const at = state.doc.line(line);
      const from = at.from + unitOf(at.text, column ?? 1);
      const length = /^("[^"]*"|'[^']*'|[^\s,\]}#]+)/.exec(at.text.slice(from - at.from))?.[0].length ?? 0;
      return [
        {
          from,
          to: Math.min(at.to, from + length),
          severity,
          source,
          message: wayOut ? `${message}\n${wayOut}` : message,
          ...(fix && !state.readOnly && { actions: [{ name: "Fix it", apply: () => this.mend(fix) }] }),
        },
      ];
    });
    this.view.dispatch(setDiagnostics(state, diagnostics));
    this.view.dispatch({ effects: located(this.view.state, items) });
  }

  /** Moves the cursor to a place, and to the middle of the view; without a column, to where the line's text begins. */
  goTo(line: number, column?: number): void {
    const { doc } = this.view.state;
    const at = doc.line(Math.max(1, Math.min(line, doc.lines)));
    const pos = at.from + (column === undefined ? Math.max(0, at.text.search(/\S/)) : unitOf(at.text, column));
    this.view.dispatch({ selection: { anchor: pos }, effects: EditorView.scrollIntoView(pos, { y: "center" }) });
    this.view.focus();
  }

  /** Makes the changes of a finding's fix. Its places are those of the text that was checked; it does nothing to another. */
  mend(fix: Edit[]): void {
    if (this.text !== this.checked) return;
    const { doc } = this.view.state;
    const place = (line: number, column: number): number => {
      const at = doc.line(Math.max(1, Math.min(line, doc.lines)));
      return at.from + unitOf(at.text, column);
    };
    const changes = fix.map((edit) => ({
      from: place(edit.line, edit.column),
      to: place(edit.end_line, edit.end_column),
      insert: edit.text,
    }));
    this.view.dispatch({ changes, userEvent: "input.fix" });
    this.view.focus();
  }

  private goToDeclaration(pos: number): boolean {
    const line = declaration(this.view.state, pos);
    if (line !== null) this.goTo(line);
    return line !== null;
  }
}

/** The end of all lines of a text. In a text that mixes them, what is before a line feed stays in its line. */
function lineEnd(text: string): string {
  const crlf = text.split("\r\n").length - 1;
  return crlf > 0 && crlf === text.split("\n").length - 1 ? "\r\n" : "\n";
}
