"""Word lists of general English that guards and text rules use. Each list is reviewed by hand and closed."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from aem_monitor.scoring.values.words import listed, stem

NEGATIONS: Final = frozenset(
    listed("""not no non never none nothing nobody neither nor without cannot cant dont doesnt didnt wont wouldnt
    couldnt
    shouldnt isnt
    arent wasnt werent hasnt havent hadnt unable unavailable impossible failed fails fail refused refuses declined
    declines
    denied unsuccessful unsuccessfully""")
)
"""Words that turn a statement into its opposite."""

_ANTONYMS: Final = """
ascending descending|asc desc|increase decrease|increased decreased|rise fall|rises falls|rose fell|up down
higher lower|high low
more less|most least|maximum minimum|max min|many few|before after|earlier later|early late|first last|open closed
opened closed
opens closes|start end|starts ends|begin end|begins ends|start stop|starts stops|enable disable|enabled disabled
on off
include exclude|included excluded|including excluding|inside outside|indoor outdoor|indoors outdoors|accept reject
accepted rejected|accepts rejects|approve reject|approved rejected|approve deny|approved denied|allow deny
allowed denied|allow forbid|allowed forbidden
add remove|added removed|insert delete|buy sell|buys sells|bought sold|win lose|wins loses|won lost|gain loss
gains losses|profit loss
cost benefit|income expense|asset liability|debit credit|checking savings|arrive depart|arrives departs
arrival departure|arriving departing
departing returning|outbound inbound|outbound return|depart return|import export|imports exports|upload download
send receive|sent received
left right|north south|east west|northern southern|eastern western|top bottom|front back|above below|over under
push pull
male female|man woman|men women|boy girl|mother father|son daughter|brother sister|husband wife|old new|older newer
young old
hot cold|warm cold|warm cool|wet dry|heavy light|hard easy|difficult easy|fast slow|faster slower|strong weak
long short|longer shorter
large small|larger smaller|big small|wide narrow|deep shallow|rich poor|cheap expensive|good bad|better worse
best worst|positive negative
true false|yes no|success failure|succeeded failed|pass fail|passed failed|public private|internal external
manual automatic|active inactive
available unavailable|possible impossible|legal illegal|valid invalid|complete incomplete|full empty|full partial
single double|one-way round-trip
oneway roundtrip|economy business|married single|divorced married|alive dead|guilty innocent|safe dangerous
present absent|visible hidden|online offline
save spend|lend borrow|teach learn|love hate|like dislike|agree disagree|agrees disagrees|agreed disagreed
attack defend|import export|raise lower|raises lowers
raised lowered|expand shrink|expanded reduced|improve worsen|improved worsened|strengthen weaken|strengthened weakened
optimistic pessimistic|support oppose|supports opposes
with without|vegetarian meat|smoking nonsmoking|weekday weekend|day night|morning evening|morning afternoon
afternoon evening|refundable nonrefundable
import domestic|domestic international|local remote|senior junior|major minor|majority minority|primary secondary
input output|parent child|ancestor descendant
minimum maximum|lowest highest|smallest largest|shortest longest|slowest fastest|cheapest dearest|youngest oldest
worst best|always never|everything nothing|everyone nobody
cancel book|cancelled booked|cancelled confirmed|cancel confirm|canceled booked|canceled confirmed|delivered cancelled
shipped cancelled|pending delivered|exchange return|exchanged returned
subtotal total|gross net|sender recipient|buyer seller|winner loser|import deport|suspend resume|suspends resumes
lock unlock|locked unlocked|mute unmute|freeze unfreeze
"""

_EXTRA_SYNONYMS: Final = """
cancel canceled cancelled cancels cancelling|colour color|center centre|theatre theater theaters theatres
organise organize|grey gray|apartment flat|film movie movies films
car automobile|taxi cab|bicycle bike|television tv|telephone phone|photo photograph picture|doctor dr physician
avenue ave|street st|road rd|boulevard blvd|mount mt
saint st|north n|south s|east e|west w|and &|incorporated inc|corporation corp|limited ltd|company co|department dept
government govt|president pres|senator sen|professor prof
police cops|purchase buy|permit allow|begin start|commence start|finish end|assist help|require need|large big
small little
sick ill|error mistake|quick fast|rapid fast|reply answer|respond answer
"""


def _pairs() -> Mapping[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for pair in _ANTONYMS.replace("\n", "|").split("|"):
        if not pair.strip():
            continue
        one, other = pair.split()
        table.setdefault(one, set()).add(other)
        table.setdefault(other, set()).add(one)
    return MappingProxyType({word: frozenset(others) for word, others in table.items()})


ANTONYMS: Final = _pairs()
"""A word, as written, to the words that contradict it in the same place."""


def _synonyms() -> Mapping[str, str]:
    table: dict[str, str] = {}
    for group in _EXTRA_SYNONYMS.replace("\n", "|").split("|"):
        words = group.split()
        for word in words:
            table.setdefault(stem(word), stem(words[0]))
    return MappingProxyType(table)


SYNONYMS: Final = _synonyms()
"""A stem to the stem that stands for its group: spellings, abbreviations and everyday synonyms."""

GENERIC: Final = frozenset(
    SYNONYMS.get(stem(word), stem(word))
    for word in listed("""figure figures data number numbers amount value values information info detail details
    report statistics result results
    type kind category option name title mr mrs ms miss dr prof inc corp corporation ltd llc co company plc gmbh hotel
    hotels inn restaurant
    cafe cinema cinemas theatre theatres theater movie film song album airport station stadium stadiums party person
    people item items
    psychologist psy""")
)
"""Nouns that say what sort of thing a name names, and add nothing to which one."""

ESTABLISHMENTS: Final = listed(
    "restaurant ristorante bar grill grille bistro brasserie kitchen taqueria pizzeria trattoria cantina steakhouse "
    "diner eatery pub tavern brewery brewhouse alehouse lounge bakery deli buffet cafe cafeteria coffeehouse cuisine "
    "chophouse hotel inn motel hostel lodge resort cinema cinemas theatre theater theatres theaters museum gallery"
)
"""Nouns that say what sort of house a name belongs to, where they end it."""

CUISINES: Final = listed(
    "american argentinian asian brazilian british chinese cuban ethiopian european family filipino french german greek "
    "indian indonesian irish italian jamaican japanese korean latin lebanese malaysian mediterranean mexican moroccan "
    "nepalese pakistani persian peruvian polish portuguese russian spanish thai tibetan turkish vegan vegetarian "
    "vietnamese"
)
"""Adjectives that say, before such a noun, what is served."""
