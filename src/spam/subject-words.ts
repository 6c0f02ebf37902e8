/**
 * Words of one meaning in several languages, by what a text mentions with them: what is learned about a subject in one
 * language holds in the others. A word stands under one subject only. Scripts without spaces are searched for these anywhere.
 */
export const SUBJECT_WORDS: Readonly<Record<string, string>> = {
  we: `we our us ours wir unser unsere unserer unseren unserem uns nous notre nos nosotros nuestro nuestra nuestros nuestras
    noi nostro nostra nostri nostre nós nosso nossa nossos nossas wij ons onze my nasz nasza nasze naszych nam nas vi vår
    vårt våra vores мы наш наша наше наши нас нам наших ми biz bizim bize bizi 我们 我們 弊社 当社 मैं हम kami kita chúng nosaltres
    naš naše náš naši mi nasi`,
  i: `i me mine i'm i've i'd i'll ich mein meine meiner meinen meinem mir mich je mon ma mes j'ai moi mis yo io mio mia miei
    mie eu meu minha meus minhas ik mijn mij ja mój moja moje mnie jag min mitt mina jeg mit я мой моя моё мои мне меня моей
    мого ben benim bana beni 我 私 saya aku tôi`,
  you: `you your yours you're sie ihr ihre ihrer ihren ihrem ihnen vous votre vos usted ustedes su sus tu tus te voi vostro
    vostra suo sua você vocês seu seus suas u uw jullie państwo państwa wasz wasze pan pani ni er dere вы ваш ваша ваше ваши
    вам вас вашего вашей siz sizin size sizi 您 贵 貴社 御社 您好 anda bạn váš vaše vás vám`,
  business: `business company companies firm brand store shop startup enterprise organisation organization businesses brands
    unternehmen firma betrieb geschäft marke entreprise société boutique empresa negocio marca tienda empresas negocios
    azienda impresa attività negozio loja negócio bedrijf onderneming firmę firmy företag virksomhed компания компании
    бизнес бизнеса компанию фирма магазин şirket işletme şirketiniz 公司 企业 会社 perusahaan bisnis`,
  website: `website site websites webpage page homepage blog domain webseite webseiten internetseite seite sitio página web pagina
    sito strona stronę strony internetową webbplats hjemmeside сайт сайта сайте сайту сайтов siteniz sitenizi 网站 网页 ホームページ
    サイト situs`,
  ranking: `seo google ranking rankings rank ranks backlinks backlink serp keywords traffic visitors searches indexing authority
    suchmaschinen sichtbarkeit référencement visibilité posicionamiento tráfico visitas posizionamento traffico visibilità
    tráfego vindbaarheid pozycjonowanie ruch synlighet продвижение трафик трафика раскрутка посетителей топ ссылок аудит
    sıralama trafik 优化 排名 流量 集客 検索`,
  offer: `offer offers offering provide provides providing supply service services solution solutions package packages deal deals
    bieten angebot angebote dienstleistungen leistungen lösung lösungen anbieten offrons proposons offre offres prestations
    ofrecemos ofrezco servicios oferta ofertas solución soluciones offriamo proponiamo servizi offerta soluzioni oferecemos
    serviços soluções bieden aanbod diensten oferujemy usługi erbjuder tjänster erbjudande tilbyder tilbud предлагаем
    предложение услуги предлагаю услуг поставляем sunuyoruz hizmet hizmetleri teklif teklifi 提供 服务 ご提案 サービス menawarkan
    layanan`,
  free: `free gratis gratuit gratuite gratuitement kostenlos kostenlose kostenlosen kostenfrei kostenfreie unverbindlich gratuita
    gratuito gratuitamente darmowy darmowe bezpłatny bezpłatną bezpłatnie zdarma besplatno бесплатно бесплатный бесплатная
    бесплатную безкоштовно ücretsiz bedava 免费 無料 無料で 0円 miễn phí percuma δωρεάν ingyenes fri tasuta nemokamai`,
  price: `price prices pricing cost costs cheap affordable discount discounts off sale rate rates quote preis preise günstig
    rabatt prozent prix tarif tarifs remise promo precio precios descuento barato tarifa tarifas prezzo prezzi sconto preço
    preços desconto prijs prijzen korting cena ceny rabat cenę pris priser цена цены ценам скидка скидки дешево дешевле
    прайс fiyat fiyatlar indirim fiyatı 价格 优惠 报价 価格 料金 harga diskon giá`,
  earning: `money income earn earnings earning profit profits cash payout salary dollars usd euro eur invest investment investors
    investor investing returns fund funds funding capital geld verdienen einkommen gewinn rendite investieren kapital argent
    gagner revenus revenu bénéfices investissement investir dinero ganar ganancias ingresos invertir inversión soldi
    guadagnare guadagno guadagni investire investimento dinheiro ganhar renda lucro inkomen pieniądze zarabiaj zarobić
    zarobki zysk inwestycja pengar tjäna penge tjen деньги заработок заработка доход дохода прибыль инвестиции зарабатывать
    выплата выплаты para kazanç kazan kazanın gelir yatırım 赚钱 收益 投资 稼ぐ 収入 uang kiếm`,
  loan: `loan loans lender lenders lending credit mortgage debt debts collateral kredit kredite darlehen schulden prêt prêts
    crédit crédits dettes préstamo préstamos crédito deuda deudas prestito prestiti finanziamento empréstimo empréstimos
    dívida lening krediet pożyczka pożyczki kredyt lån gæld кредит кредиты займ займы долг kredi borç 贷款 借款 pinjaman`,
  coins: `crypto bitcoin btc usdt ethereum wallet token airdrop forex trading trader trade broker coins kryptowährung krypto
    criptomonedas cripto criptovalute criptomoedas kryptowaluty крипто криптовалюта криптовалюты биткоин трейдинг форекс
    кошелёк кошелек кошелька kripto 比特币 加密 仮想通貨 fx`,
  winning: `win won winner prize jackpot casino casinos bet betting bonus spins slots lottery gift reward voucher congratulations
    selected gewinnen gewonnen preisgeld freispiele gutschein glückwunsch gagné cadeau félicitations ganado premio bono
    felicidades vinto complimenti ganhou prêmio bônus parabéns wygrałeś nagroda kasyno vunnit казино бонус бонусы выигрыш
    приз выиграли ставки фриспины bonusu kazandınız ödül bahis 奖 奖金 娱乐城 スロット 当選 slot`,
  adult: `sex sexy dating singles girls hot nude porn escort escorts webcam lonely meet flirt erotik frauen kontakte rencontre
    rencontres coquine femmes chicas citas mujeres sexo incontri donne sesso encontros mulheres randki dziewczyny секс
    девушки знакомства интим анкеты kızlar arkadaşlık 美女 约会 出会い`,
  pills: `pills viagra cialis pharmacy prescription weight slim diet cbd supplement potency pillen potenz abnehmen rezeptfrei
    pilules maigrir pastillas adelgazar pillole dimagrire emagrecer tabletki schudnąć таблетки похудеть похудения препарат
    zayıfla hap 减肥 药 ダイエット`,
  visiting: `click visit link url tap check download join sign register subscribe watch klicken klick besuchen anmelden registrieren
    ansehen cliquez visitez inscrivez télécharger rejoignez haga clic visita visite regístrate únete clicca iscriviti clique
    acesse cadastre klik bezoek kliknij odwiedź zarejestruj sprawdź klicka besök besøg нажмите перейдите переходите жмите
    ссылка ссылке регистрация tıkla tıklayın ziyaret kayıt 点击 链接 クリック こちら daftar`,
  answering: `reply respond answer interested interest contact call write email message discuss schedule book meeting demo chat
    antworten antworte interesse interessiert melden kontaktieren anrufen termin gespräch répondez intéressé contactez
    appelez échange rendez rappeler responda responde interesa interesado interesados contacte escríbanos llámanos reunión
    rispondi interessato contattaci chiama risponda interessado contato chame reageer odpisz zainteresowany kontakt zadzwoń
    svara intresserad ответьте интересно интересует пишите напишите звоните свяжитесь yanıtlayın cevap ilginizi arayın
    iletişim yazın 联系 回复 咨询 ご連絡 ご返信 お問い合わせ hubungi`,
  messenger: `whatsapp telegram skype wechat viber signal tg wa whats телеграм телеграмм ватсап вотсап вайбер тг telegramda 微信 line
    discord icq`,
  growth: `grow growth boost increase double triple scale skyrocket improve maximize generate steigern wachsen mehr wachstum
    erhöhen optimieren augmenter augmentez doubler croissance développer aumentar aumente crecer impulsar crecimiento
    multiplicar aumentare crescere crescita crescer verhogen groeien zwiększ zwiększamy wzrost öka увеличить увеличьте рост
    увеличим повысить привлечь artırın artır büyütün 提升 增长 拡大 meningkatkan`,
  customers: `customers clients leads sales buyers revenue conversions conversion audience followers kunden umsatz anfragen neukunden
    verkäufe ventes prospects clientes ventas clientela vendite clienti vendas seguidores klanten omzet klientów sprzedaż
    kunder försäljning клиентов клиенты продажи продаж заявок подписчиков müşteri müşteriler satış takipçi 客户 销量 粉丝 売上 顧客
    pelanggan`,
  experts: `team agency experts expert professionals professional specialist specialists developers designers manufacturer
    manufacturers supplier suppliers factory leading experienced certified agentur experten spezialisten hersteller
    lieferant fachleute équipe agence fabricant spécialistes equipo agencia expertos fabricantes proveedor especialistas
    squadra agenzia esperti produttore equipe agência fabricante bureau zespół agencja specjaliści producent команда
    агентство специалисты фабрика производитель завод экспертов ekip ekibimiz ajans uzman üretici fabrika 工厂 厂家 团队 专业 チーム`,
  proof: `years year experience portfolio proven results guaranteed guarantee guarantees track success trusted jahre jahren
    erfahrung garantiert garantie erfolg ergebnisse ans expérience garanti résultats años experiencia garantizado garantía
    resultados anni esperienza garantito garanzia risultati anos experiência garantido garantia jaar ervaring lat
    doświadczenia gwarancja wyniki års erfarenhet лет опыт опыта гарантия гарантируем результат yıl deneyim garantili sonuç
    年 经验 保证 実績 保証`,
  haste: `now today urgent immediately final last limited expires expire deadline hurry only hours asap notice tonight jetzt heute
    sofort dringend letzte nur stunden frist maintenant aujourd'hui dernier heures immédiatement ahora hoy urgente último
    últimas horas inmediatamente solo adesso oggi ultimo ore subito agora hoje apenas nu vandaag teraz dziś pilne ostatnie
    tylko idag сейчас сегодня срочно последний часов только осталось hemen bugün son acil sadece 今天 立即 仅限 本日 限定 今すぐ`,
  account: `account password verify verification suspended login confirm security payment invoice overdue billing bank konto
    passwort bestätigen gesperrt rechnung zahlung compte mot vérifier confirmez facture paiement cuenta contraseña verificar
    confirme factura pago conto verifica conferma fattura pagamento conta senha verifique fatura rekening bevestig hasło
    potwierdź faktura счёт счет подтвердите аккаунт оплата пароль hesap hesabınız şifre onaylayın 账户 账号 验证 アカウント 確認`,
  stopping: `unsubscribe opt remove stop unwanted abmelden abbestellen désabonner désinscrire darse baja cancelar disiscriversi
    descadastrar uitschrijven wypisać отписаться отпишитесь отказаться`,
  "dear owner": `dear sir madam owner manager admin webmaster director ceo greetings geehrte geehrter damen herren inhaber
    geschäftsführer madame monsieur responsable gérant estimado estimada señor propietario gerente gentile titolare
    responsabile spettabile prezado proprietário responsável geachte eigenaar szanowni właściciel уважаемые уважаемый
    руководитель владелец sayın yetkili 尊敬 ご担当者様 站长 老板`,
  introduction: `name am represent behalf founder consultant heiße namens bin m'appelle suis représente llamo soy represento chiamo sono
    chamo sou heet nazywam jestem heter зовут представляю являюсь adım 我是 申します`,
  software: `software app apps tool tools platform ai automation chatbot crm development design logo marketing ads advertising
    campaign campaigns social media werbung entwicklung kampagne kampagnen développement publicité campagnes logiciel
    desarrollo publicidad campañas sviluppo pubblicità campagne desenvolvimento anúncios campanhas ontwikkeling tworzenie
    reklama kampanii разработка разработку реклама рекламу рекламы рассылка geliştirme reklam tasarım 开发 推广 广告 設計 制作 広告`,
  wholesale: `shipping wholesale bulk moq catalogue catalog export delivery stock oem großhandel versand katalog livraison gros envío
    mayorista catálogo spedizione ingrosso catalogo atacado frete groothandel hurtowe dostawa оптом доставка каталог опт
    карго toptan sevkiyat 批发 现货 采购`,
  order: `order ordered delivered parcel arrived received return returned refund bestellt bestellung lieferung paket angekommen
    zurück retoure commandé commande colis livré reçu remboursement pedido recibido llegó paquete devolución ordinato ordine
    pacco arrivato ricevuto rimborso recebi chegou besteld bestelling pakket zamówiłem zamówienie paczka beställde заказал
    заказ заказала посылка пришла получил sipariş kargo gelmedi 订单 收到 注文 届き`,
  booking: `appointment reserve reservation table room booking booked ticket tickets class course lesson registration tisch zimmer
    kurs anmeldung karten réservation chambre réserver cours inscription cita reserva mesa habitación curso entradas
    appuntamento prenotare prenotazione camera corso iscrizione consulta quarto afspraak reserveren cursus wizyta rezerwacja
    stolik zapisać boka запись записаться столик номер курс билеты randevu rezervasyon masa oda 预约 预订 予約`,
  fault: `broken error problem fault wrong missing doesn't cannot can't won't lost damaged stopped complaint kaputt fehler defekt
    falsch fehlt funktioniert geht verloren cassé erreur problème marche manque perdu roto problema falta funciona perdido
    rotto errore manca funziona perso quebrado erro perdi kapot fout werkt zepsuty błąd brakuje działa trasig сломался
    ошибка проблема работает потерял сломалась bozuk hata çalışmıyor kayıp 坏 错误 问题 丢 壊れ 故障`,
  family: `daughter wife husband mother father child children kids grandmother sister brother neighbour friend dog cat school
    tochter sohn frau mann mutter vater kind kinder nachbar hund katze schule fille fils femme mari mère père enfant enfants
    voisin chien école hija hijo mujer marido madre padre niño niños vecino perro gato escuela colegio figlia figlio moglie
    marito bambino bambini vicino cane gatto scuola filha filho esposa mãe pai criança vizinho dochter zoon vrouw moeder
    buurman hond córka syn żona mąż matka ojciec dziecko sąsiad pies kot szkoła dotter дочь сын жена муж мама мать отец
    ребёнок ребенок дети сосед собака кошка школа kızım oğlum eşim annem babam çocuk komşu köpek kedi okul 女儿 儿子 妈妈 爸爸 孩子 娘
    息子 母 父 子供`,
  day: `monday tuesday wednesday thursday friday saturday sunday yesterday tomorrow evening morning week montag dienstag
    mittwoch donnerstag freitag samstag sonntag gestern morgen abend woche lundi mardi mercredi jeudi vendredi samedi
    dimanche hier demain soir matin semaine lunes martes miércoles jueves viernes sábado domingo ayer mañana semana lunedì
    martedì mercoledì giovedì venerdì sabato domenica ieri domani sera settimana segunda terça quarta quinta sexta ontem
    amanhã maandag dinsdag woensdag donderdag vrijdag zaterdag zondag gisteren poniedziałek wtorek środa czwartek piątek
    sobota niedziela wczoraj jutro måndag tisdag onsdag torsdag fredag lördag söndag понедельник вторник среда среду четверг
    пятница пятницу суббота субботу воскресенье вчера завтра pazartesi salı çarşamba perşembe cuma cumartesi pazar dün yarın
    星期 周末 昨天 明天 昨日 明日`,
  politeness: `thanks thank please sorry regards danke bitte entschuldigung grüße merci s'il pardon cordialement gracias por favor
    perdón saludos grazie scusi cordiali obrigado obrigada desculpe bedankt alstublieft dziękuję proszę przepraszam
    pozdrawiam tack спасибо пожалуйста извините teşekkürler lütfen 谢谢 请问 ありがとう お願いします`,
};
