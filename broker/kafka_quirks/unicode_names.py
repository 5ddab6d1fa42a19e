"""The Unicode categories and scripts that `\\p{...}` accepts in RE2/J 1.8, which Kafka 4.3 uses.

Names of topics are ASCII, so their characters belong to the scripts Latin and Common only.
"""

from __future__ import annotations

import unicodedata

_CATEGORIES = "C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs"
_SCRIPTS = """
    Arabic Armenian Avestan Balinese Bamum Batak Bengali Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Cham Cherokee
    Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Egyptian_Hieroglyphs Ethiopic Georgian Glagolitic Gothic Greek Gujarati
    Gurmukhi Han Hangul Hanunoo Hebrew Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi
    Kannada Katakana Kayah_Li Kharoshthi Khmer Lao Latin Lepcha Limbu Linear_B Lisu Lycian Lydian Malayalam Mandaic Meetei_Mayek Mongolian
    Myanmar New_Tai_Lue Nko Ogham Ol_Chiki Old_Italic Old_Persian Old_South_Arabian Old_Turkic Oriya Osmanya Phags_Pa Phoenician Rejang
    Runic Samaritan Saurashtra Shavian Sinhala Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Tamil Telugu Thaana
    Thai Tibetan Tifinagh Ugaritic Unknown Vai Yi
"""
CATEGORIES, SCRIPTS = frozenset(_CATEGORIES.split()), frozenset(_SCRIPTS.split())


def belongs(char: str, name: str) -> bool:
    """Returns whether a character of a topic's name belongs to a category or script. All characters belong to `Any`."""
    if name in CATEGORIES:
        return unicodedata.category(char).startswith(name)
    return name == "Any" or name == ("Latin" if char.isalpha() else "Common")
