import assert from "node:assert/strict";
import { test } from "node:test";
import { EditorState } from "@codemirror/state";
import type { LintItem } from "../lib/types";
import { expressionAt, expressions, located } from "./expressions";

const state = EditorState.create({ doc: 'a:\n  - set(body, "x")\n  - drop()\n' });
const item = (place: { line?: number | null; column?: number }, context: string | null = "log"): LintItem => ({
  location: { path: "processors::transform", ...place },
  context,
  kind: "statement",
  expression: 'set(body, "x")',
});
const ranges = (...items: LintItem[]): [number, number][] => {
  const found: [number, number][] = [];
  located(state, items).value.between(0, state.doc.length, (from, to) => {
    found.push([from, to]);
  });
  return found;
};

test("an expression is where its text stands behind its place", () => {
  assert.deepEqual(ranges(item({ line: 2, column: 3 })), [[7, 21]]);
});

test("an expression that is not in the text as it is ends with its line", () => {
  assert.deepEqual(ranges({ ...item({ line: 3, column: 5 }), expression: "drop( )" }), [[26, 32]]);
});

test("an expression without a line, behind the text or without a context has no place", () => {
  assert.deepEqual(ranges(item({}), item({ line: null }), item({ line: 9 }), item({ line: 2 }, null)), []);
});

test("an expression goes along with its text, ends included, until another check says where they are", () => {
  let now = EditorState.create({ doc: state.doc, extensions: expressions });
  now = now.update({ effects: located(now, [item({ line: 2, column: 3 })]) }).state;
  now = now.update({ changes: { from: 0, insert: "b:\n" } }).state;
  const at = [9, 10, 24, 25].map((pos) => expressionAt(now, pos)?.component);
  assert.deepEqual(at, [undefined, "transform", "transform", undefined]);
  assert.equal(expressionAt(now, 17)?.context, "log");
  now = now.update({ effects: located(now, []) }).state;
  assert.equal(expressionAt(now, 17), null);
});
