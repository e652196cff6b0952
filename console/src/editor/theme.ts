// How the editor looks, by the page's custom properties, which reach into its shadow root.
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

// `background-image: none`: the pictures that CodeMirror underlines with are data, which the page's policy refuses.
const underline = (color: string): Record<string, string> => ({
  backgroundImage: "none",
  textDecoration: `underline wavy ${color}`,
  textUnderlineOffset: "3px",
});

export const theme = [
  EditorView.theme({
    "&": { color: "var(--ink)", backgroundColor: "var(--paper)", fontSize: "14px", height: "100%" },
    "&.cm-focused": { outline: "2px solid var(--accent)" },
    ".cm-scroller": { fontFamily: "ui-monospace, 'DejaVu Sans Mono', monospace", lineHeight: "1.5", overflow: "auto" },
    ".cm-content": { caretColor: "var(--ink)" },
    ".cm-cursor": { borderLeftColor: "var(--ink)" },
    ".cm-gutters": { color: "var(--soft)", backgroundColor: "var(--ground)", border: "0" },
    ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
      backgroundColor: "var(--selection)",
    },
    ".cm-tooltip, .cm-panels": {
      color: "var(--ink)",
      backgroundColor: "var(--paper)",
      border: "1px solid var(--line)",
    },
    ".cm-tooltip": { maxWidth: "36rem" },
    ".cm-tooltip .help": {
      padding: ".5rem .7rem",
      maxHeight: "18rem",
      overflow: "auto",
      overflowWrap: "anywhere",
      fontSize: "13px",
    },
    ".cm-tooltip .help p": { margin: ".3rem 0 0", whiteSpace: "pre-wrap" },
    ".cm-tooltip .about": { color: "var(--soft)", marginLeft: ".6rem" },
    ".cm-completionInfo": { maxHeight: "16rem", overflow: "auto", overflowWrap: "anywhere" },
    ".cm-tooltip-autocomplete ul li[aria-selected]": { color: "var(--accent-ink)", backgroundColor: "var(--accent)" },
    ".cm-panel input, .cm-panel button": {
      font: "inherit",
      color: "inherit",
      backgroundColor: "var(--paper)",
      backgroundImage: "none",
      border: "1px solid var(--soft)",
    },
    ".cm-lintRange-error": underline("var(--bad)"),
    ".cm-lintRange-warning": underline("var(--warn)"),
    ".cm-lintRange-info": underline("var(--accent)"),
    ".cm-diagnostic": { whiteSpace: "pre-wrap", overflowWrap: "anywhere", padding: ".4rem .6rem" },
    ".cm-diagnostic-error": { borderLeft: "4px solid var(--bad)" },
    ".cm-diagnostic-warning": { borderLeft: "4px solid var(--warn)" },
    ".cm-diagnostic-info": { borderLeft: "4px solid var(--accent)" },
    ".cm-changedLine, .cm-insertedLine": { backgroundColor: "var(--good-ground)" },
    ".cm-deletedChunk, &.cm-merge-a .cm-changedLine": { backgroundColor: "var(--bad-ground)" },
    "&.cm-merge-a .cm-changedText": { background: "none", textDecoration: "underline var(--bad)" },
    "&.cm-merge-b .cm-changedText": { background: "none", textDecoration: "underline var(--good)" },
    ".cm-coverage .cm-gutterElement": { padding: "0 .3rem", minWidth: "1.2rem", textAlign: "center" },
    ".coverage.killed": { color: "var(--good)" },
    ".coverage.survived": { color: "var(--warn)", fontWeight: "700" },
    ".coverage.unreached": { color: "var(--soft)" },
    ".ottl-string": { color: "var(--code-string)" },
    ".ottl-number": { color: "var(--code-number)" },
    ".ottl-keyword": { color: "var(--code-keyword)" },
    ".ottl-function": { color: "var(--code-function)" },
    ".ottl-path": { color: "var(--code-key)" },
  }),
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--code-key)" },
      { tag: tags.string, color: "var(--code-string)" },
      { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
      { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
      { tag: [tags.labelName, tags.typeName, tags.keyword, tags.meta], color: "var(--code-keyword)" },
      { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: "var(--soft)" },
    ]),
  ),
];
