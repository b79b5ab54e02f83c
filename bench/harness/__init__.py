"""The whole benchmark: Millrace and its peers, interleaved on one server. `python3 -m harness --help` in bench/."""
