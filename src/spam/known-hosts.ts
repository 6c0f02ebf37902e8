/**
 * Hosts that hide where a link leads. Most are from the Comment Blocklist for WordPress (MIT, Grant Hutchinson; see
 * docs/third-party-data.md), without those that are more than shorteners.
 */
export const SHORTENERS: ReadonlySet<string> = new Set(
  `
    1i1.me 1url.cz 2h.ae 2ipe.tk 2u4.us 4ft.me acortar.link adf.ly alturl.co an0n.me ano.gd
    ateffa.ms b54.in bbqr.me bc.vc bit.do bit.ly bitly.co bitly.ws biturl.top bl.ink bom.so buff.ly
    c.gle cek.li chilp.it clc.li clck.ru cli.re clickfrm.co corneey.co cort.as corta.co cpmlink.net
    crwl.it cutt.ly cutt.us dad.do did.li dlvr.it eccl.es eit.tw encurtador.com.br fapme.pw fas.st
    fc.cx firsturl.de freest.at fwme.eu ge.tt gestyy.co gg.gg goo.gl goo.io goo.su got.by gt7.de
    gul.ly heylink.me hfg.cc home.s.id hop.cx ht.xyz huit.re hyperurl.co hypr.ink ibit.ly
    inx.inbox.lv inx.lv is.gd ity.im j.mp jl.ms ky.to l2u.su lil.ink lil.so lite.al ln.run lnkd.in
    loorg.de lstu.fr lvl.vn lyzo.io nblo.gs of1.shop oke.io onip.it ov.ms ow.ly owl.li owtf.co.uk
    p.ip.fi past.is pastein.ru picsee.io posts.gle ppus.tk prephe.ro psee.io qil.su qoo.by qps.ru
    rant.li rb.gy rebrand.ly redirme.co rih.co rlu.ru rlys.nl rrsm.nl s.id schott.im sco.lt
    short-url.org short.io shorte.st shorten.is shorturl.at shorturl.co shrinke.me shrinkr.top
    shrtfly.co smarturl.it smsh.me sn.im snipurl.co sqworl.com stfly.me su0.ru surl.li swish.st t.co
    t.ly tgi.link tiggi.es tiny.cc tiny.dk tinyl.io tinylink.in tinyls.net tinyurl.co tinyurl.com
    tinyurl.mobi tlkm.my tnyhs.com to.ly tr.im u.to url.kn urlms.co urlr.be urlr.me utiny.ml utka.su
    v.gd v.ht vk.cc wi.cr wntdco.mx wts.la x.co xor.tw xtl.jp xurl.es xxs.yt xy2.eu xzy.cz
    yaplink.co ylink.pro yourls.site yt.vu zo.ee zpr.io zzb.bz
  `
    .trim()
    .split(/\s+/),
);

/** Pages of large providers that anybody can make and that lead or send on, as host and beginning of the path. */
export const REDIRECTORS: readonly string[] = [
  "google.com/url",
  "script.google.com/macros",
  "sites.google.com/view",
  "forms.yandex",
  "yandex.com/poll",
  "yandex.ru/poll",
  "telegra.ph/",
  "graph.org/",
  "te.legra.ph/",
  "firebasestorage.googleapis.com",
  ".web.app",
  "youtube.com/redirect",
  "l.facebook.com/l.php",
];

/** Endings that cost little or nothing and that spam uses far more often than genuine posts do. */
export const CHEAP_TOP_LEVEL: ReadonlySet<string> = new Set(
  `xyz top click icu buzz cyou sbs rest bond quest monster cfd pw tk ml ga cf gq su bid loan win trade date party review
  stream racing download vip fun site online store shop space website club live cam bet casino lol mom autos hair`
    .trim()
    .split(/\s+/),
);

/** Mailboxes that anybody can read or that vanish after minutes. */
export const DISPOSABLE_DOMAINS: ReadonlySet<string> = new Set(
  `mailinator.com guerrillamail.com guerrillamail.net sharklasers.com grr.la 10minutemail.com 10minutemail.net tempmail.com
  temp-mail.org temp-mail.io tempmail.dev yopmail.com yopmail.fr yopmail.net trashmail.com trashmail.de wegwerfemail.de
  dispostable.com maildrop.cc mailnesia.com mintemail.com throwawaymail.com getnada.com mohmal.com fakeinbox.com
  spamgourmet.com mytemp.email emailondeck.com tempr.email discard.email mailcatch.com moakt.com tempail.com burnermail.io
  inboxkitten.com tempinbox.com spam4.me byom.de trbvm.com einrot.com cuvox.de armyspy.com dayrep.com fleckens.hu
  gustr.com jourrapide.com rhyta.com superrito.com teleworm.us`
    .trim()
    .split(/\s+/),
);
