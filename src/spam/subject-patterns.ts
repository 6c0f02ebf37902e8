/** Phrases by subject, for normalised text (lower case, with marks for links, money and numbers). All were chosen for formsvc. */

export const SEARCH =
  /\b(?:seo|backlinks?|back links|link ?building|domain (?:authority|rating)|(?:search|google|seo) (?:engine )?rank(?:ing|ings)?|rank(?:ing)? (?:higher|on google|your)|page one of|first page of|page \ue003 of google|top of google|organic (?:traffic|search)|search engines?|guest posts?|do-?follow|targeted (?:traffic|visitors)|website traffic|more (?:traffic|visitors)|keywords?|google maps|web ?traffic|digital marketing)\b/g;

export const YOUR_SITE =
  /\byour (?:\w{1,15} )?(?:web ?site|site|web ?page|domain|home ?page|contact form|online presence|blog|business)\b|\bihre[r]? (?:webseite|website|homepage|internetseite)\b|\bvotre (?:site|site web)\b|\b(?:su|tu) (?:p[aá]gina|sitio|web)\b|ваш(?:его|ем)? сайт/;

export const ADULT =
  /\b(?:sex|sexy|porn\w{0,4}|xxx|escorts?|nudes?|onlyfans|webcam (?:girls?|models?)|hot girls?|horny|milf|adult dating|sex dating|one night|erections?|viagra|cialis|singles? (?:near|in your)|lonely (?:girls?|wom[ae]n|housewi\w{1,3})|sext\w{0,3})\b|секс|интим|проститут|знакомств/g;

export const MONEY =
  /\b(?:bitcoins?|btc|crypto\w{0,12}|forex|binary options?|trading (?:bot|robot|platform|signals?)|passive income|make money|earn(?:ing|ings)?|income|profits?|invest(?:ment|ments|or|ors|ing)?|payouts?|withdraw(?:al)?|deposits?|jackpot|casinos?|betting|free spins?|bonus(?:es)?|loans?|funding|credit score|airdrop|usdt|financial(?:ly)? (?:free|freedom|independen\w{1,3})|robot|compensation|lottery|prize|wallet|million)\b|заработ\w{0,6}|казино|выплат\w{0,3}|кредит\w{0,3}|инвестиц\w{0,3}/g;

export const OFFER =
  /\b(?:\ue003 ?off|discounts?|free shipping|free delivery|limited (?:time|stock|offer)|special offer|best price\w?|cheap(?:est)?|buy (?:now|one|\ue003)|order (?:now|here|yours|today)|shop (?:now|here)|get yours|on sale|sale ends|coupon|promo(?:tion)?(?: code)?|today only|hurry|act now|money.back|satisfaction guaranteed|wholesale|lowest prices?|affordable|free trial|while stocks? lasts?|worldwide)\b|\ue002 off\b|скидк\w{0,3}|акци[яию]/g;
