"use strict";
// A phone's browser shows notices by a worker alone. This one has no other task, and keeps nothing.
addEventListener("notificationclick", (event) => {
  event.notification.close();
  const show = async () => {
    const [tab] = await clients.matchAll({ type: "window" });
    return tab ? tab.focus() : clients.openWindow("/gates");
  };
  event.waitUntil(show());
});
