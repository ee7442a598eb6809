"""What the gate finds, and what it leaves alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from stdnum import luhn

from neve.domain.privacy.classes import Action, PiiClass, metrics
from neve.domain.privacy.screen import screen, screen_parts
from neve.domain.privacy.spans import REMOVED, SHORT
from neve.domain.tenants.policy import Policy

DEFAULT_ACTIONS = Policy().pii.actions

CARD = "4111 1111 1111 1111"
TOKEN = "ghp_" + "a1B2" * 9
FOUND = [
    ("card_number", f"Pay with {CARD}, please.", f"Pay with {REMOVED}, please."),
    ("card_number", f"{CARD} 12/27", f"{REMOVED} 12/27"),
    ("card_number", "12 rooms 4111111111111111 3", f"12 rooms {REMOVED} 3"),
    ("card_number", "4111-1111-1111-1111", REMOVED),
    ("card_number", "Amex 3782 822463 10005", f"Amex {REMOVED}"),
    ("card_number", "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", REMOVED),
    ("card_number", "４１１１ １１１１ １１１１ １１１１", REMOVED),
    ("card_number", '{"n":4111111111111111}', f'{{"n":{REMOVED}}}'),
    ("card_number", "4111\u200b1111\u200b1111\u200b1111, please", f"{REMOVED}, please"),
    ("card_number", "4111\ufe0f1111\u061c1111\u034f1111, please", f"{REMOVED}, please"),
    ("card_number", "４１１１－１１１１－１１１１－１１１１", REMOVED),
    ("card_number", "4111\u2212 1111\u30001111\u20021111", REMOVED),
    ("card_number", "card 4111.1111.1111.1111.", f"card {REMOVED}."),
    ("card_number", "Amex 3782.822463.10005", f"Amex {REMOVED}"),
    ("card_number", "https://x.example/?card=4111%201111%201111%201111&x=1", f"https://x.example/?card={REMOVED}&x=1"),
    ("card_number", "the CVV is 123", f"the CVV is {SHORT}"),
    ("card_number", "**CVV:** 123", f"**CVV:** {SHORT}"),
    ("card_number", "Security code (CVV): 123", f"Security code (CVV): {SHORT}"),
    ("card_number", r"{\"cvv\":\"123\"}", rf"{{\"cvv\":\"{SHORT}\"}}"),
    ("card_number", "the security code is 123", f"the security code is {SHORT}"),
    ("ssn", "SSN 123-45-6789.", f"SSN {REMOVED}."),
    ("ssn", "my social security number is 123456789", f"my social security number is {REMOVED}"),
    ("ssn", "SSN\u00a0123\u00a045\u00a06789", f"SSN\u00a0{REMOVED}"),
    ("ssn", "１２３－４５－６７８９", REMOVED),
    ("ssn", "SSN：123456789", f"SSN：{REMOVED}"),
    ("ssn", "**SSN:** 123456789", f"**SSN:** {REMOVED}"),
    ("ssn", "Social Security Number (SSN): 123456789", f"Social Security Number (SSN): {REMOVED}"),
    ("ssn", "| SSN | 123456789 |", f"| SSN | {REMOVED} |"),
    ("ssn", r"{\"ssn\": \"123456789\"}", rf"{{\"ssn\": \"{REMOVED}\"}}"),
    ("ssn", "on the specimen: 078-05-1120", f"on the specimen: {REMOVED}"),
    ("password", "My password is hunter2, ok?", f"My password is {SHORT}, ok?"),
    ("password", "my password is swordfish.", f"my password is {REMOVED}."),
    ("password", "the password for the wifi is blue-whale-42", f"the password for the wifi is {REMOVED}"),
    ("password", "The password for Anna's account is hunter2.", f"The password for Anna's account is {SHORT}."),
    ("password", "The password to the vault is Tr0ub4dor&3", f"The password to the vault is {REMOVED}"),
    ("password", "I changed my password to hunter22 today", f"I changed my password to {SHORT} today"),
    ("password", "passphrase is correct horse battery staple.", f"passphrase is {REMOVED}."),
    ("password", "DB_PASSWORD=correcthorse", f"DB_PASSWORD={REMOVED}"),
    ("password", '{"password": "a b c d e f", "x": 1}', f'{{"password": "{REMOVED}", "x": 1}}'),
    ("password", r"{\"password\":\"hunter2\"}", rf"{{\"password\":\"{SHORT}\"}}"),
    ("password", "https://bob:s3cret@db.internal/x", f"https://bob:{SHORT}@db.internal/x"),
    ("password", "my pin is 4821", f"my pin is {SHORT}"),
    ("password", "the pin code is 4821", f"the pin code is {SHORT}"),
    ("password", "password\u00a0:\u00a0hunter2", f"password\u00a0:\u00a0{SHORT}"),
    ("password", "mot de passe\u202f: hunter22", f"mot de passe\u202f: {SHORT}"),
    ("password", "password：hunter2", f"password：{SHORT}"),
    ("password", "PIN：４８２１", f"PIN：{SHORT}"),
    ("password", "**PIN:** 4821", f"**PIN:** {SHORT}"),
    ("password", "PIN (4 digits): 4821", f"PIN (4 digits): {SHORT}"),
    ("password", "PIN is: `4821`", f"PIN is: `{SHORT}`"),
    ("password", '{"pin": 4821}', f'{{"pin": {SHORT}}}'),
    ("password", r"{\"pin\":\"4821\"}", rf"{{\"pin\":\"{SHORT}\"}}"),
    ("password", "pin_code='4821'", f"pin_code='{SHORT}'"),
    ("password", "my password's hunter2", f"my password's {SHORT}"),
    ("password", "my pass\u00adword is hun\u2060ter2.", f"my pass\u00adword is {SHORT}."),
    ("password", "Mein Passwort für das WLAN lautet Sommer2024.", f"Mein Passwort für das WLAN lautet {REMOVED}."),
    ("password", "mi contraseña es hunter22", f"mi contraseña es {SHORT}"),
    ("password", "Mon mot de passe est hunter22, voilà", f"Mon mot de passe est {SHORT}, voilà"),
    ("password", "minha senha é hunter22", f"minha senha é {SHORT}"),
    ("password", "мой пароль hunter22", f"мой пароль {SHORT}"),
    ("password", "我的密码是abc12345。", f"我的密码是{SHORT}。"),
    ("password", "パスワードはabc12345です", f"パスワードは{SHORT}です"),
    ("password", "내 비밀번호는 abc12345 입니다", f"내 비밀번호는 {SHORT} 입니다"),
    ("password", "كلمة المرور هي abc12345", f"كلمة المرور هي {SHORT}"),
    ("password", "मेरा पासवर्ड abc12345 है", f"मेरा पासवर्ड {SHORT} है"),
    ("api_key", f"use {TOKEN} for it", f"use {REMOVED} for it"),
    ("api_key", f"KEY={TOKEN}", f"KEY={REMOVED}"),
    ("api_key", rf"a\n{TOKEN}", rf"a\n{REMOVED}"),
    ("api_key", "AKIA" + "ABCDEFGH12345678", REMOVED),
    ("api_key", "my api key is abc123xyz9", f"my api key is {REMOVED}"),
    ("api_key", "Authorization: Bearer abcDEF1234567890abcdefgh", f"Authorization: Bearer {REMOVED}"),
    ("api_key", "nv_0123456789ab_" + "0123456789abcdef" * 2, REMOVED),
    (
        "api_key",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE+/a=\n-----END RSA PRIVATE KEY-----\nthe end",
        f"{REMOVED}\nthe end",
    ),
    ("medical_record_number", "MRN: 001234567", f"MRN: {REMOVED}"),
    ("medical_record_number", "MRN：０１２３４５６７８９", f"MRN：{REMOVED}"),
    ("medical_record_number", "**MRN:** 0123456789", f"**MRN:** {REMOVED}"),
    ("medical_record_number", "Medical Record Number (MRN): 0123456789", f"Medical Record Number (MRN): {REMOVED}"),
    ("medical_record_number", r"{\"mrn\":\"0123456789\"}", rf"{{\"mrn\":\"{REMOVED}\"}}"),
    ("medical_record_number", "Her medical record number is A-12345.", f"Her medical record number is {SHORT}."),
]
LEFT_ALONE = [
    "My sister Anna lives in 12 Elm Street, Galway, and works at St. Mary's.",
    "4111 1111 1111 1112",
    "0.4111111111111111",
    "4111.1111.1111.1112 and 1.4111.1111.1111.1111",
    "4.111.111.111.111.111 and 411.1111.1111.11111",
    "at 1763789000000 and 1763789000000123 ms",
    "serial 411111111111111141111111111111114",
    "call +44 7911 123456 or 555-0199",
    "on 2024-05-06, order 123-456-789",
    "123-00-6789 and 666-12-3456",
    "uuid 123e4567-e89b-12d3-a456-426614174000",
    "my password is wrong",
    "my password's strength is low",
    "I forgot the password for Anna's account.",
    "Reset the password for my mom's email, please, and the one to Tom\u2019s phone.",
    "The password is Anna's birthday.",
    "My password was stolen, and my bank's password was leaked.",
    "The password was hacked. The new password will be emailed.",
    "The old password was guessed; the new one is longer and the password is complicated.",
    "4111\u200b1111\u200b1111\u200b1112 \U0001f469\u200d\U0001f680",
    "４１１１ １１１１ １１１１ １１１２，２０２６年５月６日",
    "1\u00a0234\u00a0567,89\u00a0€ – 3\u202f000 \u2212 12\ufe0f\u20e3",
    "Ich habe mein Passwort für Office365 vergessen.",
    "Das Passwort muss 12 Zeichen haben.",
    "contraseña de 8 caracteres",
    "mot de passe oublié en 2024",
    "密码错误 404",
    "I forgot the password to my account",
    "change the password to continue.",
    "password: str = field()",
    "password=os.environ['X']",
    "Password: required",
    "pin code 560001",
    "the pin (and 1500 others)",
    "| Pin | 2024 |",
    "ssn (last four): 4399",
    "the CVV (on the back) and 300 points",
    "patient id (see page 4) 12",
    "token: 4096",
    "token_count_2024_01_with_a_long_name: 7",
    "secret: my-app-v2-production-config",
    "the medical record of 2019-05-01",
]


@pytest.mark.parametrize(("kind", "text", "kept"), FOUND)
def test_what_is_found_is_replaced_and_counted(kind: PiiClass, text: str, kept: str) -> None:
    found = screen(text, DEFAULT_ACTIONS)
    assert (found.text, found.removed) == (kept, {kind: 1})
    assert screen(text, {**DEFAULT_ACTIONS, kind: "allow"}).text == text


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_looks_alike_is_left_alone(text: str) -> None:
    assert screen(text, DEFAULT_ACTIONS).text == text


def test_the_policy_says_whether_it_is_blocked_or_redacted() -> None:
    text = f"{CARD}, MRN 1234567"
    found = screen(text, DEFAULT_ACTIONS)
    assert (found.blocked, found.redacted) == ({"card_number": 1}, {"medical_record_number": 1})
    turned: dict[PiiClass, Action] = {"card_number": "redact", "medical_record_number": "block"}
    found = screen(text, turned)
    assert (found.blocked, found.redacted) == ({"medical_record_number": 1}, {"card_number": 1})
    assert metrics("Redacted", found.removed) == {"PiiRedactedMedicalRecordNumber": 1, "PiiRedactedCardNumber": 1}


def test_what_goes_from_one_block_into_the_next_is_taken_out_of_both() -> None:
    texts, found = screen_parts(["my card is 4111 1111", "1111 1111. My password is", "hunter2!"], DEFAULT_ACTIONS)
    assert texts == [f"my card is {REMOVED}", f"{REMOVED}. My password is", f"{SHORT}!"]
    assert found.removed == {"card_number": 1, "password": 1}
    apart, found = screen_parts(["room 4111", "Anna"], DEFAULT_ACTIONS)
    assert (apart, found.removed) == (["room 4111", "Anna"], {})


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        (["SSN 123-45-", "6789."], ["SSN [*]", "[*]."]),
        (["SSN 123-4", "5-6789."], ["SSN [*]", "[*]."]),
        (["use AKIAABCD", "EFGH12345678 now"], ["use [*]", "[removed] now"]),
        (["ghp_" + "a1B2" * 4, "a1B2" * 5], [REMOVED, REMOVED]),
        (["my pin is 48", "21"], ["my pin is **", "**"]),
    ],
)
def test_what_is_cut_in_the_middle_by_a_border_is_taken_out_of_both(texts: list[str], kept: list[str]) -> None:
    screened, found = screen_parts(texts, DEFAULT_ACTIONS)
    assert (screened, sum(found.removed.values())) == (kept, 1)


def test_a_border_joins_no_word_to_what_was_taken_out() -> None:
    texts, _ = screen_parts([f"Use {TOKEN}", "Hello", "My password is hunter2", "Anna says hi"], DEFAULT_ACTIONS)
    assert texts == [f"Use {REMOVED}", "Hello", f"My password is {SHORT}", "Anna says hi"]


# --- cards --------------------------------------------------------------------------------------

GAPS = ["", " ", "-", "\u00a0", " - ", "\u2013", "\t"]


@st.composite
def issued(draw: st.DrawFn) -> str:
    """Digits of a network's range and length, with a valid check digit."""
    start, length = draw(
        st.sampled_from(
            [("4", 16), ("51", 16), ("55", 16), ("2221", 16), ("37", 15), ("36", 14), ("6011", 16), ("4", 19)]
        )
    )
    rest = draw(st.text("0123456789", min_size=length - len(start) - 1, max_size=length - len(start) - 1))
    return start + rest + luhn.calc_check_digit(start + rest)


@given(issued(), st.lists(st.sampled_from(GAPS), min_size=18, max_size=18))
def test_a_card_is_found_whatever_stands_between_its_digits(digits: str, gaps: list[str]) -> None:
    """One digit changed, it is none, and stays."""
    for number, is_card in ((digits, True), (digits[:-1] + str((int(digits[-1]) + 1) % 10), False)):
        written = number[0] + "".join(gap + digit for gap, digit in zip(gaps, number[1:], strict=False))
        text = f"It is {written}, she said."
        assert screen(text, {"card_number": "block"}).text == (f"It is {REMOVED}, she said." if is_card else text)


# --- any text -----------------------------------------------------------------------------------

PIECES = st.one_of(
    st.sampled_from([text for _, text, _ in FOUND] + LEFT_ALONE),
    st.sampled_from(
        ["password", "is", "my", ":", "=", '"', "'", "[", "]", REMOVED, SHORT, "\n", " ", "-", "4111", "ssn"]
    ),
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=12),
)
TEXTS = st.lists(PIECES, max_size=8).map(" ".join) | st.lists(PIECES, max_size=8).map("".join)


CARD_DIGITS = "4111111111111111"
SHA256 = f"9f86d081{CARD_DIGITS}feaa2c5b7ab1de2c55ad015a3bf4f1b2b0b822cd"


@pytest.mark.parametrize(
    "known",
    [
        SHA256,
        SHA256.upper(),
        f"ab12{CARD_DIGITS}cd34ef56ab78",  # MD5, and a UUID without its dashes
        f"blobs/{SHA256}.png",
        f"sha256:{SHA256}",
        "ab124111-1111-4111-8111-1111abcdef01".replace("4111-1111-4111-8111", "4111-1111-1111-1111"),
        "urn:uuid:cafe4111-1111-1111-1111-cafe0a0b0c0d",
    ],
)
def test_a_sum_or_an_id_of_hex_digits_holds_no_card_and_one_beside_it_is_found(known: str) -> None:
    assert screen(known, DEFAULT_ACTIONS).text == known
    for text in (f"{known} {CARD}", f"{CARD} {known}", f"{known}\n{CARD_DIGITS}", f"{CARD_DIGITS}, {known}"):
        screened = screen(text, DEFAULT_ACTIONS)
        assert dict(screened.blocked) == {"card_number": 1}
        assert (known in screened.text, REMOVED in screened.text) == (True, True)


@given(issued(), st.text("0123456789abcdef", min_size=32, max_size=64), st.sampled_from([" ", ", ", "\n", ": "]))
def test_a_card_is_found_on_either_side_of_a_run_of_hex_digits(digits: str, known: str, gap: str) -> None:
    assert screen(f"{known}{gap}{digits}{gap}{known}", DEFAULT_ACTIONS).text == f"{known}{gap}{REMOVED}{gap}{known}"


@given(TEXTS)
def test_screening_twice_changes_nothing(text: str) -> None:
    once = screen(text, DEFAULT_ACTIONS)
    assert screen(once.text, DEFAULT_ACTIONS).text == once.text
    assert bool(once.removed) == (once.text != text)


@given(TEXTS)
def test_no_text_grows(text: str) -> None:
    screened = screen(text, DEFAULT_ACTIONS).text
    assert len(screened) <= len(text)
    assert len(screened.encode()) <= len(text.encode())


@pytest.mark.parametrize("before", ["hello 27", "4111 1111 1111 1111 12/27"])
def test_a_card_that_begins_a_block_is_found_behind_one_that_ends_with_digits(before: str) -> None:
    spaced = " ".join("4111111111111111")
    screened, found = screen_parts([before, spaced], DEFAULT_ACTIONS)
    assert (screened[1], found.removed["card_number"]) == (REMOVED, before.count("4111") + 1)


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_blocks_stay_as_many_and_what_is_found_in_one_alone_is_found(texts: list[str]) -> None:
    screened, _ = screen_parts(texts, DEFAULT_ACTIONS)
    assert len(screened) == len(texts)
    assert all(screen(one, DEFAULT_ACTIONS).text == one for one in screened)


@given(st.text(st.characters(categories=["L", "Z", "P"], exclude_characters=":=@'\"`"), max_size=200))
def test_a_text_without_digits_and_without_the_words_is_the_same_text(text: str) -> None:
    assume(not re.search(r"(?i)pass|pwd|begin", text))
    assert screen(text, DEFAULT_ACTIONS).text == text


@given(TEXTS)
def test_what_is_allowed_is_not_looked_for(text: str) -> None:
    assert screen(text, dict.fromkeys(DEFAULT_ACTIONS, "allow")).text == text
