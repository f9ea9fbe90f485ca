#!/usr/bin/env python3
"""`halftone numbers` against NumPy, ml_dtypes and exact rational arithmetic that rounds once.

- every pattern of FP16, BF16, FP8 E4M3 and FP8 E5M2: value, and in 16 bits the neighbours too;
- random doubles into each of the six formats (all bit patterns, the format's range, next to ties);
- decimals, fractions and powers as text, some a digit away from a tie beyond any double;
- sums, products, and sums of n terms in every accumulator.

Exits with 1 on any difference. Needs NumPy and ml_dtypes.
"""

import argparse
import fractions
import json
import math
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

# name: exponent bits, fraction bits, has infinity
FORMATS = {"fp32": (8, 23, True), "tf32": (8, 10, True), "fp16": (5, 10, True), "bf16": (8, 7, True),
           "fp8-e4m3": (4, 3, False), "fp8-e5m2": (5, 2, True)}
TYPES = {"fp16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16),
         "fp8-e4m3": np.dtype(ml_dtypes.float8_e4m3fn), "fp8-e5m2": np.dtype(ml_dtypes.float8_e5m2)}
MOST_TERMS = 3000


def smallest_exponent(name):
    return 2 - 2 ** (FORMATS[name][0] - 1)


def largest(name):
    exponent_bits, fraction_bits, infinity = FORMATS[name]
    bias = 2 ** (exponent_bits - 1) - 1
    top = bias if infinity else 2 ** exponent_bits - 1 - bias
    last = 2 ** (fraction_bits + 1) - (1 if infinity else 2)
    return fractions.Fraction(last) * fractions.Fraction(2) ** (top - fraction_bits)


LARGEST = {name: largest(name) for name in FORMATS}


def round_once(numerator, denominator, name):
    """The rational, rounded to nearest even: a Fraction, or "inf", "-inf", "nan"."""
    if numerator == 0:
        return fractions.Fraction(0)
    sign = -1 if numerator < 0 else 1
    numerator = abs(numerator)
    exponent = numerator.bit_length() - denominator.bit_length()
    if (numerator << max(0, -exponent)) < (denominator << max(0, exponent)):
        exponent -= 1
    place = max(exponent, smallest_exponent(name)) - FORMATS[name][1]
    count, rest = divmod(numerator << max(0, -place), denominator << max(0, place))
    twice = 2 * rest - (denominator << max(0, place))
    if twice > 0 or (twice == 0 and count % 2 == 1):
        count += 1
    value = fractions.Fraction(count) * fractions.Fraction(2) ** place if place < 0 else fractions.Fraction(count << place)
    if value > LARGEST[name]:
        return "nan" if not FORMATS[name][2] else ("inf" if sign > 0 else "-inf")
    return sign * value


def rounded(value, name):
    return value if isinstance(value, str) else round_once(value.numerator, value.denominator, name)


def parsed(text):
    """A value as `numbers --json` writes it: exact decimals."""
    return text if text in ("inf", "-inf", "nan") else fractions.Fraction(text)


def as_double(value):
    return float(value)  # also of "inf" and "nan"; every value of the formats is a double


class Program:
    def __init__(self, binary, folder):
        self.binary, self.folder, self.differences, self.compared = binary, folder, 0, 0

    def answers(self, values, *options):
        """The JSON objects that it prints for these values."""
        lines = pathlib.Path(self.folder) / "values.txt"
        lines.write_text("\n".join(values) + "\n")
        with subprocess.Popen([self.binary, "numbers", "--json", "--file", lines, *options],
                              stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                yield json.loads(line)
        if process.returncode != 0:
            sys.exit(f"numbers {options} ended with {process.returncode}")

    def compare(self, what, found, expected):
        self.compared += 1
        if found == expected:
            return
        self.differences += 1
        if self.differences <= 20:
            print(f"  {what}: {found}, expected {expected}")

    def report(self, what):
        print(f"{what}: {self.compared:,} compared, {self.differences} differ so far", flush=True)
        self.compared = 0


def patterns(program):
    for name, dtype in TYPES.items():
        bits = np.arange(2 ** (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}")
        with np.errstate(invalid="ignore"):  # signalling NaNs
            values = bits.view(dtype).astype(np.float64)
        digits = 2 * dtype.itemsize
        # In 8 bits ml_dtypes' nextafter differs by version, so only 16-bit types and wider are compared.
        if dtype.itemsize == 2:
            with np.errstate(all="ignore"):
                up = np.nextafter(bits.view(dtype), dtype.type(np.inf)).astype(np.float64)
                down = np.nextafter(bits.view(dtype), dtype.type(-np.inf)).astype(np.float64)
        count = 0
        for each, value, answer in zip(bits, values, program.answers([f"0x{b:0{digits}x}" for b in bits],
                                                                     "--format", name)):
            count += 1
            got = as_double(parsed(answer["value"]))
            what = f"{name} {answer['input']}"
            same = math.isnan(got) == math.isnan(value) and (math.isnan(value) or
                                                            struct.pack("d", got) == struct.pack("d", value)
                                                            or got == value == 0)
            program.compare(what, (got, True), (got if same else value, same))
            if math.isnan(value):
                program.compare(what, answer["class"], "nan")
                continue
            program.compare(what, int(answer["bits"], 16) if value != 0 else int(each), int(each))
            if dtype.itemsize == 2:
                for key, edge, neighbour in (("above", math.inf, up), ("below", -math.inf, down)):
                    expected = None if value == edge else neighbour[int(each)]
                    found = None if answer[key] is None else float(answer[key])
                    program.compare(f"{what} {key}", found, expected)
        program.compare(name, count, len(bits))
        program.report(f"{name}: every pattern")


def random_doubles(rng, name, count):
    low = smallest_exponent(name) - FORMATS[name][1]
    high = math.frexp(float(LARGEST[name]))[1]
    for i in range(count):
        kind = i % 4
        if kind == 0:  # any bits
            value = struct.unpack("<d", rng.randbytes(8))[0]
            if not math.isfinite(value):
                value = 0.0
        elif kind < 3:  # spread over the format's range and a little more
            value = math.ldexp(1 + rng.random(), rng.randint(low - 2, high))
        else:  # a tie of the format, or a double next to it
            place = max(rng.randint(low - 1, high), smallest_exponent(name))
            half = math.ldexp(2 * rng.randint(2 ** FORMATS[name][1], 2 ** (FORMATS[name][1] + 1)) + 1,
                              place - FORMATS[name][1] - 1)
            value = rng.choice((half, math.nextafter(half, 0), math.nextafter(half, math.inf)))
        yield -value if rng.random() < 0.5 else value


def doubles(program, rng, count):
    for name in FORMATS:
        values = list(random_doubles(rng, name, count))
        seen = 0
        for value, answer in zip(values, program.answers([v.hex() for v in values], "--format", name)):
            seen += 1
            program.compare(f"{name} {value!r}", parsed(answer["value"]),
                            round_once(*value.as_integer_ratio(), name))
        program.compare(name, seen, count)
        program.report(f"{name}: random doubles")


def random_text(rng, name):
    """A text and the rational that it represents."""
    kind = rng.randrange(5)
    if kind == 0:
        digits = "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 40)))
        point = rng.randint(0, len(digits))
        text = (digits[:point] or "0") + "." + (digits[point:] or "0")
        text += f"e{rng.randint(-50, 40)}" if rng.random() < 0.7 else ""
        return text, fractions.Fraction(text)
    if kind == 1:
        exponent = rng.randint(-200, 140)
        return f"2^{exponent}", fractions.Fraction(2) ** exponent
    if kind == 2:
        a, b = rng.randint(1, 10 ** 6), rng.randint(1, 10 ** 6)
        return f"{a}/{b}", fractions.Fraction(a, b)
    if kind == 3:
        factor, exponent = f"{rng.randint(1, 999)}.{rng.randint(0, 999)}", rng.randint(-160, 120)
        return f"{factor}*2^{exponent}", fractions.Fraction(factor) * fractions.Fraction(2) ** exponent
    # A tie, or less than a double's last bit away from one.
    fraction_bits = FORMATS[name][1]
    place = rng.randint(smallest_exponent(name), min(60, math.frexp(float(LARGEST[name]))[1] - 1)) - fraction_bits - 1
    tie = fractions.Fraction(2 * rng.randint(2 ** fraction_bits, 2 ** (fraction_bits + 1) - 1) + 1) * fractions.Fraction(2) ** place
    places = max(0, -place)
    digits = str(tie.numerator * 10 ** places // tie.denominator)  # exact: 2^-place has so many decimals
    digits = digits.zfill(places + 1)
    text = digits[:len(digits) - places] + "." + digits[len(digits) - places:]
    text += rng.choice(("", "0" * 30, "0" * 30 + "1"))
    return text, fractions.Fraction(text)


def texts(program, rng, count):
    for name in FORMATS:
        cases = [random_text(rng, name) for _ in range(count)]
        cases = [("-" + text, -value) if rng.random() < 0.5 else (text, value) for text, value in cases]
        seen = 0
        for (text, value), answer in zip(cases, program.answers([text for text, _ in cases], "--format", name)):
            seen += 1
            program.compare(f"{name} {text}", parsed(answer["value"]), rounded(value, name))
        program.compare(name, seen, count)
        program.report(f"{name}: numbers as text")


def arithmetic(program, rng, others, values):
    for name in FORMATS:
        for _ in range(others):
            high = math.frexp(float(LARGEST[name]))[1] - 1
            low = max(-60, smallest_exponent(name) - FORMATS[name][1])
            draw = lambda: rng.choice((-1, 1)) * math.ldexp(1 + rng.random(), rng.randint(low, min(high, 60)))
            b, many = draw(), [draw() for _ in range(values)]
            stored = [rounded(fractions.Fraction(v), name) for v in (b, *many)]
            if any(isinstance(each, str) for each in stored):
                continue
            for option, result in (("--add", lambda x, y: x + y), ("--multiply", lambda x, y: x * y)):
                found = program.answers([v.hex() for v in many], option, b.hex(), "--format", name)
                for value, x, answer in zip(many, stored[1:], found):
                    program.compare(f"{name} {value!r} {option} {b!r}", parsed(answer["value"]),
                                    rounded(result(x, stored[0]), name))
        program.report(f"{name}: sums and products")


def plain_sum(term, terms, name, accumulator):
    """The sum, and the number of terms after which it no longer changes, computed with Fractions."""
    term = rounded(term, name)
    total, stalls = fractions.Fraction(0), None
    for i in range(terms):
        exact = total + term if not isinstance(total, str) else total
        following = rounded(exact, accumulator)
        if following == total and term != 0:
            stalls = i
            break
        total = following
    return total, stalls


def sums(program, rng, count):
    for name in FORMATS:
        for accumulator in [None, *FORMATS]:
            if accumulator == "tf32":
                continue
            used = accumulator or ("fp32" if name == "tf32" else name)
            for _ in range(count):
                term, terms = rng.choice(("0.001", "0.1", "1", "1/3", "2^-10", "37", "-0.3")), rng.randint(0, MOST_TERMS)
                options = ["--sum", str(terms), "--format", name]
                options += ["--accumulator", accumulator] if accumulator else []
                answer = next(iter(list(program.answers([term], *options))))
                value = fractions.Fraction(2) ** -10 if term == "2^-10" else fractions.Fraction(term)
                program.compare(f"{name} in {used}: {terms} × {term}",
                                (parsed(answer["sum"]), answer["stalls_after"]),
                                plain_sum(value, terms, name, used))
        program.report(f"{name}: sums of equal terms in each accumulator")


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--halftone", default=str(root / "build" / "release" / "halftone"), help="the program")
    parser.add_argument("--doubles", type=int, default=1_000_000, help="random doubles into each format")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        program = Program(arguments.halftone, folder)
        patterns(program)
        sums(program, rng, 5)
        arithmetic(program, rng, 20, 200)
        texts(program, rng, 20_000)
        doubles(program, rng, arguments.doubles)
    print("all equal" if program.differences == 0 else f"{program.differences} differ")
    return 1 if program.differences else 0


if __name__ == "__main__":
    sys.exit(main())
