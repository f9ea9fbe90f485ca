#include "lab/lessons/run_style.h"

#include <QPainter>
#include <QWidget>

#include "theme/theme.h"

namespace ui {

namespace {

constexpr double swatchWidth = 1.6;  // of the text's height
constexpr double thickness = 2.5;    // pixels

class RunSwatch final : public QWidget {
public:
    RunSwatch(const Theme* theme, std::vector<std::string> precisions, std::size_t run,
              QWidget* parent)
        : QWidget(parent), theme_(theme), precisions_(std::move(precisions)), run_(run) {
        setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
        connect(theme_, &Theme::changed, this, qOverload<>(&QWidget::update));
    }
    QSize sizeHint() const override {
        const int height = fontMetrics().height();
        return {static_cast<int>(swatchWidth * height), height};
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        const RunStyle style = runStyle(*theme_, precisions_, run_);
        const double y = height() / 2.0;
        painter.setPen(QPen(style.color, thickness));
        if (style.dashed) {
            const double part = width() / 3.0;
            painter.drawLine(QPointF(0, y), QPointF(part, y));
            painter.drawLine(QPointF(width() - part, y), QPointF(width(), y));
        } else {
            painter.drawLine(QPointF(0, y), QPointF(width(), y));
        }
    }

private:
    const Theme* theme_;
    std::vector<std::string> precisions_;
    std::size_t run_;
};

}  // namespace

RunStyle runStyle(const Theme& theme, const std::vector<std::string>& precisions, std::size_t run) {
    const RunHue hue = runHues(precisions)[run];
    return {theme.run(precisions[run], hue.own), hue.dashed};
}

RunStyle runStyle(const Theme& theme, const TrackList& tracks, std::size_t run) {
    std::vector<std::string> precisions;
    for (const auto& track : tracks) precisions.push_back(track->precision());
    return runStyle(theme, precisions, run);
}

QWidget* makeRunSwatch(const Theme* theme, std::vector<std::string> precisions, std::size_t run,
                       QWidget* parent) {
    return new RunSwatch(theme, std::move(precisions), run, parent);
}

}  // namespace ui
