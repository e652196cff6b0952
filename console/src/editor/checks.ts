// Checks of a text while it is typed: after a pause, one at a time, and only the newest text's answer counts. While the
// collector is being built, the same text is checked again.
import { ApiError } from "../lib/api";

export interface Clock {
  after(milliseconds: number, act: () => void): () => void;
}

export const browserClock: Clock = {
  after(milliseconds, act) {
    const timer = setTimeout(act, milliseconds);
    return () => clearTimeout(timer);
  },
};

const PAUSE = 400;
// After an outage the same text is checked again, so that nobody has to reload the page.
const OUTAGE = 20_000;

export class Checks<T> {
  private newest = 0;
  private underWay = false;
  private waiting: (() => void) | null = null;
  private cancel: () => void = () => undefined;

  constructor(
    private readonly ask: (text: string) => Promise<T>,
    private readonly show: (answer: T, text: string) => void,
    private readonly fail: (error: unknown) => void,
    private readonly clock: Clock = browserClock,
  ) {}

  /** The text as it is now. What was asked about an older one is not shown any more. */
  typed(text: string): void {
    this.newest += 1;
    const number = this.newest;
    this.cancel();
    this.cancel = this.clock.after(PAUSE, () => this.begin(text, number));
  }

  /** There is nothing to check any more, and no answer to show. */
  stop(): void {
    this.newest += 1;
    this.cancel();
    this.waiting = null;
  }

  private begin(text: string, number: number): void {
    if (this.underWay) {
      this.waiting = () => this.begin(text, number);
      return;
    }
    this.underWay = true;
    const end = (then: () => void): void => {
      this.underWay = false;
      if (number === this.newest) then();
      const next = this.waiting;
      this.waiting = null;
      next?.();
    };
    this.ask(text).then(
      (answer) => end(() => this.show(answer, text)),
      (error: unknown) =>
        end(() => {
          this.fail(error);
          const again = error instanceof ApiError ? (error.again ?? (error.isOutage ? OUTAGE : null)) : null;
          if (again !== null) this.cancel = this.clock.after(again, () => this.begin(text, number));
        }),
    );
  }
}
