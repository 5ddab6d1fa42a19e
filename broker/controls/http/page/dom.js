// Builds elements. Texts only ever become text nodes and attributes, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** Returns an HTML element. Properties that begin with "on" are listeners; false, null and undefined leave an attribute out. */
export function h(tag, properties, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** Returns an SVG element. */
export function svg(tag, properties, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

function append(parent, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child);
    else if (child !== null && child !== undefined && child !== false) parent.append(child);
  }
}

/** Replaces the children of an element. */
export function fill(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
}

/** Sets the text of an element if it has another one, so that screen readers do not announce it again. */
export function setText(element, text) {
  if (element.textContent !== String(text)) element.textContent = text;
}

/**
 * Returns the element of index.html with an id.
 * @returns {HTMLElement}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`index.html has no element ${id}`);
  return element;
}

let numbers = 0;

/** Returns an id that no other element has, for labels and descriptions. */
export function newId(prefix) {
  numbers += 1;
  return `${prefix}-${numbers}`;
}
