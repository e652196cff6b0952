import assert from "node:assert/strict";
import { test } from "node:test";
import { pairs } from "./pairs";

test("a value keeps what it has of the sign between", () => {
  assert.deepEqual(pairs("A=1\n B = x=y \n\nC", /\n/), { A: "1", B: "x=y", C: "" });
});

test("empty text gives no pairs", () => {
  assert.deepEqual(pairs("  , ", /,/), {});
});
