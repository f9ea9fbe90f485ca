#pragma once

#include <QString>

#include "engine/base/remaining_time.h"

namespace ui {

/// "0:12 left"; empty while it cannot be told. Follows one piece of work after the other: a smaller
/// share is another one.
class TimeLeft {
public:
    QString after(double share);
    /// For tests: `now` in seconds.
    QString after(double share, double now);
    /// The text with the time behind it: "2 of 5 files · 0:12 left".
    QString behind(const QString& text, double share);

private:
    engine::RemainingTime time_;
};

}  // namespace ui
