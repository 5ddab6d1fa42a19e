// Modal questions, and messages at the edge of the page. Both are announced by screen readers.

import { byId, fill, h, newId } from "./dom.js";
import { prose } from "./text.js";

/** Returns the token that the user enters. */
export function askForToken(isWrong) {
  const input = h("input", { type: "password", name: "token", autocomplete: "off", required: true, autofocus: true });
  const text = isWrong ? "The token was refused. Enter the token of --control-token." : "This listener needs the token of --control-token.";
  return new Promise((resolve) => {
    const dialog = opened("Token", [h("p", {}, text), h("label", {}, "Token", input)], [h("button", { class: "primary" }, "Continue")]);
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.addEventListener("close", () => resolve(input.value));
  });
}

/** Returns whether the user confirms an action. */
export function confirmed(title, text, action) {
  return new Promise((resolve) => {
    const cancel = h("button", { value: "", formnovalidate: true }, "Cancel");
    const dialog = opened(title, [h("p", {}, text)], [cancel, h("button", { class: "danger", value: "yes", autofocus: true }, action)]);
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"));
  });
}

function opened(title, content, buttons) {
  const id = newId("dialog");
  const form = h("form", { method: "dialog" }, h("h2", { id }, title), content, h("div", { class: "buttons" }, buttons));
  const dialog = h("dialog", { "aria-labelledby": id }, form);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

const SHOWN_MS = 6000;

/** Shows a message for some seconds. An error stays until it is closed. */
export function notify(text, isError = false) {
  const area = byId(isError ? "errors" : "messages");
  const close = h("button", { class: "plain", type: "button", "aria-label": "Close the message", onclick: () => message.remove() }, "\u00d7");
  const message = h("div", { class: isError ? "message error" : "message" }, h("span", {}, prose(text)), close);
  if (area.children.length > 3) area.firstElementChild?.remove();
  area.append(message);
  if (!isError) setTimeout(() => message.remove(), SHOWN_MS);
}

/** Returns a button that carries out an action, is disabled meanwhile, and reports an error. */
export function actionButton(label, act, properties = {}) {
  const button = h("button", { type: "button", ...properties }, label);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await act();
    } catch (error) {
      notify(error.message, true);
    } finally {
      button.disabled = false;
      if (document.activeElement === document.body && button.isConnected) button.focus();
    }
  });
  return button;
}

/** Shows an error in a form beside its fields, or removes it. */
export function showError(place, error) {
  fill(place, error && h("p", { class: "error-text" }, prose(error.message)));
}
