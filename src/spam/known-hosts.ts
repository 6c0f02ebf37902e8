/**
 * Hosts that hide where a link leads. Most are from the Comment Blocklist for WordPress (MIT, Grant Hutchinson; see
 * docs/third-party-data.md), without hosts that are more than shorteners.
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

/** Pages at large providers that anybody can set up and that redirect, as a host and the beginning of a path. */
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

/** Top-level domains that cost little or nothing, and that occur far more often in spam than in genuine posts. */
export const CHEAP_TOP_LEVEL: ReadonlySet<string> = new Set(
  `xyz top click icu buzz cyou sbs rest bond quest monster cfd pw tk ml ga cf gq su bid loan win trade date party review
  stream racing download vip fun site online store shop space website club live cam bet casino lol mom autos hair`
    .trim()
    .split(/\s+/),
);

/** Domains with mailboxes that anybody can read, or that disappear after minutes. */
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

/** Providers at which anybody can have a mailbox. */
export const MAIL_HOSTS: ReadonlySet<string> = new Set(
  `gmail.com googlemail.com outlook.com hotmail.com hotmail.co.uk hotmail.fr hotmail.de hotmail.it hotmail.es live.com
  live.co.uk live.fr msn.com yahoo.com yahoo.co.uk yahoo.fr yahoo.de yahoo.it yahoo.es yahoo.co.in yahoo.co.jp yahoo.com.br
  ymail.com rocketmail.com aol.com icloud.com me.com mac.com proton.me protonmail.com pm.me tutanota.com tuta.io zoho.com
  mail.com email.com fastmail.com fastmail.fm hey.com hushmail.com gmx.com gmx.de gmx.net gmx.at gmx.ch web.de t-online.de
  freenet.de posteo.de mailbox.org bluewin.ch orange.fr wanadoo.fr free.fr sfr.fr laposte.net libero.it virgilio.it
  tiscali.it alice.it terra.es ziggo.nl kpnmail.nl telenet.be skynet.be btinternet.com sky.com virginmedia.com ntlworld.com
  comcast.net verizon.net att.net sbcglobal.net bellsouth.net cox.net charter.net earthlink.net shaw.ca rogers.com
  bigpond.com optusnet.com.au xtra.co.nz uol.com.br bol.com.br terra.com.br mail.ru inbox.ru list.ru bk.ru yandex.ru
  yandex.com ya.ru rambler.ru ukr.net i.ua abv.bg wp.pl o2.pl onet.pl interia.pl seznam.cz centrum.cz azet.sk freemail.hu
  citromail.hu qq.com foxmail.com 163.com 126.com sina.com sohu.com aliyun.com naver.com daum.net hanmail.net
  rediffmail.com`
    .trim()
    .split(/\s+/),
);

/** Hosts of links that begin a chat with a stranger. */
export const MESSENGER_HOSTS: ReadonlySet<string> = new Set(
  `t.me telegram.me telegram.dog wa.me whatsapp.com chat.whatsapp.com api.whatsapp.com discord.gg join.skype.com viber.com
  line.me signal.me m.me wechat.com icq.im zalo.me kik.me snapchat.com`
    .trim()
    .split(/\s+/),
);

/** Hosts that give anybody a free page under their name. */
export const FREE_HOSTS: ReadonlySet<string> = new Set(
  `blogspot.com weebly.com wixsite.com webnode.com webnode.page yolasite.com site123.me 000webhostapp.com ucoz.ru ucoz.net
  bravesites.com mystrikingly.com jimdosite.com jimdofree.com over-blog.com livejournal.com tumblr.com wordpress.com
  netlify.app vercel.app pages.dev workers.dev herokuapp.com glitch.me carrd.co linktr.ee beacons.ai godaddysites.com
  square.site business.site tilda.ws webflow.io framer.website notion.site r2.dev s3.amazonaws.com blob.core.windows.net
  azurewebsites.net myshopify.com gumroad.com systeme.io clickfunnels.com getresponsepages.com typeform.com jotform.com
  hotmart.com clickbank.net digistore24.com fiverr.com upwork.com payhip.com ko-fi.com`
    .trim()
    .split(/\s+/),
);

/** Sites that nearly everybody links to. Their pages have random-looking addresses, and a link to them is no pitch. */
export const WELL_KNOWN_HOSTS: ReadonlySet<string> = new Set(
  `youtube.com youtu.be vimeo.com wikipedia.org wikimedia.org wikidata.org github.com gitlab.com bitbucket.org codeberg.org
  stackoverflow.com stackexchange.com developer.mozilla.org docs.google.com drive.google.com maps.google.com
  photos.google.com maps.app.goo.gl photos.app.goo.gl osm.org openstreetmap.org w3w.co postimg.cc ibb.co dropbox.com
  onedrive.live.com 1drv.ms
  wetransfer.com we.tl icloud.com flickr.com imgur.com instagram.com facebook.com linkedin.com twitter.com x.com reddit.com
  bsky.app mastodon.social pinterest.com soundcloud.com spotify.com open.spotify.com bandcamp.com imdb.com goodreads.com
  amazon.com amazon.co.uk amazon.de amazon.fr amazon.es amazon.it ebay.com ebay.co.uk ebay.de etsy.com ikea.com airbnb.com
  booking.com tripadvisor.com strava.com komoot.com meetup.com eventbrite.com doodle.com zoom.us teams.microsoft.com
  microsoft.com apple.com mozilla.org archive.org bbc.co.uk bbc.com theguardian.com nytimes.com reuters.com spiegel.de
  lemonde.fr elpais.com repubblica.it nos.nl gov.uk europa.eu who.int nasa.gov nih.gov doi.org arxiv.org orcid.org
  researchgate.net jstor.org w3.org ietf.org debian.org ubuntu.com python.org nodejs.org docs.rs readthedocs.io`
    .trim()
    .split(/\s+/),
);

/** Whether a host is one of these or below one of them. */
export function isHostBelow(host: string, hosts: ReadonlySet<string>): boolean {
  return hostAbove(host, hosts) !== null;
}

/** Finds the one of these hosts that is the same as a host or a domain above it; null if there is none. */
export function hostAbove(host: string, hosts: ReadonlySet<string>): string | null {
  for (let rest = host, dot = 0; ; rest = rest.slice(dot + 1)) {
    if (hosts.has(rest)) return rest;
    dot = rest.indexOf(".");
    if (dot === -1) return null;
  }
}
