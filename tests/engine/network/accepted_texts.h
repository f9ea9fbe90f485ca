#pragma once

#include <string_view>

namespace engine::network {

/// A text that the notation takes.
struct AcceptedText {
    const char* subject;
    /// Names of its parameters in order, apart by a space, for the inputs of expand_test.cpp;
    /// empty: not compared.
    const char* names;
    const char* shape;  ///< of the result; empty: not compared
    const char* text;
};

/// Every production of the grammar at least once.
inline constexpr AcceptedText accepted_texts[] = {
    {"the smallest text",
     "",
     "",
     R"(network(image):
  Flatten
  Linear(outputs)
)"},
    {"options of each type, with range, choices and help",
     "",
     "",
     R"(option a = true "A flag"
option b = 3 in 1..64 "A whole number"
option c = -0.5 in -1..1.5 "A number"
option d = none of none, tanh "A word # not a comment"
option e = [64, 128] in 1..65536
option f = "two words"
option g = [relu, gelu] of relu, gelu
network(features):
  ReLU
  Linear(outputs)
)"},
    {"init lines; blocks with defaults, without parameters, with named inputs; a block calls one above it",
     "0.0.weight 0.0.bias 1.0.0.weight 1.0.0.bias 1.1.0.weight 1.1.0.bias 3.weight "
     "3.bias",
     "",
     R"(init Linear.weight = normal(0.02)
init Linear.bias = zeros
block Line(out = 16):
  Linear(out)
  ReLU
block Two():
  Line
  Line(out=8)
block Sum(w) of a, b:
  Add from a, b
network(features or image, indices) gives scores:
  x = from in
  Line(20)
  y = from above
  Two from x
  Sum(1) from y, x
  Linear(outputs)
)"},
    {"two inputs and several words after gives",
     "",
     "",
     R"(network(image, features) gives click score:
  Flatten
  Concat from above, features
  Linear(1)
)"},
    {"labels: words of the grammar before a colon, numbers, dots, names in quotes, computed names",
     "block.0.0.weight block.0.0.bias if.weight if.bias repeat.0.weight repeat.0.bias "
     "repeat.1.weight repeat.1.bias output.dense.weight output.dense.bias "
     "network.7.weight network.7.bias block1-0.weight block1-0.bias block1-1.weight "
     "block1-1.bias in.weight in.bias x2y.weight x2y.bias",
     "",
     R"(network(features):
  block:
    0:
      Linear(4)
  if: Linear(4)
  repeat: repeat 2: Linear(4)
  output.dense: Linear(4)
  network.7: Linear(4)
  repeat 2 as i:
    "block1-{i}": Linear(4) from "network.7"
  in: Linear(4) from "block1-{2 - 1}"
  x{1 + 1}y: Linear(outputs)
)"},
    {"words of the grammar as names of values; keywords only where the line needs them",
     "",
     "",
     R"(network(features):
  output = ReLU
  let = Abs from output
  repeat = from let
  as = from repeat
  let of = 3
  let option = of + 1
  Linear(option) from as
  Linear(outputs)
)"},
    {"let and expressions: the order of the operators",
     "a.weight a.bias b.weight b.bias c.weight c.bias d.weight d.bias",
     "",
     R"(network(features):
  let x = 1 + 2 * 3^2 // 4 % 3 - -1
  let y = 2^-1 * 4
  let z = -2^2 + 2^3^2 / 64
  let t = not x > 3 and true or 1 == 2 or y != 2
  let u = (1 + 2) * 3 if t else 4 if not t else 5
  let v = [[1, 2], [3, 4]][-1][0] + size([1, 2] + [3])
  let w = []
  a: Linear(z)
  b: Linear(u if t else (v if u > 3 else 1e1))
  c: Linear(4 if not not t else 5)
  d: Linear(outputs)
)"},
    {"repeat: a count, a range, a list, several names, an index, on one line, nested",
     "0.weight 0.bias 1.weight 1.bias 2.weight 2.bias 3.weight 3.bias 4.weight 4.bias "
     "5.weight 5.bias 6.weight 6.bias 7.weight 7.bias 8.weight 8.bias 9.weight 9.bias",
     "",
     R"(network(features):
  let rows = [[16, 2, 1], [24, 1, 2]]
  repeat 2: Linear(8)
  repeat k in 1..2: Linear(8 * k)
  repeat [c, n, s] in rows as i:
    repeat n as j:
      Linear(c * s + i + j)
  repeat w in [4] + [size(rows)]:
    Linear(w)
  repeat rows[0][1] - 2: Linear(1)
  Linear(outputs)
)"},
    {"a repeat with a label: one child a run, or a container a run",
     "one.0.weight one.0.bias one.1.weight one.1.bias two.0.0.weight two.0.0.bias "
     "two.1.0.weight two.1.0.bias 2.weight 2.bias",
     "",
     R"(network(features):
  one: repeat 2: Linear(8)
  two: repeat n in [4, 8]:
    Linear(n)
    ReLU
  Linear(outputs)
)"},
    {"the newest value of a name counts, after a repeat too",
     "",
     "N x 10",
     R"(network(features):
  x = from in
  repeat 3:
    Abs from x
    x = Add from above, x
  Linear(outputs) from x
)"},
    {"computed names behind from, a value inside a container, in and above",
     "down0.conv.weight down0.conv.bias down1.conv.weight down1.conv.bias up1.weight "
     "up1.bias up0.weight up0.bias 5.weight 5.bias",
     "",
     R"(network(image):
  repeat 2 as i:
    down{i}:
      conv: Conv2d(8 * 2^i, 3, padding=1)
      ReLU
  repeat k in [1, 0]:
    Concat(dim=1) from above, down{k}, down{k}.conv, in
    up{k}: Conv2d(8, 3, padding=same)
  Mean([-2, -1])
  Linear(outputs)
)"},
    {"conditions: on a layer, on a container, on from; two lines of one label",
     "a.weight a.bias 1.weight 1.bias",
     "",
     R"(option deep = false
network(features):
  a: Linear(8) if deep and in.width > 3
  a: Linear(4) if not (deep and in.width > 3)
  b: from a if deep
    Linear(3)
  from in if deep
  c = b from a if true
  Linear(outputs)
)"},
    {"the same module again, and tied weights",
     "wte.weight wpe.weight h.0.ln_1.weight h.0.ln_1.bias h.0.attn.in_proj_weight "
     "h.0.attn.in_proj_bias h.0.attn.out_proj.weight h.0.attn.out_proj.bias",
     "N x T x 10",
     R"(network(tokens) gives token scores:
  wte: Embedding(32)
  wpe: Positions(64)
  Add from wte, wpe
  h: repeat 1:
    x = from in
    ln_1: LayerNorm
    attn: MultiheadAttention(4, causal=true)
    Add from above, x
  lm_head: Linear(outputs, weight=wte.weight, bias=false)
)"},
    {"query, key and value; a second output",
     "",
     "N x 10",
     R"(network(image):
  Flatten(2)
  rows = Transpose(-2, -1)
  lstm: LSTM(16)
  att: MultiheadAttention(4) from lstm, lstm, lstm
  a = Mean(1)
  b = from lstm.hidden
  c = Add from a, b, lstm.cell
  Linear(outputs) from c
)"},
    {"several outputs: the stages of a body for detection",
     "",
     "",
     R"(network(image) gives stages:
  MaxPool2d(2)
  repeat 4 as i:
    layer{i + 1}:
      MaxPool2d(2)
      Conv2d(8, 1)
  output layer1, layer2, layer3, layer4
)"},
    {"output of a block",
     "",
     "",
     R"(block Front(n):
  first = Abs
  ReLU
  output first
network(features):
  Front(1)
  Linear(outputs)
)"},
    {"an open bracket goes on in deeper lines, over comments and empty lines",
     "",
     "",
     R"(network(features):
  a: Linear(
      8,            # eight

    bias=[false,
      true][0])
  Linear(outputs)
)"},
    {"levels may be of any depth; comments and empty lines do not count",
     "",
     "",
     R"(network(features):
      # here
      a:

       b:
           Linear(8)
   # and here
       c: Linear(8)
      Linear(outputs)
)"},
};

}  // namespace engine::network
