"""Arithmetic on measurements: medians, spreads, and one record per case from several runs of `millrace bench`."""

import statistics


def summary(samples):
    """Median and spread of a list; nothing of an empty one."""
    if not samples:
        return None
    return {"median": statistics.median(samples), "min": min(samples), "max": max(samples), "samples": samples}


def short(value):
    """For a line of progress."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def percentile(values, share):
    """By nearest rank, as `millrace bench` does it."""
    ordered = sorted(values)
    rank = max(1, -(-round(share * len(ordered) * 1e6) // 1_000_000))
    return ordered[min(rank, len(ordered)) - 1]


def percentiles(values):
    return {
        "p50": percentile(values, 0.5),
        "p95": percentile(values, 0.95),
        "p99": percentile(values, 0.99),
        "p99.9": percentile(values, 0.999),
    }


def median_of(records):
    """Key by key the median over several objects of numbers."""
    return {key: statistics.median(record[key] for record in records if key in record) for key in records[0]} if records else {}


def merge(runs):
    """{case: record} over several outputs of one row: samples joined, costs and percentiles by their medians."""
    cases = {}
    for output in runs:
        for result in output["results"]:
            cases.setdefault(result["case"], []).append(result)
    merged = {}
    for name, results in cases.items():
        record = {**results[-1]}
        samples = [sample for result in results for sample in result["samples"]]
        record.update(summary(samples) or {"samples": []})
        for key in ("per_job", "ms"):
            if key in record:
                record[key] = median_of([result[key] for result in results if key in result])
        for key in ("series", "first_10s", "last_10s", "last_30s"):
            if key in record:
                record[key] = [one for result in results for one in result[key]]
        merged[name] = record
    return merged


def per_second(points):
    """Jobs a second for every whole second, from cumulative (seconds, done) pairs."""
    rates = []
    for second in range(int(points[-1][0])):
        first = min(points, key=lambda point: abs(point[0] - second))
        last = min(points, key=lambda point: abs(point[0] - second - 1))
        rates.append(round((last[1] - first[1]) / (last[0] - first[0])) if last[0] > first[0] else 0)
    return rates


def mean_of_seconds(series, seconds):
    part = series[:seconds]
    return sum(part) / len(part) if part else 0


def middle_series(list_of_series):
    """The run whose mean is the median one: a real run, not an average of several."""
    ordered = sorted(list_of_series, key=lambda series: mean_of_seconds(series, len(series)))
    return ordered[len(ordered) // 2] if ordered else []
