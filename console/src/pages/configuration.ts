// A configuration's name and description, changed in place.
import { Api, ApiError } from "../lib/api";
import { h } from "../lib/dom";
import { given, page } from "../lib/page";
import { field, mark, Notice } from "../lib/ui";

const card = document.getElementById("describe");
if (card) {
  const api = new Api(page());
  const notice = new Notice();
  const name = h("input", {
    id: "name",
    required: true,
    maxlength: 200,
    value: given(card, "name"),
    spellcheck: "false",
  });
  const description = h("textarea", { id: "description", rows: 3, maxlength: 2_000 }, given(card, "description"));
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    mark("name", "");
    try {
      await api.request("PATCH", `/configurations/${given(card, "configuration")}`, {
        body: { name: name.value, description: description.value.trim() || null },
      });
      location.reload();
    } catch (error) {
      const own = error instanceof ApiError ? error.problem.errors?.find(({ loc }) => loc.includes("name")) : undefined;
      if (own) mark("name", own.message);
      else notice.failed(error);
    }
  };
  const form = h(
    "form",
    { submit: (event) => void save(event) },
    field("Name", name),
    field("Description", description),
    h("button", { class: "plain" }, "Save"),
  );
  card.append(h("h2", {}, "Name and description"), notice.element, form);
  card.hidden = false;
}
