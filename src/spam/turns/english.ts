import type { Turns } from "./meanings.ts";

export const ENGLISH: Turns = {
  "found you": `(came across|stumbled on|stumbled upon|checking out|looked at|visited|reviewed|looking at|found|noticed|
    visiting|browsing) (on |)your (* |)(website|web site|site|page|business|company|blog|store|profile),
    was (on|browsing) your (website|site|page), while (researching|browsing|searching for) (companies|businesses),
    found you (on google|on google maps|on linkedin|online), your (site|website) (caught my|could use|is losing|isn't)`,
  "to the owner": `(companies|businesses|brands|sites|websites|stores|owners|firms|teams) like (yours|you),
    (site|business|store|shop|website|web site) owners, dear (business|site|website|company) (owner|owners),
    dear (decision maker|sir madam|webmaster), (right|best|appropriate|correct) person to (speak|talk|contact),
    (forward|pass) this (to|on to) (the|your) (right|owner|manager|person|team|colleague|responsible),
    (person|people) (responsible for|in charge of), (are you|if you are|if you're) the (owner|person|right person)`,
  "we offer": `we (offer|provide|specialize|specialise|have helped|supply|manufacture|can get you|build websites|
    buy houses|work with (companies|businesses|brands|small)), we are (a|an|one of|the) (leading|professional|team|company|
    manufacturer|digital|full|supplier|trusted|agency|direct|certified),
    we help (businesses|companies|small|brands|website|owners|local|clients|people|startups|entrepreneurs),
    our (team|agency|company|expert|experts|service|services|clients|factory|platform|solution|ai|software|firm|network) (of|
    is|are|can|will|has|have|help|helps|helped|helping|offer|offers|provide|provides|specialize|specializes|specialise|
    specialises|specializing|specialising|include|includes), i (offer|provide|can help|can get|can provide|help businesses|
    help companies|represent a|work with a), (i am|i'm) (a|an|) (seo|web|digital|marketing|business development|freelance|
    freelancer|lead generation), on behalf of (our|my|a) (company|client|clients|agency|investor)`,
  boasts: `(trusted|used|loved) by (over|more than|#|hundreds|thousands|leading), over # (clients|customers|businesses|companies|
    brands|years of experience), (hundreds|thousands) of (businesses|companies|clients|happy|satisfied), years of experience (in|
    with|helping), (proven|tested) (track record|results|method|system), # satisfied (clients|customers), award winning,
    factory (direct|price|prices), iso certified, best (quality|price|prices|rates) (and|at|in|for|guaranteed), success stories,
    (white|black) label, a recent client, case (study|studies) (from|of|with|showing)`,
  growth: `(grow|boost|increase|scale|double|triple) your, skyrocket,
    improve your (online|ranking|rankings|website|sales|business|visibility),
    more (leads|sales|customers|clients|conversions|revenue|bookings|patients|traffic|visitors|followers),
    generate (leads|more|sales|traffic), drive (more |)(traffic|sales|leads), new (customers|clients|leads),
    qualified leads, lead generation, roi, (losing|lose|miss|missing) (customers|clients|sales|visitors|leads|out on),
    (save|saves|cut|reduce) (up to #|your costs|your bills|your energy|on your|time and money|costs by),
    (first|top) (page|spot|position|results) (of|on|in) google, page one of google`,
  free: `no (obligation|strings|cost|contract|contracts|upfront|credit card|catch|prepayment|hidden fees|commitment|
    setup fee|win no fee), free of charge, free (quote|audit|consultation|estimate|sample|samples|report|analysis|demo|
    proposal|preview|trial|website audit|seo audit|strategy|mockup|draft|catalogue|catalog|test|review|evaluation),
    money back, risk free, guarantee, guaranteed, (pay|payment) (only |)(after|when|if) (you|results|the job|it),
    without (obligation|any obligation|commitment|risk|collateral|upfront)`,
  price: `per month, a month, monthly, starting (at|from), (only|just) $, as low as, $ (per|a|each|only), price list,
    # (off|discount), affordable, limited time, (expire|expires|expiring), hurry, today only,
    only # (spots|places|slots|seats|left|days left), (special|introductory|exclusive) (offer|price|deal|rate|discount),
    (offer|deal|discount|promotion|price) (ends|valid|is valid|good|expires) (until|till|this|on|soon|for|today|tomorrow),
    (while|until) (stocks|supplies) last, (this|next) (week|month) only, competitive (price|prices|pricing|rates),
    flat (fee|rate), before (the|they) (price|prices|spots) (goes|go|rise|are gone)`,
  asks: `would you (be|like me to|mind if), are you (interested|looking for|open to|available for),
    (let me|just let me|let us) know if (you|you're|you are) (interested|would|want),
    if (you are |you're |)interested, (shall|may|can|could|should) (i|we) send, (quick|brief|short|#|# min|# mins|# minute|
    # minutes|#min) (call|chat|question|demo|meeting), hop on, book a (call|demo|meeting|slot|time), schedule a,
    reply (with|to this|back|yes|now|for|ok|info|stop), (just|simply) (reply|answer|respond), worth a (call|chat|reply|look),
    (open to|up for) a (call|chat|quick|short), (can|may) (i|we) (call you|give you a call|show you|drop by),
    (send|sends) you (a|an|the|our|my) (quote|proposal|catalogue|catalog|price list|example|examples|details|samples|portfolio|
    link|draft|demo), looking forward to (your (positive|prompt|early|quick|kind) |hearing back|cooperating|working with you),
    (let us|let's) (talk|discuss|connect|cooperate|schedule), (contact|call|text|email|message|dm) (us|me) (today|now|for)`,
  acts: `click (here|below|the (link|button)|on the link|this link), visit (our|my|us at|the),
    check (it |us |them |)out (here|now|our|at), sign up (now|here|today|free), signup (now|here|today|free),
    learn more (here|at), more (info|information|details) (here|at|on), get started, apply (now|here|today),
    register (now|here|free), see (more |)(here|details), (join|subscribe|download|order|buy|book|claim|act|start) (now|today),
    (use|enter) (the |)(promo |)code, link (in|below|is in), (follow|open) (the|this) link, don't miss (out|this),
    (claim|get|grab|secure) your (free|spot|copy|discount|bonus|prize|gift|seat|place)`,
  chat: `(contact|web|website) (form|forms), whatsapp, whats app, telegram, skype, wechat, viber`,
  stop: `unsubscribe, opt out, not hear from, remove (you|your), if (you|you'd|you would) (rather|prefer) not, stop receiving,
    (wish|want) to receive, block this type, future (messages|communication|communications|marketing|emails),
    (not|won't|will not|never) (contact|bother|email|write|message) you again, (not interested|no thanks) (just|reply|simply|please),
    (if this is not|if not|not) (relevant|of interest|your area|for you), (this|a) one time (message|email|mailing),
    (sorry|apologies|apologise|apologize) (for (the (intrusion|unsolicited)|reaching out|writing out of)|if this is not),
    unsolicited (message|email|mail), not a (scam|spam|joke), this is not (a scam|spam)`,
  "easy money": `(earn|earning|make|making|made) ((up to|over|at least|around|an extra|extra) |)$,
    (passive|extra|additional|second|daily|weekly) income, (financial|time) freedom, from (the comfort of|your phone|your sofa),
    (work|earn) (from home|online), (guaranteed|daily|weekly|monthly|high|huge) (profit|profits|returns|payouts|earnings|interest),
    (invest|deposit|minimum deposit|start with) (only |just |from |of |)$, (double|triple|multiply) (your|the) (money|deposit|coins),
    (no|bad) credit (check|history|needed), (loan|loans|funding|credit|financing) (offer|at #|of up|up to|from|without|approved|within|in #),
    (personal|business|quick|fast|instant|urgent) (loan|loans|cash|funding), (you have|you've|you) (won|been (selected|chosen|picked)),
    (lucky|selected|chosen) (winner|winners|visitor|customer), (mutual|mutually) (benefit|beneficial), next of kin,
    (late|deceased) (client|husband|father), (million|billion) (dollars|usd|euros|pounds), (welcome|deposit|sign up|no deposit) bonus,
    free spins, (signals|trading) (group|channel|bot), (recover|recovered|recovery of) (your |my |)(lost|stolen) (funds|crypto|bitcoin|money),
    without (experience|skills|leaving home|any experience), insider (tip|tips|information), (fixed|rigged) matches`,
  threats: `(account|domain|mailbox|listing|website|profile|subscription|policy) (will be|has been|is about to be|is) (suspended|closed|
    deleted|blocked|limited|deactivated|terminated|cancelled|locked|removed|disabled), (final|last) (notice|warning|reminder|chance),
    (within|in) (the next |)# (hours|days) (or|otherwise|to avoid), (to avoid|avoid) (suspension|closure|legal|interruption|fees|
    a fine|penalty|deletion|termination), (legal action|court action|lawsuit) (will|against|if), (verify|confirm|update) your
    (account|identity|details|payment|password|bank|billing|wallet|card|mailbox), unusual (activity|sign in|login),
    (outstanding|unpaid|overdue) (invoice|balance|amount|customs|fee|toll), (copyright|trademark) (infringement|violation|claim),
    (pay|send) $ (in|to|within), (hacked|encrypted|copied) your (device|files|site|website|database|camera|data),
    (your|the) (parcel|package|delivery|shipment) (is on hold|could not|is waiting|has been held)`,
};
