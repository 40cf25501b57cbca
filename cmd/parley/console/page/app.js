"use strict";
// All that the pages need of a script: to be let in, to send, to be asked for anew when something
// happens, and keys. A page has one form, made by the console; here it is only put in place.
(() => {
  const store = "secret";
  const said = document.getElementById("said");

  // let in: the token of the link stands behind the #, which no request bears.
  if (document.body.hasAttribute("data-door")) {
    const token = location.hash.slice(1);
    if (!token) return;
    history.replaceState(null, "", "/enter");
    said.textContent = "One moment …";
    const send = async (to, what) => {
      const answer = await fetch(to, { method: "POST", body: JSON.stringify(what) });
      const is = await answer.json();
      if (answer.ok) return is;
      document.getElementById("number").hidden = true;
      said.textContent = is.error + (is.hint ? ". What to try: " + is.hint : "");
    };
    send("/enter", { token })
      .then((is) => { // a phone shows a number, for which the terminal asks
        if (!is?.ticket) return is;
        const number = document.getElementById("number");
        number.textContent = is.shows;
        number.hidden = false;
        said.textContent = "Your terminal asks whether this phone shows this number. Answer there.";
        return send("/pair", { ticket: is.ticket });
      })
      .then((is) => {
        if (!is) return;
        localStorage.setItem(store, is.secret);
        location.replace("/");
      })
      .catch(() => { said.textContent = "The console has ended, or cannot be reached. Start it anew: parley console"; });
    return;
  }
  if (/^#[0-9a-f]{32,}$/.test(location.hash)) history.replaceState(null, "", location.pathname);

  // same makes an element like another one, and leaves alone what has not changed: where somebody
  // types, what is open, how far it is scrolled. Children with an id are found by it.
  const same = (is, next) => {
    if (is.hasAttribute("data-keep") || is.nodeName === "OUTPUT" || is.isEqualNode(next)) return; // an output says what was done
    for (const { name } of [...is.attributes]) if (!next.hasAttribute(name) && name !== "open") is.removeAttribute(name);
    for (const { name, value } of next.attributes) if (name !== "open" && is.getAttribute(name) !== value) is.setAttribute(name, value);
    const byId = new Map();
    for (const child of is.children) if (child.id) byId.set(child.id, child);
    if (is.hasAttribute("data-merge")) { merge(is, next, byId); return; }
    let at = is.firstChild;
    for (const child of [...next.childNodes]) {
      const known = child.id ? byId.get(child.id) : null;
      if (known) {
        if (known === at) at = at.nextSibling; else is.insertBefore(known, at);
        same(known, child);
      } else if (at && at.nodeType === child.nodeType && at.nodeName === child.nodeName && !at.id && !child.id) {
        const here = at;
        at = at.nextSibling;
        if (here.nodeType === 1) same(here, child); else if (here.nodeValue !== child.nodeValue) here.nodeValue = child.nodeValue;
      } else is.insertBefore(document.importNode(child, true), at);
    }
    while (at) { const gone = at; at = at.nextSibling; gone.remove(); }
  };

  // A list of talk is a window on it. What came before is put above it and what comes after below it,
  // by a page of the console; what is far away is taken out, so that a list stays as short as this.
  const most = 200, piece = 50; // rows of the list, and of what is taken out at its end at a time
  const below = []; // for each piece taken out at the end, the row that follows it; "": none did
  let next = "", atEnd = true; // the row that follows the list
  const inView = () => window.innerHeight + window.scrollY >= document.body.scrollHeight - 80;
  const show = (id, is) => { const one = document.getElementById(id); if (one) one.hidden = !is; };
  const cutAbove = (list) => {
    if (list.children.length <= most) return;
    show("older", true);
    while (list.children.length > most) list.firstElementChild.remove();
  };
  const cutBelow = (list) => {
    while (list.children.length > most) {
      const rows = [...list.children].slice(-piece);
      below.push(next);
      next = rows[0].id;
      for (const row of rows) row.remove();
      show("newer", true);
    }
  };
  // merge puts what is new into a list, at its end only while that is in view: somebody may read.
  const merge = (list, page, byId) => {
    const rows = [...page.children].reverse(), grows = atEnd && !next;
    if (list.children.length && !rows.some((row) => byId.has(row.id))) { // more has come than a page holds
      if (!grows || !rows.length) { show("newer", rows.length > 0); return; }
      list.replaceChildren();
      show("older", true);
    }
    let after = null;
    for (const row of rows) {
      const known = byId.get(row.id);
      if (known?.isConnected) { same(known, row); after = known; continue; }
      if (!after && !grows) { show("newer", true); continue; }
      after = list.insertBefore(document.importNode(row, true), after);
    }
    if (!grows) return;
    show("newer", false);
    cutAbove(list);
  };

  let wanted = 0;
  const gates = () => Number(document.querySelector("#menu-Gates .count")?.firstChild.nodeValue || 0);
  let waited = gates();
  // notice shows a text outside of the page; a phone's browser does that by a worker alone.
  const notice = async (text) => {
    if (window.Notification?.permission !== "granted") return;
    const more = { tag: "gates" };
    try { new Notification(text, more); } catch {
      await navigator.serviceWorker.register("/worker.js");
      await (await navigator.serviceWorker.ready).showNotification(text, more);
    }
  };
  const titled = () => {
    const now = gates();
    document.title = (now ? "(" + now + ") " : "") + document.title.replace(/^\(\d+\) /, "");
    if (now > waited) {
      navigator.vibrate?.(200);
      if (document.hidden) notice("parley: a gate waits for you").catch(() => {}); // the title tells of it
    }
    waited = now;
    const wish = document.querySelector("[data-notify]");
    if (wish) wish.hidden = !(window.Notification && Notification.permission === "default");
  };
  titled();

  // load asks for the page anew, and puts it in place.
  const load = async (toEnd, at = location.href) => {
    const mine = ++wanted;
    let answer, text;
    try { answer = await fetch(at, { headers: { Accept: "text/html" } }); text = await answer.text(); } catch { return; }
    if (mine !== wanted) return; // a later one is on its way
    if (answer.status === 401) { location.reload(); return; }
    const page = new DOMParser().parseFromString(text, "text/html");
    const main = document.getElementById("main");
    atEnd = toEnd || inView();
    for (const id of ["menu", "who", "main"]) {
      const next = page.getElementById(id);
      if (next) same(document.getElementById(id), next);
    }
    document.body.dataset.live = page.body.dataset.live || "";
    document.title = page.title;
    titled();
    if (atEnd && !toEnd && main.querySelector("[data-merge]")) window.scrollTo(0, document.body.scrollHeight);
  };
  addEventListener("scroll", () => {
    const older = document.getElementById("older"), newer = document.getElementById("newer");
    if (older && !older.hidden && older.getBoundingClientRect().bottom > -900) earlier(older);
    if (newer && !newer.hidden && newer.getBoundingClientRect().top < window.innerHeight + 900) later(newer);
  }, { passive: true });

  // refresh loads once, however often it is called meanwhile.
  let loads = false, again = false;
  const refresh = async () => {
    again = true;
    if (loads) return;
    loads = true;
    for (let pause = 0; again; pause = 400) {
      await new Promise((go) => { setTimeout(go, document.hidden ? 1000 : pause); });
      again = false;
      await load();
    }
    loads = false;
  };

  // live: the console tells of which kinds things have happened. It tells one tab, which tells the others:
  // a browser has no more than six connections to a place, and further pages would not load.
  const live = document.getElementById("live"), tabs = new BroadcastChannel("live");
  let source, leave;
  const tell = (state, words) => { if (live.dataset.state !== state) { live.dataset.state = state; live.textContent = words; } };
  const hear = (words) => {
    const kinds = words.split(" ");
    if (kinds.includes("ended")) { tell("lost", "the console has ended"); return; }
    if (kinds.includes("lost") && !kinds.includes("begun")) { tell("lost", "the node is gone"); return; }
    tell("on", "live");
    const wants = (document.body.dataset.live + " begun missed desk gate").split(" ");
    if (kinds.some((kind) => wants.includes(kind))) refresh();
  };
  const spread = (words) => { hear(words); tabs.postMessage(words); };
  tabs.onmessage = ({ data }) => {
    if (data !== "new") hear(data); else if (source && live.dataset.state === "on") tabs.postMessage("here");
  };
  const follow = () => {
    tabs.postMessage("new");
    if (leave) return;
    leave = () => {};
    navigator.locks.request("live", () => new Promise((over) => {
      source = new EventSource("/live");
      source.onmessage = (event) => spread(event.data);
      source.onerror = () => spread("ended");
      leave = over;
    }));
  };
  addEventListener("pagehide", () => { if (source) { source.close(); leave(); source = leave = null; } });
  addEventListener("pageshow", follow);
  follow();
  setInterval(() => { if (!document.hidden) load(); }, 60000); // how long ago things were changes by itself, and scores fade
  document.querySelector("#menu [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

  // Forms that send: the answer is said beneath the form.
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.hasAttribute("data-send")) return;
    event.preventDefault();
    const out = form.querySelector("output");
    const tellOut = (words, bad) => { if (out) { out.textContent = words; out.className = bad ? "bad" : "good"; } };
    const button = event.submitter;
    for (const id of form.querySelectorAll("[data-once]")) id.value ||= crypto.randomUUID(); // sent again, it is the same
    const body = new FormData(form, button);
    if (button) button.disabled = true;
    tellOut("…", false);
    try {
      const answer = await fetch(form.action, { method: "POST", body, headers: { "Parley-Secret": localStorage.getItem(store) || "" } });
      const is = await answer.json();
      if (answer.ok) {
        form.reset();
        for (const id of form.querySelectorAll("[data-once]")) id.value = "";
        tellOut(is.said, false);
        if (is.go) { location.assign(is.go); return; }
        await load();
        if (!form.isConnected) document.getElementById("told").textContent = is.said; // what it was about is gone
      } else tellOut(is.error + (is.hint ? ". What to try: " + is.hint : ""), true);
    } catch { tellOut("not sent: the console has ended. What to try: parley console", true); }
    if (button) button.disabled = false;
  });

  // Forms that ask while somebody types.
  let typed;
  document.addEventListener("input", (event) => {
    const form = event.target.form;
    for (const id of form?.querySelectorAll("[data-once]") || []) id.value = "";
    if (!form?.hasAttribute("data-typing")) return;
    clearTimeout(typed);
    typed = setTimeout(() => {
      const at = new URL(form.action);
      at.search = new URLSearchParams(new FormData(form));
      history.replaceState(null, "", at);
      load(false, at.href);
    }, 150);
  });

  document.addEventListener("click", async (event) => {
    if (event.target.closest("[data-notify]")) {
      await Notification.requestPermission();
      titled();
      const told = document.getElementById("told");
      try { await notice("parley tells you here when a gate waits"); } catch (e) { told.textContent = "This browser shows no notices of this page: " + e.message; }
      return;
    }
    const copy = event.target.closest("[data-copy]");
    if (copy) {
      try { await navigator.clipboard.writeText(copy.dataset.copy); copy.textContent = "copied"; } catch { copy.textContent = "not copied"; }
      setTimeout(() => { copy.textContent = "copy"; }, 1500);
      return;
    }
    const older = event.target.closest("a[data-older]"); // puts what came before above a list
    if (older) {
      event.preventDefault();
      earlier(older);
    }
  });
  // rowsOf asks for the rows before one, puts those that are not there yet into the list in slices, and
  // keeps what is read where it is.
  const rowsOf = async (link, before, put, stays) => {
    const at = new URL(link.href);
    at.searchParams.set("before", before);
    const answer = await fetch(at);
    if (!answer.ok) return null; // the console or its node is away: to be tried again
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const rows = [...page.querySelectorAll("[data-merge] > *")].filter((row) => !document.getElementById(row.id));
    while (rows.length) {
      const was = stays.getBoundingClientRect().top;
      put(rows);
      window.scrollBy(0, stays.getBoundingClientRect().top - was);
      await new Promise((go) => { setTimeout(go); });
    }
    return page;
  };
  const slice = 10;
  let turning = false; // a page is on its way
  const earlier = async (link) => {
    const list = document.querySelector("[data-merge]");
    if (turning) return;
    turning = true;
    try {
      const page = await rowsOf(link, list.firstElementChild.id, (rows) => list.prepend(...rows.splice(-slice).map((row) => document.importNode(row, true))), list.firstElementChild);
      if (page) link.hidden = page.getElementById("older")?.hidden ?? true;
      cutBelow(list);
    } finally { turning = false; }
  };
  const later = async (link) => {
    const list = document.querySelector("[data-merge]");
    if (turning || !next && (location.search || !inView())) return;
    turning = true;
    try {
      const until = next && below.pop();
      next = until;
      if (!until) { atEnd = true; await load(true); return; }
      const last = list.lastElementChild;
      await rowsOf(link, until, (rows) => list.append(...rows.splice(0, slice).map((row) => document.importNode(row, true))), last);
      const was = last.getBoundingClientRect().top;
      cutAbove(list);
      window.scrollBy(0, last.getBoundingClientRect().top - was);
    } finally { turning = false; }
  };
  const narrow = matchMedia("(max-width: 70rem)").matches;
  if (narrow) document.getElementById("channels")?.removeAttribute("open"); // talk stands below it
  const ends = document.querySelector("[data-end]"); // where a list stands below mail, that is seen first
  if (ends && !location.hash && !(narrow && document.querySelector(".mail")) && ends.getBoundingClientRect().top < window.innerHeight) window.scrollTo(0, document.body.scrollHeight);

  // Keys.
  let went = false;
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && typing?.form) { typing.form.requestSubmit(); return; }
    if (typing) { if (event.key === "Escape") typing.blur(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (went) {
      went = false;
      const to = document.querySelector('#menu a[data-key="' + CSS.escape(event.key) + '"]');
      if (to) { event.preventDefault(); to.click(); }
      return;
    }
    const rows = () => [...document.querySelectorAll("main [data-row]")].filter((row) => row.offsetParent);
    const step = (by) => {
      const all = rows();
      const next = all[Math.min(all.length - 1, Math.max(0, all.indexOf(document.activeElement.closest("[data-row]")) + by))];
      if (next) { next.tabIndex = -1; next.focus(); next.scrollIntoView({ block: "nearest" }); event.preventDefault(); }
    };
    switch (event.key) {
      case "g": went = true; setTimeout(() => { went = false; }, 1500); break;
      case "/": { const field = document.querySelector("input[type=search]"); if (field) { field.focus(); event.preventDefault(); } else location.assign("/search"); break; }
      case "?": document.getElementById("keys").showModal(); break;
      case "j": step(1); break;
      case "k": step(-1); break;
      case "Enter": if (document.activeElement.matches("[data-row]")) document.activeElement.querySelector("a")?.click(); break;
    }
  });
})();
