"""The nemesis runner: campaigns of faults against a real deployment, each judged by the offline checker.

    python3 -m runner --build build/release --profile short|long|release [--seed N] [--only points,killer] [--out DIR]
"""
