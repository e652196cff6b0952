// Asking again and again, at most ten times a minute over all tabs together, and not while nobody looks.

const APART = 6_000;
const KEY = "headgate-asked";

export interface Room {
  now(): number;
  /** The time of the last turn of any tab, and the next one's. */
  read(): number;
  write(turn: number): void;
  /** Nobody else takes a turn meanwhile. */
  alone<T>(act: () => Promise<T>): Promise<T>;
  wait(milliseconds: number): Promise<void>;
  /** Returns when somebody looks at the page. */
  seen(): Promise<void>;
}

/** Asks until the answer is final, and returns that one. `between` sees the others. */
export async function poll<T>(
  ask: () => Promise<T>,
  isFinal: (answer: T) => boolean,
  between: (answer: T) => void,
  room: Room = browser,
): Promise<T> {
  for (;;) {
    await room.seen();
    const turn = await room.alone(() => {
      const next = Math.max(room.now(), room.read() + APART);
      room.write(next);
      return Promise.resolve(next);
    });
    await room.wait(Math.max(0, turn - room.now()));
    const answer = await ask();
    if (isFinal(answer)) return answer;
    between(answer);
  }
}

const browser: Room = {
  now: () => Date.now(),
  // A clock that was set back must not stop everything.
  read: () => Math.min(Number(localStorage.getItem(KEY) ?? "0") || 0, Date.now() + 10 * APART),
  write: (turn) => localStorage.setItem(KEY, String(turn)),
  alone: async (act) => await navigator.locks.request(KEY, act),
  wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  seen: () =>
    new Promise((resolve) => {
      if (!document.hidden) return resolve();
      const look = (): void => {
        if (document.hidden) return;
        document.removeEventListener("visibilitychange", look);
        resolve();
      };
      document.addEventListener("visibilitychange", look);
    }),
};
