#pragma once

#include <QWidget>
#include <vector>

namespace ui {

/// A setting that Try lets the learner change.
struct Knob {
    QString path;
    QString title;                ///< of the setting, in the window's language
    std::vector<QString> values;  ///< to choose from, as in `--set`
    bool range = false;           ///< any number between low and high instead
    double low = 0, high = 0;
    QString note;
    QString current;
};

/// The knobs of Try, each a list or a slider. A changed knob runs the lesson again. GUI thread.
class KnobBar final : public QWidget {
    Q_OBJECT
public:
    KnobBar(const class Theme* theme, const std::vector<Knob>& knobs, QWidget* parent = nullptr);

signals:
    void turned(const QString& path, const QString& value);
};

}  // namespace ui
