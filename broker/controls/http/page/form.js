// Forms for controls. Their fields follow from the OpenAPI document, so that a new parameter of a control appears without a line here.

import { change, read } from "./api.js";
import { notify, showError } from "./dialogs.js";
import { h, newId } from "./dom.js";
import { prose } from "./text.js";

/** @type {Promise<any> | null} */
let loading = null;

/** Returns the OpenAPI document of the listener. */
export function openapi() {
  loading ??= read("/openapi.json").catch((error) => {
    loading = null;
    throw error;
  });
  return loading;
}

/** Returns the parameters of a control: their names, help texts, schemas and whether they are required. */
export async function parametersOf(path) {
  const { paths, components } = await openapi();
  const schema = paths[path].post.requestBody?.content["application/json"].schema ?? { properties: {} };
  return Object.entries(schema.properties).map(([name, property]) => {
    const types = (property.anyOf ?? [property]).map((each) => (each.$ref ? components.schemas[each.$ref.split("/").pop()] : each));
    return { name, help: property.description, types: types.flatMap((each) => each.anyOf ?? [each]), required: (schema.required ?? []).includes(name) };
  });
}

/** Returns an input for a parameter, with its label and help: `{element, value()}`. The value of an empty input is undefined. */
export function fieldOf(parameter, options = {}) {
  const id = newId("field");
  const choices = parameter.types.flatMap((each) => each.enum ?? []);
  const kinds = parameter.types.map((each) => each.type);
  const properties = { id, name: parameter.name, "aria-describedby": `${id}-help`, required: parameter.required };
  let input;
  let value;
  if (choices.length || kinds.includes("boolean")) {
    const all = [...(kinds.includes("boolean") ? ["true"] : []), ...choices];
    input = h("select", properties, h("option", { value: "" }, ""), all.map((each) => h("option", {}, each)));
    value = () => (input.value === "true" && kinds.includes("boolean") ? true : input.value || undefined);
  } else if (kinds.includes("object")) {
    input = h("textarea", { ...properties, rows: 2, placeholder: "{ }", spellcheck: "false" });
    value = () => (input.value.trim() ? parsed(parameter.name, input.value) : undefined);
  } else {
    const numeric = kinds.includes("integer") || kinds.includes("number");
    const list = options.suggestions?.[parameter.name];
    input = h("input", { ...properties, list, autocomplete: "off", spellcheck: "false", inputmode: numeric && !kinds.includes("string") && "decimal" });
    value = () => valueOf(input.value.trim(), kinds, numeric);
  }
  const label = h("label", { for: id }, parameter.name.replaceAll("_", " "), parameter.required && h("span", { class: "faint" }, " (required)"));
  return { name: parameter.name, element: h("div", { class: "field" }, label, input, h("small", { id: `${id}-help` }, prose(parameter.help))), input, value };
}

function valueOf(text, kinds, numeric) {
  if (!text) return undefined;
  const isList = kinds.includes("array") && text.includes(",");
  if (isList) return text.split(",").map((each) => valueOf(each.trim(), kinds.filter((kind) => kind !== "array"), numeric));
  return numeric && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function parsed(name, text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${name}: invalid JSON: ${error.message}`, { cause: error });
  }
}

/**
 * Returns a form that carries out a control. `fields` have the interface of `fieldOf`, `done(result)` returns the message to show, and
 * `extra` are elements between fields and button.
 */
export function controlForm(path, fields, label, done, ...extra) {
  const error = h("div", { role: "alert" });
  const button = h("button", { class: "primary" }, label);
  const form = h("form", { class: "control", novalidate: true }, extra, fields.map((field) => field.element), error, h("div", { class: "buttons" }, button));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    showError(error, null);
    for (const field of fields) field.input?.removeAttribute("aria-invalid");
    try {
      const values = Object.fromEntries(fields.map((field) => [field.name, field.value()]));
      notify(await done(await change(path, values)));
    } catch (problem) {
      showError(error, problem);
      const wrong = fields.find((field) => field.name === problem.parameter)?.input;
      wrong?.setAttribute("aria-invalid", "true");
      wrong?.focus();
    } finally {
      button.disabled = false;
    }
  });
  return form;
}
