import assert from "node:assert/strict";
import { test } from "node:test";
import type { PointOut } from "../lib/shapes";
import { perMinute, ratesOf } from "./rates";

const point = (accepted: number, sent: number): PointOut => ({
  at: "2026-11-22T20:00:00.000Z",
  hosts: 1,
  accepted,
  refused: 0,
  sent,
  failed: 0,
  dropped: 0,
  queue: 0,
  accepted_bytes: null,
  sent_bytes: null,
});
const line = (kind: string, id: string, pipelines: string[], points: PointOut[]) => ({
  name: `${pipelines.join(", ")} | ${kind}/${id}`,
  kind,
  pipelines,
  shared: pipelines.length > 1,
  points,
});

test("a receiver gives what it takes to each of its pipelines, and a processor what it passes on", () => {
  const rates = ratesOf([
    {
      step: 300,
      series: [
        line("receiver", "otlp/in", ["logs", "logs/audit"], [point(500, 0), point(700, 0)]),
        line("processor", "filter", ["logs"], [point(500, 100), point(700, 200)]),
        line("exporter", "otlp", ["logs"], [point(0, 300)]),
      ],
    },
    { step: 300, series: [line("receiver", "otlp/in", ["logs"], [point(500, 0)])] },
  ]);

  assert.deepEqual(
    [...rates],
    [
      ["logs|receivers/otlp/in", 220],
      ["logs/audit|receivers/otlp/in", 120],
      ["logs|processors/filter", 30],
    ],
  );
});

test("what nobody counts, and what pipelines share, is not written", () => {
  const rates = ratesOf([
    {
      step: 300,
      series: [
        line("processor", "batch", ["logs"], [point(0, 0)]),
        line("processor", "memory_limiter", ["logs", "traces"], [point(9, 9)]),
        line("receiver", "otlp", ["logs"], []),
      ],
    },
  ]);

  assert.equal(rates.size, 0);
});

test("a rate is written as people say it", () => {
  assert.deepEqual([0, 0.25, 12, 999, 1_234, 2_500_000].map(perMinute), [
    "0/min",
    "0.25/min",
    "12/min",
    "999/min",
    "1.2 K/min",
    "2.5 M/min",
  ]);
});
