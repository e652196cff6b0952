// What the server wrote into the page for its scripts.

export interface Page {
  person: string;
  organization: string;
  csrf: string;
}

export function page(): Page {
  const { person = "", organization = "", csrf = "" } = document.body.dataset;
  return { person, organization, csrf };
}

/** The value of a `data-` attribute of the element; throws if it has none. */
export function given(element: HTMLElement, name: string): string {
  const value = element.dataset[name];
  if (value === undefined) throw new Error(`#${element.id} has no data-${name}`);
  return value;
}
