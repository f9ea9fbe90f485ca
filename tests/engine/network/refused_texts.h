#pragma once

namespace engine::network {

/// A text that the notation refuses, and where its first fault stands.
struct RefusedText {
    const char* subject;
    int line, column;
    const char* text;
};

/// Every production of the grammar at least once.
inline constexpr RefusedText refused_texts[] = {
    {"no network", 1, 1,
     R"(option a = 3
)"},
    {"something after the network", 3, 1,
     R"(network(features):
  Linear(outputs)
option a = 3
)"},
    {"the first line is indented", 1, 1,
     R"(  network(features):
    Linear(outputs)
)"},
    {"a dedent that meets no open level", 4, 1,
     R"(network(features):
    a:
        Linear(3)
      Linear(outputs)
)"},
    {"deeper without a head", 3, 5,
     R"(network(features):
  ReLU
    Linear(outputs)
)"},
    {"deeper below an option", 2, 3,
     R"(option a = 3
  option b = 4
network(features):
  Linear(outputs)
)"},
    {"a head without a body", 2, 5,
     R"(network(features):
  a:
  Linear(outputs)
)"},
    {"a block without a body", 1, 11,
     R"(block A():
network(features):
  Linear(outputs)
)"},
    {"an open bracket: the next line is not deeper", 2, 9,
     R"(network(features):
  Linear(
  outputs)
)"},
    {"an open bracket at the end of the text", 2, 9,
     R"(network(features):
  Linear([8
)"},
    {"a bracket too many", 2, 12,
     R"(network(features):
  Linear(8))
)"},
    {"the wrong bracket", 2, 9,
     R"(network(features):
  Linear([8)
)"},
    {"a tab", 2, 1,
     "network(features):\n\tLinear(8)\n"},
    {"a tab between words", 2, 12,
     "network(features):\n  Linear(8,\tbias=false)\n"},
    {"a string that does not end", 1, 19,
     R"(option a = 3 "help
network(features):
  Linear(8)
)"},
    {"an option's default is not computed", 1, 14,
     R"(option a = 3 + 1
network(features):
  Linear(a)
)"},
    {"an empty list as default: of which type?", 1, 13,
     R"(option a = []
network(features):
  Linear(8)
)"},
    {"a keyword as an option's name", 1, 8,
     R"(option if = 3
network(features):
  Linear(8)
)"},
    {"in, above and outputs are not names either", 2, 7,
     R"(network(features):
  let outputs = 3
  Linear(8)
)"},
    {"nor parameters", 1, 9,
     R"(block A(in):
  Linear(8)
network(features):
  A(3)
)"},
    {"nor names of values", 2, 3,
     R"(network(features):
  above = ReLU
)"},
    {"nor variables of a repeat", 2, 19,
     R"(network(features):
  repeat not in [1, 2]: Linear(8)
)"},
    {"a range with one end", 1, 20,
     R"(option a = 3 in 1..
network(features):
  Linear(a)
)"},
    {"init needs a kind and a parameter", 1, 13,
     R"(init Conv2d = zeros
network(image):
  Conv2d(8, 3)
)"},
    {"parameters in brackets", 1, 8,
     R"(block A:
  ReLU
network(features):
  A
)"},
    {"network without inputs", 1, 9,
     R"(network():
  ReLU
)"},
    {"gives what?", 1, 24,
     R"(network(features) gives:
  ReLU
)"},
    {"let is no part of a file", 1, 1,
     R"(let a = 3
network(features):
  Linear(a)
)"},
    {"let without a value", 2, 8,
     R"(network(features):
  let a
  Linear(8)
)"},
    {"repeat without a colon", 2, 11,
     R"(network(features):
  repeat 2
    Linear(8)
)"},
    {"repeat on one line takes one layer, not a container", 2, 15,
     R"(network(features):
  repeat 2: a:
    Linear(8)
)"},
    {"a repeat in a repeat on one line", 2, 20,
     R"(network(features):
  repeat 2: repeat 2: Linear(8)
)"},
    {"names of a repeat in brackets", 2, 11,
     R"(network(features):
  repeat c, n in [[1, 2]]: Linear(c)
)"},
    {"a range without its end", 2, 18,
     R"(network(features):
  repeat i in 1..: Linear(8)
)"},
    {"output is not the last line", 2, 3,
     R"(network(features):
  output in
  Linear(outputs)
)"},
    {"output without a value", 3, 9,
     R"(network(features):
  Linear(outputs)
  output
)"},
    {"a label alone", 2, 5,
     R"(network(features):
  a:
)"},
    {"a label and a value, but no layer", 2, 13,
     R"(network(features):
  a: from in
  Linear(outputs)
)"},
    {"a value with a body", 3, 5,
     R"(network(features):
  a = from in
    Linear(8)
)"},
    {"a layer with a body", 3, 5,
     R"(network(features):
  a: Linear(8)
    ReLU
)"},
    {"a value where a layer stands", 2, 7,
     R"(network(features):
  x = in
)"},
    {"nothing behind from", 2, 17,
     R"(network(features):
  Linear(8) from
)"},
    {"from twice", 2, 21,
     R"(network(features):
  Linear(8) from in from above
)"},
    {"if before from", 2, 21,
     R"(network(features):
  Linear(8) if true from in
)"},
    {"if without a condition", 2, 15,
     R"(network(features):
  Linear(8) if
)"},
    {"if without else in an expression", 2, 20,
     R"(network(features):
  let a = 3 if true
)"},
    {"two comparisons", 2, 17,
     R"(network(features):
  let a = 1 < 2 < 3
)"},
    {"not binds less than a comparison", 2, 16,
     R"(network(features):
  let a = 1 == not true
)"},
    {"two operators", 2, 15,
     R"(network(features):
  let a = 1 + * 2
)"},
    {"nothing after an operator", 2, 14,
     R"(network(features):
  let a = 1 -
)"},
    {"a number needs digits on both sides of its point", 2, 12,
     R"(network(features):
  let a = 1. + 2
)"},
    {"nor may it begin with the point", 2, 11,
     R"(network(features):
  let a = .5
)"},
    {"a list that ends with a comma", 2, 17,
     R"(network(features):
  let a = [1, 2,]
)"},
    {"arguments that end with a comma", 2, 12,
     R"(network(features):
  Linear(8,)
)"},
    {"arguments without a name come first", 2, 24,
     R"(network(image):
  Conv2d(8, padding=1, 3)
)"},
    {"a keyword as a value", 2, 10,
     R"(network(features):
  Linear(else)
)"},
    {"a path is not called", 2, 14,
     R"(network(features):
  let a = x.y(3)
)"},
    {"a name in quotes that does not end", 2, 23,
     R"(network(features):
  "block1-0: Linear(8)
)"},
    {"a dash outside quotes", 2, 9,
     R"(network(features):
  block1-0: Linear(8)
)"},
    {"an open brace in a name", 2, 6,
     R"(network(features):
  a{1: Linear(8)
)"},
    {"empty braces", 2, 5,
     R"(network(features):
  a{}: Linear(8)
)"},
    {"a dot at the end of a name", 2, 4,
     R"(network(features):
  a.: Linear(8)
)"},
    {"two layers on a line", 2, 8,
     R"(network(features):
  ReLU ReLU
)"},
    {"a semicolon", 2, 7,
     R"(network(features):
  ReLU;
)"},
};

}  // namespace engine::network
