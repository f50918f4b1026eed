// Elements from names, attributes and children. Children that are strings become text nodes, so that
// no name of a label and no word of a text is ever read as markup.

const svgNamespace = "http://www.w3.org/2000/svg";

/// Attributes that are null or false are left out; true is an empty one.
export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function drawing(name, attributes = {}, ...children) {
  return filled(document.createElementNS(svgNamespace, name), attributes, children);
}

export function link(href, ...children) {
  return element("a", { href }, ...children);
}

/// The children with a separator between each two.
export function joined(children, separator) {
  return children.flatMap((child, i) => (i === 0 ? [child] : [separator, child]));
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null));
  return node;
}
