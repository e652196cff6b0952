import assert from "node:assert/strict";
import { test } from "node:test";
import { yaml } from "@codemirror/lang-yaml";
import { EditorState } from "@codemirror/state";
import typed from "../../../tests/support/ottl_typed.json";
import { typedAt } from "./ottl_typed";
import { expressions } from "./expressions";
for (const { name, text, contexts, before } of typed)
  test(`OTTL is known while it is typed: ${name}`, () => {
    const state = EditorState.create({ doc: text.replace("‸", ""), extensions: [yaml(), expressions] });
    const statement = typedAt(state, text.indexOf("‸"));
    assert.deepEqual([statement?.contexts ?? [], statement?.before ?? null], [contexts, before]);
  });
