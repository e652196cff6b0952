// A configuration that is not saved: checked by the collector at once, drawn, and saved if somebody wants that.
import { documentLines } from "../editor/assist";
import { Checks } from "../editor/checks";
import { Editor } from "../editor/editor";
import { Panels } from "../editor/panels";
import { outline } from "../editor/place";
import { shown, verdictOf } from "../editor/problems";
import { Reference } from "../editor/reference";
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
// The place in this browser where what is typed here is stored; earlier releases had it on Home.
const PLACE = "home";
const NOTHING = "Nothing is checked yet.";

export class Trial {
  private readonly notice = new Notice();
  private readonly verdict = h("p", { id: "verdict", role: "status" }, NOTHING);
  private readonly name = h("input", { id: "name", required: true, maxlength: 200, spellcheck: "false" });
  private readonly panels: Panels;
  private readonly editor: Editor;
  private readonly unsaved: UnsavedTexts;
  private readonly checks: Checks<Check>;
  private key = { content: "", value: "" };

  constructor(
    private readonly api: Api,
    private readonly home: string,
    person: string,
    collector: string,
    place: HTMLElement,
  ) {
    this.unsaved = new UnsavedTexts(person, localStorage);
    this.checks = new Checks<Check>(
      (text) => this.ask(text),
      (check) => this.show(check),
      (error) => {
        const [why, kind] = notChecked(error);
        this.tell(why, kind);
        this.panels.notChecked(why, kind);
      },
    );
    this.panels = new Panels((line, column) => this.editor.goTo(line, column), null, undefined, {
      mend: (fix) => this.editor.mend(fix),
      takeOut: (yaml) => (this.editor.text = yaml),
    });
    const reference = new Reference(api, collector);
    const host = h("div", { class: "code-host" });
    this.editor = new Editor(host, {
      text: this.unsaved.get(PLACE)?.text ?? "",
      label: "Configuration, YAML",
      readOnly: false,
      reference: () => reference,
      changed: (text) => this.typed(text),
    });
    place.replaceChildren(
      this.notice.element,
      h(
        "div",
        { class: "toolbar" },
        this.verdict,
        button("Use an example with a mistake", () => (this.editor.text = EXAMPLE), { class: "plain" }),
        button("Save as a configuration …", () => this.saving.showModal(), { class: "main" }),
      ),
      h("div", { class: "editing" }, host, this.panels.element),
      this.saving,
    );
    if (this.editor.text) this.typed(this.editor.text);
    this.editor.view.focus();
  }

  private readonly saving: HTMLDialogElement = h(
    "dialog",
    { "aria-labelledby": "saving-title" },
    h("h2", { id: "saving-title" }, "Save as a configuration"),
    h(
      "form",
      { submit: (event) => void this.save(event) },
      field("Name", this.name),
      h(
        "div",
        { class: "buttons" },
        h("button", {}, "Save and edit"),
        button("Cancel", () => this.saving.close(), { class: "plain" }),
      ),
    ),
  );

  private typed(text: string): void {
    this.panels.outlined(outline(documentLines(this.editor.view.state.doc)));
    if (text.trim() === "") {
      this.unsaved.remove(PLACE);
      this.checks.stop();
      this.tell(NOTHING);
      return;
    }
    this.unsaved.put(PLACE, { text, base: "", etag: "" });
    this.tell("Checking …");
    this.panels.graph.isStale = true;
    this.checks.typed(text);
  }

  private async ask(yaml: string): Promise<Check> {
    const path = "/validate?lint=true&policies=true&graph=true&remember=false";
    return (await this.api.request<Check>("POST", path, { body: { yaml } })).body;
  }

  private show(check: Check): void {
    const problems = shown(check);
    this.editor.show(problems, check.lint && "items" in check.lint ? check.lint.items : []);
    this.panels.show(check, problems);
    const { text, kind } = verdictOf(check);
    this.tell(text, kind);
  }

  private tell(text: string, kind = ""): void {
    this.verdict.replaceChildren(h("span", { class: kind ? `verdict ${kind}` : "soft" }, text));
  }

  private async save(event: Event): Promise<void> {
    event.preventDefault();
    mark("name", "");
    const body = { name: this.name.value, yaml: this.editor.text };
    // The same for the same content, so that a second click creates nothing more.
    const content = JSON.stringify(body);
    if (this.key.content !== content) this.key = { content, value: crypto.randomUUID() };
    try {
      const headers = { "Idempotency-Key": this.key.value };
      const { body: created } = await this.api.request<{ id: string }>("POST", "/configurations", { body, headers });
      this.unsaved.remove(PLACE);
      location.assign(`${this.home}/configurations/${created.id}/edit`);
    } catch (error) {
      const errors = error instanceof ApiError ? (error.problem.errors ?? []) : [];
      const own = errors.find(({ loc }) => loc.at(-1) === "name");
      if (own) return mark("name", own.message);
      this.saving.close();
      this.notice.failed(error);
    }
  }
}
