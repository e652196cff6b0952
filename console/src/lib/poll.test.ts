import assert from "node:assert/strict";
import { test } from "node:test";
import { poll, type Room } from "./poll";

class Shared {
  time = 0;
  turn = -6_000;
  asked: number[] = [];
  turns: number[] = [];
  hidden = false;
  tab(): Room {
    return {
      now: () => this.time,
      read: () => this.turn,
      write: (turn) => void this.turns.push((this.turn = turn)),
      alone: (act) => act(),
      wait: (milliseconds) => ((this.time += milliseconds), Promise.resolve()),
      seen: () => (this.hidden ? new Promise(() => undefined) : Promise.resolve()),
    };
  }
  async ask(times: number): Promise<number> {
    let count = 0;
    return poll(
      () => (this.asked.push(this.time), Promise.resolve((count += 1))),
      (answer) => answer === times,
      () => undefined,
      this.tab(),
    );
  }
}

test("a tab asks at once, and then every six seconds", async () => {
  const shared = new Shared();
  assert.equal(await shared.ask(3), 3);
  assert.deepEqual(shared.asked, [0, 6_000, 12_000]);
});

test("all tabs together ask at most ten times a minute", async () => {
  const shared = new Shared();
  await Promise.all([shared.ask(5), shared.ask(5), shared.ask(5)]);
  const apart = shared.turns.slice(1).map((at, n) => at - (shared.turns[n] ?? 0));
  assert.equal(shared.asked.length, 15);
  assert.ok(
    apart.every((one) => one >= 6_000),
    String(apart),
  );
});

test("nobody is asked while the page is hidden", async () => {
  const shared = new Shared();
  shared.hidden = true;
  void shared.ask(1);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(shared.asked, []);
});
