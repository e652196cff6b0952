import assert from "node:assert/strict";
import { test } from "node:test";
import places from "../../../tests/support/ottl_places.json";
import { fieldAt } from "./ottl_fields";

for (const { path, kind, contexts } of places)
  test(`the language server and the editor read ${path.join(".")} alike`, () => {
    const found = fieldAt(path);
    assert.deepEqual([found?.kind ?? null, found?.contexts ?? []], [kind, contexts]);
  });
