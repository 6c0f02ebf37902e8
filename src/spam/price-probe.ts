/**
 * The words of "Hello, I wanted to know your price" in many languages, one language in each line. A robot sends only this sentence; a
 * customer also names the thing, with a word that no line has.
 */
const PROBE_WORDS = `
hi hello hey good day dear sir i we wanted want would like to know ask about learn find out your the for price prices pricing cost please me can you tell say write writing wrote is what's what pls thanks regards reseller resellers resell reselling
hallo guten tag hey ich wollte möchte will gerne ihren ihre deinen deine den preis preise wissen kennen erfahren bitte
bonjour salut bonsoir je voulais voudrais savoir connaître votre vos ton tes le les prix quel est merci
hola buenos días buenas quería quiero querría me gustaría saber conocer tu su sus el los precio precios por favor
ciao salve buongiorno volevo vorrei sapere conoscere il tuo vostro suo i prezzo prezzi tuoi
olá oi bom dia eu queria quero gostaria de saber conhecer o seu teu preço preços os
hoi hallo ik wilde wou wil zou graag uw je jouw jou de prijs prijzen weten willen ken
cześć dzień dobry witam chciałem chciałam chciałbym poznać znać wiedzieć twoją waszą państwa cenę ceny ceną
ahoj dobrý den deň chtěl chcel som jsem bych znát vedieť vědět vaši vašu tvoji cenu ceny
szia üdvözlöm helló szerettem volna tudni megtudni az a ön árát árat árait
salut bună ziua am vrut vreau aș dori să știu știe aflu prețul tău dumneavoastră vostru
здравствуйте привет добрый день я хотел хотела хочу бы узнать знать вашу твою цену цены прайс
привіт вітаю добрий день я хотів хотіла б дізнатися знати вашу твою ціну ціни
здравейте здрасти исках искам бих да знам науча вашата цена цената ви
здраво сам хтео желео да знам вашу цену
zdravo bok pozdrav hteo htio želio hteo sam da bih znam znati vašu vaša cijenu cenu
živjo pozdravljeni želel sem izvedeti vedeti vašo ceno
sveiki labas aš norėjau norėčiau sužinoti žinoti jūsų kainą
sveiki labdien es gribēju vēlējos zināt uzzināt savu jūsu cenu
tere ma tahtsin soovisin teada teie sinu hinda
hei moi terve minä halusin haluaisin tietää hintasi hintanne teidän
hej hallå jag ville vill veta få ditt er pris priser era
hei hallo jeg ville vil vite prisen din deres få
hej jeg ville gerne vil vide kende din jeres pris prisen ønskede at
hæ halló ég vildi vita fá verðið þitt ykkar
γεια χαίρετε σας σου ήθελα θα να μάθω γνωρίζω την τη τιμή τιμές
merhaba selam fiyatınızı fiyatını fiyat öğrenmek bilmek istedim istiyorum istiyordum
salam qiymətinizi qiymətini bilmək öyrənmək istədim istəyirdim
сәлем мен сіздің бағаңызды бағасын білгім келді келеді
përshëndetje hi tungjatjeta doja desha kam dashur të di çmimin tuaj
გამარჯობა მე მინდოდა ვიცოდე გამეგო თქვენი ფასი
բարև ես ուզում էի իմանալ ձեր գինը
مرحبا أهلا السلام عليكم أردت كنت أريد أود أن أعرف معرفة السعر سعرك الخاص بك سعركم
سلام من می خواستم می‌خواستم قیمت شما را بدانم قیمتتان
היי שלום רציתי לדעת את המחיר שלך שלכם
नमस्ते हाय मैं आपकी आपका कीमत मूल्य जानना चाहता चाहती था थी
হাই হ্যালো আমি আপনার দাম মূল্য জানতে চেয়েছিলাম
xin chào tôi muốn biết giá của bạn
hai halo saya ingin tahu mengetahui harga anda
hai hello saya mahu tahu harga anda
hi hello nais gusto kong ko malaman ang iyong inyong presyo
habari hujambo nilitaka ningependa kujua bei yako yenu
sawubona molo bengifuna bendifuna ukwazi intengo yakho ixabiso lakho
kaixo zure prezioa jakin nahi nuen
hola volia voldria saber conèixer el seu teu vostre preu
ola quería saber coñecer o seu teu prezo
helo shwmae roeddwn i eisiau gwybod eich pris dy bris
dia duit dhuit theastaigh uaim do phraghas bhur a fháil
salve ave hi ego volo volui scire tuum vestri vestrum pretium
aloha makemake au wau e ʻike eʻike i kāu kumukūʻai kumu kūʻai
ndewo achọrọ m ịmara ọnụahịa gị
salut bonjou mwen te vle konnen pri ou
moien ech wollt äre präis wëssen
hallo haai ek wou wil jou u prys ken weet
`;

/** The beginnings of the words for "price" in these languages; a probe contains one of them. */
const PRICE_STEMS = withoutAccents(
  `pric cost preis prix prec prezz preç preco prijs cen ár prețu цен прайс цін kain hind hint pris verð τιμ fiyat qiym баға бағас
  çmim фас ფას գին سعر السعر قیمت המחיר कीमत मूल्य দাম giá harga presyo bei inteng ixabis prezio preu prezo pris bris phragh preti
  kumuk ọnụahịa pri präis prys`,
).split(/\s+/);

const LANGUAGES: readonly ReadonlySet<string>[] = PROBE_WORDS.trim()
  .split("\n")
  .map((line) => new Set(withoutAccents(line.trim()).split(" ")));

const MIN_WORDS = 3;
const MAX_WORDS = 12;
const MAX_LENGTH = 120;

/** The whole message in languages without spaces, without its punctuation; a greeting is optional. */
const UNSPACED =
  /^(?:你好|您好)?(?:我)?想(?:知道|了解)(?:一下)?(?:你的|您的|你们的|贵公司的)?(?:价格|報價|报价|價格)$|^(?:こんにちは|はじめまして)?(?:あなたの)?(?:ご)?価格を(?:知りたい|知りたかった)(?:の)?(?:です|ですが)?$|^(?:안녕하세요)?(?:당신의)?가격을알고싶(?:었어요|어요|습니다|었습니다)$|^สวัสดี(?:ครับ|ค่ะ)?(?:ฉัน|ผม)?(?:อยาก|ต้องการ)(?:ทราบ|รู้)ราคา(?:ของคุณ)?$/u;

/** Whether a message asks for a price and nothing else. Robots send such messages to find forms that somebody answers. */
export function isPriceProbe(text: string): boolean {
  if (text.length > MAX_LENGTH) return false;
  const written = text.normalize("NFC").toLowerCase();
  if (UNSPACED.test(wordsOf(written).join(""))) return true;
  const words = wordsOf(withoutAccents(written));
  if (words.length < MIN_WORDS || words.length > MAX_WORDS) return false;
  if (!words.some((word) => PRICE_STEMS.some((stem) => word.startsWith(stem)))) return false;
  return LANGUAGES.some((language) => words.every((word) => language.has(word)));
}

function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{M}'’ʻ‌]+/gu) ?? [];
}

/** Removes accents, because many people leave them out: "queria saber". */
function withoutAccents(text: string): string {
  return text.normalize("NFD").replace(/[\u0300-\u036f]/g, "");
}
