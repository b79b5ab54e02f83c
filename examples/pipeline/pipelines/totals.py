#!/usr/bin/env python3
"""Amounts of one page of an invoice: a stage of a pipeline, run once for each page.

stdin: the job as JSON, with `document`, `page`, `options` and `inputs`. Of these it requires `map`, the spatial map of the
page (docs/spatial-map.md). stdout: {"currency": "EUR", "amounts": [{"label", "cents"}], "page_cents"}. Exit status: 0 done,
65 this page can never work, 75 try again.
"""
import json
import re
import sys

AMOUNT = re.compile(r"^(\d{1,3}(?:[.,' ]?\d{3})*)[.,](\d{2})$")
CURRENCIES = {"€": "EUR", "EUR": "EUR", "$": "USD", "USD": "USD", "CHF": "CHF", "£": "GBP", "GBP": "GBP"}


def rows_of(page):
    """Words of the page by line, from left to right: a total and its amount may be columns apart."""
    rows = []
    for word in sorted(page["words"], key=lambda w: (w["bbox"][1] + w["bbox"][3]) / 2):
        x0, y0, _, y1 = word["bbox"]
        if rows and rows[-1]["y0"] <= (y0 + y1) / 2 <= rows[-1]["y1"]:
            rows[-1]["words"].append((x0, word["text"]))
        else:
            rows.append({"y0": y0, "y1": y1, "words": [(x0, word["text"])]})
    return [[text for _, text in sorted(row["words"])] for row in rows]


def amounts_of(page, labels):
    found, currency = [], None
    for words in rows_of(page):
        line = " ".join(words).lower()
        for word in words:
            currency = currency or CURRENCIES.get(word.strip(".,:"))
        label = next((name for name in labels if name in line), None)
        numbers = [AMOUNT.match(word.strip("€$£")) for word in words]
        numbers = [n for n in numbers if n]
        if label and numbers:
            whole = re.sub(r"\D", "", numbers[-1].group(1))
            found.append({"label": label, "cents": int(whole) * 100 + int(numbers[-1].group(2))})
    return found, currency


def main():
    job = json.load(sys.stdin)
    page = job["inputs"]["map"]
    labels = [label.lower() for label in job["options"].get("labels", ["total"])]
    amounts, currency = amounts_of(page, labels)
    print(f"page {job['page']} of {job['document']['file_name']}: {len(amounts)} amounts", file=sys.stderr)
    json.dump({"currency": currency, "amounts": amounts, "page_cents": sum(a["cents"] for a in amounts)}, sys.stdout)


if __name__ == "__main__":
    main()
