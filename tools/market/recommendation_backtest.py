#!/usr/bin/env python3
"""Backtests whole recommendations on 16 months of daily AWS prices.

Each month, and for prices read 1, 28 and 85 days earlier, `recommend` plans each job on spot machines of AWS. The
script compares what the first plan promised with what its zone charged during the following week (services: month), and
with the same machines in the zone that had the lowest listed price.

    tools/market/recommendation_backtest.py build/release/rightsize
"""
import collections, csv, datetime, gzip, json, os, pathlib, statistics, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HISTORY = ROOT / "data/measurements/aws-gpu-daily-prices.csv.gz"
JOBS = {
    "fine-tune 8B": ["--model", "llama-3.1-8b", "--job", "train", "--method", "lora", "--tokens", "2B"],
    "train 1B": ["--model", "llama-3.2-1b", "--tokens", "20B", "--deadline", "7d"],
    "serve 8B": ["--model", "llama-3.1-8b", "--rate", "20"],
    "serve 70B": ["--model", "llama-3.1-70b", "--rate", "5"],
    "offline 8B": ["--model", "llama-3.1-8b", "--items", "20M", "--deadline", "7d"],
}
MAX_GAP = 3  # days without a reading before or after the wanted day


def read_history():
    days = collections.defaultdict(dict)  # day -> (instance, region, zone) -> spot price
    with gzip.open(HISTORY, "rt") as file:
        for row in csv.DictReader(file):
            if row["spot"]:
                days[datetime.date.fromisoformat(row["date"])][row["instance"], row["region"], row["az"]] = float(row["spot"])
    return days


def near(days, day):
    return next((day - datetime.timedelta(n) for n in range(MAX_GAP + 1) if day - datetime.timedelta(n) in days), None)


def write_catalogue(folder, rows, date):
    prices = pathlib.Path(folder, "prices")
    prices.mkdir(exist_ok=True)
    lines = ["instance,region,zone,purchase,price,per_gpu,source,date,unverified,note"]
    lines += [f"{i},{r},{z},spot,{p}USD/h,,backtest,{date},," for (i, r, z), p in sorted(rows.items())]
    prices.joinpath("aws.csv").write_text("\n".join(lines) + "\n")
    pathlib.Path(folder, "sources.csv").write_text(
        f"key,title,address,licence,retrieved,note\nbacktest,daily AWS prices,https://example.com,,{date},\n")


def paid(days, start, length, offer):
    prices = [days[d][offer] for n in range(length) if (d := start + datetime.timedelta(n)) in days and offer in days[d]]
    return statistics.mean(prices) if prices else None


def plan_of(program, folder, words, rows):
    machines = ",".join(sorted({instance for instance, _, _ in rows}))
    command = [program, "recommend", *words, "--provider", "aws", "--instance", machines, "--purchase", "spot",
               "--catalog", folder, "--format", "json"]
    answer = subprocess.run(command, capture_output=True, text=True)
    if answer.returncode not in (0, 2):
        sys.exit(answer.stderr)
    plans = json.loads(answer.stdout).get("plans", [])
    return plans[0] if plans else None


def main(program):
    days, today = read_history(), datetime.date.today()
    first, last = min(days), max(days)
    print("| prices read | jobs | paid / promised | inside low-high | paid / lowest row's zone | lowest row: paid / row |")
    print("|---|--:|--:|--:|--:|--:|")
    for age in (1, 28, 85):
        promised, inside, against, row_paid = [], [], [], []
        month = first.replace(day=1)
        while month < last:
            month = (month + datetime.timedelta(32)).replace(day=1)
            read = near(days, month - datetime.timedelta(age))
            if read is None:
                continue
            with tempfile.TemporaryDirectory() as folder:
                write_catalogue(folder, days[read], today - datetime.timedelta(age))
                for name, words in JOBS.items():
                    plan = plan_of(program, folder, words, days[read])
                    if plan is None:
                        continue
                    listed = plan["list_usd_per_machine_hour"]
                    offers = [o for o, p in days[read].items()
                              if o[0] == plan["instance"] and o[1] == plan["region"] and abs(p - listed) < 1e-6]
                    length = 28 if name.startswith("serve") else 7
                    cost = paid(days, month, length, offers[0]) if offers else None
                    lowest = min((p, o) for o, p in days[read].items() if o[0] == plan["instance"])
                    lowest_paid = paid(days, month, length, lowest[1])
                    if cost is None or lowest_paid is None:
                        continue
                    # The range also covers the job's time; only the price is known here.
                    likely = plan["usd_per_hour"] / plan["instances"]
                    promised.append(cost / likely)
                    inside.append(plan["low"] <= plan["usd_total"] * cost / likely <= plan["high"])
                    against.append(cost / lowest_paid)
                    row_paid.append(lowest_paid / lowest[0])
        if promised:
            print(f"| {age} days earlier | {len(promised)} | {statistics.mean(promised):.2f} | "
                  f"{100 * statistics.mean(inside):.0f} % | {statistics.mean(against):.2f} | {statistics.mean(row_paid):.2f} |")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
