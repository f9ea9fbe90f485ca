#include "text/time_left.h"

#include <QCoreApplication>
#include <optional>

#include "text/format.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

struct TimeLeftText {
    Q_DECLARE_TR_FUNCTIONS(TimeLeft)
public:
    static QString of(const std::optional<double>& seconds) {
        return seconds ? tr("%1 left").arg(duration(*seconds)) : QString();
    }
};

}  // namespace

QString TimeLeft::after(double share) { return TimeLeftText::of(time_.after(share)); }

QString TimeLeft::after(double share, double now) {
    return TimeLeftText::of(time_.after(share, now));
}

QString TimeLeft::behind(const QString& text, double share) {
    const QString time = after(share);
    return time.isEmpty() ? text : text + u" · "_s + time;
}

}  // namespace ui
