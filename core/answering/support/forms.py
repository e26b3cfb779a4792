"""Forms of English words that a stemmer can't join: pasts of verbs, and words that stand for each other. Pure."""

from core.text.words import tokens

# English verbs whose past the stemmer can't read.
_PAST = """\
arise arose arisen|become became|begin began begun|bite bit bitten|break broke broken|bring brought|
build built|burn burnt|buy bought|catch caught|choose chose chosen|come came|deal dealt|
draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|
feel felt|fight fought|find found|flee fled|fly flew flown|forbid forbade forbidden|
forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|get got gotten|give gave given|
go went gone|grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept|
know knew known|lead led|leave left|lend lent|lie lay lain|lose lost|make made|mean meant|meet met|
pay paid|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought|
sell sold|send sent|shake shook shaken|shoot shot|shrink shrank shrunk|sing sang sung|sink sank sunk|
sit sat|sleep slept|speak spoke spoken|spend spent|stand stood|steal stole stolen|strike struck|
swear swore sworn|swim swam swum|take took taken|teach taught|tell told|think thought|
throw threw thrown|wake woke woken|wear wore worn|weep wept|win won|write wrote written|
child children|man men|woman women|wife wives|life lives"""
PRESENT_OF = {
    form: (tokens(group.split()[0]) or [""])[0]
    for group in _PAST.replace("\n", "").split("|")
    for form in group.split()[1:]
}

# Words that stand for each other in most sentences.
_ALIKE = [
    set(group.split())
    for group in (
        "kind type sort species form|help assistance aid support|empty blank|next following subsequent|may might "
        "can could|shall will|must should|people persons humans individuals|firm company business corporation|big "
        "large huge great major|small little minor|serious substantial considerable significant important|enough "
        "sufficient adequate|show indicate demonstrate reveal|use employ utilize apply|make turn call create "
        "build form produce|get obtain receive gain|need require|begin start commence|end finish stop "
        "conclude|pick choose select|quick fast rapid|job work task|area region zone field|way manner method|part "
        "portion section|whole entire full|main chief primary principal predominant leading|person character "
        "figure|creature animal being beast|usual normal typical common regular|usually normally typically "
        "generally commonly|often frequently|almost nearly about around roughly approximately some|get "
        "become|keep hold retain maintain|buy purchase acquire|sell offer|say state tell report mention note add "
        "explain write|think believe feel|want wish seek|child kid|home house|pupil student|shop store|money "
        "funds cash|pay salary wages|price cost|error mistake bug|fix repair mend|check verify test inspect "
        "examine|change modify alter adapt|several some various multiple many|right correct|wrong incorrect "
        "false|hard difficult tough|easy simple|rise grow increase|fall drop decline decrease|speak talk|answer "
        "reply respond|question query|try attempt|choose opt|happen occur|let allow permit|stay remain|go move "
        "travel come|give provide offer hand grant|put place set lay|send deliver ship|find discover|end "
        "close|each every all|any every|near beside|on upon|within in inside|over above|under below|while when as "
        "during|since because as|if when|so therefore thus hence|but however yet though|also too|only just merely "
        "solely|very really quite|now currently presently|old former previous|new latest recent current|author "
        "writer|leader head chief boss|file document|site page website|user member person|damage harm hurt "
        "destroy injure ruin|criticise blame criticize|limit maximum cap ceiling|request call query|value number "
        "figure amount|name title|is was are were be being stands|contain include hold have has|own possess|pay "
        "fund finance bear cover|inherit leave bequeath|win beat defeat|improve better recover|carve shape "
        "form|gorge canyon ravine|build construct erect|found establish set|live reside dwell|die death dead|born "
        "birth|marry wedding marriage|teach instruct train|learn study|doctor physician|drug medicine "
        "medication|illness disease sickness|car vehicle automobile|ship vessel boat|road street|river stream "
        "water|mountain hill peak|wood forest|stone rock|begin open launch|cancel abandon scrap|delay "
        "postpone|hurry rush|guard protect defend|attack assault raid|steal theft rob|kill murder slay|burn fire "
        "blaze|rain rainfall|snow frost|crop harvest|farm ranch|field meadow|village town settlement|country "
        "nation state|king monarch ruler|law act statute rule|court tribunal|judge magistrate|crime "
        "offence|punish penalty fine|vote ballot|elect choose appoint|resign quit|leave depart|arrive reach|visit "
        "tour|guest visitor|host owner|tenant renter|rent lease|loan lend borrow credit|debt owe|tax duty "
        "levy|wage pay earn|hire employ recruit|dismiss fire sack|staff employee worker workforce|boss manager "
        "head|meeting assembly session|member participant|decide decision resolve|agree consent approve approval "
        "permission|reject refuse deny decline|forbid ban prohibit|need require necessary|must obliged "
        "mandatory|warn alert|promise pledge|hide conceal|search seek|lose loss lost|miss lack without|break "
        "fault failure|delete remove erase|add append insert|copy duplicate|store save keep|load read|send "
        "transmit|connect link|log record register|start boot restart|stop halt|login sign|password key|bug error "
        "defect|version release|option setting flag parameter|default standard|server host machine|folder "
        "directory|photo picture image photograph|letter mail|parcel package|book reserve booking "
        "reservation|ticket fare|journey trip travel|flight plane|hotel inn|bed bunk|meal food|cook bake|drink "
        "beverage|cold cool chill|hot warm|dry arid|wet damp|clean wash|dirty soiled|old ancient aged|young "
        "juvenile|early soon|late delayed|rare scarce|common widespread|rich wealthy|poor needy|brave bold|afraid "
        "fear frightened|angry rage|glad happy|sad grief|secret hidden|public open|avoid shun|keep run"
    ).split("|")
]
GROUPS_OF: dict[str, set[int]] = {}
for _number, _group in enumerate(_ALIKE):
    for _word in _group:
        for _form in (_word, *tokens(_word)):
            GROUPS_OF.setdefault(_form, set()).add(_number)
