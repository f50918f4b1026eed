// Numbers as people read them, with the digits that the program itself prints.

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/// A number from 0 to 1; where its digits would all be zeros, its size.
export function share(value, digits = 4) {
  if (value === 0 || value >= 0.001) return value.toFixed(digits);
  const [mantissa, exponent] = value.toExponential(1).split("e");
  return `${mantissa}×10${[...exponent].map((sign) => superscripts[sign] ?? "⁻").join("")}`;
}

export function percent(value) {
  return `${(100 * value).toFixed(1)} %`;
}

export function signed(value) {
  const digits = Math.abs(value).toFixed(2);
  if (Number(digits) === 0) return digits;
  return (value < 0 ? "−" : "+") + digits;
}

export function grouped(value) {
  return value.toLocaleString("en");
}

export function counted(value, noun) {
  return `${grouped(value)} ${noun}${value === 1 ? "" : "s"}`;
}
