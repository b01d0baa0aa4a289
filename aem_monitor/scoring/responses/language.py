"""Whether a text is in the language that the rules know."""

import re
from typing import Final

from aem_monitor.scoring.values.words import STOPWORDS, flat, listed, tokens

_WORD: Final = re.compile(r"[^\W\d_]+")
_PROOF: Final = 2
_SENTENCE: Final = 12
_SHARE: Final = 0.1
"""Words in small letters from which a text is a long sentence, and the share of function words that an English one has
at the least: in prose every second word is one."""

_ENGLISH_TOO: Final = frozenset(listed("a an as do in is no on me so up us we he i or am for to of at by be per"))
_FOREIGN: Final = (
    frozenset(
        listed(
            "habe hast hatte sind sein kann koennen konnte werden wird mein meine dein deine fur bei nach aus noch "
            "jetzt auch bitte keine kein uber um am zum zur "
            "der die das und ist nicht ein eine einen ich sie ihr ihre ihnen wir mit von zu auf den dem des im "
            "wurde wird haben hat le la les une du est sont pour dans que qui avec sur votre vous nous pas et ce "
            "cette el los las un una es son para con su usted se lo al del ha han como muy il gli di che non sono "
            "della suo nel ed lei os um uma em da foi seu sua voce nao com het een voor van niet zijn uw wij te "
            "bij naar jest nie na w z och att det som en med har ikke og "
            "ve bir bu icin ile degil siz sizin yang untuk dengan ini itu anda tidak akan sudah telah ei etta ovat "
            "teidan este sunt pentru jsem jsou vas az egy nem hogy khong cua toi nao gal ar ir kad su jums"
        )
    )
    - _ENGLISH_TOO
)
"""Function words of the Latin-script languages that agents most often answer in, without those that are English
words."""


_OPENS: Final = re.compile(r"(?:^|[.!?]\s+)([A-Z][a-z]+)(?=\s+[^\W\d_A-Z])")
_MARKED: Final = re.compile(r"[à-öø-ÿāăąćčđēėęěğģıīįķłļńņňőœřśšşţťūůűųźżž]")
_BORROWED: Final = frozenset(
    listed("cafe resume naive fiance fiancee cliche deja voila a la carte entree pate protege saute decor applique")
)


def _opening(text: str) -> list[str]:
    """Words that begin sentences: they are written like names and are none where a word in small letters follows."""
    return [flat(match[1]) for match in _OPENS.finditer(text)]


def _accented(text: str) -> int:
    """How many words in small letters English would write without the marks on their letters."""
    words = {word for word in _WORD.findall(text) if word.islower() and not word.isascii() and _MARKED.search(word)}
    return len({flat(word) for word in words} - _BORROWED)


def is_english(text: str) -> bool:
    """False for a text mostly in another script, or with more function words of other languages than of English, or
    a long sentence with hardly any English function word.
    Names, numbers and codes have no language and count as English."""
    words = [word for word in tokens(text) if not any(char.isdigit() for char in word)]
    letters = [char for word in words for char in word]
    if letters and sum(char.isascii() for char in letters) < 0.7 * len(letters):
        return False
    # Words in capitals are names: "El Paso, La Jolla" is no Spanish.
    small = [flat(word) for word in _WORD.findall(text) if word.islower()]
    foreign = sum(word in _FOREIGN for word in [*small, *_opening(text)]) + _accented(text)
    english = sum(word in STOPWORDS for word in words)
    # Short replies have one function word, and none of English: "Der Flug wurde gebucht."
    if foreign > english and (foreign >= _PROOF or (not english and len(small) > 1)):
        return False
    return len(small) < _SENTENCE or sum(word in STOPWORDS for word in small) > _SHARE * len(small)
