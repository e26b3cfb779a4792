"""Mail: who wrote what to whom, and what was attached."""

from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.readers.mail import MailReader


def message(text: str = "It sails at seven.\n", subject: str = "Später") -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = "Ann <ann@ferry.example>"
    mail["To"] = "bo@ferry.example, cy@ferry.example"
    mail["Subject"] = subject
    mail["Date"] = "Mon, 04 Mar 2024 09:00:00 +0100"
    mail.set_content(text)
    return mail


def read(data: bytes, tmp_path: Path) -> ParsedDocument:
    path = tmp_path / "mail.eml"
    path.write_bytes(data)
    return MailReader().read(path, tmp_path)


def test_a_message_is_a_page_of_its_header_and_its_text(tmp_path: Path) -> None:
    document = read(message().as_bytes(), tmp_path)
    assert document.title == "Später"
    assert [page.text for page in document.pages] == [
        "# Später\n\nFrom: Ann <ann@ferry.example>\nTo: bo@ferry.example, cy@ferry.example\n"
        "Date: Mon, 04 Mar 2024 09:00:00 +0100\n\nIt sails at seven."
    ]


def test_the_plain_one_of_two_alternatives_is_read(tmp_path: Path) -> None:
    mail = message()
    mail.add_alternative("<p>It sails at <b>seven</b>.</p><p>Bye.</p>", subtype="html")
    assert read(mail.as_bytes(), tmp_path).pages[0].text.endswith("It sails at seven.")


def test_html_is_read_where_the_plain_text_says_next_to_nothing(tmp_path: Path) -> None:
    mail = message("Use a newer program.")
    mail.add_alternative(f"<p>Boats.</p><ul>{'<li>It sails at seven.' * 9}</ul>", subtype="html")
    text = read(mail.as_bytes(), tmp_path).pages[0].text
    assert "Boats.\n\nIt sails at seven.\nIt sails" in text
    assert "newer" not in text


def test_attachments_are_listed_with_their_size(tmp_path: Path) -> None:
    mail = message()
    mail.add_attachment(b"x" * 2048, maintype="application", subtype="pdf", filename="Fähre.pdf")
    mail.add_attachment("a,b\n", subtype="csv", filename="fares.csv")
    text = read(mail.as_bytes(), tmp_path).pages[0].text
    assert text.endswith("Attachments:\n\n- Fähre.pdf (application/pdf, 2 KB)\n- fares.csv (text/csv, 4 bytes)")


def test_a_forwarded_message_stands_below_under_its_subject(tmp_path: Path) -> None:
    mail = message()
    mail.add_attachment(message("At nine.", "Before"))
    page = read(mail.as_bytes(), tmp_path).pages[0]
    assert [(heading.level, heading.title) for heading in page.headings] == [(1, "Später"), (2, "Before")]
    assert page.text.endswith("At nine.")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"Content-Type: text/plain; charset=iso-8859-1\n\nSp\xe4ter", "Später"),
        (b"Content-Type: text/plain; charset=no-such\n\nSp\xc3\xa4ter", "Später"),
        (b"Content-Transfer-Encoding: base64\n\nSXQgc2FpbHM=", "It sails"),
        (
            b"Content-Transfer-Encoding: quoted-printable\nContent-Type: text/plain; charset=utf-8\n\nSp=C3=A4ter",
            "Später",
        ),
        (b"Content-Type: multipart/mixed\n\nno boundary", "no boundary"),
    ],
)
def test_encodings_as_they_come_are_read(raw: bytes, expected: str, tmp_path: Path) -> None:
    assert read(b"Subject: x\n" + raw, tmp_path).pages[0].text == f"# x\n\n{expected}"


def test_headers_in_encodings_that_there_are_not_stay_as_they_are(tmp_path: Path) -> None:
    document = read(b"Subject: =?no-such?q?x=FF?=\n\nBoats.", tmp_path)
    assert document.title == "=?no-such?q?x=FF?="


@pytest.mark.parametrize("head", [b"", b"just text\n", b"\x00\x01", b"{}"])
def test_what_has_no_header_is_no_mail(head: bytes, tmp_path: Path) -> None:
    assert not MailReader().accepts(tmp_path / "x.eml", head)


def test_a_message_that_says_nothing_is_empty(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="empty"):
        read(b"Subject: x\n\n \n", tmp_path)


def test_messages_in_messages_end_somewhere(tmp_path: Path) -> None:
    nested = b"Content-Type: message/rfc822\n\n" * 2_000 + b"Subject: x\n\nBoats."
    try:
        assert read(b"Subject: y\n" + nested, tmp_path).pages
    except ReadError as error:
        assert str(error).startswith(("nested", "empty"))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(
        st.sampled_from(
            [
                b"Content-Type: multipart/mixed; boundary=b",
                b"Content-Type: message/rfc822",
                b"--b",
                b"--b--",
                b"",
                b"text",
                b"Content-Type: text/html; charset=utf-16",
                b"Content-Transfer-Encoding: base64",
                b"=?utf-8?b?/w=?=",
                b"Content-Disposition: attachment; filename*=utf-8''%ff",
                b"Subject: =?utf-8?q?=FF?=",
                b"Date:",
                b"\xff\xfe",
                b"Content-Type: multipart/alternative; boundary=b",
                b"Content-Type: ;;=",
                b"To: <",
                b" folded",
            ]
        ),
        max_size=14,
    )
)
def test_any_lines_give_a_message_or_a_reason(lines: list[bytes], tmp_path: Path) -> None:
    try:
        document = read(b"\n".join([b"From: a", *lines]), tmp_path)
    except ReadError as error:
        assert str(error)
    else:
        assert document.pages[0].text.strip()


def test_a_message_saved_in_utf16_is_read(tmp_path: Path) -> None:
    saved = message("Die Fähre fährt.\n").as_string().encode("utf-16")
    path = tmp_path / "mail.eml"
    path.write_bytes(saved)
    assert MailReader().accepts(path, saved[:4_096])
    assert MailReader().read(path, tmp_path).pages[0].text.endswith("Die Fähre fährt.")


def read_folder(data: bytes, tmp_path: Path) -> ParsedDocument:
    path = tmp_path / "harbour.mbox"
    path.write_bytes(data)
    assert MailReader().accepts(path, data[:4096])
    return MailReader().read(path, tmp_path)


def in_folder(*messages: EmailMessage) -> bytes:
    """As mail programs keep them: a line that tells who and when, lines that look like one quoted."""
    path = "From ann@ferry.example Mon Mar  4 09:00:00 2024\n"
    return b"".join(path.encode() + mail.as_bytes().replace(b"\nFrom ", b"\n>From ") + b"\n" for mail in messages)


def test_each_message_of_a_folder_is_a_page(tmp_path: Path) -> None:
    document = read_folder(in_folder(message(), message("At nine.\n", "And back?")), tmp_path)
    assert document.title == "harbour"
    assert [(page.title, page.text.split("\n")[-1]) for page in document.pages] == [
        ("Später", "It sails at seven."),
        ("And back?", "At nine."),
    ]


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_a_sentence_that_begins_with_from_begins_no_message(newline: bytes, tmp_path: Path) -> None:
    said = "It is long.\n\nFrom here it takes an hour.\n\nFrom there two.\n"
    quoted = in_folder(message(said), message())
    document = read_folder(quoted.replace(b"\n", newline), tmp_path)
    bare = read_folder(quoted.replace(b">From", b"From").replace(b"\n", newline), tmp_path)
    assert [page.title for page in document.pages] == ["Später", "Später"]
    assert "\n\nFrom here it takes an hour.\n\nFrom there two." in document.pages[0].text
    assert [page.text for page in bare.pages] == [page.text for page in document.pages]


def test_messages_of_a_folder_that_say_nothing_are_named(tmp_path: Path) -> None:
    document = read_folder(in_folder(message(""), message(), message("\n")), tmp_path)
    assert len(document.pages) == 1
    assert document.warnings == ("2 messages left out: they say nothing",)
    with pytest.raises(ReadError, match="empty: no message of the folder says anything"):
        read_folder(in_folder(message("")), tmp_path)
