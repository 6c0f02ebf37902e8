import type { PhrasePatterns } from "./meanings.ts";

export const ENGLISH: PhrasePatterns = {
  "found you": `(came across|stumbled on|stumbled upon|checking out|checked out|looked at|visited|reviewed|looking at|found|noticed|
    visiting|browsing|took a look at|quick look at|love) (on |)your (* |)(website|web site|site|page|business|company|blog|store|profile|
    listing|brand|work online), was (on|browsing) your (website|site|page), (noticed|saw|see) (that |)your (website|site|business|
    listing|company|domain), (found|got) your (contact|details|email|e mail|number) (on|from|online|through|via|details),
    while (researching|browsing|searching for) (companies|businesses), found you (on google|on google maps|on linkedin|online),
    your (site|website|page|company|business|profile) (caught my|stood out|impressed|could use|could be|is losing|is missing|
    isn't|doesn't|looks outdated)`,
  "to the owner": `(companies|businesses|brands|sites|websites|stores|owners|firms|teams|shops|practices|organisations|
    organizations|professionals|restaurants|salons|clinics|people) (like|such as) (yours|you), (site|business|store|shop|website|web site|salon) owners, dear (business|site|website|company|shop|store|home) (owner|owners|manager),
    (hello|hi|hey) (business|site|website|shop) owner, dear (decision maker|sir madam|webmaster|beloved|winner|valued|beneficiary),
    (right|best|appropriate|correct) person to (speak|talk|contact), (forward|pass) this (to|on to) (the|your) (right|owner|manager|
    person|team|colleague|responsible|whoever), (person|people|whoever|one) (responsible for|in charge of|who handles|handles|
    who manages) (your|the|marketing|purchasing|hiring|it), (purchasing|procurement) (manager|department),
    (are you|if you are|if you're) the (owner|person|right person), fellow (business owner|entrepreneur)`,
  "we offer": `we (offer|provide|specialize|specialise|have helped|supply|manufacture|build websites|buy houses|buy cars|
    represent|work with (companies|businesses|brands|small|clinics|shops|restaurants|owners|firms)), we (can|could|will) (get|bring|
    deliver|put|save|build|help|rank|place|write|design|fill|cut|handle|supply|guarantee|feature|ship|find|recover) (you|your|you
    with), we (build|design|create|write|produce|develop|sell|ship|install|clean|manage|print|source|run|make|do|deliver) (custom|
    high quality|affordable|professional|premium|modern|for (businesses|companies|firms|shops|clinics|restaurants|brands)),
    we are (a|an|one of|the) (leading|professional|team|company|manufacturer|digital|full|supplier|trusted|agency|direct|
    certified|factory|marketing|uk|software|premier|global|fast growing|private|registered|licensed),
    we help (businesses|companies|small|brands|website|owners|local|clients|people|startups|entrepreneurs|shops|firms|clinics|
    you|restaurants|teams|organisations|organizations|practices),
    our (team|agency|company|expert|experts|service|services|clients|factory|platform|solution|ai|software|firm|network|app|
    system|specialists|writers|developers|engineers|investors|product|tool|program|crew|technicians) (of|is|are|can|will|has|
    have|help|helps|helped|helping|offer|offers|provide|provides|specialize|specializes|specialise|specialises|specializing|
    specialising|include|includes|save|saves|see|finds|writes|answers|builds|handles|does|takes|lets|makes|do|get|gives),
    i (offer|provide|can help|can get|can provide|help businesses|help companies|help owners|help small|help local|help people|
    represent|work with a|build websites|design websites|write articles|specialize in|specialise in|work with (small|local|
    businesses|companies|brands|owners)), (i am|i'm) (a|an|) (seo|web|digital|marketing|business development|freelance|freelancer|
    lead generation|copywriter|virtual assistant|graphic|social media|financial|investor|investment|loan|recruiter|hacker|
    professional|certified|spiritual|video editor|reaching out), on behalf of (our|my|a) (company|client|clients|agency|
    investor), (would|i'd|we'd) (like|love) to (introduce|offer|propose|present|feature|invite you|partner|cooperate|buy your|place|
    send you|show you|help you|work with you|write for), introduce (our|my) (company|products|product|services|service|agency),
    (partnership|business|investment|collaboration) (proposal|opportunity|offer|deal), (guest|sponsored) (post|posts|article|
    articles|content), link (exchange|insertion|insertions), (let us|let me) (help you|handle|take care of|show you)`,
  boasts: `(trusted|used|loved) by (over|more than|#|hundreds|thousands|leading), over # (clients|customers|businesses|companies|
    brands|years of experience|members|users), (hundreds|thousands) of (businesses|companies|clients|happy|satisfied|owners|people
    just), years of experience (in|with|helping), years experience in, (proven|tested) (track record|results|method|system|
    strategy|formula), # satisfied (clients|customers), award winning, factory (direct|price|prices), iso certified,
    best (prices|rates) (guaranteed|in the|on the), success (stories|rate), (white|black) label, a recent client,
    (one|most|some) of our (clients|customers|members), case (study|studies) (from|of|with|showing), game changer, fully (insured|licensed|vetted|managed), high quality (content|articles|backlinks|leads), (doubled|tripled|increased) (their|his|her) (sales|revenue|traffic|
    bookings|income), hassle free, (real|verified) (reviews|followers|buyers|leads)`,
  growth: `(grow|boost|increase|scale|double|triple|skyrocket|maximize|maximise|expand) your, skyrocket,
    (improve|build|protect|fix|repair) your (online|ranking|rankings|website|sales|business|visibility|reputation|credit|brand|
    presence|seo), more (leads|sales|customers|clients|conversions|revenue|bookings|patients|traffic|visitors|followers|enquiries|
    inquiries|calls|orders|reviews|members|subscribers|footfall|foot traffic|walk ins|profit|views|exposure),
    generate (leads|more|sales|traffic|revenue|income), drive (more |)(traffic|sales|leads), new (customers|clients|leads),
    (qualified|exclusive|fresh|warm) leads, lead generation, roi, (losing|lose|miss|missing) (customers|clients|sales|visitors|
    leads|revenue|business|money|bookings), (save|saves|saving|cut|reduce) (you |)(up to #|# on|your costs|your bills|your energy|on your|
    time and money|costs by|hours|thousands|money on), hours (a|per|every|each) week, on (autopilot|auto pilot),
    (first|top) (page|spot|position|results|of) (of|on|in|google) google, page one (of|on) google, top of google,
    (rank|show up|appear) (higher|first|at the top|on the first), (get|be|getting) (found|seen|noticed|featured|verified)
    (online|on google|by|in), fill your (calendar|diary|tables|rooms|pipeline|classes|books|chairs|schedule),
    (reach|bring you|send you|get you) (more|thousands|new|millions|hundreds|customers|clients|#), your competitors,
    online (presence|visibility|reputation), stand out from, ideal (customers|clients|buyers)`,
  free: `no (obligation|strings|cost|contract|contracts|upfront|credit card|catch|prepayment|hidden|commitment|setup fee|win no|
    pressure|deposit|hard sell|fees|fee|experience|risk|collateral|middleman|middlemen|long term|minimum order|questions asked|
    subscription|charge|monthly), free of charge, free (quote|audit|consultation|estimate|sample|samples|report|analysis|
    demo|proposal|preview|trial|website audit|seo audit|strategy|mockup|mock up|draft|catalogue|catalog|test|review|evaluation|call|
    guide|ebook|webinar|month|setup|design|pilot|survey|inspection|valuation|assessment|training|access|homepage|reading|signals|
    check|masterclass|class|website|bonus|money|credits), at no (cost|extra cost), (zero|#) (risk|upfront|commitment|cost),
    (money back|risk free|guarantee|guaranteed|cancel anytime|cancel any time|complimentary), (pay|payment) (only |nothing |)(after|
    when|if|until|unless|upfront|for results) (you|results|the job|it|we|i|your), only pay (for|when|if|us),
    without (obligation|any obligation|commitment|risk|collateral|upfront|paying a|any risk), (full|fully) (refund|refundable)`,
  price: `per month, a month, monthly, starting (at|from), (only|just) $, as low as, $ (per|a|each|only), price list,
    # (off|discount), affordable, limited (time|spots|places|slots|seats|stock|offer|edition), (expire|expires|expiring), hurry,
    today only, only # (spots|places|slots|seats|left|days left|hours), # (spots|places|slots|seats|units) (left|remaining|available),
    (special|introductory|exclusive|launch|early bird|discounted|founding|promotional) (offer|price|deal|rate|rates|discount|
    discounts|pricing|package), (offer|deal|discount|promotion|price) (ends|valid|is valid|good|expires|is only|closes) (until|till|
    this|on|soon|for|today|tomorrow|in|at), (while|until) (stocks|supplies|stock) last, (this|next) (week|month) only,
    competitive (price|prices|pricing|rates), flat (fee|rate), (price|prices|spots|rates) (goes|go|rise|are gone|go up|start|starts|
    from) (at|from|fast|soon|up|on), first # (customers|clients|people|businesses|members|replies|companies), act (fast|now|quickly),
    wholesale (price|prices), (lowest|unbeatable|rock bottom|bargain) (price|prices|rates), (bulk|volume) (discount|discounts|price),
    before (it's|it is) (too late|gone), last chance, one (time|off) (fee|payment|offer), half price, best deals`,
  asks: `would you (be (interested|open|willing to (invest|consider|try))|like me to|like to (see|hear|learn|receive|know more|
    boost|get|earn|grow)|mind if), would you be, are you (interested|looking for|looking to|open to|available for|tired of|struggling
    |ready to|currently (using|working)), (let me|just let me|let us) know if you (interested|would|want), (let me|just let me|let
    us) know if (you're|you are) (interested|open), (let me know|tell me) (and i|and we|a good time|where to send|your budget),
    if (you are |you're |)interested, (shall|may|can|could|should) (i|we) (send|show|share|interest|give you|walk you|call you|
    put together|tell you more|book|arrange|email you|drop off|set up|schedule), (quick|brief|short|#|#min|ten|fifteen|twenty|five|
    thirty) (minute |minutes |min |mins |)(call|chat|question|demo|meeting|conversation|zoom|intro), (#|ten|fifteen|twenty|five)
    (min|mins|minute|minutes) (of your|this week|next week|to show|tomorrow), hop on, book (a|your|an) (call|demo|meeting|slot|time|
    free|appointment with), schedule a, reply (with|to this|back|yes|now|for|ok|info|and|today|if|here|me|asap), just (reply|answer|respond|say|hit reply), worth (a|#) (call|chat|reply|look|quick|short|minutes|conversation),
    (open to|up for) (a (call|chat|quick|short|brief)|hearing|learning|working|collaborating), (can|may) (i|we) (call you|give you a
    call|show you|drop by), (send|sends|sending) you (a|an|the|our|my|some|more|over) (quote|proposal|catalogue|catalog|price|example|
    examples|details|samples|sample|portfolio|link|draft|demo|info|information|mockup|video|short|free|list|price list),
    looking forward to (your (positive|prompt|early|quick|kind) |hearing back|cooperating|working with you|your (reply|
    response)), (let us|let's) (talk|discuss|connect|cooperate|schedule|chat|work together|get started|jump), (contact|call|text|
    email|message|dm|inbox) (us|me) (today|now|for (a|more|your|details)), (drop|shoot) (me|us) (a|an) (line|message|email|text|note),
    (happy|glad) to (send (you|over|a|our)|share|show you|hop|jump on|put together|walk you|provide a), have you (considered|ever thought|thought about),
    do you (accept|want more|want to (earn|grow|make|boost|rank|get|increase)|need (a loan|funding|more|help with
    your|financing|money|urgent)), (waiting|look forward) (for|to) your (reply|response|positive|kind|swift|urgent)`,
  acts: `click (here|below|the (link|button)|on the link|this link), visit (our|my|us at|the),
    check (it |us |them |me |)out (here|now|our|at|my), sign up (now|here|today|free), signup (now|here|today|free),
    learn more (here|at), more (info|information|details) (here|at|on), get (started|yours), apply (now|here|today|online),
    register (now|here|free), see (more |)(here|details|our portfolio), (join|subscribe|download|order|buy|book|claim|act|start|call|enrol|enroll|invest|shop|deposit) (now|today), (use|enter) (the |)(promo |
    discount |coupon |)code, link (in|below|is in), (follow|open|tap) (the|this) link, don't (miss|wait|let this),
    (claim|get|grab|secure|reserve|collect) (your|yours|my) (free|spot|copy|discount|bonus|prize|gift|seat|place|reward|funds|
    winnings|quote|slot), join (our|my|the|us) (group|channel|team|telegram|community|program|programme|today|now|on)`,
  chat: `(contact|web|website) (form|forms), whatsapp, whats app, telegram, skype, wechat, viber`,
  stop: `unsubscribe, opt out, not hear from, remove (you|your), if (you|you'd|you would) (rather|prefer) not, stop receiving,
    (wish|want) to receive, block this type, future (messages|communication|communications|marketing|emails|mailings),
    (not|won't|will not|never) (contact|bother|email|write|message|hear from) (you|me|us) again, won't (bother|chase|hear from),
    (not interested|no thanks) (just|reply|simply|please|no), (if this is not|if this isn't|if not|not) (relevant|of interest|your
    area|for you|a fit), (this|a) one time (message|email|mailing), (sorry|apologies|apologise|apologize) (for (the
    (intrusion|unsolicited|cold)|reaching out|writing out of|bothering)|if this is not), unsolicited (message|email|mail),
    not a (scam|spam|joke|sales), this is not (a scam|spam|a joke), (ignore|disregard) this (message|email), (reply|text|write) (stop|no
    |remove), take you off, (off|from) (our|my|the) (mailing |)list, cold (email|outreach|message)`,
  "easy money": `(earn|earning|make|making|made|earned|win) ((up to|over|at least|around|an extra|extra|about|from) |)$,
    (earn|make) (money|extra|cash|passive|daily|a full time|thousands|serious|big|real money), (passive|extra|additional|second|daily|
    weekly|side|steady|guaranteed|residual) (income|hustle|cash|payouts), (financial|time) (freedom|independence), from (the comfort of|
    your phone|your sofa|anywhere in), (work|earn|working|job|jobs) (from home|online|from anywhere), (guaranteed|daily|weekly|
    monthly|high|huge|massive|quick|instant) (profit|profits|returns|payouts|earnings|interest|approval|return|withdrawals|winnings),
    (invest|deposit|minimum deposit|start with|investment of) (only |just |from |of |as little as |)$, investment (plan|plans|platform|
    package|packages|opportunity|manager|program), (double|triple|multiply) (your|the) (money|deposit|coins|bitcoin|investment|crypto),
    (no|bad|poor) credit (check|checks|history|needed|ok|is|score|welcome), (loan|loans|funding|credit|financing) (offer|at #|of up|
    up to|from|without|approved|within|in #|amount|available|company|of $), (personal|business|quick|fast|instant|urgent|payday|
    unsecured|short term) (loan|loans|cash|funding), (interest|fixed) rate (of|from|as low), low interest, (approved|paid|funded) (in|within)
    # (hours|minutes|days), same day (approval|cash|funding|payout|loan), (you have|you've|you) (won|been (selected|chosen|picked|
    awarded|approved|pre approved)), (lucky|selected|chosen) (winner|winners|visitor|customer|person), (mutual|mutually) (benefit|
    beneficial), next of kin, (late|deceased) (client|husband|father|wife), (sum|amount|total|inheritance|worth) of $, # million (dollars|
    usd|euros|pounds), compensation (fund|payment), confidential (matter|business|proposal|transaction|deal), (welcome|deposit|sign up|
    signup|no deposit|casino|registration) bonus, free spins, (signals|trading|vip|pump) (group|channel|bot|robot|platform|signals),
    (recover|recovered|recovery of|recovering) (your |my |all my |)(lost|stolen) (funds|crypto|bitcoin|money|coins|investment), without (experience|skills|leaving home|any experience), insider (tip|tips|information), (fixed|rigged) (matches|games|odds), (spell|love) (caster|
    spell|spells), (hot|lonely|sexy|single) (girls|women|singles|ladies|moms), (nude|naked|private) (photos|pics|cam|videos|show),
    (serious|real|honest) (relationship|man|woman) (with|who|to|for), without (a |)prescription, (weight loss|male enhancement|
    testosterone) (pills|supplement|supplements|gummies|booster|formula), (diploma|degree|passport|driving licence|driver's license)
    (without|for sale|for $), (buy|sell) (verified|aged|fake|real|registered) (accounts|followers|likes|reviews|documents|passport|
    passports|notes|money), (essay|assignment|thesis) (writing|help) (service|services)`,
  threats: `(account|domain|mailbox|listing|website|profile|subscription|policy|page|package|service|number|email|licence|license) (will
    be|has been|is about to be|is|was) (suspended|closed|deleted|blocked|limited|deactivated|terminated|cancelled|locked|removed|
    disabled|restricted|hacked|on hold|expiring|flagged), (final|last) (notice|warning|reminder|chance|demand), (within|in) (the next
    |)# (hours|days) (or|otherwise|to avoid|your), (to avoid|avoid) (suspension|closure|legal|interruption|fees|a fine|penalty|
    deletion|termination|losing|disconnection|penalties|service|further), (legal action|court action|lawsuit|prosecution) (will|
    against|if|may|for), (verify|confirm|update|validate) your (account|identity|details|payment|password|bank|billing|wallet|
    card|mailbox|email|information|address), (unusual|suspicious) (activity|sign in|login), (outstanding|unpaid|overdue|pending)
    (invoice|balance|amount|customs|fee|toll|payment|tax|fine), (copyright|trademark) (infringement|violation|claim), (pay|send|
    transfer) $ (in|to|within|worth), (hacked|encrypted|copied|breached|leaked) (your|all your) (device|files|site|website|database|
    camera|data|server|contacts), (your|the) (parcel|package|delivery|shipment) (is on hold|could not|is waiting|has been held|is
    pending|was held), (vulnerability|vulnerabilities|flaw|bug) (in|on|of) your, (negative|bad|#) (reviews|stars) (on|will|
    about|unless), (bitcoin|btc|ransom) (within|address|payment), action required`,
};
