import type { PhrasePatterns } from "./meanings.ts";

export const GERMAN: PhrasePatterns = {
  "found you": `(auf|über) (ihre|ihrer|ihren|eure|eurer|deine|deiner) (website|webseite|homepage|seite|internetseite|firma|praxis|shop)
    (gestoßen|aufmerksam geworden|gelandet|gekommen), (ihre|deine|eure) (website|webseite|homepage|seite) (angeschaut|angesehen|
    gefunden|entdeckt|besucht|analysiert|geprüft|durchgesehen), (ihre|deine|eure) (website|webseite|homepage) (ist mir|hat mir|
    verliert|könnte), (bin|sind|wurde|wurden) (ich |wir |)(auf sie|auf ihr unternehmen|auf ihren betrieb) (aufmerksam|gestoßen)`,
  "to the owner": `(unternehmen|firmen|betrieben|betriebe|praxen|kanzleien|shops|unternehmer|handwerker|händler) wie (ihres|ihrem|
    ihnen|sie|dich|deins|ihre|ihren), sehr geehrter (unternehmer|geschäftsführer|inhaber|websitebetreiber|betreiber),
    (liebe|lieber|geehrte) (unternehmer|geschäftsführer|inhaber|websitebetreiber|händler), an die geschäftsleitung,
    (richtige|richtiger|zuständige|richtigen|zuständigen) (ansprechpartner|person|stelle|kollegen),
    (zuständigen|verantwortlichen) (weiterleiten|weitergeben|weiterzuleiten), falls sie nicht (zuständig|der richtige)`,
  "we offer": `wir (bieten|liefern|vermitteln|unterstützen|helfen|erstellen|programmieren|entwickeln|übernehmen|kaufen|produzieren|
    verkaufen|finanzieren|beraten|optimieren|bringen|sorgen) (ihnen|unternehmen|firmen|betrieben|betriebe|ihr|ihre|ihren|websites|
    webseiten|kleine|kleinen|kunden|auch|professionelle|hochwertige|günstige|maßgeschneiderte|direkt|selbständigen|händlern|alle),
    wir sind (ein|eine|der|die|ihr|spezialisiert|hersteller|direkthersteller) (* |)(agentur|team|unternehmen|hersteller|anbieter|
    partner|spezialist|spezialisten|dienstleister|lieferant|auf), wir haben uns auf (* |)(* |)spezialisiert,
    unser (team|unternehmen|system|angebot|service) (bietet|hilft|übernimmt|kümmert|liefert|umfasst|unterstützt|besteht),
    unsere (agentur|firma|plattform|software|lösung|experten|spezialisten|dienstleistungen|leistungen|kunden) (bietet|bieten|hilft|
    helfen|übernimmt|umfassen|sparen|unterstützt|erhalten|kümmern|liefert),
    ich (biete ihnen|helfe unternehmen|helfe selbständigen|unterstütze unternehmen|vertrete|bin (freiberuflicher|freelancer|
    webdesigner|seo|finanzberater|unternehmensberater|ihr ansprechpartner)), im auftrag (eines|unserer|meines) (kunden|mandanten|investors)`,
  boasts: `(jahre|jahren|jahrelange|langjährige) erfahrung (in|im|mit|und), über # (kunden|unternehmen|firmen|zufriedene|projekte),
    (mehr als|bereits) # (kunden|unternehmen|firmen|zufriedene|betriebe), zahlreiche (zufriedene|kunden|referenzen), (tausende|hunderte)
    (kunden|unternehmen|betriebe|zufriedene), (top|beste|höchste) (qualität|preise|konditionen) (zu|zum|und), marktführer,
    direkt vom hersteller, ab werk, (faire|günstige|unschlagbare|attraktive) (preise|konditionen|festpreise)`,
  growth: `(mehr|neue|neuen|zusätzliche) (kunden|kundenanfragen|anfragen|umsatz|aufträge|besucher|leads|patienten|mandanten|reichweite|
    bewerber|buchungen|sichtbarkeit|follower|bewertungen) (für|über|auf|gewinnen|aus|bei|generieren|ohne|durch|pro|in),
    (umsatz|umsätze|reichweite|sichtbarkeit) (steigern|erhöhen|verdoppeln|zu steigern), steigern sie, gewinnen sie (neue|mehr),
    seite (1|eins|#) bei google, (erste|ersten) seite (bei|von|auf) google, bei google (auf|ganz|nach|weiter|besser) (oben|platz|seite|
    gefunden|die|vorne), besser (gefunden|sichtbar|platziert), (sparen|senken) sie (bis|ihre|bares|zeit|geld|#|durchschnittlich|monatlich),
    (verlieren|entgehen) (sie|ihnen) (kunden|täglich|jeden|aufträge|umsatz|anfragen), top platzierung, platz 1`,
  free: `(kostenlos|kostenlose|kostenloses|kostenlosen|kostenfreie|kostenfreies|gratis) (und unverbindlich|unverbindlich|
    erstgespräch|erstberatung|analyse|beratung|angebot|muster|probe|demo|test|check|katalog|vorschau|entwurf|potenzialanalyse|
    testphase|website check), unverbindlich (und kostenlos|beraten|testen|anfragen|ein|zukommen), unverbindliches (angebot|gespräch|
    erstgespräch), unverbindliche (beratung|analyse|anfrage), ohne (risiko|verpflichtung|vorkasse|vertragsbindung|
    mindestlaufzeit|anzahlung|schufa|bonitätsprüfung|vertragslaufzeit|vorkosten|grundgebühr), geld zurück, erfolgsbasiert,
    garantierte (platzierung|rendite|ergebnisse|gewinne), erfolgsgarantie, (zahlen|bezahlen) (sie |)(nur|erst) (bei|nach|im|wenn)`,
  price: `(schon |bereits |)ab (nur |)$, für nur $, nur $, $ (pro|im|netto|monatlich|zzgl), # rabatt, # günstiger, nur noch (heute|
    bis|wenige|diese|#), (angebot|aktion|rabatt|preis) (gilt|endet|läuft|nur) (nur|bis|noch|heute|diese|am), zum (festpreis|sonderpreis|
    aktionspreis|einführungspreis), nur für kurze zeit, solange der vorrat, (wenige|freie|#) (plätze|restplätze) (frei|verfügbar|
    übrig|zu vergeben), (exklusives|einmaliges|zeitlich begrenztes|unschlagbares) angebot, jetzt zugreifen, preisliste (zu|anfordern|senden)`,
  asks: `(haben sie|hätten sie|hast du|habt ihr|besteht|bestünde|haben wir ihr|falls|bei|wenn) (* |)(interesse|interesse geweckt),
    sind sie interessiert, (wären|sind) sie (offen|bereit) für, (darf|soll|kann|dürfte|dürfen|sollen|können) (ich|wir) (ihnen|euch|dir) (* |
    )(* |)(* |)(zusenden|schicken|senden|zukommen|zeigen|unterbreiten|anbieten|vorstellen|erstellen|zuschicken),
    (kurzes|kurzen|unverbindliches|#|# minütiges) (telefonat|gespräch|anruf|austausch|call|termin|kennenlernen), kurz telefonieren,
    (antworten|schreiben) sie (einfach|mit ja|auf diese|kurz|nur|uns|mir), (antworte|antworten) (einfach |)mit (ja|info),
    (termin|gespräch|erstgespräch|demo) (vereinbaren|buchen|sichern), (wann|ob) (passt|passen) (es ihnen|ihnen),
    (über|auf) (eine|ihre) (rückmeldung|antwort|zusammenarbeit|positive) (würde|freue|würden|freuen), (kontaktieren|rufen) sie (uns|mich) (noch |)(heute|jetzt|gerne|an)`,
  acts: `(hier|jetzt) (klicken|anmelden|registrieren|sichern|bestellen|starten|bewerben|anfordern|buchen|testen|downloaden|kaufen|
    teilnehmen|informieren), (klicken|besuchen|registrieren|sichern|bestellen|melden|testen) sie (hier|auf|unsere|sich|jetzt|noch|den|uns|ihren|ihr),
    (folgen|öffnen) sie (dem|den) (link|folgenden), (mehr|weitere) (infos|informationen|details) (unter|hier|auf|finden sie|gibt es),
    (unter|über) (folgendem|diesem) link, gutscheincode, lassen sie sich (das|diese|nicht|überzeugen|beraten), (kostenlos|gratis) (anmelden|registrieren|testen|herunterladen)`,
  chat: `(schreiben|melden|kontaktieren|erreichen) (sie |)(uns |mir |mich |sich |)(einfach |)(auf|per|über|bei) (whatsapp|telegram), per (whatsapp|telegram),
    (auf|über|via) (whatsapp|telegram), unsere telegram, kontaktformular (ihrer|gefunden)`,
  stop: `(keine|keinen) (weiteren |weitere |)(nachrichten|e mails|mails|kontakt|mail|e mail|informationen|werbung|angebote) (mehr |)(erhalten|wünschen|bekommen|
    möchten|von uns), (abmelden|abbestellen|austragen) (möchten|wollen|können|antworten|sie|unter), nicht (mehr |)(kontaktiert|angeschrieben) werden,
    (antworten|antworte) (sie |)(bitte |)mit (stop|stopp|nein|abmelden), (kein|falls kein|sollte kein) (interesse|bedarf) (haben|besteht|bestehen),
    (entschuldigen|verzeihen) sie (die|bitte) (störung|die störung|unaufgeforderte), einmalige (nachricht|anfrage|mail), (löschen|ignorieren) sie diese (nachricht|mail)`,
  "easy money": `$ (am|pro) (tag|woche|stunde) (verdienen|verdient|nebenbei|von), (verdienen|verdiene|verdienst) (sie |du |)(bis zu |)(von zuhause|von zu hause|$|
    online|bequem|täglich|nebenbei), von (zuhause|zu hause) (aus |)(arbeiten|verdienen|geld), (passives|zusätzliches|nebenbei) einkommen,
    finanzielle freiheit, (sofortkredit|privatkredit|kredit|darlehen) (von|ohne|ab|bis|zwischen|in|für|mit|an), kreditangebot,
    zinssatz von, (gewonnen|ausgewählt|ausgelost) (haben|wurden|worden), sie (haben|wurden) (gewonnen|ausgewählt|als gewinner|ausgelost),
    (rendite|renditen|gewinne|zinsen) (von|bis|ab|pro), (investieren|einzahlen|anlegen) sie (ab|nur|jetzt|$), bitcoin (trading|plattform|gewinne),
    (willkommensbonus|freispiele|einzahlungsbonus), (erbschaft|nachlass|erbin|erben) (von|in höhe|hinterlassen)`,
  threats: `(konto|domain|postfach|zugang|website|karte|paket|eintrag) (wird|wurde|ist) (gesperrt|gelöscht|eingeschränkt|deaktiviert|gekündigt|blockiert|
    vorübergehend|abgeschaltet|zurückgehalten), (letzte|letzter|letztmalige) (mahnung|aufforderung|warnung|erinnerung|hinweis|chance|frist),
    innerhalb (von |der nächsten )# (stunden|tagen) (zu|bestätigen|bezahlen|überweisen|wird|sonst|andernfalls), (bestätigen|verifizieren|aktualisieren) sie
    ihr(e|en|) (konto|daten|identität|zahlungsdaten|passwort|bankdaten|zugangsdaten), (zur vermeidung|um eine sperrung|um die sperrung),
    (rechtliche schritte|gerichtliches|inkasso|zwangsvollstreckung|abmahnung) (einleiten|eingeleitet|drohen|droht|gegen|verfahren), offene (rechnung|forderung) (von|in|begleichen)`,
};

export const DUTCH: PhrasePatterns = {
  "found you": `(uw|je|jullie) (website|site|webshop|pagina|bedrijf|webwinkel) (bekeken|gevonden|bezocht|tegengekomen|geanalyseerd|tegen gekomen),
    (op|naar) (uw|je|jullie) (website|site|webshop|bedrijf) (gestuit|terecht|terechtgekomen|beland|gekeken), kwam (ik |)(uw|je|jullie) (website|site|bedrijf|webshop)`,
  "to the owner": `(bedrijven|ondernemers|ondernemingen|winkels|webshops|praktijken|zaken) (zoals|als) (het uwe|uw|die van u|u|jullie|jij|dat van),
    (beste|geachte) (ondernemer|eigenaar|websitebeheerder|webmaster|directie|ondernemers), (juiste|verantwoordelijke) (persoon|contactpersoon|collega),
    (doorsturen|doorgeven) (naar|aan) (de|uw|je) (juiste|verantwoordelijke|eigenaar|collega|manager|beslisser)`,
  "we offer": `wij (bieden|leveren|verzorgen|helpen|maken|bouwen|ontwikkelen|zijn gespecialiseerd|specialiseren|kopen|produceren|ondersteunen|regelen|
    garanderen|nemen), we (bieden|leveren|verzorgen|helpen|bouwen|maken) (bedrijven|ondernemers|u|uw|professionele|websites|ook|jullie|je), wij zijn (een|de|dé) (* |)(bureau|
    bedrijf|team|leverancier|fabrikant|specialist|partner|producent), (ons|onze) (team|bureau|bedrijf|platform|software|experts|diensten|specialisten|oplossing|klanten)
    (biedt|helpt|helpen|bieden|verzorgt|levert|kan|kunnen|besparen|omvatten|zorgt), ik (bied|help bedrijven|help ondernemers|ben een freelance|vertegenwoordig), namens (onze|mijn) (klant|bureau|bedrijf|opdrachtgever)`,
  boasts: `(jaar|jarenlange) ervaring (in|met|en), (meer dan|ruim|al) # (klanten|bedrijven|ondernemers|tevreden|jaar ervaring), tevreden klanten,
    (scherpe|beste|laagste) (prijs|prijzen|tarieven) (en|van|in|voor), rechtstreeks (van|uit) (de |)fabriek, marktleider`,
  growth: `(meer|nieuwe|extra) (klanten|omzet|bezoekers|aanvragen|leads|opdrachten|boekingen|verkopen|patiënten|volgers|zichtbaarheid) (via|voor|te|uit|krijgen|
    genereren|binnen|halen|op|zonder|per), (omzet|zichtbaarheid|verkoop) (verhogen|verdubbelen|vergroten|te verhogen), (hoger|bovenaan|beter|boven aan) (in|op|vindbaar|gevonden) (google|in|op|te|worden),
    eerste pagina (van|in|op) google, (bespaar|besparen) (tot|op|direct|u|flink|#|gemiddeld), (loopt|mist|verliest) (u|je) (klanten|omzet|veel|dagelijks|kansen)`,
  free: `(gratis|vrijblijvend|vrijblijvende|kosteloze|kosteloos) (offerte|scan|analyse|adviesgesprek|gesprek|kennismaking|demo|proefperiode|advies|
    en vrijblijvend|en kosteloos|consult|monster|monsters|audit|voorbeeld|proberen|website scan|quickscan|proef|intake|voorstel),
    geheel vrijblijvend, (gratis en|volledig) vrijblijvend, zonder (verplichtingen|verplichting|risico|vooruitbetaling|aanbetaling|bkr|contract|opstartkosten|kosten vooraf),
    geen (verplichtingen|contract|resultaat geen|cure no), niet goed geld terug, gegarandeerd (resultaat|rendement|meer|op), gegarandeerde`,
  price: `(vanaf|slechts|maar|voor) (slechts |maar |)$ (per|p|ex|excl|exclusief|in), (vanaf|slechts) $, # korting, (nog |)(slechts|maar) # (plekken|plaatsen|dagen),
    (aanbieding|actie|korting|aanbod) (geldt|loopt|eindigt|geldig|is geldig|verloopt) (alleen|tot|nog|t), alleen (vandaag|deze week|deze maand), op is op, tijdelijke (aanbieding|actie|korting), vaste prijs`,
  asks: `(heeft|hebt|heb|hebben) (u|je|jullie) (interesse|belangstelling), (interesse|benieuwd|geïnteresseerd) (laat|stuur|mail|bel|dan|antwoord|reageer|in een|in onze),
    (mag|mogen|kan|zal|zullen) (ik|wij|we) (u|je|jullie) (* |)(* |)(* |)(sturen|toesturen|bellen|laten zien|mailen|voorstellen|aanbieden|opsturen), (staat|zou) (u|je) (open|openstaan) voor,
    (kort|korte|vrijblijvend|vrijblijvende|# minuten) (gesprek|telefoongesprek|belletje|kennismaking|afspraak|bellen|call),
    (antwoord|reageer|mail|stuur|beantwoord) (dan |gewoon |simpelweg |)(met ja|op deze|ja|even|mij|ons), (plan|boek) (een|direct|nu|je) (afspraak|gesprek|demo|gratis|call), neem (vandaag|gerust|nu|vrijblijvend) (nog |)contact`,
  acts: `klik (hier|op|nu), (bezoek|bekijk) (onze|ons|mijn) (website|site|aanbod|webshop|pagina|portfolio), (meld|schrijf) (je|u) (nu|hier|vandaag|gratis) (aan|in), (meer|verdere) (info|informatie) (op|via|hier|vind),
    (bestel|start|registreer|probeer|profiteer|vraag|claim|download) (nu|vandaag|direct|hier), via (deze|onderstaande|de) link, (mis|laat) (deze|dit|deze kans) (kans|niet|aanbieding)`,
  chat: `(via|op|per) (whatsapp|telegram), (app|whatsapp) (ons|mij|me) (op|via|gerust), (contactformulier|contact formulier) (op|van) (uw|je)`,
  stop: `(geen|niet meer) (verdere |)(berichten|mails|e mails|mail|post|benaderd|gecontacteerd) (meer |)(ontvangen|wenst|wilt|van ons|worden), afmelden (kan|via|door|voor|wilt), uitschrijven (kan|via|door|wilt), (antwoord|mail|reageer) (dan |)(met )(stop|nee|afmelden),
    (geen interesse|niet geïnteresseerd) (dan|laat|stuur|mail|antwoord|reageer), (excuses|sorry|excuseer) voor (de|het) (storing|ongevraagde|storen), eenmalig (bericht|mail), ongevraagde (mail|bericht)`,
  "easy money": `$ per (dag|week|maand|uur) (verdienen|bijverdienen|extra), (verdien|verdienen) (tot|$|geld|thuis|vanuit|dagelijks|online), vanuit huis (werken|geld|verdienen), thuis (geld verdienen|werken en), passief inkomen, financiële vrijheid,
    (lening|leningen|krediet) (nodig|van|tot|aanbod|zonder|aanvragen|aanbieden|met|tussen), rente van, (u|je) (hebt|heeft|bent) (gewonnen|geselecteerd|uitgekozen), (rendement|winst) (van|tot|per), (investeer|inleg) (vanaf|nu|$|slechts), (welkomstbonus|gratis spins)`,
  threats: `(account|rekening|domein|domeinnaam|mailbox|pakket|website|kaart) (wordt|is|werd|zal|kan) (geblokkeerd|opgeschort|afgesloten|verwijderd|beperkt|gedeactiveerd|tijdelijk|vastgehouden), (laatste|finale) (herinnering|aanmaning|waarschuwing|kans|sommatie),
    binnen # (uur|dagen|werkdagen) (te|betalen|bevestigen|wordt|anders|om), (bevestig|verifieer|update|controleer) (uw|je) (gegevens|account|identiteit|rekening|betaalgegevens|wachtwoord), (deurwaarder|incasso|beslag|juridische stappen|beslaglegging) (ingeschakeld|wordt|op|te|volgen|tegen), (openstaande|onbetaalde) (factuur|rekening|boete|schuld|bedrag)`,
};

/** Swedish, Norwegian and Danish together: hardly any phrase of one of them means something else in another. */
export const SCANDINAVIAN: PhrasePatterns = {
  "found you": `(hittade|såg|besökte|besøkte|fandt|fant|så|besøgte|tittade på|kikket på|kiggede på|kom över|kom over|snublade över|snublet over|faldt over|stötte på) (er|din|jeres|deres|eran) (hemsida|webbplats|sida|sajt|hjemmeside|nettside|nettsted|webside|webshop|butik|bedrift|virksomhed|firma|företag|side)`,
  "to the owner": `(företag|bedrifter|virksomheder|butiker|bolag|firmaer|butikker|nettbutikker|webshops|selskaper) (som|såsom) (ert|er|ditt|deres|din|jeres|dig|jer|dere),
    (bästa|kjære|kære|hej|hei) (företagare|ejer|eier|bedriftseier|virksomhedsejer|websiteägare|ägare), (rätt|rette|riktig|ansvarig|ansvarlige) (person|kontaktperson|medarbejder|vedkommende), (vidarebefordra|videresend|videreformidl|skicka vidare) (detta|till|dette|den|til)`,
  "we offer": `vi (erbjuder|tilbyder|tilbyr|hjälper|hjelper|hjælper|levererar|leverer|är specialiserade|er spesialister|er specialiserede|har spesialisert|har specialiseret|har specialiserat|specialiserar|bygger|utvecklar|udvikler|utvikler|köper|køber|kjøper|producerar|producerer|skapar|lager nettsider|laver hjemmesider) (er|företag|bedrifter|virksomheder|hemsidor|dig|jer|dere|deg|små|oss|os|professionella|profesjonelle|professionelle|lokala|på|hjemmesider|nettsider|alt|även|i|ett|et|en),
    vi (är|er) (en|ett|et|din|ledande|ledende|det) (* |)(byrå|bureau|leverantör|leverandør|team|tillverkare|produsent|producent|partner|företag|selskap|virksomhed|firma), (vårt|vår|våra|våre|vores) (team|byrå|bureau|plattform|platform|tjänster|tjenester|lösning|løsning|experter|eksperter|kunder|företag|selskap) (hjälper|hjelper|hjælper|erbjuder|tilbyr|tilbyder|kan|har|sparar|sparer|ser|inkluderar|inkluderer), (på uppdrag av|på vegne af|på vegne av) (en|vår|vores|min) (kund|klient|kunde)`,
  boasts: `(års|årig|årlig|årslång) (erfarenhet|erfaring) (av|inom|af|med|innen|inden|og|och), (över|mer än|over|mere end|mer enn) # (kunder|företag|bedrifter|virksomheder|nöjda|fornøyde|tilfredse), (nöjda|fornøyde|tilfredse) kunder, (bästa|beste|bedste|lägsta|laveste) (pris|priser|kvalitet) (och|og|på|i), direkt från (fabrik|fabriken|tillverkaren), direkte fra (fabrik|fabrikk|fabrikken|producenten|produsenten)`,
  growth: `(fler|flere|nya|nye) (kunder|besökare|besøkende|besøgende|leads|bokningar|bestillinger|bookinger|förfrågningar|følgere|patienter|forespørsler|henvendelser) (via|till|til|och|og|från|fra|genom|gjennom|gennem|uten|uden|utan|per|på|i), (öka|dubbla|doble|fordoble) (er|din|deres|jeres|ert|dit|försäljningen|omsättningen|salget|omsetningen|omsætningen), (högre|höyere|høyere|højere|överst|øverst|toppen) (upp |opp |)(i|på|av|af) google, (första|første|förstasidan|førstesiden|forsiden) (sidan |side |siden |)(på|i|av|af) google, (spara|spar) (upp till|opptil|op til|#|tid og|tid och|penger|penge|pengar), (missar|förlorar|mister|går glipp af|går glip af|taper) (ni |du |i |dere |)(kunder|försäljning|salg|leads)`,
  free: `(kostnadsfri|kostnadsfritt|gratis|uforpliktende|uforpligtende|gratis og uforpliktende|gratis og uforpligtende|kostnadsfri och|förutsättningslöst|förutsättningslös|vederlagsfri) (analys|analyse|offert|tilbud|konsultation|konsultasjon|rådgivning|demo|möte|møte|møde|genomgång|gjennomgang|gennemgang|samtal|samtale|snak|prat|prøveperiode|provperiod|prov|test|rapport|utkast|gennemgang|och|og),
    helt (kostnadsfritt|uforpliktende|uforpligtende|utan kostnad|utan förpliktelser|gratis og), (utan|uten|uden) (förpliktelser|bindningstid|forpliktelser|forpligtelser|bindingstid|binding|risk|risiko|förskottsbetalning|forskudd|forudbetaling|kreditupplysning|kredittsjekk|kreditvurdering|uc|startkostnad|oppstartskostnad|opstartsgebyr), ingen (bindningstid|bindingstid|binding|förpliktelser|forpliktelser|forpligtelser|startavgift), (garanterad|garanterade|garantert|garanteret|garanterede|garanterte), (pengarna tillbaka|pengene tilbake|pengene tilbage)`,
  price: `(från|fra|endast|kun|bara|bare|blott) (kun |bare |endast |)(#|$) (kr|kronor|kroner|sek|nok|dkk|per|i|pr) (i |per |pr |), # (rabatt|rabat), (erbjudandet|tilbudet|kampanjen|kampagnen) (gäller|gjelder|gælder|slutar|slutter|upphör|utløper|udløber) (endast|kun|bara|til|till|i|snart|på|den), (begränsat|begrenset|begrænset) (antal|antall|tid|erbjudande|tilbud), (så länge|så lenge|så længe) lagret, (bara|kun|endast|bare) (idag|i dag|denna vecka|denne uken|denne uge|# platser|# plasser|# pladser)`,
  asks: `(är|er) (ni|du|dere|i|det) (intresserade|intresserad|interessert|interesserte|interesseret|interesserede|intressant|interessant|öppna|öppen|åpen|åpne|åben|åbne) (av|för|i|for|å|at|att|om), (vill|vil|ønsker|önskar) (ni|du|dere|i) (veta mer|vite mer|vide mere|ha mer|se hur|se hvordan|have mere|få ett|få et|få en), (kan|får|ska|skal|må) (jag|jeg|vi) (skicka|sende|ringa|ringe|visa|vise|boka|booke|maila) (er|dig|deg|dere|jer|över|over|et|en|ett), (kort|uforpliktende|uforpligtende|# minuters|# min) (samtal|samtale|möte|møte|møde|snak|prat|telefonmøte|telefonsamtal|telefonsamtale|opkald), (svara|svar) (bara |bare |blot |med |)(ja|på detta|på dette|på denne|på den här|på mailet|på mejlet|jag|info), (boka|bestill|book) (en|ett|et) (demo|möte|møte|møde|samtal|samtale|tid), (låter|høres|lyder) (det|dette|detta) (intressant|interessant|spennende|spændende), (hör|ta|tag|hør) (av dig|kontakt|gjerne fra|gerne fra) (idag|i dag|for|för|så|hvis|om)`,
  acts: `(klicka|klikk|klik) (här|her|på), (besök|besøk|besøg) (vår|vores|våra|våre|oss|os), (läs|les|læs) (mer|mere) (här|her|på), (registrera|registrer|anmäl|meld|tilmeld) (dig|deg|er|dere) (här|nu|her|nå|idag|i dag|gratis), (beställ|bestill|bestil|köp|kjøp|køb|börja|start|prova|prøv|ladda|last|hent) (här|nu|her|nå|idag|i dag|gratis), (via|på) (länken|lenken|linket|denne lenken|denna länk|dette link), (missa|gå) (inte|ikke) (glipp|glip|detta|chansen)`,
  chat: `(på|via|per|över|over) (whatsapp|telegram|messenger), (kontaktformulär|kontaktskjema|kontaktformular|kontaktformulären|kontaktskjemaet) (på|hos)`,
  stop: `(avregistrera|avregistrere|afmeld|avmeld|avmeld|avprenumerera|avslutt|frameld) (dig|deg|er|dere|här|her|jer|abonnement|gjennom|genom), (inte|ikke) (längre |lenger |længere |)(vill ha|vil ha|ønsker|önskar|vil have|bli kontaktad|bli kontaktet|kontaktes|få) (fler|flere|mejl|mail|e post|meddelanden|meldinger|beskeder|igen|igjen), (svara|svar) (med |)(stopp|stop|nej|nei|avsluta), (inte|ikke) (intresserad|interessert|interesseret) (svara|svar|så|bara|bare|ignorer), (ursäkta|beklager|undskyld) (störningen|intrånget|forstyrrelsen|att jag stör|at jeg forstyrrer|ulejligheden)`,
  "easy money": `(tjäna|tjen|tjäna upp till|tjen op til|tjen opptil) (pengar|penger|penge|#|$|extra|ekstra) (hemifrån|hjemmefra|online|om|per|i|kr|kronor|kroner|på|från|fra), (jobba|jobb|arbejd|arbeta|arbeid) (hemifrån|hjemmefra) (och|og), passiv (inkomst|inntekt|indkomst), (ekonomisk|økonomisk|finansiell) (frihet|frihed), (lån|lånet|privatlån|kviklån|snabblån|forbrukslån) (på|upp till|opptil|op til|utan|uten|uden|från|fra|med|mellan|mellom|mellem) (#|$|uc|säkerhet|sikkerhet|sikkerhed|kreditupplysning|rki|ränta|rente), (räntesats|rentesats|ränta|rente) på, (du|ni|dere) har (vunnit|vunnet|vundet|blivit utvald|blitt valgt|blevet udvalgt), (investera|invester) (från|fra|nu|nå|#|$|kun|bara|bare), (välkomstbonus|velkomstbonus|gratisspinn|free spins)`,
  threats: `(konto|kontot|kontoen|kontoen|domän|domänen|domene|domenet|domæne|paket|pakke|pakken|paketet|kort|kortet) (har|är|er|blir|bliver|kommer|vil|vill) (blivit |blitt |blevet |att |bli |blive |midlertidigt |midlertidig |tillfälligt |)(spärrat|spärrad|sperret|spærret|stängt|stängas|stengt|lukket|begränsat|begrenset|begrænset|raderat|slettet|suspenderet|suspendert|tilbageholdt|tilbakeholdt|avstängt|avstängd), (sista|siste|sidste) (påminnelse|påminnelsen|advarsel|varning|påmindelse|rykker|sjanse|chans|chance|purring), (inom|innen|inden|indenfor) # (timmar|timer|dagar|dager|dage) (för|for|annars|ellers|eller|vil|blir|bliver), (bekräfta|bekreft|bekræft|verifiera|verifiser|verificer|uppdatera|oppdater|opdater) (ditt|din|dine|dina|er|deres|kontot|kontoen) (konto|uppgifter|opplysninger|oplysninger|identitet|betaling|betalning|kort), (obetald|ubetalt|utestående|udestående|ubetalte) (faktura|avgift|regning|beløp|beløb|gebyr), (inkasso|kronofogden|rättsliga åtgärder|rettslige skritt|retslige skridt)`,
};
