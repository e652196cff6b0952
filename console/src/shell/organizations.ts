// The switcher: the person's organizations, asked for when it is opened.
import { h } from "../lib/dom";
import { page } from "../lib/page";

interface Person {
  organizations: { id: string; name: string }[];
}

/** Adds a link to each other organization; the link to all of them is there already. */
export async function listOrganizations(place: HTMLElement): Promise<void> {
  const answer = await fetch("/api/v1/app/session", { cache: "no-store" });
  if (!answer.ok) return;
  const { organizations } = (await answer.json()) as Person;
  const others = organizations.filter(({ id }) => id !== page().organization);
  place.append(...others.map(({ id, name }) => h("a", { href: `/organizations/${id}` }, h("span", {}, name))));
}
