// A configuration that is not saved: pasted, checked by the collector at once, drawn, and saved if somebody wants that.
import { Checks } from "../editor/checks";
import { linesOf } from "../editor/lines";
import { Panels } from "../editor/panels";
import { outline } from "../editor/place";
import { shown } from "../editor/problems";
import { ApiError, type Api } from "../lib/api";
import { h } from "../lib/dom";
import type { Check } from "../lib/types";
import { UnsavedTexts } from "../lib/unsaved";
import { button, field, mark, notChecked, Notice } from "../lib/ui";

const EXAMPLE = `receivers:
  filelog:
    include: [/var/log/shop.log]
processors:
  transform:
    log_statements:
      - set(log.severity_text, "ERROR") where IsMatch(log.body, "failed")
  batch:
    timeout: 5 parsecs
exporters:
  otlphttp:
    endpoint: https://otel.example.com
service:
  pipelines:
    logs:
      receivers: [filelog]
      processors: [transform, batch]
      exporters: [otlphttp]
`;
// The place in this browser where what is typed here is kept.
const KEPT_AS = "home";

export class Trial {
  private readonly notice = new Notice();
  private readonly verdict = h("p", { id: "verdict", role: "status" }, "Nothing is checked yet.");
  private readonly yaml = h("textarea", { id: "pasted", rows: 14, maxlength: 1_000_000, spellcheck: "false" });
  private readonly name = h("input", { id: "name", required: true, maxlength: 200, spellcheck: "false" });
  private readonly panels = new Panels((line) => this.goTo(line));
  private readonly found = h("div", { hidden: true });
  private readonly unsaved: UnsavedTexts;
  private readonly checks: Checks<Check>;
  private key = { content: "", value: "" };

  constructor(
    private readonly api: Api,
    private readonly home: string,
    person: string,
    place: HTMLElement,
  ) {
    this.unsaved = new UnsavedTexts(person, localStorage);
    this.checks = new Checks<Check>(
      (text) => this.ask(text),
      (check, text) => this.show(check, text),
      (error) => this.tell(...notChecked(error)),
    );
    this.found.append(this.panels.element, this.saving());
    place.append(
      h(
        "div",
        { class: "card" },
        h("h2", {}, "Try a configuration"),
        this.notice.element,
        h(
          "p",
          { class: "soft" },
          "Paste one, and the collector says at once whether it would start with it. Nothing is saved, and nothing of it runs. ",
          button("Use an example with a mistake", () => this.use(EXAMPLE), { class: "link" }),
        ),
        field("Configuration, YAML", this.yaml),
        this.verdict,
        this.found,
      ),
    );
    this.yaml.addEventListener("input", () => this.typed());
    const kept = this.unsaved.get(KEPT_AS);
    if (kept !== null) this.use(kept.text);
  }

  private use(text: string): void {
    this.yaml.value = text;
    this.typed();
  }

  private typed(): void {
    const text = this.yaml.value;
    if (text.trim() === "") {
      this.unsaved.remove(KEPT_AS);
      this.found.hidden = true;
      this.checks.stop();
      this.tell("Nothing is checked yet.");
      return;
    }
    this.unsaved.put(KEPT_AS, { text, base: "", etag: "" });
    this.tell("Checking …");
    this.checks.typed(text);
  }

  private async ask(yaml: string): Promise<Check> {
    const path = "/validate?lint=true&policies=true&graph=true";
    return (await this.api.request<Check>("POST", path, { body: { yaml } })).body;
  }

  private show(check: Check, text: string): void {
    const problems = shown(check);
    const errors = problems.filter(({ severity }) => severity === "error").length;
    this.found.hidden = false;
    this.panels.show(check, problems);
    this.panels.outlined(outline(linesOf(text)));
    if (check.valid) this.tell(`✓ Valid on collector ${check.version}`, "good");
    else this.tell(`✕ Not valid on collector ${check.version}: ${errors} ${errors === 1 ? "error" : "errors"}`, "bad");
  }

  private tell(text: string, kind = ""): void {
    this.verdict.replaceChildren(h("span", { class: kind ? `verdict ${kind}` : "soft" }, text));
  }

  private goTo(line: number): void {
    const lines = this.yaml.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    this.yaml.focus();
    this.yaml.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  }

  private saving(): HTMLElement {
    return h(
      "form",
      { class: "row apart", submit: (event) => void this.save(event) },
      h("div", {}, field("Name", this.name)),
      h("button", {}, "Save as a new configuration"),
    );
  }

  private async save(event: Event): Promise<void> {
    event.preventDefault();
    mark("name", "");
    const body = { name: this.name.value, yaml: this.yaml.value };
    // The same for the same content, so that a second click creates nothing more.
    const content = JSON.stringify(body);
    if (this.key.content !== content) this.key = { content, value: crypto.randomUUID() };
    try {
      const headers = { "Idempotency-Key": this.key.value };
      const { body: created } = await this.api.request<{ id: string }>("POST", "/configurations", { body, headers });
      this.unsaved.remove(KEPT_AS);
      location.assign(`${this.home}/configurations/${created.id}/edit`);
    } catch (error) {
      const errors = error instanceof ApiError ? (error.problem.errors ?? []) : [];
      const own = errors.find(({ loc }) => loc.at(-1) === "name");
      if (own) mark("name", own.message);
      else this.notice.failed(error);
    }
  }
}
