// The entries that somebody chooses in a table: all of its page by a single box, and how many they are.

/** Follows the boxes of the form with a box for all of the page, also where the table is renewed later. */
export function followChoices(): void {
  document.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.type !== "checkbox") return;
    const all = target.form?.querySelector<HTMLInputElement>("[data-all]");
    const count = target.form?.querySelector("[data-count]");
    if (!target.form || !all || !count) return;
    const boxes = [...target.form.elements].filter(
      (entry): entry is HTMLInputElement => entry instanceof HTMLInputElement && entry.closest("td.choose") !== null,
    );
    if (target === all) for (const box of boxes) box.checked = all.checked;
    const chosen = boxes.filter(({ checked }) => checked).length;
    all.checked = chosen > 0 && chosen === boxes.length;
    all.indeterminate = chosen > 0 && chosen < boxes.length;
    count.textContent = chosen > 0 ? String(chosen) : "those";
  });
}
