#!/usr/bin/env python3
"""Sum of an invoice: a stage of a pipeline, run once for each document, behind the pages.

Requires `totals`, what totals.py made of the pages: a list of {"page", "content"}, without pages that were given up. An
invoice in two currencies cannot be summed: exit status 65 fails the document for good.
"""
import json
import sys

job = json.load(sys.stdin)
totals = job["inputs"]["totals"]
currencies = {t["content"]["currency"] for t in totals if t["content"]["currency"]}
if len(currencies) > 1:
    print("amounts are in " + " and ".join(sorted(currencies)), file=sys.stderr)
    sys.exit(65)
json.dump({"currency": next(iter(currencies), None), "pages": len(totals),
           "cents": sum(t["content"]["page_cents"] for t in totals)}, sys.stdout)
