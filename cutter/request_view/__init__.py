"""Pure: everything that a request shows: units with their text, findings, acceptances, written rows, and all digests.

`build_view` makes one value, `RequestView`, from the pinned bytes. The request document, the page, the JSON form and
the terminal all show this value and name its digest. So they cannot differ from each other.
"""
