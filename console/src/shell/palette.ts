// Ctrl-K: go to a page, a configuration, a fleet, a host or a component by its name, or do what this page does.
import type { Api, List } from "../lib/api";
import type { Choice, Picker } from "../lib/picker";
import { pick } from "../lib/picker";

const PAUSE = 250;
// Hosts are looked for in the fleets that changed last: a large organization has too many.
const MOST_FLEETS = 10;

interface Configuration {
  id: string;
  name: string;
}
interface Fleet {
  id: string;
  label: string;
}
interface Instance {
  id: string;
  name: string | null;
  host_name: string | null;
}
interface Component {
  kind: string;
  type: string;
}

/** Opens the palette; what the API has is added as it comes. */
export function open(api: Api, home: string): void {
  const go = (path: string) => () => location.assign(path);
  const fleets = api.get<List<Fleet>>("/fleets?limit=100").then(({ items }) => items);
  let searched = "";
  let timer = 0;

  const findNamed = async (text: string, picker: Picker): Promise<void> => {
    if (text !== searched) return;
    const name = encodeURIComponent(text);
    const addHosts = async ({ id, label }: Fleet): Promise<void> => {
      const { items } = await api.get<List<Instance>>(`/fleets/${id}/instances?limit=10&host=${name}`);
      picker.add(
        items.map((instance) => ({
          name: instance.name ?? instance.host_name ?? instance.id,
          about: `host of ${label}`,
          take: go(`${home}/fleets/${id}/collectors/${instance.id}`),
        })),
      );
    };
    await Promise.allSettled([
      configurations(`&name=${name}`).then((found) => picker.add(found)),
      // The fleets may come after the text.
      fleets.then((all) => Promise.allSettled(all.slice(0, MOST_FLEETS).map(addHosts))),
    ]);
  };
  const configurations = async (filter = ""): Promise<Choice[]> => {
    const { items } = await api.get<List<Configuration>>(`/configurations?limit=50${filter}`);
    return items.map(({ id, name }) => ({ name, about: "configuration", take: go(`${home}/configurations/${id}`) }));
  };
  const picker = pick(
    "palette",
    "Go to, or do",
    { input: "Page, configuration, fleet, host, component or action", list: "Places and actions" },
    [...places(), ...actions(home, go)],
    (text) => {
      searched = text;
      clearTimeout(timer);
      if (text.length >= 2) timer = window.setTimeout(() => void findNamed(text, picker), PAUSE);
    },
  );

  // A part that does not answer is missing from the list; its page is there.
  const add = (more: Promise<Choice[]>): void => void more.then((found) => picker.add(found)).catch(() => undefined);
  add(configurations());
  add(
    fleets.then((all) =>
      all.map(({ id, label }) => ({ name: label, about: "fleet", take: go(`${home}/fleets/${id}`) })),
    ),
  );
  add(
    api
      .all<Component>("/components")
      .then((items) =>
        items.map(({ kind, type }) => ({ name: type, about: kind, take: go(`${home}/components/${kind}/${type}`) })),
      ),
  );
}

/** What the sidebar has. */
function places(): Choice[] {
  return [...document.querySelectorAll<HTMLElement>(".side :is(a[title], form button)")].map((link) => ({
    name: link.title,
    about: link.matches("a") ? "page" : "action",
    take: () => link.click(),
  }));
}

// What can be begun from everywhere by those who may open the page of the sidebar.
const ACTIONS: [name: string, page: string, path: string][] = [
  ["New configuration", "/configurations", "/new"],
  ["Try a configuration", "/configurations", "/try"],
  ["New fleet", "/fleets", "#new-fleet"],
  ["Invite somebody", "/members", ""],
  ["New service account and token", "/service-accounts", ""],
  ["New webhook", "/webhooks", ""],
];
const BUTTONS = "main :is(.heading, .buttons, .toolbar) :is(a.button, button, summary)";

/** What can be begun from everywhere, and the buttons of this page. */
function actions(home: string, go: (path: string) => () => void): Choice[] {
  const shown = [...document.querySelectorAll<HTMLElement>(BUTTONS)].filter((button) => button.checkVisibility());
  const here = shown.map((button) => ({
    name: button.textContent.trim(),
    about: "on this page",
    // A form is not sent by a choice alone: its button waits for Enter.
    take: () => (button.matches("form button:not([type=button])") ? button.focus() : button.click()),
  }));
  return [
    ...here,
    ...ACTIONS.filter(
      ([name, page]) =>
        !here.some((choice) => choice.name === name) && document.querySelector(`.side a[href="${home}${page}"]`),
    ).map(([name, page, path]) => ({ name, about: "action", take: go(`${home}${page}${path}`) })),
    { name: "Theme, density and time zone", about: "action", take: go("/account") },
  ];
}
