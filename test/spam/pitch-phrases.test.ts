import { expect, test } from "vitest";
import { scoreSpam } from "../../src/spam/score-spam.ts";
import { findLinks } from "../../src/spam/links.ts";
import { normaliseText } from "../../src/spam/normalise-text.ts";
import { noHistory } from "../../src/spam/spam-history.ts";
import { defaultSpamSettings } from "../../src/spam/spam-settings.ts";
import { partsOf, splitOutside } from "../../src/spam/phrases/choices.ts";
import { findPhrases } from "../../src/spam/phrases/find-phrases.ts";
import { readLanguages } from "../../src/spam/phrases/languages.ts";
import type { Meaning } from "../../src/spam/phrases/meanings.ts";
import { spellingsOf } from "../../src/spam/phrases/spellings.ts";
import { postOf } from "./posts.ts";

function phrasesIn(text: string): Map<Meaning, string> {
  return findPhrases(normaliseText(text, findLinks(text)));
}

const pitches: readonly (readonly [string, readonly Meaning[]])[] = [
  ["I came across your lovely website. Reply YES for a free quote.", ["found you", "asks", "free"]],
  ["Wir bieten Ihnen mehr Kunden über Google, kostenlos und unverbindlich.", ["we offer", "growth", "free"]],
  ["Wij bieden ondernemers een gratis scan. Mag ik u een voorbeeld sturen?", ["we offer", "free", "asks"]],
  [
    "Vi hjälper företag att få fler kunder via Google, helt utan bindningstid.",
    ["we offer", "growth", "free"],
  ],
  ["Nous proposons un audit gratuit et sans engagement.", ["we offer", "free"]],
  ["Ofrecemos servicios para empresas como la suya, sin compromiso.", ["we offer", "to the owner", "free"]],
  ["Oferecemos soluções para atrair mais clientes para a loja.", ["we offer", "growth"]],
  [
    "Offriamo servizi alle aziende come la vostra, preventivo gratuito.",
    ["we offer", "to the owner", "free"],
  ],
  ["Oferim servicii de curățenie, ofertă gratuită și fără obligații.", ["we offer", "free"]],
  ["Предлагаем вам продвижение без предоплаты.", ["we offer", "free"]],
  ["Пропонуємо послуги просування, безкоштовний аудит.", ["we offer", "free"]],
  ["Oferujemy pozycjonowanie bez zobowiązań.", ["we offer", "free"]],
  ["Nabízíme vám více zákazníků, audit zdarma.", ["we offer", "growth", "free"]],
  ["Предлагаме ви безплатна консултация.", ["we offer", "free"]],
  ["Cégünk kínál önöknek több ügyfelet, kötelezettség nélkül.", ["we offer", "growth", "free"]],
  ["Tarjoamme yrityksille maksuttoman kartoituksen ja lisää asiakkaita.", ["we offer", "free", "growth"]],
  ["Προσφέρουμε υπηρεσίες χωρίς δέσμευση.", ["we offer", "free"]],
  ["Web sitenizi inceledim, ücretsiz analiz.", ["found you", "free"]],
  ["אנחנו מציעים ייעוץ חינם ללא התחייבות לעסקים כמו שלכם", ["we offer", "free", "to the owner"]],
  ["نقدم لكم استشارة مجانية بدون أي التزام، تواصل معنا عبر واتساب", ["we offer", "free", "asks", "chat"]],
  ["مشاوره رایگان و بدون پیش پرداخت، صفحه اول گوگل", ["free", "growth"]],
  ["हम वेबसाइट बनाते हैं, मुफ्त परामर्श, ज़्यादा ग्राहक", ["we offer", "free", "growth"]],
  [
    "Kami menawarkan konsultasi gratis tanpa komitmen untuk bisnis seperti milik Anda",
    ["we offer", "free", "to the owner"],
  ],
  ["Chúng tôi cung cấp dịch vụ, miễn phí tư vấn, tăng doanh thu", ["we offer", "free", "growth"]],
  ["我们提供网站优化服务，免费试用，加微信咨询。", ["we offer", "growth", "free", "chat"]],
  ["貴社のホームページを拝見しました。ご興味がございましたらご返信ください。", ["found you", "asks"]],
  ["관심 있으시면 회신 주시면 자료를 보내드리겠습니다. 무료 상담 가능.", ["asks", "free"]],
  ["เรารับทำเว็บไซต์ ปรึกษาฟรี เริ่มต้นเพียง 990 บาท", ["we offer", "free", "price"]],
];

test.each(pitches)("the phrases of %j are found", (text, meanings) => {
  expect([...phrasesIn(text).keys()].toSorted()).toEqual([...meanings].toSorted());
});

test.each([
  ["Wir bieten Ihnen mehr Kunden ueber Google, kostenlos.", "growth"],
  ["Nous proposons un systeme, resultats garantis.", "free"],
  ["Oferujemy pozycjonowanie bez zobowiazan.", "free"],
  ["Προσφερουμε υπηρεσιες", "we offer"],
  ["Ucretsiz analiz yapalim", "free"],
  ["N’attendez pas, cela vous intéresserait ? Répondez simplement OUI, sans aucun engagement", "free"],
  ["ПРЕДЛАГАЕМ ВАМ", "we offer"],
] as const)("the phrases of %j are found without accents and in capitals", (text, meaning) => {
  expect([...phrasesIn(text).keys()]).toContain(meaning);
});

/** What people write to those whose form it is; each is near a phrase of a pitch. */
test.each([
  "Hello, could you send me a quote for repairing our gate? We are free on Thursday.",
  "We visited your museum on Sunday and my son left his scarf near the stairs.",
  "Please send your best price and delivery time for four gear motors.",
  "Are you open on Whit Monday, and is there a discount for pensioners?",
  "I can offer my help at the summer fair, on Saturday from ten o'clock.",
  "Können Sie uns bitte ein Angebot für zwanzig Stühle machen? Wir holen sie gern ab.",
  "Haben Sie noch freie Plätze im Kurs am Montag? Ich möchte mich anmelden.",
  "Pouvez-vous me dire si le chauffage de la chambre marche gratuitement le soir ?",
  "Quisiera saber si ofrecen clases para niños y cuánto cuestan al mes.",
  "Gostaria de marcar uma consulta para a minha mãe na próxima semana.",
  "Vorrei sapere se è possibile visitare il giardino anche la domenica.",
  "Скажите, пожалуйста, сколько стоит доставка, и можно ли оплатить при получении?",
  "Чи можна записати дитину на безкоштовний гурток у суботу?",
  "Czy mogę odebrać zamówienie w sobotę, jeśli sklep jest otwarty?",
  "Zajímá mě, jestli máte volný pokoj na konec května.",
  "Szeretném megkérdezni, hogy ingyenes-e a belépés vasárnap.",
  "Onko teillä vielä vapaita huoneita ensi viikolla?",
  "Μπορείτε να μου πείτε αν είναι ανοιχτά την Κυριακή;",
  "Siparişim hâlâ gelmedi, ne zaman kargoya verilecek?",
  "שלום, אבדתי כובע כחול אצלכם ביום ראשון, האם מצאתם אותו?",
  "مرحبا، طلبت كرسيا الأسبوع الماضي ولم يصل بعد، متى يصل؟",
  "سلام، کفشی که خریدم اندازه نیست، می‌توانم آن را عوض کنم؟",
  "नमस्ते, क्या रविवार को पुस्तकालय खुला रहता है?",
  "Halo, apakah kamar untuk dua orang masih ada bulan depan?",
  "Cho tôi hỏi lớp học đàn ngày thứ bảy còn chỗ không ạ?",
  "你好，我上周买的杯子碎了，请问可以换一个吗？",
  "先週注文した椅子がまだ届きません。いつ発送されますか。",
  "지난주에 주문한 의자가 아직 오지 않았습니다. 언제 받을 수 있을까요?",
  "ขอสอบถามว่าวันเสาร์เปิดกี่โมงครับ",
])("%j is no pitch", (message) => {
  expect([...phrasesIn(message)]).toEqual([]);
});

test("one phrase of each meaning is found, with its words and without the marks for numbers", () => {
  const phrases = phrasesIn("Only $99, as low as $50. We offer 20% off! We offer more.");
  expect([...phrases.keys()]).toEqual(["price", "we offer"]);
  expect(phrases.get("price")).toBe("only …");
});

test("no more of a phrase is shown than 60 characters, however long the words in it are", () => {
  const told = [
    ...phrasesIn(`We offer a free${" - ".repeat(2000)}quote, reply${"!".repeat(3000)} yes.`).values(),
  ];
  expect(told.length).toBeGreaterThan(1);
  for (const words of told) expect(words.length).toBeLessThanOrEqual(60);
});

test("every phrase is found as it is written", () => {
  const missed: string[] = [];
  for (const phrases of readLanguages()) {
    for (const written of Object.values(phrases)) {
      for (const phrase of splitOutside(written.replace(/\s+/g, " "), ",")) {
        const example = exampleOf(phrase)
          .replaceAll("#", "77")
          .replaceAll("$", " €9 ")
          .replaceAll("*", "word");
        if (phrasesIn(example).size === 0) missed.push(example);
      }
    }
  }
  expect(missed).toEqual([]);
});

/** The longest choice at each place. */
function exampleOf(phrase: string): string {
  return partsOf(phrase)
    .map((part) =>
      typeof part === "string"
        ? part
        : (part.map(exampleOf).toSorted((a, b) => b.length - a.length)[0] ?? ""),
    )
    .join(" ");
}

test("a choice within a word is one of whole words", () => {
  expect(partsOf("r(ead|ide) it (now|)")).toEqual([["read", "ride"], "it", ["now", ""]]);
  expect(partsOf("(you are |)ready")).toEqual([["you are ", ""], "ready"]);
  expect(partsOf("免(费|費)试用")).toEqual(["免", ["费", "費"], "试用"]);
});

test("a word is spelled with and without its accents and its apostrophe", () => {
  expect(spellingsOf("für")).toEqual(["für", "fur", "fuer"]);
  expect(spellingsOf("d'été")).toEqual(["d'été", "d'ete", "d été", "d ete"]);
  expect(spellingsOf("ещё")).toEqual(["ещё", "еще"]);
});

test("one phrase counts only in a text that is worded like a pitch, three in any, and more count no more", () => {
  const pitchPoints = (message: string) =>
    scoreSpam(postOf({ message }), defaultSpamSettings(3), noHistory).reasons.find(
      ({ signal }) => signal === "pitch",
    )?.points;
  const pitch =
    "We sell backlinks, guest posts and cheap traffic, and rank every site that orders this month.";
  expect(pitchPoints(`${pitch} Free audit.`)).toBe(12);
  expect(pitchPoints(`I came across your website. We offer a free audit. Are you interested? ${pitch}`)).toBe(
    12,
  );
  expect(pitchPoints("Is a free consultation about the heating possible, at no cost?")).toBeUndefined();
  const two = "We offer a free quote to anybody who keeps bees in the valley and needs new hives";
  expect(pitchPoints(two)).toBeUndefined();
  expect(pitchPoints(`${two}. Are you interested?`)).toBe(12);
});
