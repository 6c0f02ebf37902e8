/** Phrases by subject, matched in normalised text (lower case, marks for links, money and numbers). All are our own choice. */

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

/** Each is one typical phrase of a sales pitch; two of them together are a pitch. */
export const PITCH_GROUPS: readonly Readonly<RegExp>[] = [
  /\b(?:came across|stumbled (?:up)?on|checking out|looked at|visited|reviewed|looking at|found|noticed|visiting|browsing) (?:on )?your (?:\w{1,12} )?(?:web ?site|site|page|business|company|blog|store|profile)\b/,
  /\b(?:no obligation|no strings|no[- ]cost|free of charge|free (?:quote|audit|consultation|estimate|sample|report|analysis|demo|proposal|preview|trial|website audit|seo audit|strategy)|money[- ]back|no contracts?|no upfront|risk[- ]free|no credit card|no catch|guaranteed?)\b/,
  /\b(?:unsubscribe|opt[- ]?out|not hear from|remove (?:you|your)|if you(?:'d| would)? (?:rather|prefer) not|stop receiving|wish to receive|block this type|future (?:messages|communication|marketing))\b/,
  /\b(?:click (?:here|the link|below|on the link)|visit (?:our|my|us at|the)|check (?:it |us |them )?out (?:here|now|our|at)|sign ?up (?:now|here|today|free)|learn more (?:here|at)|more (?:info|information|details) (?:here|at|on|:)|get started|apply (?:now|here|today)|register (?:now|here|free)|see (?:more )?(?:here|details))\b/,
  /\b(?:grow your|boost your|increase your|scale your|skyrocket|improve your (?:online|ranking|website|sales|business)|double your|more (?:leads|sales|customers|clients|conversions|revenue)|generate (?:leads|more|sales|traffic)|drive (?:more )?(?:traffic|sales|leads)|new (?:customers|clients|leads)|qualified leads|lead generation|roi)\b/,
  /\b(?:would you (?:be|like me to|be open|be interested|mind if)|are you (?:interested|looking for|open to|available for)|let me know if you(?:'re| are)? (?:interested|would)|if (?:you are |you're )?interested|shall i send|(?:may|can|could|should) i send|(?:quick|brief|short|\ue003[- ]?min\w{0,4}) (?:call|chat|question|demo|meeting)|hop on|book a (?:call|demo|meeting)|schedule a|reply (?:with|to this|back|yes|now|for))\b/,
  /\b(?:we (?:offer|provide|specialize|specialise|are a (?:leading|professional|team|company|manufacturer|digital|full)|help (?:businesses|companies|small|brands|website)|have helped|supply|manufacture)|our (?:team|agency|company|experts?|services?|clients|factory|platform|solution|ai|software) (?:of|is|are|can|will|has|have|help\w{0,3}|offer\w?|provide\w?|specializ\w{1,3}|include)|i (?:offer|provide|can (?:help|get|provide)|help businesses)|i am (?:an? )?(?:seo|web|digital|marketing|business development|freelanc\w{1,4}))\b/,
  /\b(?:contact forms?|whats ?app|telegram|skype|wechat)\b/,
  /\b(?:per month|a month|monthly|starting (?:at|from)|only \ue002|just \ue002|as low as|\ue002 (?:per|a|each|only)|\ue003 ?% ?(?:off|discount)|price list|affordable|limited time|expires?|hurry|today only)\b/,
];
