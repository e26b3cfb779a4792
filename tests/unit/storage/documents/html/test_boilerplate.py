"""A site's boilerplate is left out of its pages' text, and nothing that the page says."""

import pytest

from storage.documents.html.text import html_to_text

BODY = "<h1>Ferry</h1><p>It sails at seven.</p>"


@pytest.mark.parametrize(
    "boilerplate",
    [
        '<div class="breadcrumbs">Home / Boats</div>',
        '<div id="cookie-consent-banner"><p>We use cookies.</p></div>',
        '<div class="cookieBanner">We use cookies.</div>',
        '<section class="eu-cookie-law">We use cookies.</section>',
        '<div id="onetrust-consent-sdk">We value your privacy.</div>',
        '<div class="cc-window cc-bottom">Cookies!</div>',
        '<a class="skip-link" href="#x">Skip to content</a>',
        '<ul class="pagination"><li>1<li>2</ul>',
        '<div class="catlinks">Categories: Boats</div>',
        '<div class="noprint">Edit this</div>',
        '<div class="site-footer">Imprint</div>',
    ],
)
def test_what_is_on_every_page_is_left_out(boilerplate: str) -> None:
    text = html_to_text(f"<body>{boilerplate}{BODY}{boilerplate}</body>").text
    assert text == "Ferry\n\nIt sails at seven."


def test_the_mark_behind_a_heading_is_no_part_of_it() -> None:
    page = html_to_text('<h2 id="fares">Fares<a class="headerlink" href="#fares">¶</a></h2><p>Four.</p>')
    assert page.text == "Fares\n\nFour."
    assert page.headings[0].title == "Fares"


@pytest.mark.parametrize(
    "page",
    [
        f'<body class="noprint">{BODY}</body>',
        f'<div class="navbar">{BODY}</div>',
        f'<div class="breadcrumbs"><article>{BODY}</article></div>',
        '<div class="cookie-recipes"><p>Two eggs.</p></div>',
        "<div class='consent'><p>Both sides consent.</p></div>",
    ],
)
def test_a_name_never_hides_what_the_page_says(page: str) -> None:
    assert html_to_text(page).text.strip()


def test_a_book_has_no_boilerplate() -> None:
    assert html_to_text('<aside class="noprint">1. A note.</aside>', book=True).text == "1. A note."
