// Keeps the page, and the conversations that were opened in it, for when the server cannot be reached. Whatever the
// server answers comes first, so that nothing here is shown in place of it. The server writes before this file:
// SHELL, the addresses of the page's own files, and DIGEST of all of them.

const PAGE = `page ${DIGEST}`;
const KEPT = "kept "; // before the caller whose conversations these are
const MOST = 100; // answers of the API that are kept, the last ones
const READ = /^\/api\/(me|context|graphs|libraries|sources|threads(\/[^/]+)?)$/;

const NEEDED = ["me", "context", "graphs", "libraries", "threads"].map((name) => `/api/${name}`); // by the page, to begin

let session = {}; // none from when somebody leaves until a page is opened anew: what a page asks may come in any order
let behind = false; // the page that was sent last is of another version than the files kept here

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(caches.open(PAGE).then((cache) => cache.addAll(SHELL.map((url) => new Request(url, { cache: "no-cache" })))));
});

self.addEventListener("activate", (event) => event.waitUntil(begin()));

/** Take over from the version before, and read what the page that is open has read already. */
async function begin() {
  const since = session;
  await self.clients.claim();
  await forget((name) => name.startsWith("page ") && name !== PAGE);
  await Promise.all(NEEDED.map(async (path) => keep(new Request(path), await fetch(path), path, since)));
}

self.addEventListener("fetch", (event) => {
  const { method, url, headers } = event.request;
  const { origin, pathname } = new URL(url);
  if (origin !== self.location.origin) return;
  if (pathname === "/api/logout" && method === "POST") {
    session = null;
    event.waitUntil(forget((name) => name.startsWith(KEPT)));
  }
  if (method !== "GET" || headers.has("range")) return;
  if (pathname === "/" || SHELL.includes(pathname)) event.respondWith(file(event.request, pathname));
  else if (READ.test(pathname)) event.respondWith(answer(event, pathname));
});

async function forget(which) {
  for (const name of await caches.keys()) if (which(name)) await caches.delete(name);
}

async function file(request, pathname) {
  if (pathname === "/") session ??= {};
  try {
    const sent = await fetch(request);
    if (pathname === "/") behind = sent.headers.get("X-Ragweave-Page") !== DIGEST;
    return sent;
  } catch (error) {
    // A file of this version in a page of another one would break it.
    const kept = (pathname === "/" || !behind) && (await (await caches.open(PAGE)).match(pathname));
    if (!kept) throw error;
    if (pathname === "/") behind = false;
    return kept;
  }
}

async function answer(event, pathname) {
  const { request } = event;
  const since = session;
  let sent;
  try {
    sent = await fetch(request);
  } catch (error) {
    const [name] = (await caches.keys()).filter((one) => one.startsWith(KEPT));
    const kept = name && (await (await caches.open(name)).match(request));
    if (!kept) throw error;
    const headers = new Headers(kept.headers);
    headers.set("X-Ragweave-Copy", "1");
    return new Response(kept.body, { headers });
  }
  event.waitUntil(keep(request, sent.clone(), pathname, since));
  return sent;
}

async function keep(request, sent, pathname, since) {
  // No copy outlives its key: another caller, or one that is refused, ends what was kept for the one before.
  const caller = sent.status === 401 ? null : sent.headers.get("X-Ragweave-Caller");
  await forget((name) => name.startsWith(KEPT) && name !== KEPT + caller);
  if (!sent.ok || !caller || !session || since !== session) return; // an answer may be slower than whoever leaves
  const cache = await caches.open(KEPT + caller);
  if (pathname === "/api/threads" && !new URL(request.url).search) {
    // What was deleted, by whomever, goes from here as well.
    const ids = new Set((await sent.clone().json()).threads.map(({ id }) => `/api/threads/${encodeURIComponent(id)}`));
    for (const { url } of await cache.keys()) {
      const { pathname: at } = new URL(url);
      if (at.startsWith("/api/threads/") && !ids.has(at)) await cache.delete(url);
    }
  }
  await cache.put(request, sent);
  const held = await cache.keys(); // the last used is last
  for (const old of held.slice(0, Math.max(0, held.length - MOST))) await cache.delete(old);
}
