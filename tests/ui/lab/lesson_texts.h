#pragma once

#include <QFile>
#include <QString>
#include <QTemporaryDir>
#include <string>

namespace ui {

/// Two runs of 40 steps, the first of which skips its first step.
inline std::string smallLesson(const std::string& title = "Small: a lesson") {
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
After how many steps is the first one skipped?
range: 0 .. 40
note: counted from 1
```

## Run
```runs
all: dataset.kind=spirals model.kind=mlp model.options.hidden=[8,8] batch_size=64
all: max_steps=40 epochs=1000 schedule.kind=constant device=cpu threads=1
high "Scale 2^40": precision.preset=amp-fp16 scaler.init_scale=1099511627776
plain "FP32": precision.preset=fp32
```
```plot
loss log
loss_scale high
```
```instrument
bits tenth: 0.1 in fp16
```

## Check
```check
stop = first(high.found_inf)
end = worse: high.result.skipped > plain.result.skipped
end = same: high.result.skipped == plain.result.skipped
```

## Why
Because it overflowed.

## Try
```try
optimizer.lr: 0.01, 0.1
```
)";
}

/// Nothing to train: its answers follow from a number.
inline std::string numberLesson() {
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

/// Writes a lesson's file into a folder and returns its path.
inline QString writeLesson(const QTemporaryDir& folder, const QString& name,
                           const std::string& text) {
    QFile file(folder.filePath(name + QStringLiteral(".lesson.md")));
    if (!file.open(QIODevice::WriteOnly)) return {};
    file.write(text.data(), static_cast<qint64>(text.size()));
    return file.fileName();
}

}  // namespace ui
