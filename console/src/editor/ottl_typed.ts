// The OTTL that is being typed, read from the tree of the text: no linter has seen it yet.
import { ensureSyntaxTree, syntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";
import type { SyntaxNode } from "@lezer/common";
import { fieldAt, type OttlField } from "./ottl_fields";
import { ITEM } from "./place";

export interface Typed {
  field: OttlField;
  contexts: string[];
  /** Whether one context is set, so that paths need not begin with its name. */
  isGiven: boolean;
  /** The expression up to the cursor, as the collector reads it. */
  before: string;
}

const SCALARS = ["Literal", "QuotedLiteral", "BlockLiteralContent"];
const MAPPINGS = ["BlockMapping", "FlowMapping"];
// Behind the cursor, the key of the context may follow. A longer text is parsed later, so that no key has to wait.
const AHEAD = 5_000;
const MOST_MILLISECONDS = 50;
const NAME = /^[\w./-]*$/;

/** The expression at a place, null where there is none. */
export function typedAt(state: EditorState, pos: number): Typed | null {
  const tree = ensureSyntaxTree(state, Math.min(state.doc.length, pos + AHEAD), MOST_MILLISECONDS) ?? syntaxTree(state);
  const at = tree.resolveInner(pos, -1);
  if (at.name === "Comment" || at.name === "BlockLiteralHeader" || isClosed(state, at, pos)) return null;
  const place = beginning(state, at, pos);
  if (!place) return null;
  const { field, node, from } = place;
  const chosen = field.chosenBy ? contextBeside(state, node) : null;
  const contexts = chosen ? [chosen] : field.component === "routing" ? ["resource"] : field.contexts;
  const before = unescaped(state.doc.sliceString(from, pos)).trimStart();
  return { field, contexts, isGiven: contexts.length === 1, before };
}

/** The setting with the node and the offset at which its expression begins. */
function beginning(
  state: EditorState,
  at: SyntaxNode,
  pos: number,
): { field: OttlField; node: SyntaxNode; from: number } | null {
  if (!SCALARS.includes(at.name)) {
    const path = pathOf(state, at);
    // Nothing is typed yet: behind the dash of a list, between its brackets, or behind a key.
    const field = fieldAt(at.name.endsWith("Sequence") ? [...path, ITEM] : path);
    return field && { field, node: at, from: pos };
  }
  for (let node = at; ;) {
    const field = node.parent?.name === "Key" ? null : fieldAt(pathOf(state, node));
    if (field) return { field, node, from: node.from };
    // A colon in a plain statement looks like a key; a name before a colon is a key.
    const pair = node.parent?.name === "Key" ? node.parent.parent : node.parent;
    if (pair?.name !== "Pair" || pair.parent?.name !== "BlockMapping" || NAME.test(keyOf(state, pair))) return null;
    node = pair.parent;
  }
}

function isClosed(state: EditorState, { name, from, to }: SyntaxNode, pos: number): boolean {
  return (
    name === "QuotedLiteral" &&
    pos === to &&
    to - from > 1 &&
    state.doc.sliceString(to - 1, to) === state.doc.sliceString(from, from + 1)
  );
}

/** The keys and entries around a node, outermost first. */
function pathOf(state: EditorState, node: SyntaxNode): string[] {
  const path: string[] = [];
  for (let inner: SyntaxNode | null = node; inner; inner = inner.parent)
    if (inner.name === "Item") path.push(ITEM);
    else if (inner.name === "Pair") path.push(keyOf(state, inner));
  return path.reverse();
}

function keyOf(state: EditorState, pair: SyntaxNode): string {
  return plain(state, pair.getChild("Key"));
}

function plain(state: EditorState, node: SyntaxNode | null): string {
  return node ? state.doc.sliceString(node.from, node.to).replace(/^(["'])(.*)\1$/, "$2") : "";
}

/** What `context:` says in the mapping around an expression. */
function contextBeside(state: EditorState, node: SyntaxNode): string | null {
  let mapping = node.parent;
  while (mapping && !MAPPINGS.includes(mapping.name)) mapping = mapping.parent;
  const pair = mapping?.getChildren("Pair").find((inner) => keyOf(state, inner) === "context");
  return plain(state, pair?.lastChild ?? null).toLowerCase() || null;
}

/** The text without what YAML writes for a quote. */
function unescaped(raw: string): string {
  if (raw.startsWith('"')) return raw.slice(1).replace(/\\(["\\])/g, "$1");
  return raw.startsWith("'") ? raw.slice(1).replaceAll("''", "'") : raw;
}
