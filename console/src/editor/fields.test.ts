import assert from "node:assert/strict";
import { test } from "node:test";
import type { Field } from "../lib/types";
import { Fields } from "./fields";

const field = (path: string, values: string[] = []): Field => ({
  path,
  type: "string",
  default: null,
  description: "",
  values,
  deprecated: false,
  secret: false,
});
const fields = new Fields(
  [
    "protocols",
    "protocols.grpc",
    "protocols.grpc.endpoint",
    "headers",
    "headers.<key>",
    "statements",
    "statements[].context",
    "tables.<key>.rows[].id",
  ].map((path) => field(path)),
);
const below = (...path: string[]): string[] => [...fields.below(path).keys()];

test("the fields below a path are told by name", () => {
  assert.deepEqual(below(), ["protocols", "headers", "statements"]);
  assert.deepEqual(below("protocols", "grpc"), ["endpoint"]);
});

test("an entry of a list has the fields of its kind", () => assert.deepEqual(below("statements", "[]"), ["context"]));

test("a key of one's own choice has the fields of its kind, and is not told itself", () => {
  assert.deepEqual(below("headers"), []);
  assert.deepEqual(below("tables", "mine", "rows", "[]"), ["id"]);
  assert.equal(fields.get(["headers", "x-scope"])?.path, "headers.<key>");
});

test("nothing is below what is not there", () => {
  assert.deepEqual(below("nothing", "at", "all"), []);
  assert.equal(fields.get(["nothing"]), null);
  assert.equal(fields.get(["__proto__"]), null);
});
