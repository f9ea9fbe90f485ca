#pragma once

#include <string>

namespace test_support {

/// A small lesson of two runs of 40 steps. The first step of the first run overflows.
inline std::string small_lesson(const std::string& title = "Small") {
    return "---\ntitle: " + title + R"(
chapter: Tests
minutes: 5
---
## Read
What is *seen*.

## Predict
```predict end
How will it end?
- same: the same
- worse: worse
hint: Look at the scale.
```
```predict stop
After how many steps?
range: 0 .. 40
note: a note
```

## Run
```runs
all: dataset.kind=spirals model.kind=mlp model.options.hidden=[8,8] batch_size=64
all: max_steps=40 epochs=1000 schedule.kind=constant device=cpu threads=1
high "Scale 2^24": scaler.init_scale=16777216
plain "FP32": precision.preset=fp32
pace: 400 steps/s
```
```plot
loss log
loss_scale high
```
```instrument
weight fc1.weight[1,0]: high beside plain
bits tenth: 0.1 in fp16
sum many: 0.001 x 5000 in fp16
```

## Check
```check
stop = first(high.found_inf)
end = worse: high.result.skipped > plain.result.skipped
end = same: high.result.skipped == plain.result.skipped
lost = tenth.error
expect: end == worse and many.value < many.exact
```

## Why
Because it overflowed.

## Try
```try
scaler.init_scale: 65536, 16777216 "lower"
optimizer.lr: 0.01 .. 0.1
```
)";
}

/// A lesson without training, whose answer follows from a number.
inline std::string number_lesson() {
    return R"(---
title: Numbers alone
chapter: Tests
---
## Predict
```predict gap
What is the gap above 1 in FP16?
number: units
```
```instrument
bits one: 1 in fp16
```
## Check
```check
gap = one.gap
```
## Why
Ten bits of fraction.
)";
}

/// `text` with the first occurrence of `from` replaced.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    if (at == std::string::npos) return "no such text: " + from;
    return text.replace(at, from.size(), to);
}

}  // namespace test_support
