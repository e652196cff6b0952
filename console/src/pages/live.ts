// A page that is not ready yet, or that a part of the service cannot answer for: it shows itself once it can.
import { fresh, renew } from "../lib/live";
import { poll } from "../lib/poll";

const WAITING = "waiting";

const waiting = document.getElementById(WAITING);
if (waiting) void wait(waiting);

async function wait(part: HTMLElement): Promise<void> {
  await poll(
    async () => {
      try {
        return await fresh(location.href);
      } catch {
        // An outage: what is shown stays.
        return document;
      }
    },
    (page) => !page.getElementById(WAITING),
    (page) => {
      if (page !== document) part = renew(part, page);
    },
  );
  location.reload();
}
