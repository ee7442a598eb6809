"""How somebody is reached or paid: what is found of it when a tenant asks, and what only looks alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import iban as registered

from neve.domain.privacy.classes import PiiClass
from neve.domain.privacy.contacts import ibans
from neve.domain.privacy.screen import screen
from neve.domain.privacy.structured import Walk
from neve.domain.tenants.policy import PiiActions, Policy

CONTACTS: tuple[PiiClass, ...] = ("phone", "email", "iban", "address")

FOUND: dict[PiiClass, list[tuple[str, str]]] = {
    "phone": [
        ("Call me at +44 7911 123456, please.", "+44 7911 123456"),
        ("+1 (212) 555-0123", "+1 (212) 555-0123"),
        ("+12125550123", "+12125550123"),
        ("My number: +49 30 901820", "+49 30 901820"),
        ("+49-171-1234567.", "+49-171-1234567"),
        ("+49 (0)171 1234567", "+49 (0)171 1234567"),
        ("+33 6 12 34 56 78", "+33 6 12 34 56 78"),
        ("(+43) 664 1234567", "(+43) 664 1234567"),
        ("+353 1 234 5678 (Dublin)", "+353 1 234 5678"),
        ("+91 98765 43210", "+91 98765 43210"),
        ("+1.212.555.0123", "+1.212.555.0123"),
        ("0049 30 901820", "0049 30 901820"),
        ("0043-664-1234567", "0043-664-1234567"),
        ("(212) 555-0123", "(212) 555-0123"),
        ("212-555-0123", "212-555-0123"),
        ("212.555.0123 after six", "212.555.0123"),
        ("1-800-555-0123", "1-800-555-0123"),
        ("020 7946 0958", "020 7946 0958"),
        ("(020) 7946 0958", "(020) 7946 0958"),
        ("07911 123456", "07911 123456"),
        ("0161 496 0123 is the shop", "0161 496 0123"),
        ("01 23 45 67 89", "01 23 45 67 89"),
        ("06.12.34.56.78", "06.12.34.56.78"),
        ("030 901820", "030 901820"),
        ("0171/1234567", "0171/1234567"),
        ("089 / 123 45 67", "089 / 123 45 67"),
        ("0664 123 45 67", "0664 123 45 67"),
        ("phone: 5550199", "5550199"),
        ("**Phone:** 555 0199 12", "555 0199 12"),
        ("my phone number is 5550199.", "5550199"),
        ("Tel.: 12345678", "12345678"),
        ("Telefonnummer: 9018200", "9018200"),
        ("meine Handynummer ist 1711234567", "1711234567"),
        ("text me at 555-0199 later", "555-0199"),
        ("WhatsApp 5551234567", "5551234567"),
        ("my number is 07911123456", "07911123456"),
        ("call 212 555 0123", "212 555 0123"),
        ("mi teléfono es 912345678", "912345678"),
        ("+４４ ７９１１ １２３４５６", "+４４ ７９１１ １２３４５６"),
    ],
    "email": [
        ("Write to ann@example.com.", "ann@example.com"),
        ("ann.lee+news@mail.example.co.uk", "ann.lee+news@mail.example.co.uk"),
        ("<ann@example.org>", "ann@example.org"),
        ('"ann@example.org"', "ann@example.org"),
        ("'ann@example.org'", "ann@example.org"),
        ("mailto:ann@example.org?subject=x", "ann@example.org"),
        ("ann_lee@example.io, bob", "ann_lee@example.io"),
        ("ann-lee@ex-ample.com", "ann-lee@ex-ample.com"),
        ("o'brien@example.ie", "o'brien@example.ie"),
        ("müller@münchen.de", "müller@münchen.de"),
        ("ann@xn--mnchen-3ya.de", "ann@xn--mnchen-3ya.de"),
        ("a@b.co", "a@b.co"),
        ("1234567@students.example.edu", "1234567@students.example.edu"),
        ("user=ann@example.com&x=1", "ann@example.com"),
        ("https://x.example/?mail=ann%40example.com&a=b", "ann%40example.com"),
        ("ANN@EXAMPLE.COM", "ANN@EXAMPLE.COM"),
        ("ann@example.technology!", "ann@example.technology"),
        ("ann＠example.com", "ann＠example.com"),
        ("[ann@example.com](mailto:bob)", "ann@example.com"),
        ("E-Mail:ann@example.at", "ann@example.at"),
        ("ann%dept@example.com", "ann%dept@example.com"),
        ("почта@пример.рф", "почта@пример.рф"),
        ('{"to":"ann@example.com"}', "ann@example.com"),
    ],
    "iban": [
        ("DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 00"),
        ("DE89370400440532013000", "DE89370400440532013000"),
        ("my IBAN is de89 3704 0044 0532 0130 00.", "de89 3704 0044 0532 0130 00"),
        ("IBAN: GB29 NWBK 6016 1331 9268 19, thanks", "GB29 NWBK 6016 1331 9268 19"),
        ("AT61 1904 3002 3457 3201", "AT61 1904 3002 3457 3201"),
        ("CH93 0076 2011 6238 5295 7", "CH93 0076 2011 6238 5295 7"),
        ("FR14 2004 1010 0505 0001 3M02 606", "FR14 2004 1010 0505 0001 3M02 606"),
        ("ES9121000418450200051332", "ES9121000418450200051332"),
        ("IT60 X054 2811 1010 0000 0123 456", "IT60 X054 2811 1010 0000 0123 456"),
        ("NL91ABNA0417164300", "NL91ABNA0417164300"),
        ("BE68 5390 0754 7034", "BE68 5390 0754 7034"),
        ("NO93 8601 1117 947", "NO93 8601 1117 947"),
        ("MT84MALT011000012345MTLCAST001S", "MT84MALT011000012345MTLCAST001S"),
        ("PL61109010140000071219812874", "PL61109010140000071219812874"),
        ("SE45 5000 0000 0583 9825 7466", "SE45 5000 0000 0583 9825 7466"),
        ("DK5000400440116243", "DK5000400440116243"),
        ("FI21 1234 5600 0007 85", "FI21 1234 5600 0007 85"),
        ("IE29-AIBK-9311-5212-3456-78", "IE29-AIBK-9311-5212-3456-78"),
        ("PT50 0002 0123 1234 5678 9015 4", "PT50 0002 0123 1234 5678 9015 4"),
        ("SA03 8000 0000 6080 1016 7519", "SA03 8000 0000 6080 1016 7519"),
        ("TR330006100519786457841326", "TR330006100519786457841326"),
        ("|GR1601101250000000012300695|", "GR1601101250000000012300695"),
        ("pay to LU280019400644750000 today", "LU280019400644750000"),
    ],
    "address": [
        ("I live at 12 Elm Street.", "12 Elm Street"),
        ("221B Baker Street, London NW1 6XE", "221B Baker Street, London NW1 6XE"),
        ("10 Downing St, London, SW1A 2AA", "10 Downing St, London, SW1A 2AA"),
        ("1600 Pennsylvania Avenue NW, Washington, DC 20500", "1600 Pennsylvania Avenue NW, Washington, DC 20500"),
        ("350 5th Avenue, New York, NY 10118", "350 5th Avenue, New York, NY 10118"),
        ("742 Evergreen Terrace", "742 Evergreen Terrace"),
        ("4 Privet Drive, Little Whinging", "4 Privet Drive"),
        ("100 Queen St. W, Toronto, ON M5H 2N2", "100 Queen St. W, Toronto, ON M5H 2N2"),
        ("15 Martin Place, Sydney, NSW 2000", "15 Martin Place, Sydney, NSW 2000"),
        ("12 Main Road, Apt 4B, Boston, MA 02118-1234", "12 Main Road, Apt 4B, Boston, MA 02118-1234"),
        ("Flat 3, 27 Highbury Grove, London N5 1HJ", "Flat 3, 27 Highbury Grove, London N5 1HJ"),
        ("1 Grafton Street\nDublin D02 VF65", "1 Grafton Street\nDublin D02 VF65"),
        ("his house, 5 St. Mary's Lane, is green", "5 St. Mary's Lane"),
        ("P.O. Box 1234", "P.O. Box 1234"),
        ("1500 Broadway, New York, NY 10036", "1500 Broadway, New York, NY 10036"),
        ("Ich wohne in der Hauptstraße 12a.", "Hauptstraße 12a"),
        ("Musterstr. 5, 10115 Berlin", "Musterstr. 5, 10115 Berlin"),
        ("Berliner Straße 77, 60311 Frankfurt am Main", "Berliner Straße 77, 60311 Frankfurt am Main"),
        ("Mariahilfer Straße 10, 1070 Wien", "Mariahilfer Straße 10, 1070 Wien"),
        ("Bahnhofstrasse 1\nCH-8001 Zürich", "Bahnhofstrasse 1\nCH-8001 Zürich"),
        ("Unter den Linden 77, 10117 Berlin", "Unter den Linden 77, 10117 Berlin"),
        ("Am Alten Markt 3, 50667 Köln", "Am Alten Markt 3, 50667 Köln"),
        ("Straße des 17. Juni 135, 10623 Berlin", "Straße des 17. Juni 135, 10623 Berlin"),
        ("Lindenweg 4, 12345 Musterstadt", "Lindenweg 4, 12345 Musterstadt"),
        ("ship it to 123 Main St Apt 4, Springfield IL 62704", "123 Main St Apt 4, Springfield IL 62704"),
        ("Marktplatz 7, 89073 Ulm", "Marktplatz 7, 89073 Ulm"),
        ("Schillerallee 3", "Schillerallee 3"),
        ("Karl-Marx-Allee 34", "Karl-Marx-Allee 34"),
        ("Postfach 1234", "Postfach 1234"),
    ],
}

LEFT_ALONE: dict[PiiClass, list[str]] = {
    "phone": [
        "on 2024-05-06 at 10:30",
        "06.05.2024",
        "06-05-2024 and 2024/05/06",
        "order 123-456-789",
        "order 212-555-0123",
        "Invoice No. 212-555-0123",
        "Rechnungsnr. 030 901820",
        "Kundennummer: 0171 1234567",
        "ticket #212-555-0123",
        "version 1.2.3 and 10.15.7",
        "v2024.11.28",
        "the price is 1,299.00 USD",
        "$212.555.0123",
        "€ 1.234.567,89",
        "+10 000 000 000 people",
        "+1 000 000 0000",
        "about +5 % and +12",
        "+40.712800, -74.006000",
        "+40.712800000",
        "UTC+01:00",
        "123456789",
        "seq 1234567890",
        "at 1763789000000 ms",
        "192.168.100.200",
        "192.168.1.1:8080",
        "ISBN 978-3-16-148410-0",
        "ISSN 0317-8471",
        "uuid 123e4567-e89b-12d3-a456-426614174000",
        "SSN 123-45-6789",
        "card 4111 1111 1111 1111",
        "0.2125550123",
        "0012345678901",
        "id 0049123456789",
        "room 0171",
        "2+447911123456",
        "x+447911123456",
        "112-555-0123",
        "212-155-0123",
        "1234-5678-9012",
        "10115 Berlin",
        "phone 15 Pro",
        "the phone costs 1299",
        "my phone has 256 GB",
        "mobile: 2024-11-28",
        "call 5 people in 10 minutes",
        "text me at 10:30",
        "cell A1 to B20",
        "Tel Aviv 1909",
        "between 2019 and 2024",
        "flight LH 0171",
        "sha 0123456789abcdef",
        "12/24 18:30, 19:45",
        "10 20 30 40 50",
        "tracking 020 7946 0958",
        "my number is 7",
        "call 2024-11-28",
        "the number of users is 1234567",
    ],
    "email": [
        "@ann on the site",
        "meet me @ noon",
        "ann@localhost",
        "ann@example",
        "lodash@4.17.21",
        "react@18.2.0 and vue@3",
        "@scope/name@1.2.3",
        "logo@2x.png",
        "icons/star@3x.webp",
        "git@github.com:owner/name.git",
        "git@gitlab.example.com/owner",
        "https://bob@db.example.com/x",
        "ssh://git@host.example.com/x",
        "@app.route('/x')",
        "a @ b.com",
        "user@",
        "@example.com",
        "..@example.com",
        "5 apples @ 3.50",
        "x@y",
        "image@sha256:0123456789abcdef",
        "node@10.0.0.1",
        "root@127.0.0.1",
        "ann at example dot com",
        "ann(at)example.com",
        "e.g. @media screen",
        "@property def x",
        "price@12.99",
        "v@1.0.x1",
        "foo.@bar",
        "100%@x",
        "twitter.com/@ann",
        "youtube.com/@ann.lee",
        "ann@-example.com-",
        "ann@example.c",
        "ann@example.123",
        "f@f",
        "a@@b",
        "mail me!",
        "email: none",
        "x" * 70 + "@",
        "ann@ example.com",
    ],
    "iban": [
        "DE89 3704 0044 0532 0130 01",
        "DE88370400440532013000",
        "DE8937040044053201300",
        "DE893704004405320130000",
        "XDE89370400440532013000",
        "ZZ89370400440532013000",
        "GB29 NWBK 6016 1331 9268 18",
        "AT61 1904 3002 3457",
        "IBAN missing",
        "IBAN: DE..",
        "DE 2024",
        "DE12345678",
        "VAT DE123456789",
        "ATU12345678",
        "GB 2024-05-06 was fine",
        "FR14 ways to go",
        "NO93 is a road, and so is NO94",
        "order ES9121000418450200051331",
        "ES91 2100 0418 4502 0005 133",
        "IT60 X054 2811 1010 0000 0123 457",
        "uuid de893704-0044-0532-0130-001234567890",
        "sha de89370400440532013000abcdef0123456789",
        "BE68 5390 0754 7035",
        "NL91ABNA0417164301",
        "CH93 0076 2011 6238 5295 8",
        "MT84MALT011000012345MTLCAST001T",
        "SE45 5000 0000 0583 9825 7467",
        "my account is 0532013000",
        "BIC COBADEFFXXX",
        "sort code 60-16-13",
        "PL61 apples and 1090 pears",
        "AE07 to AE99",
        "DK50, FI21, LU28",
        "AD12 from a game",
        "flight LH 1234, seat 12A",
        "room DE12 at 10:30",
        "4111 1111 1111 1111",
        "PT50 0002 0123 1234 5678 9015 5",
        "TR330006100519786457841327",
        "licence B-DE 8937 0400",
        "RO49 AAAA 1B31 0075 9384 0001",
        "IS14 is a code",
    ],
    "address": [
        "I live on Elm Street.",
        "Elm Street is long.",
        "the 2008 Wall Street crash",
        "12 people in the street",
        "12 streets",
        "3 roads lead to Rome",
        "the 5 Main streets",
        "a 5 star hotel",
        "42 is the answer",
        "12 elm street",
        "Route 66",
        "Interstate 95",
        "Highway 101",
        "5th Avenue is busy",
        "Broadway shows",
        "the road to 2030",
        "10 Gigabit Ethernet",
        "Chapter 3 Way of Life"[:9],
        "I paid 12 USD on Main Street",
        "$12 Main Street lunch",
        "Berlin 10115",
        "10115 Berlin",
        "London SW1A 1AA",
        "New York, NY 10118",
        "Boston in 2024",
        "Seite 12",
        "Kapitel 3, 2024 geschrieben",
        "Arbeitsplatz 4",
        "Schlüsselring 2",
        "auf dem Hinweg 2 Stunden",
        "Bundesstraße 5",
        "Bundesstraße 96 ist gesperrt",
        "die Milchstraße 2024",
        "die Straße ist 12 Meter breit",
        "in der Hauptstraße",
        "Hauptstraße ist laut",
        "Hauptstraße 12,5 km",
        "am 12. Mai 2024",
        "Am 12. Mai 2024 in Berlin",
        "Montag 3, Dienstag 4",
        "Version 3, 2024",
        "iPhone 15, 2024 gekauft",
        "Zimmer 12",
        "Haus 3",
        "Room 12, Floor 3",
        "Apt 4B",
        "12:30 Main Hall",
        "1.5 Park Lane laps",
        "box 1234",
        "Level 5, 2000 Points",
        "Level 5, 20000 Points",
        "Terminal 2, 20000 Menschen",
        "Am 3 Mai, 20000 Leute",
        "In 1984 Street Fighter came",
        "We run 10 Square miles",
    ],
}

TOLD = [(kind, text, hidden) for kind, rows in FOUND.items() for text, hidden in rows]
KEPT = [(kind, text) for kind, rows in LEFT_ALONE.items() for text in rows]


@pytest.mark.parametrize(("kind", "text", "hidden"), TOLD)
def test_a_contact_is_found_where_it_is_asked_for(kind: PiiClass, text: str, hidden: str) -> None:
    found = screen(text, {kind: "redact"})
    assert found.removed == {kind: 1}
    before, _, behind = text.partition(hidden)
    assert found.text.startswith(before) and found.text.endswith(behind)
    assert len(found.text) - len(before) - len(behind) in (1, 2, 3, 9), found.text
    assert screen(text, dict.fromkeys(CONTACTS, "allow")).text == text


@pytest.mark.parametrize(("kind", "text"), KEPT)
def test_what_looks_like_a_contact_is_left_alone(kind: PiiClass, text: str) -> None:
    assert screen(text, {kind: "redact"}).text == text


def test_tables_are_long_enough() -> None:
    assert all(len(FOUND[kind]) >= 20 and len(LEFT_ALONE[kind]) >= 40 for kind in CONTACTS)


def test_nobody_looks_for_them_unless_a_tenant_asks() -> None:
    text = "; ".join(text for _, text, _ in TOLD if "Tel" not in text)
    assert {kind: Policy().pii.actions[kind] for kind in CONTACTS} == dict.fromkeys(CONTACTS, "allow")
    assert not set(screen(text, Policy().pii.actions).removed) & set(CONTACTS)


@given(st.sampled_from(sorted(ibans._LENGTHS)), st.text("0123456789", min_size=40, max_size=40))
def test_a_number_of_every_country_is_found_by_its_checksum_alone(country: str, digits: str) -> None:
    account = digits[: ibans._LENGTHS[country] - 4]
    number = country + registered.calc_check_digits(f"{country}00{account}") + account
    assert screen(f"to {number}.", {"iban": "redact"}).text == "to [removed]."
    wrong = number[:-1] + str((int(number[-1]) + 1) % 10)
    assert screen(wrong, {"iban": "redact"}).text == wrong


def test_members_with_such_names_are_screened() -> None:
    walk = Walk(PiiActions(phone="redact", address="redact", email="redact").actions)
    kept = walk.members(
        {
            "phone": 5550199,
            "mobile_number": "555 0199",
            "email": "ann@example.com",
            "shippingAddress": "Rua das Flores 12",
            "ip_address": "10.0.0.1",
            "address": "https://x.example/12 a",
            "phone_model": "15 Pro",
            "mobile": True,
        }
    )
    assert kept == {
        "phone": "[*]",
        "mobile_number": "[*]",
        "email": "[removed]",
        "shippingAddress": "[removed]",
        "ip_address": "10.0.0.1",
        "address": "https://x.example/12 a",
        "phone_model": "15 Pro",
        "mobile": True,
    }


ANY = st.lists(
    st.sampled_from([text for _, text, _ in TOLD] + [text for _, text in KEPT])
    | st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=12),
    max_size=6,
).map(" ".join)


@given(ANY)
def test_what_was_screened_holds_no_contact(text: str) -> None:
    actions = dict.fromkeys(CONTACTS, "redact")
    once = screen(text, actions)  # type: ignore[arg-type]
    assert screen(once.text, actions).text == once.text  # type: ignore[arg-type]
    assert len(once.text) <= len(text)


@pytest.mark.parametrize(
    "piece", ["0", "0 ", "+4", "a@", "@", "a.", "12 ", "12 Elm ", "Am ", "DE89 ", "(0", "phone ", "A-"]
)
def test_a_long_text_is_read_once(piece: str) -> None:
    """64 KB that could make a pattern look again and again: seconds would say that it does."""
    text = piece * (65_536 // len(piece))
    screen(text, dict.fromkeys(CONTACTS, "redact"))
