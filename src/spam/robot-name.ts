/**
 * Given names to which robots append random letters. All have at least four letters, because shorter ones are the beginning of too many
 * other names.
 */
const GIVEN_NAMES = new Set(
  `adam alan albert alex alfred alice allen amanda amelia andrew angela anna annie anthony arthur barbara benjamin bernard
  betty beverly billy bobby brandon brenda brian bruce bryan carl carol caroline catherine charles charlie christian
  christina clara claude clifford craig curtis daniel danny darrell david deborah dennis diana donald donna dorothy douglas
  edward edwin elizabeth ella emily emma eric ernest eugene evelyn florence frank franklin frederick gary george gerald
  gilbert glenn gloria gordon grace gregory harold harry harvey heather helen henry herbert herman howard irene isabella
  jack jacob james janet jason jeffrey jennifer jeremy jerome jerry jesse jessica jimmy joan johnny john jonathan jordan
  joseph joshua joyce juan judith julia julie justin karen katherine kathleen keith kelly kenneth kevin kimberly kyle larry
  laura lawrence leonard leroy leslie lewis linda lisa lloyd louis lucas lucy margaret maria marie mark martha martin marvin
  mary mason matthew maurice melissa melvin michael michelle miguel mike mildred miles mitchell morris nancy natalie nathan
  nicholas nicole norman oliver olivia oscar pamela patricia patrick paul peter philip phillip rachel ralph randall randy
  raymond rebecca richard robert robin rodney roger roland ronald rose roy russell samantha samuel sandra sarah scott sean
  sharon shirley sophia stanley stella stephen steven susan terry theodore theresa thomas timothy tony travis tyler vernon
  victor victoria vincent virginia walter warren wayne wesley william willie xavier zachary`
    .trim()
    .split(/\s+/),
);
const MIN_GIVEN = 4;
const MIN_TAIL = 3;
const MAX_TAIL = 6;
const LATIN_WORD = /^[a-z]{7,18}$/;
/**
 * The endings of surnames, double names and pet names that begin with a given name. With them, only four of 29,000 given names and surnames
 * from seventy countries are taken for a robot's.
 */
const SURNAME_TAIL =
  /(?:[aeiouy]|s|z|n|[aeiouy]l|[aeiou]r|ts?|tt|ck|d|k|ov|ev|ew|ich|ch|ic|off|ss|sh|th|h|m)$/;

/** Whether a name is one word of a given name and letters that end no surname, such as "davidfug", in any case. */
export function isRobotName(name: string): boolean {
  const word = name.toLowerCase();
  if (!LATIN_WORD.test(word)) return false;
  for (let at = MIN_GIVEN; at <= word.length - MIN_TAIL; at += 1) {
    const tail = word.slice(at);
    if (tail.length > MAX_TAIL || !GIVEN_NAMES.has(word.slice(0, at)) || GIVEN_NAMES.has(tail)) continue;
    return !SURNAME_TAIL.test(tail);
  }
  return false;
}
