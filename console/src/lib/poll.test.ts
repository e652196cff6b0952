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

/** What a browser has, with this turn noted by another tab. */
function browserWith(turn: number): { document: EventTarget & { hidden: boolean }; stored: Map<string, string> } {
  const document = Object.assign(new EventTarget(), { hidden: false });
  const stored = new Map([["headgate-asked", String(turn)]]);
  const localStorage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  };
  const navigator = { locks: { request: (_: string, act: () => unknown) => act() } };
  for (const [name, value] of Object.entries({ document, localStorage, navigator }))
    Object.defineProperty(globalThis, name, { value, configurable: true });
  return { document, stored };
}

const turned = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a hidden page asks once somebody looks at it", async () => {
  const { document } = browserWith(0);
  document.hidden = true;
  let asked = 0;
  const answer = poll(
    () => Promise.resolve((asked += 1)),
    () => true,
    () => undefined,
  );
  document.dispatchEvent(new Event("visibilitychange"));
  await turned();
  assert.equal(asked, 0);
  document.hidden = false;
  document.dispatchEvent(new Event("visibilitychange"));
  assert.equal(await answer, 1);
});

test("a turn that a clock set far ahead, or something else, is waited for a minute at most", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
  for (const [after, wait] of [
    [9_000_000_000, 66_000],
    [Number.NaN, 0],
    [0, 6_000],
  ] as const) {
    const now = Date.now();
    const { stored } = browserWith(now + after);
    const answer = poll(
      () => Promise.resolve(Date.now() - now),
      () => true,
      () => undefined,
    );
    await turned();
    context.mock.timers.tick(wait);
    assert.equal(await answer, wait);
    assert.equal(Number(stored.get("headgate-asked")), now + wait);
  }
});
