import assert from "node:assert/strict";
import { test } from "node:test";
import { indentAfter } from "./indentation";

const cases: [string, number][] = [
  ["", 0],
  ["receivers:", 2],
  ["  otlp:  # a comment", 4],
  ["    endpoint: localhost:4317", 4],
  ["      - context: log", 8],
  ["      - set(log.body, 1)", 6],
  ['      - set(log.body, "a: b")', 6],
  ["      - statements:", 10],
  ["      - ", 8],
  ["  text: |", 4],
  ["      - >-", 8],
  ["      - |", 8],
  ["  list: [a, b]", 2],
];

for (const [line, columns] of cases)
  test(`a line after ${JSON.stringify(line)} begins at column ${columns}`, () => {
    assert.equal(indentAfter(line), columns);
  });
