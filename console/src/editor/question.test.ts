import assert from "node:assert/strict";
import { test } from "node:test";
import { question } from "./question";

const VERSION = { yaml: "a: 1\n", collector_version: "0.139.0" };

test("a text is checked with the feature gates of its version", () => {
  assert.deepEqual(question({ ...VERSION, feature_gates: ["+service.profilesSupport"] }), {
    yaml: "a: 1\n",
    version: "0.139.0",
    feature_gates: ["+service.profilesSupport"],
  });
});

test("a version without feature gates is asked about without any", () => {
  const plain = { yaml: "a: 1\n", version: "0.139.0" };
  assert.deepEqual(question(VERSION), plain);
  assert.deepEqual(question({ ...VERSION, feature_gates: [] }), plain);
});
