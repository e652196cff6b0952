import assert from "node:assert/strict";
import { test } from "node:test";
import { merged } from "./three_way";

const BASE = "a: 1\nb: 1\nc: 1\nd: 1\n";

test("changes of different lines are all kept", () => {
  assert.deepEqual(merged("a: 2\nb: 1\nc: 1\nd: 1\n", BASE, "a: 1\nb: 1\nc: 1\nd: 3\n"), {
    text: "a: 2\nb: 1\nc: 1\nd: 3\n",
    conflicts: 0,
  });
});

test("where both changed a line it is mine, and counted", () => {
  assert.deepEqual(merged("a: 2\nb: 1\nc: 1\nd: 1\n", BASE, "a: 3\nb: 1\nc: 1\nd: 1\n"), {
    text: "a: 2\nb: 1\nc: 1\nd: 1\n",
    conflicts: 1,
  });
});

test("the same change on both sides does not conflict", () => {
  const changed = BASE.replace("b: 1", "b: 2");
  assert.deepEqual(merged(changed, BASE, changed), { text: changed, conflicts: 0 });
});

test("what only they changed is taken, with an end of the file that has no newline", () => {
  assert.deepEqual(merged(BASE, BASE, "e: 1"), { text: "e: 1", conflicts: 0 });
});
