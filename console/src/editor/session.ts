// One version while it is edited: what is saved, what is typed, and what somebody else saved meanwhile.
import { type Api, ApiError } from "../lib/api";
import type { Version } from "../lib/types";
import type { UnsavedTexts } from "../lib/unsaved";

export interface Saved {
  version: Version;
  etag: string;
}

/** Somebody else was first: their version, which a merged text replaces, or which is published and stays. */
export class Overtaken extends Error {
  constructor(readonly theirs: Saved) {
    super("Somebody else has changed this version meanwhile");
  }
}

export class Session {
  /** The text that the typed one began from, and the tag of its state. */
  base: { text: string; etag: string };

  constructor(
    private readonly api: Api,
    readonly configuration: string,
    private readonly unsaved: UnsavedTexts,
    public saved: Saved,
  ) {
    this.base = { text: saved.version.yaml, etag: saved.etag };
  }

  static async read(api: Api, configuration: string, n: number): Promise<Saved> {
    const { body, etag } = await api.request<Version>("GET", `/configurations/${configuration}/versions/${n}`);
    return { version: body, etag: etag ?? "" };
  }

  get n(): number {
    return this.saved.version.n;
  }

  get isDraft(): boolean {
    return this.saved.version.status === "draft";
  }

  /** What was typed before and not saved; saving it compares it with the state that it began from. */
  restore(): string | null {
    const typed = this.unsaved.get(this.key);
    if (!typed || typed.text === this.saved.version.yaml) return null;
    this.base = { text: typed.base, etag: typed.etag };
    return typed.text;
  }

  /** False if the browser cannot store the text. */
  typed(text: string): boolean {
    if (text === this.base.text) {
      this.unsaved.remove(this.key);
      return true;
    }
    return this.unsaved.put(this.key, { text, base: this.base.text, etag: this.base.etag });
  }

  discard(): void {
    this.unsaved.remove(this.key);
    this.base = { text: this.saved.version.yaml, etag: this.saved.etag };
  }

  /** Saves a draft; what was published gets a new version. Throws Overtaken, ApiError. */
  async save(text: string, collectorVersion: string): Promise<void> {
    if (!this.isDraft) {
      await this.append(text, collectorVersion);
      return;
    }
    const body = {
      yaml: text,
      ...(collectorVersion !== this.saved.version.collector_version && { collector_version: collectorVersion }),
    };
    await this.change(body, text);
  }

  /** Notes on a draft, empty for none. Throws Overtaken, ApiError. */
  async describe(notes: string): Promise<void> {
    await this.change({ description: notes }, this.base.text);
  }

  /** Publishes the draft as it was saved or read. Throws Overtaken, ApiError. */
  async publish(): Promise<void> {
    const path = `/configurations/${this.configuration}/versions/${this.n}/publish`;
    try {
      const { body, etag } = await this.api.request<Version>("POST", path, { headers: { "If-Match": this.base.etag } });
      this.take({ version: body, etag: etag ?? "" });
    } catch (error) {
      if (!(error instanceof ApiError) || error.problem.status !== 412) throw error;
      throw new Overtaken(await Session.read(this.api, this.configuration, this.n));
    }
  }

  /** The other's state is the one that the text began from now: the text holds what is in it. */
  merged(theirs: Saved): void {
    this.saved = theirs;
    this.base = { text: theirs.version.yaml, etag: theirs.etag };
  }

  private async append(text: string, collectorVersion: string): Promise<void> {
    const path = `/configurations/${this.configuration}/versions`;
    const { body, etag } = await this.api.request<Version>("POST", path, {
      body: { yaml: text },
      headers: { "Idempotency-Key": crypto.randomUUID() },
    });
    this.unsaved.remove(this.key);
    this.take({ version: body, etag: etag ?? "" });
    if (collectorVersion !== body.collector_version) await this.change({ collector_version: collectorVersion }, text);
  }

  private async change(body: Record<string, string>, text: string): Promise<void> {
    const path = `/configurations/${this.configuration}/versions/${this.n}`;
    try {
      const answer = await this.api.request<Version>("PATCH", path, { body, headers: { "If-Match": this.base.etag } });
      this.unsaved.remove(this.key);
      this.take({ version: answer.body, etag: answer.etag ?? "" });
    } catch (error) {
      if (!(error instanceof ApiError) || (error.problem.status !== 412 && error.problem.code !== "version_published"))
        throw error;
      const theirs = await Session.read(this.api, this.configuration, this.n);
      // Our own request whose answer was lost.
      if (theirs.version.yaml !== text || body.yaml === undefined) throw new Overtaken(theirs);
      this.unsaved.remove(this.key);
      this.take(theirs);
    }
  }

  private take(saved: Saved): void {
    this.saved = saved;
    this.base = { text: saved.version.yaml, etag: saved.etag };
  }

  private get key(): string {
    return `${this.configuration}/${this.n}`;
  }
}
