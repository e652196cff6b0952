// Texts that were typed and not saved, per person, in this browser. Signing out erases that person's.

export interface Unsaved {
  text: string;
  /** The text and the tag of the state that it began from. */
  base: string;
  etag: string;
}

type Store = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

const PREFIX = "headgate-unsaved";
// Who has signed out on this page: what it stores while it is left would stay behind.
const gone = new Set<string>();

export class UnsavedTexts {
  constructor(
    private readonly person: string,
    private readonly store: Store,
  ) {}

  get(of: string): Unsaved | null {
    const value = this.store.getItem(this.key(of));
    if (value === null) return null;
    try {
      const { text, base, etag } = (JSON.parse(value) ?? {}) as Partial<Unsaved>;
      if (typeof text === "string" && typeof base === "string" && typeof etag === "string") return { text, base, etag };
    } catch {
      // Another program's value: as if there were none.
    }
    return null;
  }

  /** False if the browser has no room for it, so that the page can say that leaving it would lose the text. */
  put(of: string, unsaved: Unsaved): boolean {
    if (gone.has(this.person)) return false;
    try {
      this.store.setItem(this.key(of), JSON.stringify(unsaved));
      return true;
    } catch {
      return false;
    }
  }

  remove(of: string): void {
    this.store.removeItem(this.key(of));
  }

  /** At sign-out: nothing more of this person is stored by this page. */
  erase(): void {
    gone.add(this.person);
    const keys = Array.from({ length: this.store.length }, (_, at) => this.store.key(at));
    for (const key of keys) if (key?.startsWith(this.key(""))) this.store.removeItem(key);
  }

  private key(of: string): string {
    return `${PREFIX}/${this.person}/${of}`;
  }
}
