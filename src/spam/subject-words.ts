import { EASTERN_SUBJECT_WORDS } from "./subject-words-eastern.ts";

/** The words of each subject in languages with Latin, Cyrillic and Greek letters. */
const WESTERN: Readonly<Record<string, string>> = {
  we: `we our ours wir unser unsere unserer unseren unserem uns nous notre nos nosotros nuestro nuestra nuestros
    nuestras noi nostro nostra nostri nostre nós nosso nossa nossos nossas wij ons onze my nasz nasza nasze naszych vi
    vår vårt våra vores мы наш наша наше наши нас нам наших ми biz bizim bize bizi kami kita chúng nosaltres naš naše
    náš naši nasi naszej naszą naszego naszym naszemu prowadzimy našeho našem nabízíme oferujemy posiadamy
    specjalizujemy zajmujemy nașă noastre noastră nostru noștri suntem cégünk vagyunk miénk csapatunk η μας εμείς
    είμαστε нашей нашего нашим нашему нашими нашу нашої нашому нашою bizimle firmamız şirketimiz ekibimizle công vårat
    våre olemme meidän εμάς διαθέτουμε αναλαμβάνουμε παρέχουμε`,
  i: `mine i'm i've i'd i'll ich mein meine meiner meinen meinem mir mich mon j'ai moi io mio mia miei mie eu meu minha
    meus minhas ik mijn mij mój moja moje mnie jag min mitt mina jeg mit я мой моя моё мои мне меня моей мого ben benim
    bana beni saya aku tôi moją mojego mojej moim moich jestem mám můj mě jsem mele én vagyok nekem εγώ μου είμαι έχω
    моею моим моих моему моего мене моєї benimle mình minä minun olen μένα δικό θέλω ήθελα αγόρασα έκανα`,
  you: `you your yours you're sie ihr ihre ihrer ihren ihrem ihnen vous votre vos usted ustedes sus tus vostro vostra
    suo você vocês seu seus suas uw jullie państwo państwa wasz wasze pani dere вы ваш ваша ваше ваши вам вас вашего
    вашей siz sizin size sizi anda bạn váš vaše vás vám państwu waszej waszego twoja twojej twoje twój ciebie tobie wam
    vašich vaši vaší dvs dumneavoastră tău tale vă önnek ön önök σας εσάς εσείς σου вашої вашого вашим вашими вашу
    sizlere sizden sizinle işletmenizin anh kamu ert teidän sinun σένα σού`,
  business: `business company companies firm brand store shop startup enterprise organisation organization businesses
    brands unternehmen firma betrieb geschäft marke entreprise société boutique empresa negocio marca tienda empresas
    negocios azienda impresa attività negozio loja negócio bedrijf onderneming firmę firmy företag virksomhed компания
    компании бизнес бизнеса компанию фирма магазин şirket işletme şirketiniz perusahaan bisnis firmie biznesu biznes
    przedsiębiorców przedsiębiorstwa sklep sklepu podnikání podnikatele podnikatelů společnost eshop afacere afacerea
    afaceri companie companii firmei vállalkozás cég cége üzlet επιχείρηση επιχείρησή εταιρεία κατάστημα бизнесу
    предпринимателей предприятий организаций бізнес бізнесу підприємців işletmeler işletmeniz esnaf firmalar usaha toko
    yritys yrityksen bolag företaget foretak mkb pme pmi pyme pymes ondernemers zzp kmu mittelstand επιχειρήσεις
    επιχειρήσεων εταιρείας καταστήματα επαγγελματίες μαγαζί`,
  website: `website site websites webpage page homepage blog domain webseite webseiten internetseite seite sitio página
    pagina sito strona stronę strony internetową webbplats hjemmeside сайт сайта сайте сайту сайтов siteniz sitenizi
    situs witryna witryny witrynę internetowe internetowych webu webové webových stránky stránek weboldal weboldala
    weboldalak honlap ιστοσελίδα ιστοσελίδας ιστότοπος сайтам сайтів сайти сторінка страницу лендинг websiteniz
    sitenize sayfanız sayfanızı trang situsnya hemsida webbplatsen hjemmesiden nettside kotisivut webshop onlineshop
    ιστοσελίδες σελίδα σελίδες ιστοσελίδων ηλεκτρονικό`,
  ranking: `seo google ranking rankings rank ranks backlinks backlink serp keywords traffic visitors searches indexing
    authority suchmaschinen sichtbarkeit référencement visibilité posicionamiento tráfico visitas posizionamento
    traffico visibilità tráfego vindbaarheid pozycjonowanie ruch synlighet продвижение трафик трафика раскрутка
    посетителей топ ссылок аудит sıralama trafik pozycjonowania wyszukiwarce wyników widoczność optymalizacja
    optimalizace vyhledávání vyhledávačích pozice návštěvnost optimizare optimizat căutare trafic vizitatori
    keresőoptimalizálás kereső találati látogatók βελτιστοποίηση αναζήτηση επισκέπτες яндекса яндекс поисковике выдаче
    позиции просування відвідувачів пошуку sıralarda üst arama ziyaretçi peringkat pencarian hakukone sökmotor
    søgemaskine vindbaar zoekmachine buscadores posiciones indicizzazione motori moteurs suchmaschine auffindbar
    backlinki linki linków ссылки ссылку enlace enlaces dofollow κατάταξη επισκεψιμότητα μηχανές πρώτη προώθηση`,
  offer: `offer offers offering provide provides providing supply service services solution solutions package packages
    deal deals bieten angebot angebote dienstleistungen leistungen lösung lösungen anbieten offrons proposons offre
    offres prestations ofrecemos ofrezco servicios oferta ofertas solución soluciones offriamo proponiamo servizi
    offerta soluzioni oferecemos serviços soluções bieden aanbod diensten usługi erbjuder tjänster erbjudande tilbyder
    tilbud предлагаем предложение услуги предлагаю услуг поставляем sunuyoruz hizmet hizmetleri teklif teklifi
    menawarkan layanan propozycję propozycja ofertę ofercie usług usługa proponujemy świadczymy wykonujemy nabídka
    nabídku nabízím služby služeb zaměřujeme poskytujeme ofertei oferim servicii serviciile pachet ajánlat ajánlatot
    szolgáltatás szolgáltatások kínálunk προσφέρουμε προσφορά υπηρεσίες πακέτα πακέτο предложения предложить оказываем
    выполним услуга услугу пропонуємо послуги пропозиція пропозицію hizmetlerimiz hizmetini teklifimiz paket paketler
    sağlıyoruz yapıyoruz jasa tarjoamme palvelu tjänst erbjudanden tilbyr tjenester aanbieding proposition prestation
    propuesta proposta υπηρεσία προσφορές πακέτου λύσεις λύση προσφέρω`,
  free: `free gratis gratuit gratuite gratuitement kostenlos kostenlose kostenlosen kostenfrei kostenfreie
    unverbindlich gratuita gratuito gratuitamente darmowy darmowe bezpłatny bezpłatną bezpłatnie zdarma besplatno
    бесплатно бесплатный бесплатная бесплатную безкоштовно ücretsiz bedava percuma δωρεάν ingyenes fri tasuta nemokamai
    darmowa darmową darmowego bezpłatna bezpłatnego gratisowy prezencie bezplatný bezplatné bezplatně ingyen ingyenesen
    бесплатного бесплатные безкоштовний безкоштовна подарок подарунок ücretsizdir hediye gratisnya ilmainen ilmaiseksi
    offert offerte regalo omaggio grátis brinde cadeau зеро δωρεάς δώρα ατελώς δωρο`,
  price: `price prices pricing cost costs cheap affordable discount discounts off sale rate rates quote preis preise
    günstig rabatt prozent prix tarif tarifs remise promo precio precios descuento barato tarifa tarifas prezzo prezzi
    sconto preço preços desconto prijs prijzen korting cena ceny rabat cenę pris priser цена цены ценам скидка скидки
    дешево дешевле прайс fiyat fiyatlar indirim fiyatı harga diskon giá ceną cenie cennik kosztuje taniej tanio
    promocja zniżka zł slevu sleva korun kč levně preț prețuri ieftin reducere ár árak kedvezmény forint ευρώ τιμή
    τιμές έκπτωση цену недорого выгодно выгодные акция распродажа рублей руб ціна ціни знижка грн ücreti kampanya uygun
    ucuz rẻ murah ribu hinta alennus tarjous halv tilbudspris rebaja preventivo sconti promoción promotion soldes
    angebotspreis festpreis τιμών εκπτώσεις φθηνά οικονομικά χαμηλές κόστος φτηνά τιμοκατάλογος`,
  earning: `money income earn earnings earning profit profits cash payout salary dollars usd euro eur invest investment
    investors investor investing returns funds funding capital geld verdienen einkommen gewinn rendite investieren
    kapital argent gagner revenus revenu bénéfices investissement investir dinero ganar ganancias ingresos invertir
    inversión soldi guadagnare guadagno guadagni investire investimento dinheiro ganhar renda lucro inkomen pieniądze
    zarabiaj zarobić zarobki zysk inwestycja pengar tjäna penge tjen деньги заработок заработка доход дохода прибыль
    инвестиции зарабатывать выплата выплаты kazanç kazan kazanın gelir yatırım uang zarabiam zarobek zarabiać dochód
    dochody zyski zysku inwestuj inwestować inwestycje pieniędzy peníze vydělávat vydělejte výdělek příjem investice
    zisk bani câștiga câștigă venit venituri investește investiție profituri randament pénz keress kereset jövedelem
    befektetés bevétel χρήματα κέρδος εισόδημα επένδυση заработать зарабатываю доходом доходы прибыли вложений вложения
    инвестор миллион вывод дохід заробіток прибуток гроші виплати kazanmak kazanıyor kazanıyorum gelirler yatırımı
    paranız getiri kâr penghasilan keuntungan investasi cuan untung tienaa ansaitse tulot sijoitus avkastning inntekt
    tjene indtægt rendimiento retiros rendita rende κέρδη κερδίστε επενδύσεις απόδοση κερδίσετε λεφτά έσοδα`,
  loan: `loan loans lender lenders lending credit mortgage debt debts collateral kredit kredite darlehen schulden prêt
    prêts crédit crédits dettes préstamo préstamos crédito deuda deudas prestito prestiti finanziamento empréstimo
    empréstimos dívida lening krediet pożyczka pożyczki kredyt lån gæld кредит кредиты займ займы долг kredi borç
    pinjaman pożyczek pożyczkę kredytu kredytów gotówka gotówkę chwilówka zadłużenia długi półjčka půjčky půjčka úvěr
    oddlužení exekuce împrumut împrumuturi credite datorii kölcsön hitel tartozás δάνειο δάνεια χρέη кредита кредитов
    займа займов долги долгов рассрочка рассрочку списание кредити позика позики kredisi kredileri borçlarınız
    finansman utang laina lainat lånet δανείων πίστωση επιτόκιο εγγυητή χρηματοδότηση οφειλές`,
  coins: `crypto bitcoin btc usdt ethereum wallet token airdrop forex trading trader trade broker coins kryptowährung
    krypto criptomonedas cripto criptovalute criptomoedas kryptowaluty крипто криптовалюта криптовалюты биткоин
    трейдинг форекс кошелёк кошелек кошелька kripto fx kryptowalut bitcoina giełda kryptoměny kryptoměn criptomonede
    kriptovaluta κρυπτονομίσματα крипту крипты монет монеты брокер брокера трейдера сигналы криптовалют криптобіржа
    kriptopara borsa altın hisse coin sàn saham κρυπτονομίσματος μπιτκόιν πορτοφόλι συναλλαγές κρυπτό`,
  winning: `win winner prize jackpot casino casinos betting bonus spins slots lottery gift reward voucher
    congratulations selected gewinnen gewonnen preisgeld freispiele gutschein glückwunsch gagné félicitations ganado
    premio bono felicidades vinto complimenti ganhou prêmio bônus parabéns wygrałeś nagroda kasyno vunnit казино бонус
    бонусы выигрыш приз выиграли ставки фриспины bonusu kazandınız ödül bahis slot nagrody wygraj wygrana kasyna
    bukmacher zakłady spinów spiny výhra vyhráli soutěž kasino sázky bonusy câștigat premiu cazino pariuri nyeremény
    nyert kaszinó fogadás κέρδισες δώρο καζίνο στοίχημα выиграл выиграй выигрыша слоты слотов вулкан ставок промокод
    розыгрыш фриспинов виграли bahisi kumar şans hediyesi deneme freebet hadiah menang judi gacor maxwin togel voitit
    palkinto vedonlyönti vinst kasinot gevinst apuestas tragaperras scommesse apostas cassino tigrinho rodadas
    κερδίσατε βραβείο κλήρωση στοιχήματα τζακ μπόνους λαχείο κουλοχέρηδες δωροεπιταγή`,
  adult: `sex sexy dating singles girls hot nude porn escort escorts webcam lonely meet flirt erotik frauen kontakte
    rencontre rencontres coquine femmes chicas citas mujeres sexo incontri donne sesso encontros mulheres randki
    dziewczyny секс девушки знакомства интим анкеты kızlar arkadaşlık seks kobiety pań samotna samotne zdjęcia seznamka
    ženy dívky erotika femei fete matrimoniale nők lányok szex ismerkedés γυναίκες γνωριμίες σεξ девочки девушек шлюхи
    эскорт массаж интимные встречи знакомиться дівчата bayan bayanlar escortlar sohbet kadınlar görüntülü gái wanita
    cewek janda naiset seksi seuraa tjejer kvinnor maduras mulatas ragazze maggiorenni coquines κορίτσια συνοδοί
    ενήλικες ερωτικό καυτές`,
  pills: `pills viagra cialis pharmacy prescription weight slim diet cbd supplement potency pillen potenz abnehmen
    rezeptfrei pilules maigrir pastillas adelgazar pillole dimagrire emagrecer tabletki schudnąć таблетки похудеть
    похудения препарат zayıfla hap tabletek kapsułki odchudzanie potencję leki recepty hubnutí zhubněte tablety kapsle
    recept slăbit pastile tablete slăbire fogyás tabletta kapszula χάπια αδυνάτισμα капсулы средство лекарства похудел
    потенции суставы варикоз диабет простатит схуднути таблеток zayıflama hapı ilaç kapsül cinsel obat kapsul
    pelangsing laihdutus pillerit piller slankekur capsule dolore quema grasa κιλά φάρμακο φάρμακα βιάγκρα συμπλήρωμα
    διατροφής θεραπεία διαβήτη`,
  visiting: `click visit url tap check download join sign register subscribe watch klicken klick besuchen anmelden
    registrieren ansehen cliquez visitez inscrivez télécharger rejoignez haga clic visita visite regístrate únete
    clicca iscriviti clique acesse cadastre klik bezoek kliknij odwiedź zarejestruj sprawdź klicka besök besøg нажмите
    перейдите переходите жмите ссылка ссылке регистрация tıkla tıklayın ziyaret kayıt daftar kliknąć wejdź dołącz
    pobierz zobacz klikněte navštivte registrujte přihlaste stáhněte accesați înregistrează descarcă kattintson
    kattints látogasson regisztráljon nézze πατήστε κάντε κλικ δείτε εγγραφείτε жми переходи смотри смотрите скачать
    скачай регистрируйся подпишись присоединяйся натисніть переходьте реєструйтесь tıklayınız girin indirin katılın
    inceleyin kaydolun kunjungi gabung klikkaa rekisteröidy tilaa registrera trykk meld vergleichen sichern accede
    entra accedi registrati σύνδεσμος σύνδεσμο κατεβάστε επισκεφθείτε εγγραφή μπείτε`,
  answering: `reply respond answer interested interest contact call write email message discuss schedule book meeting
    demo chat antworten antworte interesse interessiert melden kontaktieren anrufen termin gespräch répondez intéressé
    contactez appelez échange rendez rappeler responda responde interesa interesado interesados contacte escríbanos
    llámanos reunión rispondi interessato contattaci chiama risponda interessado contato chame reageer odpisz
    zainteresowany kontakt zadzwoń svara intresserad ответьте интересно интересует пишите напишите звоните свяжитесь
    yanıtlayın cevap ilginizi arayın iletişim yazın hubungi odpowiedź odpisać zadzwonić kontaktować rozmowy spotkanie
    zainteresowani zainteresowania odpovězte ozvěte zavolejte kontaktujte schůzku hovor zájem răspundeți contactați
    sunați interesat discuție întâlnire válaszoljon hívjon érdekli keressen kérjen időpont απαντήστε επικοινωνήστε
    ενδιαφέρεστε καλέστε звонок напиши обсудить созвониться презентацию відповідайте зателефонуйте зв'яжіться yazınız
    arayabilir görüşme yanıt dönüş toplantı balas konsultasi yhteyttä soita vastaa hör återkom samtal møde möte llamada
    parlarne telefonata στείλτε τηλεφωνήστε επικοινωνία απάντηση ζητήστε πληροφορίες μήνυμα`,
  messenger: `whatsapp telegram skype wechat viber signal tg whats телеграм телеграмм ватсап вотсап вайбер тг
    telegramda line discord icq telegramie telegramu whatsappie whatsappu messenger whatsappem телеграме телеграма
    вацап whatsapp'tan telegram'dan zalo zaloo signalgrupp wsp qq id lineで τηλέγραμ βάιμπερ`,
  growth: `grow growth boost increase double triple scale skyrocket improve maximize generate steigern wachsen mehr
    wachstum erhöhen optimieren augmenter augmentez doubler croissance développer aumentar aumente crecer impulsar
    crecimiento multiplicar aumentare crescere crescita crescer verhogen groeien zwiększ zwiększamy wzrost öka
    увеличить увеличьте рост увеличим повысить привлечь artırın artır büyütün meningkatkan zwiększyć zwiększenie
    wzrostu rozwój podwoić sprzedawać zvýšíme zvyšte zvýšit růst rozvoj creștere crește măriți dezvolta növelje
    növekedés növeli αύξηση αυξήστε ανάπτυξη увеличение развития масштабировать роста збільшити зростання залучити
    artış büyüme katlayın yükseltin tingkatkan kembangkan kasvata kasvu lisää tillväxt øk økning vækst multiplica
    duplicar raddoppiare moltiplica turbine alavancar αυξάνουμε αυξήσετε μεγαλώστε διπλασιάστε ενισχύστε βελτιώστε
    αναπτύξτε απογειώστε`,
  customers: `customers clients leads sales buyers revenue conversions conversion audience followers kunden umsatz
    anfragen neukunden verkäufe ventes prospects clientes ventas clientela vendite clienti vendas seguidores klanten
    omzet klientów sprzedaż kunder försäljning клиентов клиенты продажи продаж заявок подписчиков müşteri müşteriler
    satış takipçi pelanggan klienci klientom klientami zapytań obserwujących zákazníky zákazníků zákazníci poptávky
    clienți clienților vânzări vânzările ügyfelek ügyfél vevők eladás πελάτες πωλήσεις клиента клиентам лиды заявки
    покупателей аудитории лайки подписчики клієнтів продажів müşterileri müşteriniz satışları satışlarınızı beğeni
    penjualan asiakkaita asiakkaat myynti kundene salg prospecto acquirenti πελατών πελάτη πελατολόγιο ακόλουθοι
    αγοραστές πώληση λάικ`,
  experts: `team agency experts expert professionals professional specialist specialists developers designers
    manufacturer manufacturers supplier suppliers factory leading experienced certified agentur experten spezialisten
    hersteller lieferant fachleute équipe agence fabricant spécialistes equipo agencia expertos fabricantes proveedor
    especialistas squadra agenzia esperti produttore equipe agência fabricante bureau zespół agencja specjaliści
    producent команда агентство специалисты фабрика производитель завод экспертов ekip ekibimiz ajans uzman üretici
    fabrika zespołem specjalistów specjalista ekspertów profesjonalne profesjonalny producenta hurtownia dostawca tým
    specialisté odborníci výrobce profesionální echipa echipă specialiști producător profesionale furnizor szakértő
    szakértők gyártó csapat ειδικοί ομάδα κατασκευαστής эксперты эксперт специалистов профессиональный профессиональная
    производителя поставщик студия юристы фахівці виробник команди uzmanlar uzmanı üreticisi tedarikçi profesyonel
    danışman chuyên profesional ahli pabrik asiantuntijat tiimi valmistaja experter leverantör tillverkare fagfolk
    leverandør consulente studio professionista asesor asesores freelancer ειδικός ειδικών ομάδας επαγγελματική
    κατασκευαστές προμηθευτής εργοστάσιο τεχνικοί δικηγόρος συνεργείο συνεργάτες εμπειρογνώμονες`,
  proof: `years year experience portfolio proven results guaranteed guarantee guarantees track success trusted jahre
    jahren erfahrung garantiert garantie erfolg ergebnisse ans expérience garanti résultats años experiencia
    garantizado garantía resultados anni esperienza garantito garanzia risultati anos experiência garantido garantia
    jaar ervaring doświadczenia gwarancja wyniki års erfarenhet лет опыт опыта гарантия гарантируем результат yıl
    deneyim garantili sonuç doświadczenie gwarancją gwarantujemy skuteczność sprawdzone zkušeností zkušenosti záruka
    zaručené výsledky experiență garantat garanție rezultate tapasztalat garancia garanciával eredmény év εμπειρία
    εγγύηση αποτελέσματα χρόνια гарантией гарантии результата результаты проверенный отзывы кейсы досвід гарантія років
    deneyimli garantisi sonuçlar yıllık referans pengalaman garansi terbukti terpercaya kokemus takuu tulokset
    garantere resultater respaldo εμπειρίας εγγυημένα εγγυημένο εγγυόμαστε αποτέλεσμα ποιότητα ετών αξιόπιστα
    πιστοποιημένο επιτυχία`,
  haste: `now today urgent immediately final last limited expires expire deadline hurry only hours asap notice tonight
    jetzt heute sofort dringend letzte nur stunden frist maintenant aujourd'hui dernier heures immédiatement ahora hoy
    urgente último últimas horas inmediatamente solo adesso oggi ultimo subito agora hoje apenas vandaag teraz dziś
    pilne ostatnie tylko idag сейчас сегодня срочно последний часов только осталось hemen bugün acil sadece dzisiaj
    natychmiast ostatnia godziny minut okazja dnes ihned poslední pouze hned akce astăzi acum imediat ultimele doar
    ultima azonnal utolsó csak még σήμερα τώρα άμεσα μόνο τελευταία прямо немедленно быстро успей успейте полуночи
    минут сьогодні зараз терміново останні тільки hızlı kaçırmayın sınırlı anında ngay nay nhanh sekarang segera cepat
    terbatas tänään heti vain viimeiset sista nå siste hurtig cupos plazas quedan affrettati scadenza vagas corra
    plekken άμεση γρήγορα προλάβετε ευκαιρία περιορισμένος λίγες θέσεις τελευταίες ώρες επείγον αμέσως λήγει βιαστείτε`,
  account: `account password verify verification suspended login confirm security payment invoice overdue billing bank
    konto passwort bestätigen gesperrt rechnung zahlung compte vérifier confirmez facture paiement cuenta contraseña
    verificar confirme factura pago conto verifica conferma fattura pagamento conta senha verifique fatura rekening
    bevestig hasło potwierdź faktura счёт счет подтвердите аккаунт оплата пароль hesap hesabınız şifre onaylayın hasła
    płatności przelew faktury opłać dopłać wezwanie konta zablokowane zaległość účet heslo platba ověřte blokován
    zaplaťte cont parolă plată factură verificați restanță számla jelszó fizetés fiók igazolja λογαριασμός λογαριασμό
    κωδικός πληρωμή επιβεβαιώστε тимчасово аккаунта оплатить оплатите счета задолженность подтвердить штраф карта карты
    рахунок сплатіть ödemeniz borcunuz hesabı kart kargonuz güncelleyin akun verifikasi tagihan tili salasana maksu
    lasku vahvista betala lösenord betal betaling huissier saisie multa multas impago saldo bloccato boleto cobrança
    λογαριασμού κωδικό κωδικούς τράπεζα κάρτα τιμολόγιο οφειλή ανεστάλη επιβεβαίωση ταυτοποίηση πρόστιμο εξοφλήστε`,
  stopping: `unsubscribe opt remove stop unwanted abmelden abbestellen désabonner désinscrire darse baja cancelar
    disiscriversi descadastrar uitschrijven wypisać отписаться отпишитесь отказаться wypisz zrezygnować rezygnacja
    odhlásit odhlášení dezabonare leiratkozás отписка відписатися διαγραφή απεγγραφή`,
  "dear owner": `dear madam owner manager admin webmaster director ceo greetings geehrte geehrter damen herren inhaber
    geschäftsführer madame monsieur responsable gérant estimado estimada señor propietario gerente gentile titolare
    responsabile spettabile prezado proprietário responsável geachte eigenaar szanowni właściciel уважаемые уважаемый
    руководитель владелец sayın yetkili właścicielu prezes paní vážený vážená majiteli stimate stimată domnule doamnă
    tisztelt ügyvezető cégvezető uram αξιότιμε κύριε κυρία шановний шановні керівнику yetkilisi beyefendi değerli yth
    bapak ibu hyvä arvoisa bästa kära kjære kære estimados señores egregio spett prezados patrão heer mevrouw αγαπητέ
    αγαπητοί υπεύθυνε ιδιοκτήτη διευθυντή κύριοι γεια καλησπέρα χαίρετε`,
  introduction: `name represent behalf founder consultant heiße namens m'appelle suis représente llamo soy represento
    chiamo chamo heet nazywam heter зовут представляю являюсь adım przedstawicielem zastępuję jmenuji zastupuji numesc
    reprezint nevem képviselem ονομάζομαι звати представник temsil tên perkenalkan nimeni edustan repræsenterer
    représentant rappresentante representante λέγομαι εκπρόσωπος σύμβουλος ιδρυτής εκπροσωπώ`,
  software: `software app apps tool tools platform automation chatbot crm development design logo marketing ads
    advertising campaign campaigns social media werbung entwicklung kampagne kampagnen développement publicité
    campagnes logiciel desarrollo publicidad campañas sviluppo pubblicità campagne desenvolvimento anúncios campanhas
    ontwikkeling tworzenie reklama kampanii разработка разработку реклама рекламу рекламы рассылка geliştirme reklam
    tasarım aplikacje aplikacji reklamy kampania kampanię sklepy oprogramowanie grafika projekt aplikace reklamu
    kampaně vývoj tvorba aplicații reclame dezvoltare publicitate alkalmazás hirdetés fejlesztés kampány εφαρμογή
    διαφήμιση κατασκευή λογισμικό бот бота приложение приложения дизайн лендинги таргет смм реклами додаток розробка
    yazılım uygulama reklamlar otomatik yapay zeka aplikasi iklan desain pembuatan sovellus mainonta kehitys utveckling
    annonser reklame udvikling automatisation automatización bot chatbots sviluppiamo ai活用 λογισμικού εφαρμογές
    πλατφόρμα διαφημίσεις διαφημιστικές σχεδιασμός τεχνητή νοημοσύνη αυτοματισμός βίντεο λογότυπο καμπάνιες μάρκετινγκ`,
  wholesale: `shipping wholesale bulk moq catalogue catalog export delivery stock oem großhandel versand katalog
    livraison gros envío mayorista catálogo spedizione ingrosso catalogo atacado frete groothandel hurtowe dostawa
    оптом доставка каталог опт карго toptan sevkiyat hurtowo hurtowa dostawę magazynu eksport doprava sklad velkoobchod
    livrare angro stoc szállítás nagykereskedelem raktár παράδοση χονδρική поставки доставкой опта розница отгрузка
    контейнер фабрики поставка доставку гурт вантаж teslimat stok ithalat ihracat nakliye navlun kargo grosir kirim
    ongkir toimitus tukku frakt grossist leverans levering engros transporte carga contenedor flete spedizioni
    container oem対応 χονδρικής αποστολή αποθήκη εμπορεύματα κοντέινερ δείγματα εξαγωγή εισαγωγές μεταφορές παραδόσεις
    μεταφορικά`,
  order: `order ordered delivered parcel arrived received return returned refund bestellt bestellung lieferung
    angekommen zurück retoure commandé commande colis livré reçu remboursement pedido recibido llegó paquete devolución
    ordinato ordine pacco arrivato ricevuto rimborso recebi chegou besteld bestelling pakket zamówiłem zamówienie
    paczka beställde заказал заказ заказала посылка пришла получил sipariş gelmedi zamówienia zamówiłam przesyłka
    przesyłki paczkę zwrot reklamacja kupiłem kupiłam objednávka objednal objednala balík vrácení reklamace dorazil
    comandă comandat colet primit retur rendelés rendeltem csomag megérkezett visszaküldés παραγγελία δέμα παρέλαβα
    επιστροφή посылку купил купила возврат пришёл доставили замовив замовила замовлення посилка отримала siparişim
    aldım gelen iade paketim pesanan pesan barang diterima tilasin tilaus paketti palautus beställning fick bestilte
    pakke παραγγελίας παρήγγειλα δέματος αλλαγή προϊόν αποστολής παραλαβή παραδόθηκε επιστροφής`,
  booking: `appointment reserve reservation table room booking booked ticket tickets class course lesson registration
    tisch zimmer kurs anmeldung karten réservation chambre réserver cours inscription cita reserva mesa habitación
    curso entradas appuntamento prenotare prenotazione camera corso iscrizione consulta quarto afspraak reserveren
    cursus wizyta rezerwacja stolik zapisać boka запись записаться столик номер курс билеты randevu rezervasyon masa
    oda wizytę rezerwować pokój kursu zajęcia bilety zapisy pokoj kurz lístky přihláška programare rezervare cameră
    bilete înscriere foglalás szoba tanfolyam jegy jelentkezés ραντεβού κράτηση δωμάτιο εισιτήρια запишите приём места
    забронировать бронь занятия запис квитки кімната randevum rezervasyonu bilet jadwal kamar tiket kelas varaus huone
    liput kurssi bokning rum biljetter billetter værelse κρατήσεις τραπέζι μάθημα μαθήματα εγγραφής ακύρωση δωμάτια
    εισιτήριο`,
  fault: `broken error problem fault wrong missing doesn't cannot can't won't lost damaged stopped complaint kaputt
    fehler defekt falsch fehlt funktioniert geht verloren cassé erreur problème marche manque perdu problema falta
    funciona perdido rotto errore manca funziona perso quebrado erro perdi kapot fout werkt zepsuty błąd brakuje działa
    trasig сломался ошибка проблема работает потерял сломалась bozuk hata çalışmıyor kayıp zepsuta błędny brak zgubiłem
    zgubiłam uszkodzony problemem nefunguje rozbitý chyba chybí ztratil ztratila pokažený defect stricat greșit
    lipsește pierdut eroare elromlott hibás hiányzik elvesztettem χάλασε λάθος λείπει έχασα πρόβλημα сломан сломалось
    ошибку нет потеряла потеряли жалоба зламався помилка загубила arızalı kayboldu yanlış kırık sorun şikayet rusak
    salah hilang kehilangan rikki virhe puuttuu kadonnut felet sönder saknas tappade ødelagt mangler feil δουλεύει
    λειτουργεί σπασμένο βλάβη χαλασμένο ξέχασα λάθη παράπονο χάθηκε προβλήματα`,
  family: `daughter wife husband mother father child children kids grandmother sister brother neighbour friend cat
    school tochter sohn frau mann mutter vater kind kinder nachbar hund katze schule fille fils femme mère père enfant
    enfants voisin chien école hija hijo mujer marido madre padre niño niños vecino perro gato escuela colegio figlia
    figlio moglie marito bambino bambini vicino cane gatto scuola filha filho esposa mãe pai criança vizinho dochter
    zoon vrouw moeder buurman hond córka syn żona mąż matka ojciec dziecko sąsiad pies szkoła dotter дочь сын жена муж
    мама мать отец ребёнок ребенок дети сосед собака кошка школа kızım oğlum eşim annem babam çocuk komşu köpek kedi
    okul córki synek syna żonie męża mamy tata babcia babci dzieci wnuk psa szkole dcera manželka manžel otec babička
    děti dítě pes kočka škola fiica fiul soția soțul mama copii copilul bunica câine școala lányom fiam feleségem
    férjem anyám apám gyerek gyerekek nagymama kutya macska iskola κόρη γιος μητέρα πατέρας παιδί παιδιά γιαγιά σκύλος
    σχολείο дочери дочке сына сыну жены мужа мамы бабушка бабушки внук ребёнка ребенка детей собаки сусід донька сину
    чоловік дитина діти бабуся oğlumun kızımın dede anneanne çocuklar çocuğum kedim köpeğim okulu anak istri suami ayah
    sekolah kucing tytär poika vaimo mies äiti isä lapsi lapset koira kissa koulu sonen dottern mamma pappa datter
    nonna nonno abuela abuelo mamie papi opa enkel vovó vovô γιαγιάς γάτα παππούς αδερφή αδερφός κόρης γιου γιο σύζυγός
    άντρας οικογένεια μωρό σκύλο`,
  day: `monday tuesday wednesday thursday friday saturday sunday yesterday tomorrow evening morning week montag
    dienstag mittwoch donnerstag freitag samstag sonntag gestern morgen abend woche lundi mardi mercredi jeudi vendredi
    samedi dimanche hier demain soir matin semaine lunes martes miércoles jueves viernes sábado domingo ayer mañana
    semana lunedì martedì mercoledì giovedì venerdì sabato domenica ieri domani sera settimana segunda terça quarta
    quinta sexta ontem amanhã maandag dinsdag woensdag donderdag vrijdag zaterdag zondag gisteren poniedziałek wtorek
    środa czwartek piątek sobota niedziela wczoraj jutro måndag tisdag onsdag torsdag fredag lördag söndag понедельник
    вторник среда среду четверг пятница пятницу суббота субботу воскресенье вчера завтра pazartesi salı çarşamba
    perşembe cuma cumartesi pazar dün yarın poniedziałku wtorku środę czwartku piątku soboty niedzielę wieczorem rano
    tygodniu godzinie pondělí úterý středa čtvrtek pátek neděle včera zítra ráno večer týden luni marți miercuri joi
    vineri sâmbătă duminică mâine seara dimineața săptămână hétfő kedd szerda csütörtök péntek szombat vasárnap tegnap
    holnap reggel héten δευτέρα τρίτη τετάρτη πέμπτη παρασκευή σάββατο κυριακή χθες αύριο βράδυ πρωί понедельника
    вторника четверга пятницы субботы воскресенья вечером утром неделю понеділок вівторок середа четвер п'ятниця субота
    неділя вчора вранці ввечері pazartesiden akşam sabah hafta salıya senin selasa rabu kamis jumat sabtu minggu
    kemarin besok malam pagi maanantai tiistai keskiviikko torstai perjantai lauantai sunnuntai eilen huomenna ilta
    aamu igår imorgon kväll morgon aften mandag tirsdag εβδομάδα πέμπτης απόγευμα μεσημέρι προχθές χτες σαββάτου
    παρασκευής δευτέρας επόμενη`,
  politeness: `thanks thank please sorry regards danke bitte entschuldigung grüße merci s'il pardon cordialement
    gracias favor perdón saludos grazie scusi cordiali obrigado obrigada desculpe bedankt alstublieft dziękuję proszę
    przepraszam pozdrawiam tack спасибо пожалуйста извините teşekkürler lütfen dzięki uprzejmie dziękujemy děkuji
    děkujeme prosím promiňte mulțumesc mulțumim scuze köszönöm köszönjük kérem elnézést ευχαριστώ ευχαριστούμε παρακαλώ
    συγγνώμη благодарю благодарим подскажите дякую будь ласка вибачте sağolun rica ederim teşekkür lòng terima kasih
    mohon maaf tolong kiitos anteeksi tacka vänligen ursäkta takk vennligst venlig cordialmente agradezco ringrazio
    agradeço παρακαλούμε μπορείτε μήπως συγνώμη χαιρετισμούς`,
};

/**
 * Words by subject, in several languages: what the text model learns about a subject in one language holds in the others. A word belongs to
 * one subject only. In scripts without spaces these words are found anywhere.
 */
export const SUBJECT_WORDS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(WESTERN).map(([subject, words]) => [
    subject,
    `${words} ${EASTERN_SUBJECT_WORDS[subject] ?? ""}`,
  ]),
);
