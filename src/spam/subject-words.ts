/**
 * Words of one meaning in several languages, by what a text mentions with them: what is learned about a subject in one
 * language holds in the others. A word stands under one subject only. Scripts without spaces are searched for these anywhere.
 */
export const SUBJECT_WORDS: Readonly<Record<string, string>> = {
  we: `we our us ours wir unser unsere unserer unseren unserem uns nous notre nos nosotros nuestro nuestra nuestros nuestras
    noi nostro nostra nostri nostre nós nosso nossa nossos nossas wij ons onze my nasz nasza nasze naszych nam nas vi vår
    vårt våra vores мы наш наша наше наши нас нам наших ми biz bizim bize bizi 我们 我們 弊社 当社 मैं हम kami kita chúng nosaltres
    naš naše náš naši mi nasi naszej naszą naszego naszym naszemu prowadzimy našeho našem nabízíme oferujemy posiadamy
    specjalizujemy zajmujemy nașă noastre noastră nostru noștri suntem cégünk vagyunk miénk csapatunk η μας εμείς είμαστε
    нашей нашего нашим нашему нашими нашу нашої нашому нашою bizimle firmamız şirketimiz ekibimizle olarak 저희 우리 우리는 저희는 نحن
    لدينا شركتنا خدماتنا فريقنا אנחנו שלנו ما हमारी हमारे हमारा bên công เรา ของเรา vårat våre olemme meidän`,
  i: `i me mine i'm i've i'd i'll ich mein meine meiner meinen meinem mir mich je mon mes j'ai moi mis yo io mio mia miei mie
    eu meu minha meus minhas ik mijn mij ja mój moja moje mnie jag min mitt mina jeg mit я мой моя моё мои мне меня моей
    мого ben benim bana beni 我 私 saya aku tôi moją mojego mojej moim moich jestem mám můj mě jsem mea mele sunt én vagyok
    nekem εγώ μου είμαι έχω моею моим моих моему моего у мене моєї benimle 저는 제가 제 나는 أنا عندي لدي אני שלי من मैंने मुझे
    मेरा मेरी मेरे mình ฉัน ผม minä minun olen`,
  you: `you your yours you're sie ihr ihre ihrer ihren ihrem ihnen vous votre vos usted ustedes su sus tu tus te voi vostro
    vostra suo sua você vocês seu seus suas u uw jullie państwo państwa wasz wasze pani dere вы ваш ваша ваше ваши вам вас
    вашего вашей siz sizin size sizi 您 贵 貴社 御社 您好 anda bạn váš vaše vás vám państwu waszej waszego twoja twojej twoje twój
    ciebie tobie wam vašich vaši vaší dvs dumneavoastră tău tale vă önnek ön önök σας εσάς εσείς σου вашої вашого вашим
    вашими вашу sizlere sizden sizinle işletmenizin 귀사 귀하 고객님 대표님 사장님 لك لكم موقعكم شركتكم نشاطك شما आप आपका आपकी आपके आपको
    anh chị quý kamu คุณ ert teidän sinun`,
  business: `business company companies firm brand store shop startup enterprise organisation organization businesses brands
    unternehmen firma betrieb geschäft marke entreprise société boutique empresa negocio marca tienda empresas negocios
    azienda impresa attività negozio loja negócio bedrijf onderneming firmę firmy företag virksomhed компания компании
    бизнес бизнеса компанию фирма магазин şirket işletme şirketiniz 公司 企业 会社 perusahaan bisnis firmie biznesu biznes
    przedsiębiorców przedsiębiorstwa sklep sklepu podnikání podnikatele podnikatelů společnost eshop afacere afacerea
    afaceri companie companii firmei vállalkozás cég cége üzlet επιχείρηση επιχείρησή εταιρεία κατάστημα бизнесу
    предпринимателей предприятий организаций бізнес бізнесу підприємців işletmeler işletmeniz esnaf firmalar 기업 사업자 매장 가게
    شركة شركات الشركات متجر אעסק עסק עסקים حسب کسب व्यापार बिज़नेस कंपनी doanh nghiệp usaha toko ธุรกิจ ร้าน yritys
    yrityksen bolag företaget foretak mkb pme pmi pyme pymes ondernemers zzp kmu mittelstand`,
  website: `website site websites webpage page homepage blog domain webseite webseiten internetseite seite sitio página pagina sito
    strona stronę strony internetową webbplats hjemmeside сайт сайта сайте сайту сайтов siteniz sitenizi 网站 网页 ホームページ サイト
    situs witryna witryny witrynę internetowe internetowych webu webové webových stránky stránek weboldal weboldala
    weboldalak honlap ιστοσελίδα ιστοσελίδας ιστότοπος сайтам сайтів сайти сторінка страницу лендинг websiteniz sitenize
    sayfanız sayfanızı 홈페이지 웹사이트 사이트 موقع موقعك المواقع אתר האתר سایت वेबसाइट trang situsnya เว็บไซต์ เว็บ hemsida
    webbplatsen hjemmesiden nettside kotisivut webshop onlineshop`,
  ranking: `seo google ranking rankings rank ranks backlinks backlink serp keywords traffic visitors searches indexing authority
    suchmaschinen sichtbarkeit référencement visibilité posicionamiento tráfico visitas posizionamento traffico visibilità
    tráfego vindbaarheid pozycjonowanie ruch synlighet продвижение трафик трафика раскрутка посетителей топ ссылок аудит
    sıralama trafik 优化 排名 流量 集客 検索 pozycjonowania wyszukiwarce wyników widoczność optymalizacja optimalizace vyhledávání
    vyhledávačích pozice návštěvnost optimizare optimizat căutare trafic vizitatori keresőoptimalizálás kereső találati
    látogatók βελτιστοποίηση αναζήτηση επισκέπτες яндекса яндекс поисковике выдаче позиции просування відвідувачів пошуку
    sıralarda üst arama ziyaretçi 상위 노출 네이버 검색 방문자 السيو البحث زيارات الزوار גוגל קידום गूगल रैंकिंग tìm kiếm peringkat
    pencarian อันดับ hakukone sökmotor søgemaskine vindbaar zoekmachine buscadores posiciones indicizzazione motori moteurs
    suchmaschine auffindbar backlinki linki linków ссылки ссылку enlace enlaces dofollow`,
  offer: `offer offers offering provide provides providing supply service services solution solutions package packages deal deals
    bieten angebot angebote dienstleistungen leistungen lösung lösungen anbieten offrons proposons offre offres prestations
    ofrecemos ofrezco servicios oferta ofertas solución soluciones offriamo proponiamo servizi offerta soluzioni oferecemos
    serviços soluções bieden aanbod diensten usługi erbjuder tjänster erbjudande tilbyder tilbud предлагаем предложение
    услуги предлагаю услуг поставляем sunuyoruz hizmet hizmetleri teklif teklifi 提供 服务 ご提案 サービス menawarkan layanan
    propozycję propozycja ofertę ofercie usług usługa proponujemy świadczymy wykonujemy nabídka nabídku nabízím služby
    služeb zaměřujeme poskytujeme ofertei oferim servicii serviciile pachet ajánlat ajánlatot szolgáltatás szolgáltatások
    kínálunk προσφέρουμε προσφορά υπηρεσίες πακέτα πακέτο предложения предложить оказываем выполним услуга услугу пропонуємо
    послуги пропозиція пропозицію hizmetlerimiz hizmetini teklifimiz paket paketler sağlıyoruz yapıyoruz 서비스 제공 제안 안내드립니다
    نقدم خدمة خدمات عرض عروض الخدمات מציעים שירות שירותי सेवा सेवाएँ ऑफर dịch vụ cung cấp ưu đãi jasa บริการ แพ็กเกจ
    tarjoamme palvelu tjänst erbjudanden tilbyr tjenester aanbieding proposition prestation propuesta proposta`,
  free: `free gratis gratuit gratuite gratuitement kostenlos kostenlose kostenlosen kostenfrei kostenfreie unverbindlich gratuita
    gratuito gratuitamente darmowy darmowe bezpłatny bezpłatną bezpłatnie zdarma besplatno бесплатно бесплатный бесплатная
    бесплатную безкоштовно ücretsiz bedava 免费 無料 無料で miễn phí percuma δωρεάν ingyenes fri tasuta nemokamai darmowa darmową
    darmowego bezpłatna bezpłatnego gratisowy prezencie bezplatný bezplatné bezplatně ingyen ingyenesen бесплатного
    бесплатные безкоштовний безкоштовна подарок подарунок ücretsizdir hediye 무료로 공짜 مجانا مجاني مجانية المجاني חינם رایگان
    मुफ़्त मुफ्त फ्री tặng gratisnya ฟรี ilmainen ilmaiseksi offert offerte regalo omaggio grátis brinde cadeau зеро`,
  price: `price prices pricing cost costs cheap affordable discount discounts off sale rate rates quote preis preise günstig
    rabatt prozent prix tarif tarifs remise promo precio precios descuento barato tarifa tarifas prezzo prezzi sconto preço
    preços desconto prijs prijzen korting cena ceny rabat cenę pris priser цена цены ценам скидка скидки дешево дешевле
    прайс fiyat fiyatlar indirim fiyatı 价格 优惠 报价 価格 料金 harga diskon giá ceną cenie cennik kosztuje taniej tanio promocja
    zniżka zł slevu sleva korun kč levně preț prețuri ieftin reducere ár árak kedvezmény forint ευρώ τιμή τιμές έκπτωση цену
    недорого выгодно выгодные акция распродажа рублей руб ціна ціни знижка грн ücreti kampanya uygun ucuz 가격 할인 비용 최저가 특가 원
    سعر أسعار خصم رخيص بأسعار מחיר מבצע قیمت تخفیف कीमत छूट सस्ता रुपये rẻ giảm triệu nghìn murah ribu ราคา ลด ส่วนลด hinta
    alennus tarjous halv tilbudspris rebaja preventivo sconti promoción promotion soldes angebotspreis festpreis`,
  earning: `money income earn earnings earning profit profits cash payout salary dollars usd euro eur invest investment investors
    investor investing returns fund funds funding capital geld verdienen einkommen gewinn rendite investieren kapital argent
    gagner revenus revenu bénéfices investissement investir dinero ganar ganancias ingresos invertir inversión soldi
    guadagnare guadagno guadagni investire investimento dinheiro ganhar renda lucro inkomen pieniądze zarabiaj zarobić
    zarobki zysk inwestycja pengar tjäna penge tjen деньги заработок заработка доход дохода прибыль инвестиции зарабатывать
    выплата выплаты para kazanç kazan kazanın gelir yatırım 赚钱 收益 投资 稼ぐ 収入 uang zarabiam zarobek zarabiać dochód dochody
    zyski zysku inwestuj inwestować inwestycje pieniędzy peníze vydělávat vydělejte výdělek příjem investice zisk bani
    câștiga câștigă venit venituri investește investiție profituri randament pénz keress kereset jövedelem befektetés
    bevétel χρήματα κέρδος εισόδημα επένδυση заработать зарабатываю доходом доходы прибыли вложений вложения инвестор
    миллион вывод дохід заробіток прибуток гроші виплати kazanmak kazanıyor kazanıyorum gelirler yatırımı paranız getiri kâr
    수익 투자 수익률 부업 돈 벌기 أرباح ربح دخل المال استثمار استثمر רווח הכנסה כסף השקעה درآمد سود سرمایه पैसा पैसे कमाएँ कमाई कमाएं
    निवेश đầu tư lợi nhuận nhập tiền lãi penghasilan keuntungan investasi cuan untung กําไร รายได้ ลงทุน เงิน tienaa ansaitse
    tulot sijoitus avkastning inntekt tjene indtægt rendimiento retiros rendita rende`,
  loan: `loan loans lender lenders lending credit mortgage debt debts collateral kredit kredite darlehen schulden prêt prêts
    crédit crédits dettes préstamo préstamos crédito deuda deudas prestito prestiti finanziamento empréstimo empréstimos
    dívida lening krediet pożyczka pożyczki kredyt lån gæld кредит кредиты займ займы долг kredi borç 贷款 借款 pinjaman
    pożyczek pożyczkę kredytu kredytów gotówka gotówkę chwilówka zadłużenia długi półjčka půjčky půjčka úvěr oddlužení
    exekuce împrumut împrumuturi credite datorii kölcsön hitel tartozás δάνειο δάνεια χρέη кредита кредитов займа займов
    долги долгов рассрочка рассрочку списание кредити позика позики kredisi kredileri borçlarınız finansman 대출 금리 신용 قرض
    قروض تمويل הלוואה הלוואות وام कर्ज़ लोन ऋण vay nợ tín dụng dana utang สินเชื่อ เงินกู้ laina lainat lånet`,
  coins: `crypto bitcoin btc usdt ethereum wallet token airdrop forex trading trader trade broker coins kryptowährung krypto
    criptomonedas cripto criptovalute criptomoedas kryptowaluty крипто криптовалюта криптовалюты биткоин трейдинг форекс
    кошелёк кошелек кошелька kripto 比特币 加密 仮想通貨 fx kryptowalut bitcoina giełda kryptoměny kryptoměn criptomonede
    kriptovaluta κρυπτονομίσματα крипту крипты монет монеты брокер брокера трейдера сигналы криптовалют криптобіржа
    kriptopara borsa altın hisse 코인 비트코인 주식 리딩방 급등주 العملات المشفرة بيتكوين تداول الفوركس ביטקוין קריפטו ارز دیجیتال
    क्रिप्टो शेयर ट्रेडिंग coin sàn saham เทรด ทองคํา หุ้น`,
  winning: `win won winner prize jackpot casino casinos bet betting bonus spins slots lottery gift reward voucher congratulations
    selected gewinnen gewonnen preisgeld freispiele gutschein glückwunsch gagné félicitations ganado premio bono felicidades
    vinto complimenti ganhou prêmio bônus parabéns wygrałeś nagroda kasyno vunnit казино бонус бонусы выигрыш приз выиграли
    ставки фриспины bonusu kazandınız ödül bahis 奖 奖金 娱乐城 スロット 当選 slot nagrody wygraj wygrana kasyna bukmacher zakłady
    spinów spiny výhra vyhráli soutěž kasino sázky bonusy câștigat premiu cazino pariuri nyeremény nyert kaszinó fogadás
    κέρδισες δώρο καζίνο στοίχημα выиграл выиграй выигрыша слоты слотов вулкан ставок промокод розыгрыш фриспинов виграли
    bahisi kumar şans hediyesi deneme freebet 카지노 토토 바카라 당첨 이벤트 كازينو جائزة ربحت رهان קזינו פרס זכית جایزه کازینو कैसीनो
    इनाम लॉटरी trúng thưởng cá cược nhà cái hadiah menang judi gacor maxwin togel สล็อต คาสิโน พนัน แจก โบนัส voitit
    palkinto vedonlyönti vinst kasinot gevinst apuestas tragaperras scommesse apostas cassino tigrinho rodadas`,
  adult: `sex sexy dating singles girls hot nude porn escort escorts webcam lonely meet flirt erotik frauen kontakte rencontre
    rencontres coquine femmes chicas citas mujeres sexo incontri donne sesso encontros mulheres randki dziewczyny секс
    девушки знакомства интим анкеты kızlar arkadaşlık 美女 约会 出会い seks kobiety pań samotna samotne zdjęcia seznamka ženy dívky
    erotika femei fete matrimoniale nők lányok szex ismerkedés γυναίκες γνωριμίες σεξ девочки девушек шлюхи эскорт массаж
    интимные встречи знакомиться дівчата bayan bayanlar escortlar sohbet kadınlar görüntülü 여자 만남 채팅 성인 조건 نساء تعارف بنات
    جنس סקס בנות लड़कियां डेटिंग gái xinh tình hẹn hò wanita cewek janda สาว สาวๆ หาคู่ naiset seksi seuraa tjejer kvinnor
    maduras mulatas ragazze maggiorenni coquines`,
  pills: `pills viagra cialis pharmacy prescription weight slim diet cbd supplement potency pillen potenz abnehmen rezeptfrei
    pilules maigrir pastillas adelgazar pillole dimagrire emagrecer tabletki schudnąć таблетки похудеть похудения препарат
    zayıfla hap 减肥 药 ダイエット tabletek kapsułki odchudzanie potencję leki recepty hubnutí zhubněte tablety kapsle recept slăbit
    pastile tablete slăbire fogyás tabletta kapszula χάπια αδυνάτισμα капсулы средство лекарства похудел потенции суставы
    варикоз диабет простатит схуднути таблеток zayıflama hapı ilaç kapsül cinsel 다이어트 약 비아그라 정품 حبوب تخسيس علاج دواء כדורים
    הרזיה قرص لاغری दवा वज़न thuốc viên obat kapsul pelangsing ยา laihdutus pillerit piller slankekur capsule
    dolore quema grasa`,
  visiting: `click visit url tap check download join sign register subscribe watch klicken klick besuchen anmelden registrieren
    ansehen cliquez visitez inscrivez télécharger rejoignez haga clic visita visite regístrate únete clicca iscriviti clique
    acesse cadastre klik bezoek kliknij odwiedź zarejestruj sprawdź klicka besök besøg нажмите перейдите переходите жмите
    ссылка ссылке регистрация tıkla tıklayın ziyaret kayıt 点击 链接 クリック こちら daftar kliknąć wejdź dołącz pobierz zobacz
    klikněte navštivte registrujte přihlaste stáhněte accesați înregistrează descarcă kattintson kattints látogasson
    regisztráljon nézze πατήστε κάντε κλικ δείτε εγγραφείτε жми переходи смотри смотрите скачать скачай регистрируйся
    подпишись присоединяйся натисніть переходьте реєструйтесь tıklayınız girin indirin katılın inceleyin kaydolun 클릭 가입 접속
    입장 다운로드 바로가기 اضغط انقر سجل زوروا حمل الرابط לחצו הצטרפו הירשמו کلیک क्लिक जुड़ें डाउनलोड रजिस्टर nhấn truy cập đăng ký
    bấm tham gia kunjungi gabung คลิก สมัคร แอด เข้าร่วม klikkaa rekisteröidy tilaa registrera trykk meld vergleichen
    sichern accede entra accedi registrati`,
  answering: `reply respond answer interested interest contact call write email message discuss schedule book meeting demo chat
    antworten antworte interesse interessiert melden kontaktieren anrufen termin gespräch répondez intéressé contactez
    appelez échange rendez rappeler responda responde interesa interesado interesados contacte escríbanos llámanos reunión
    rispondi interessato contattaci chiama risponda interessado contato chame reageer odpisz zainteresowany kontakt zadzwoń
    svara intresserad ответьте интересно интересует пишите напишите звоните свяжитесь yanıtlayın cevap ilginizi arayın
    iletişim yazın 联系 回复 咨询 ご連絡 ご返信 お問い合わせ hubungi odpowiedź odpisać zadzwonić kontaktować rozmowy spotkanie zainteresowani
    zainteresowania odpovězte ozvěte zavolejte kontaktujte schůzku hovor zájem răspundeți contactați sunați interesat
    discuție întâlnire válaszoljon hívjon érdekli keressen kérjen időpont απαντήστε επικοινωνήστε ενδιαφέρεστε καλέστε
    звонок напиши обсудить созвониться презентацию відповідайте зателефонуйте зв'яжіться yazınız arayabilir görüşme yanıt
    dönüş toplantı 회신 문의 상담 연락 전화 미팅 تواصل راسلنا اتصل راسلونا للتواصل צרו קשר התקשרו تماس پیام संपर्क कॉल करें liên hệ gọi
    vấn balas konsultasi ติดต่อ ทัก โทร ota yhteyttä soita vastaa hör återkom samtal møde möte llamada parlarne telefonata`,
  messenger: `whatsapp telegram skype wechat viber signal tg whats телеграм телеграмм ватсап вотсап вайбер тг telegramda 微信 line
    discord icq telegramie telegramu whatsappie whatsappu messenger whatsappem телеграме телеграма вацап whatsapp'tan
    telegram'dan 카톡 카카오톡 텔레그램 텔레 واتساب واتس تلغرام תלגרם ווטסאפ تلگرام واتساپ व्हाट्सएप टेलीग्राम zalo ไลน์ zaloo 加微信 微信号
    signalgrupp wsp`,
  growth: `grow growth boost increase double triple scale skyrocket improve maximize generate steigern wachsen mehr wachstum
    erhöhen optimieren augmenter augmentez doubler croissance développer aumentar aumente crecer impulsar crecimiento
    multiplicar aumentare crescere crescita crescer verhogen groeien zwiększ zwiększamy wzrost öka увеличить увеличьте рост
    увеличим повысить привлечь artırın artır büyütün 提升 增长 拡大 meningkatkan zwiększyć zwiększenie wzrostu rozwój podwoić
    sprzedawać zvýšíme zvyšte zvýšit růst rozvoj creștere crește măriți dezvolta növelje növekedés növeli αύξηση αυξήστε
    ανάπτυξη увеличение развития масштабировать роста збільшити зростання залучити artış büyüme katlayın yükseltin 성장 증가 매출
    زيادة ضاعف نمو להגדיל צמיחה افزایش رشد बढ़ाएँ बढ़ाएं tăng phát triển tingkatkan kembangkan เพิ่ม ขยาย kasvata kasvu
    lisää tillväxt øk økning vækst multiplica duplicar raddoppiare moltiplica turbine alavancar`,
  customers: `customers clients leads sales buyers revenue conversions conversion audience followers kunden umsatz anfragen neukunden
    verkäufe ventes prospects clientes ventas clientela vendite clienti vendas seguidores klanten omzet klientów sprzedaż
    kunder försäljning клиентов клиенты продажи продаж заявок подписчиков müşteri müşteriler satış takipçi 客户 销量 粉丝 売上 顧客
    pelanggan klienci klientom klientami zapytań obserwujących zákazníky zákazníků zákazníci poptávky clienți clienților
    vânzări vânzările ügyfelek ügyfél vevők eladás πελάτες πωλήσεις клиента клиентам лиды заявки покупателей аудитории лайки
    подписчики клієнтів продажів müşterileri müşteriniz satışları satışlarınızı beğeni 고객 팔로워 판매 매출을 عملاء زبائن مبيعات
    متابعين מכירות مشتری فروش ग्राहक बिक्री khách hàng số penjualan ลูกค้า ยอดขาย asiakkaita asiakkaat myynti kundene salg
    prospecto acquirenti`,
  experts: `team agency experts expert professionals professional specialist specialists developers designers manufacturer
    manufacturers supplier suppliers factory leading experienced certified agentur experten spezialisten hersteller
    lieferant fachleute équipe agence fabricant spécialistes equipo agencia expertos fabricantes proveedor especialistas
    squadra agenzia esperti produttore equipe agência fabricante bureau zespół agencja specjaliści producent команда
    агентство специалисты фабрика производитель завод экспертов ekip ekibimiz ajans uzman üretici fabrika 工厂 厂家 团队 专业 チーム
    zespołem specjalistów specjalista ekspertów profesjonalne profesjonalny producenta hurtownia dostawca tým specialisté
    odborníci výrobce profesionální echipa echipă specialiști producător profesionale furnizor szakértő szakértők gyártó
    csapat ειδικοί ομάδα κατασκευαστής эксперты эксперт специалистов профессиональный профессиональная производителя
    поставщик студия юристы фахівці виробник команди uzmanlar uzmanı üreticisi tedarikçi profesyonel danışman 전문가 전문 업체 제조
    공장 فريق خبراء مصنع متخصصون محترف צוות מומחים מפעל متخصص تولید विशेषज्ञ टीम chuyên profesional ahli pabrik
    มืออาชีพ โรงงาน asiantuntijat tiimi valmistaja experter leverantör tillverkare fagfolk leverandør consulente studio
    professionista asesor asesores freelancer`,
  proof: `years year experience portfolio proven results guaranteed guarantee guarantees track success trusted jahre jahren
    erfahrung garantiert garantie erfolg ergebnisse ans expérience garanti résultats años experiencia garantizado garantía
    resultados anni esperienza garantito garanzia risultati anos experiência garantido garantia jaar ervaring lat
    doświadczenia gwarancja wyniki års erfarenhet лет опыт опыта гарантия гарантируем результат yıl deneyim garantili sonuç
    年 经验 保证 実績 保証 doświadczenie gwarancją gwarantujemy skuteczność sprawdzone zkušeností zkušenosti záruka zaručené výsledky
    experiență garantat garanție rezultate ani tapasztalat garancia garanciával eredmény év εμπειρία εγγύηση αποτελέσματα
    χρόνια гарантией гарантии результата результаты проверенный отзывы кейсы досвід гарантія років deneyimli garantisi
    sonuçlar yıllık referans 보장 경험 실적 후기 인증 خبرة ضمان نتائج مضمون ניסיון אחריות תוצאות تضمین تجربه गारंटी अनुभव kinh nghiệm
    bảo hành cam kết pengalaman garansi terbukti terpercaya การันตี kokemus takuu tulokset garantere
    resultater respaldo`,
  haste: `now today urgent immediately final last limited expires expire deadline hurry only hours asap notice tonight jetzt heute
    sofort dringend letzte nur stunden frist maintenant aujourd'hui dernier heures immédiatement ahora hoy urgente último
    últimas horas inmediatamente solo adesso oggi ultimo ore subito agora hoje apenas nu vandaag teraz dziś pilne ostatnie
    tylko idag сейчас сегодня срочно последний часов только осталось hemen bugün son acil sadece 今天 立即 仅限 本日 限定 今すぐ dzisiaj
    natychmiast ostatnia godziny minut okazja dnes ihned poslední pouze hned akce astăzi acum imediat ultimele doar ultima
    azonnal utolsó csak még σήμερα τώρα άμεσα μόνο τελευταία прямо немедленно быстро успей успейте полуночи минут сьогодні
    зараз терміново останні тільки hızlı kaçırmayın sınırlı anında 지금 오늘 바로 즉시 마감 한정 الآن اليوم فورا عاجل فقط آخر עכשיו היום
    מיד רק אחרון امروز فوری अभी आज तुरंत जल्दी सिर्फ ngay hôm nay gấp chỉ nhanh sekarang segera cepat terbatas ตอนนี้ วันนี้
    ด่วน ทันที เท่านั้น tänään heti vain viimeiset bara sista nå kun siste hurtig cupos plazas quedan affrettati scadenza
    vagas corra plekken`,
  account: `account password verify verification suspended login confirm security payment invoice overdue billing bank konto
    passwort bestätigen gesperrt rechnung zahlung compte mot vérifier confirmez facture paiement cuenta contraseña verificar
    confirme factura pago conto verifica conferma fattura pagamento conta senha verifique fatura rekening bevestig hasło
    potwierdź faktura счёт счет подтвердите аккаунт оплата пароль hesap hesabınız şifre onaylayın 账户 账号 验证 アカウント 確認 hasła
    płatności przelew faktury opłać dopłać wezwanie konta zablokowane zaległość účet heslo platba ověřte blokován zaplaťte
    cont parolă plată factură verificați restanță számla jelszó fizetés fiók igazolja λογαριασμός λογαριασμό κωδικός πληρωμή
    επιβεβαιώστε тимчасово аккаунта оплатить оплатите счета задолженность подтвердить штраф карта карты рахунок сплатіть
    ödemeniz borcunuz hesabı kart kargonuz güncelleyin 계정 결제 비밀번호 미납 확인하세요 حسابك الدفع كلمة فاتورة تأكيد חשבון תשלום סיסמה
    אימות حساب رمز پرداخت खाता पासवर्ड भुगतान tài khoản mật khẩu xác minh thanh toán akun verifikasi tagihan บัญชี รหัส ชําระ
    ยืนยัน tili salasana maksu lasku vahvista betala lösenord betal betaling huissier saisie multa multas impago saldo
    bloccato boleto cobrança`,
  stopping: `unsubscribe opt remove stop unwanted abmelden abbestellen désabonner désinscrire darse baja cancelar disiscriversi
    descadastrar uitschrijven wypisać отписаться отпишитесь отказаться wypisz zrezygnować rezygnacja odhlásit odhlášení
    dezabonare leiratkozás отписка відписатися إلغاء الاشتراك 수신거부 退订 配信停止`,
  "dear owner": `dear sir madam owner manager admin webmaster director ceo greetings geehrte geehrter damen herren inhaber
    geschäftsführer madame monsieur responsable gérant estimado estimada señor propietario gerente gentile titolare
    responsabile spettabile prezado proprietário responsável geachte eigenaar szanowni właściciel уважаемые уважаемый
    руководитель владелец sayın yetkili 尊敬 ご担当者様 站长 老板 właścicielu prezes pane paní vážený vážená majiteli stimate stimată
    domnule doamnă tisztelt ügyvezető cégvezető uram αξιότιμε κύριε κυρία шановний шановні керівнику yetkilisi beyefendi
    değerli 담당자님 담당자 안녕하세요 السادة المحترمين مدير عزيزي שלום לכבוד مدیر محترم महोदय श्रीमान kính gửi yth bapak ibu เรียน ท่าน
    hyvä arvoisa bästa kära kjære kære estimados señores egregio spett prezados patrão heer mevrouw`,
  introduction: `name represent behalf founder consultant heiße namens bin m'appelle suis représente llamo soy represento chiamo sono
    chamo sou heet nazywam heter зовут представляю являюсь adım 我是 申します przedstawicielem zastępuję jmenuji zastupuji numesc
    reprezint nevem képviselem ονομάζομαι звати представник temsil 입니다 اسمي أمثل שמי נציג नाम tên perkenalkan ชื่อ nimeni
    edustan repræsenterer représentant rappresentante representante`,
  software: `software app apps tool tools platform ai automation chatbot crm development design logo marketing ads advertising
    campaign campaigns social media werbung entwicklung kampagne kampagnen développement publicité campagnes logiciel
    desarrollo publicidad campañas sviluppo pubblicità campagne desenvolvimento anúncios campanhas ontwikkeling tworzenie
    reklama kampanii разработка разработку реклама рекламу рекламы рассылка geliştirme reklam tasarım 开发 推广 广告 設計 制作 広告
    aplikacje aplikacji reklamy kampania kampanię sklepy oprogramowanie grafika projekt aplikace reklamu kampaně vývoj
    tvorba aplicații reclame dezvoltare publicitate alkalmazás hirdetés fejlesztés kampány εφαρμογή διαφήμιση κατασκευή
    λογισμικό бот бота приложение приложения дизайн лендинги таргет смм реклами додаток розробка yazılım uygulama reklamlar
    otomatik yapay zeka 앱 광고 개발 마케팅 디자인 솔루션 تطبيق تصميم برمجة تسويق إعلانات אפליקציה פיתוח פרסום שיווק طراحی برنامه تبلیغات
    ऐप मार्केटिंग डिज़ाइन विज्ञापन thiết kế phần mềm quảng cáo ứng aplikasi iklan desain pembuatan โฆษณา แอป ออกแบบ ระบบ
    sovellus mainonta kehitys utveckling annonser reklame udvikling automatisation automatización bot chatbots sviluppiamo`,
  wholesale: `shipping wholesale bulk moq catalogue catalog export delivery stock oem großhandel versand katalog livraison gros envío
    mayorista catálogo spedizione ingrosso catalogo atacado frete groothandel hurtowe dostawa оптом доставка каталог опт
    карго toptan sevkiyat 批发 现货 采购 hurtowo hurtowa dostawę magazynu eksport doprava sklad velkoobchod livrare angro stoc
    szállítás nagykereskedelem raktár παράδοση χονδρική поставки доставкой опта розница отгрузка контейнер фабрики поставка
    доставку гурт вантаж teslimat stok ithalat ihracat nakliye navlun kargo 도매 배송 수출 물류 شحن توصيل جملة استيراد משלוח סיטונאי
    عمده डिलीवरी थोक giao sỉ vận chuyển kho grosir kirim ongkir ขนส่ง ส่งฟรี toimitus tukku frakt grossist leverans levering
    engros transporte carga contenedor flete spedizioni container`,
  order: `order ordered delivered parcel arrived received return returned refund bestellt bestellung lieferung angekommen zurück
    retoure commandé commande colis livré reçu remboursement pedido recibido llegó paquete devolución ordinato ordine pacco
    arrivato ricevuto rimborso recebi chegou besteld bestelling pakket zamówiłem zamówienie paczka beställde заказал заказ
    заказала посылка пришла получил sipariş gelmedi 订单 收到 注文 届き zamówienia zamówiłam przesyłka przesyłki paczkę zwrot
    reklamacja kupiłem kupiłam objednávka objednal objednala balík vrácení reklamace dorazil comandă comandat colet primit
    retur rendelés rendeltem csomag megérkezett visszaküldés παραγγελία δέμα παρέλαβα επιστροφή посылку купил купила возврат
    пришёл доставили замовив замовила замовлення посилка отримала siparişim aldım gelen iade paketim 주문 배송이 택배 반품 환불 طلبت
    طلبي الطرد وصل استرجاع הזמנתי הזמנה חבילה החזר سفارش بسته ऑर्डर पार्सल मिला đơn đặt nhận trả pesanan pesan barang
    diterima สั่ง ได้รับ พัสดุ tilasin tilaus paketti palautus beställning fick bestilte pakke`,
  booking: `appointment reserve reservation table room booking booked ticket tickets class course lesson registration tisch zimmer
    kurs anmeldung karten réservation chambre réserver cours inscription cita reserva mesa habitación curso entradas
    appuntamento prenotare prenotazione camera corso iscrizione consulta quarto afspraak reserveren cursus wizyta rezerwacja
    stolik zapisać boka запись записаться столик номер курс билеты randevu rezervasyon masa oda 预约 预订 予約 wizytę rezerwować
    pokój kursu zajęcia bilety zapisy pokoj kurz lístky přihláška programare rezervare cameră bilete înscriere foglalás
    szoba tanfolyam jegy jelentkezés ραντεβού κράτηση δωμάτιο εισιτήρια запишите приём места забронировать бронь занятия
    запис квитки кімната randevum rezervasyonu bilet 예약 방 수업 티켓 접수 موعد حجز غرفة تذاكر תור הזמנת חדר כרטיסים نوبت رزرو اتاق
    अपॉइंटमेंट टिकट कमरा phòng vé lớp jadwal kamar tiket kelas นัด จอง ห้อง ตั๋ว varaus huone liput kurssi bokning rum
    biljetter billetter værelse`,
  fault: `broken error problem fault wrong missing doesn't cannot can't won't lost damaged stopped complaint kaputt fehler defekt
    falsch fehlt funktioniert geht verloren cassé erreur problème marche manque perdu roto problema falta funciona perdido
    rotto errore manca funziona perso quebrado erro perdi kapot fout werkt zepsuty błąd brakuje działa trasig сломался
    ошибка проблема работает потерял сломалась bozuk hata çalışmıyor kayıp 坏 错误 问题 丢 壊れ 故障 zepsuta błędny brak zgubiłem
    zgubiłam uszkodzony problemem nefunguje rozbitý chyba chybí ztratil ztratila pokažený defect stricat greșit lipsește
    pierdut eroare elromlott hibás hiányzik elvesztettem χάλασε λάθος λείπει έχασα πρόβλημα сломан сломалось ошибку нет
    потеряла потеряли жалоба зламався помилка загубила arızalı kayboldu yanlış kırık sorun şikayet 고장 오류 안 분실 불량 잘못 معطل خطأ
    فقدت مشكلة מקולקל שגיאה אבד בעיה خراب خطا گم खराब गलत टूटा गुम hỏng lỗi mất rusak salah hilang kehilangan เสีย หาย ผิด
    rikki virhe puuttuu kadonnut felet sönder fel saknas tappade ødelagt mangler feil`,
  family: `daughter wife husband mother father child children kids grandmother sister brother neighbour friend dog cat school
    tochter sohn frau mann mutter vater kind kinder nachbar hund katze schule fille fils femme mari mère père enfant enfants
    voisin chien école hija hijo mujer marido madre padre niño niños vecino perro gato escuela colegio figlia figlio moglie
    marito bambino bambini vicino cane gatto scuola filha filho esposa mãe pai criança vizinho dochter zoon vrouw moeder
    buurman hond córka syn żona mąż matka ojciec dziecko sąsiad pies kot szkoła dotter дочь сын жена муж мама мать отец
    ребёнок ребенок дети сосед собака кошка школа kızım oğlum eşim annem babam çocuk komşu köpek kedi okul 女儿 儿子 妈妈 爸爸 孩子 娘
    息子 母 父 子供 córki synek syna żonie męża mamy tata babcia babci dzieci wnuk psa kota szkole dcera manželka manžel otec
    babička děti dítě pes kočka škola fiica fiul soția soțul mama copii copilul bunica câine școala lányom fiam feleségem
    férjem anyám apám gyerek gyerekek nagymama kutya macska iskola κόρη γιος μητέρα πατέρας παιδί παιδιά γιαγιά σκύλος
    σχολείο дочери дочке сына сыну жены мужа мамы бабушка бабушки внук ребёнка ребенка детей собаки сусід донька сину
    чоловік дитина діти бабуся oğlumun kızımın dede anneanne çocuklar çocuğum kedim köpeğim okulu 딸 아들 아내 남편 엄마 아빠 아이 할머니
    강아지 학교 ابني ابنتي زوجتي زوجي أمي أبي أطفال مدرسة הבת הבן אשתי בעלי אמא אבא ילד ילדים סבתא כלב פסרם دخترم پسرم همسرم बेटी
    बेटा पत्नी पति माँ पिताजी बच्चे स्कूल trai vợ chồng mẹ bố cháu trường anak istri suami ayah sekolah kucing ลูก แม่ พ่อ
    ภรรยา สามี โรงเรียน tytär poika vaimo mies äiti isä lapsi lapset koira kissa koulu sonen dottern mamma pappa datter mor
    nonna nonno abuela abuelo mamie papi oma opa enkel vovó vovô`,
  day: `monday tuesday wednesday thursday friday saturday sunday yesterday tomorrow evening morning week montag dienstag
    mittwoch donnerstag freitag samstag sonntag gestern morgen abend woche lundi mardi mercredi jeudi vendredi samedi
    dimanche hier demain soir matin semaine lunes martes miércoles jueves viernes sábado domingo ayer mañana semana lunedì
    martedì mercoledì giovedì venerdì sabato domenica ieri domani sera settimana segunda terça quarta quinta sexta ontem
    amanhã maandag dinsdag woensdag donderdag vrijdag zaterdag zondag gisteren poniedziałek wtorek środa czwartek piątek
    sobota niedziela wczoraj jutro måndag tisdag onsdag torsdag fredag lördag söndag понедельник вторник среда среду четверг
    пятница пятницу суббота субботу воскресенье вчера завтра pazartesi salı çarşamba perşembe cuma cumartesi pazar dün yarın
    星期 周末 昨天 明天 昨日 明日 poniedziałku wtorku środę czwartku piątku soboty niedzielę wieczorem rano tygodniu godzinie pondělí
    úterý středa čtvrtek pátek neděle včera zítra ráno večer týden luni marți miercuri joi vineri sâmbătă duminică mâine
    seara dimineața săptămână hétfő kedd szerda csütörtök péntek szombat vasárnap tegnap holnap reggel héten δευτέρα τρίτη
    τετάρτη πέμπτη παρασκευή σάββατο κυριακή χθες αύριο βράδυ πρωί понедельника вторника четверга пятницы субботы
    воскресенья вечером утром неделю понеділок вівторок середа четвер п'ятниця субота неділя вчора вранці ввечері
    pazartesiden akşam sabah hafta salıya 월요일 화요일 수요일 목요일 금요일 토요일 일요일 어제 내일 아침 저녁 الاثنين الثلاثاء الأربعاء الخميس الجمعة
    السبت الأحد أمس غدا مساء صباحا ראשון שני שלישי רביעי חמישי שישי שבת אתמול מחר ערב בוקר شنبه یکشنبه دوشنبه جمعه دیروز
    فردا सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार कल शाम सुबह thứ sáng tối tuần senin selasa rabu kamis jumat
    sabtu minggu kemarin besok malam pagi วันเสาร์ เมื่อวาน พรุ่งนี้ maanantai tiistai keskiviikko
    torstai perjantai lauantai sunnuntai eilen huomenna ilta aamu igår imorgon kväll morgon aften mandag tirsdag`,
  politeness: `thanks thank please sorry regards danke bitte entschuldigung grüße merci s'il pardon cordialement gracias por favor
    perdón saludos grazie scusi cordiali obrigado obrigada desculpe bedankt alstublieft dziękuję proszę przepraszam
    pozdrawiam tack спасибо пожалуйста извините teşekkürler lütfen 谢谢 请问 ありがとう お願いします dzięki uprzejmie dziękujemy děkuji
    děkujeme prosím promiňte mulțumesc mulțumim scuze köszönöm köszönjük kérem elnézést ευχαριστώ ευχαριστούμε παρακαλώ
    συγγνώμη благодарю благодарим подскажите дякую будь ласка вибачте sağolun rica ederim teşekkür 감사합니다 고맙습니다 부탁 죄송합니다 شكرا
    عفوا תודה בבקשה סליחה ممنون لطفا धन्यवाद कृपया cảm ơn xin vui lòng terima kasih mohon maaf tolong ขอบคุณ กรุณา ขอโทษ
    kiitos anteeksi tacka vänligen ursäkta takk vennligst tak venlig cordialmente agradezco ringrazio agradeço`,
};
