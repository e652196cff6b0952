import assert from "node:assert/strict";
import { test } from "node:test";
import { EditorState } from "@codemirror/state";
import places from "../../../tests/support/ottl_places.json";
import { typedAt } from "./assist";
import { expressions } from "./expressions";
import { fieldAt } from "./ottl_fields";

for (const { path, kind, contexts } of places)
  test(`the language server and the editor read ${path.join(".")} alike`, () => {
    const found = fieldAt(path);
    assert.deepEqual([found?.kind ?? null, found?.contexts ?? []], [kind, contexts]);
  });

const TRANSFORM = "processors:\n  transform:\n    log_statements:\n";
// `|` is the cursor.
const typed: [string, string, { contexts: string[]; before: string } | null][] = [
  ["a statement that begins", `${TRANSFORM}      - se|`, { contexts: ["log", "scope", "resource"], before: "se" }],
  ["an argument", `${TRANSFORM}      - set(log.bo|`, { contexts: ["log", "scope", "resource"], before: "set(log.bo" }],
  [
    "a statement with a colon and a quote",
    `${TRANSFORM}      - 'set(log.body, "a: b") where log.se|'`,
    { contexts: ["log", "scope", "resource"], before: 'set(log.body, "a: b") where log.se' },
  ],
  [
    "a group whose context is below",
    `${TRANSFORM}      - statements:\n          - set(na|\n        context: resource\n`,
    { contexts: ["resource"], before: "set(na" },
  ],
  [
    "a group whose context is above, beside another group",
    `${TRANSFORM}      - context: scope\n        statements: []\n      - context: log\n        statements:\n          - set(bo|`,
    { contexts: ["log"], before: "set(bo" },
  ],
  [
    "a list in flow style",
    `processors:\n  filter:\n    logs:\n      log_record: ['true', 'IsMatch(bo|']`,
    { contexts: ["log"], before: "IsMatch(bo" },
  ],
  ["a key beside the statements", `${TRANSFORM}    error_mode: ign|`, null],
  ["another component", "receivers:\n  otlp:\n    - se|", null],
];

for (const [name, text, expected] of typed)
  test(`OTTL is known while it is typed: ${name}`, () => {
    const pos = text.indexOf("|");
    const state = EditorState.create({ doc: text.replace("|", ""), extensions: expressions });
    const found = typedAt(state, pos);
    assert.deepEqual(found && { contexts: found.contexts, before: found.before }, expected);
  });
