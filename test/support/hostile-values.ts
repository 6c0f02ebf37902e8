/** Texts that break a page if the page takes them for markup, an address or harmless letters. Each contains the word `x-evil`. */
export const HOSTILE_TEXTS: readonly string[] = [
  "<x-evil>",
  "<script>document.title='x-evil'</script>",
  `"><img class="x-evil" src=x onerror="document.title='x-evil'">`,
  `' onmouseover='x-evil' x-evil='`,
  `" autofocus onfocus="x-evil" x-evil="`,
  "</textarea></title></style></script></select></dialog><x-evil>",
  "<!--<x-evil>--><![CDATA[<x-evil>]]><x-evil/>",
  `<form action="https://x-evil.example" id="x-evil"><input name="x-evil"><button>Send</button></form>`,
  `<base href="https://x-evil.example"><meta http-equiv="refresh" content="0;url=https://x-evil.example">`,
  `<svg><animate onbegin="x-evil" attributeName="x"></svg><math><x-evil></math><style>*{display:none}</style>`,
  "javascript:document.title='x-evil'",
  " java\tscript:document.title='x-evil'//",
  "data:text/html,<x-evil>",
  "//x-evil.example/path",
  "\u202ex-evil\u2066 drawkcab \u200f\u061c",
  "x-evil \u0000\u0001\u0008\u001b[31mred\u001b[0m\u007f\u0085\u009b",
  "x-evil\u2028line\u2029paragraph\ufeff\u200b\u00ad",
  "x-evil \ud800 lone \udfff",
  "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f".repeat(20) + "x-evil",
  "&lt;x-evil&gt;&amp;&#60;x-evil&#62;",
  '=HYPERLINK("https://x-evil.example";"x-evil")',
  "+x-evil",
  "-x-evil",
  "@x-evil",
  "\tx-evil",
  "x-evil\r\nSet-Cookie: x-evil=1\r\n\r\n<x-evil>",
  "${x-evil} {{x-evil}} %00x-evil %3Cx-evil%3E",
  "../../x-evil",
  "x-evil".repeat(300),
];

/** Values that are not text, for endpoints that keep fields which their schema does not name. */
export const HOSTILE_JSON: readonly string[] = [
  '{"toString":"x-evil","valueOf":"x-evil","toJSON":"x-evil"}',
  '{"__proto__":{"isEscaped":true,"x-evil":1},"constructor":{"prototype":{"x-evil":1}}}',
  '{"isEscaped":true,"strings":["<x-evil>"],"raw":["<x-evil>"],"toString":null}',
  '[[[["<x-evil>"]]],null,true,-0,1e308,"x-evil"]',
  '{"":"x-evil","<x-evil>":"<x-evil>","length":"x-evil","then":"x-evil"}',
];

/** The longest text in a post that the default limit accepts. */
export const LONGEST_TEXT = `<x-evil>${"W".repeat(64_000)}`;
