// Text from the network, for people and for shells. Values only.

/** What is made when it is first asked for: classes of Unicode and formats of dates take milliseconds. */
export function once(make) {
  let made;
  return () => (made ??= make());
}

// Controls, bidi marks and other invisible characters (Cc, Cf, Zl, Zp), fillers, and what no font has.
const hidden = once(() => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cn}\p{Co}\p{Cs}\u034F\u115F\u1160\u17B4\u17B5\u2800\u3164\uFFA0\uFFFC]/u);
const everyHidden = once(() => new RegExp(hidden(), "gu"));
// U+200D joins the parts of one emoji.
const joined = once(() => /(\p{Extended_Pictographic}\uFE0F?\p{Emoji_Modifier}?)\u200D(?=\p{Extended_Pictographic})/gu);
const placeholder = "\uFDD0";

// Most text is: it costs little to see that.
const ascii = /^[\x20-\x7e]*$/;

/** The text with `\u{1B}` in the place of what one cannot see. */
export function visible(text) {
  if (ascii.test(text) || !hidden().test(text)) return text;
  const kept = text.replaceAll(placeholder, "\uFFFD").replace(joined(), `$1${placeholder}`);
  return kept.replace(everyHidden(), (character) =>
    character === placeholder ? "\u200D" : `\\u{${character.codePointAt(0).toString(16).toUpperCase()}}`);
}

// Not `=` first, which zsh expands.
const plain = /^[A-Za-z0-9_@%+:,./][A-Za-z0-9_@%+=:,./-]*$/;

/** One word for bash and zsh, in printable ASCII. Null for text that no argument can have (NUL). */
export function quoted(text) {
  if (text.includes("\0")) return null;
  if (plain.test(text)) return text;
  let word = "$'";
  for (const byte of new TextEncoder().encode(text)) {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x21 && byte !== 0x27 && byte !== 0x5c;
    word += isPlain ? String.fromCharCode(byte) : "\\x" + byte.toString(16).padStart(2, "0");
  }
  return word + "'";
}

/** The value of a TXT key, as one reads it: `key=value`, `key`, or bytes in hexadecimal. */
export function txtText(key, value) {
  if (value === null) return visible(key);
  if (typeof value === "string") return `${visible(key)}=${visible(value)}`;
  const bytes = Array.from(atob(value.base64), (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0"));
  return `${visible(key)}=0x${bytes.join("")}`;
}

/** `3 services`, `1 service`. */
export const counted = (count, word, plural = word + "s") => `${count} ${count === 1 ? word : plural}`;

/** Names in the order in which people look for them. */
export const inOrder = new Intl.Collator("en", { numeric: true, sensitivity: "base" }).compare;
