/* Every view, as everybody sees it: light, dark, and on a phone. */
import { after, test } from "node:test";
import { browser, looks, open, page, server } from "./scene.mjs";
import { A, seed, SESSION } from "./seed.mjs";

/** A view's address behind the #, by what the scene holds. `ids` is what `seed` returns. */
const VIEWS = {
  "who to look at": () => "/memories",
  prompt: (_, session) => `/prompt?user=${A}&session=${session}`,
  recalls: () => `/recall?user=${A}`,
  "one recall": (ids) => `/recall/${ids.recall}?user=${A}&why=${ids.never}`,
  packs: (_, session) => `/packs?user=${A}&session=${session}`,
  chat: (_, session) => `/chat?user=${A}&session=${session}`,
  memories: () => `/memories?user=${A}`,
  "a memory": ({ town2 }) => `/memory/${town2}?user=${A}`,
  "a conversation": () => `/conversation?user=${A}&session=${SESSION}`,
  "an event": () => `/conversation?user=${A}&session=${SESSION}&seq=1`,
  inbox: () => `/inbox?user=${A}`,
  "cost of everybody": () => "/money",
  "cost of one user": () => `/money?user=${A}`,
  work: () => "/work",
  policy: () => "/policy",
  "export and erase": ({ jobs }) => `/export?user=${A}&export=${jobs.exported}`,
  receipts: () => "/receipt",
  "a receipt": ({ jobs }) => `/receipt/${jobs.erased}`,
};

const SIZES = { light: {}, dark: { colorScheme: "dark" }, phone: { width: 360, height: 740 } };
const served = await server({ after });
const opened = await browser({ after });
const ids = await seed(served);

for (const [name, address] of Object.entries(VIEWS)) {
  for (const [size, how] of Object.entries(SIZES)) {
    test(`${name}, ${size}`, async () => {
      const shown = await page(opened, how);
      await open(shown, served, await served.token(), address(ids, SESSION));
      await looks(shown, `${name}, ${size}`);
      await shown.context().close();
    });
  }
}
