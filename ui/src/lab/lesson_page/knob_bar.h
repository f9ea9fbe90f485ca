#pragma once

#include <QString>
#include <QWidget>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/lab/lesson.h"

class QComboBox;
class QTimer;

namespace ui {

class RangeSlider;
class SettingsModel;
class Theme;

/// A setting that Try lets the learner change.
struct Knob {
    QString path;
    QString title;                ///< of the setting, in the window's language
    std::vector<QString> values;  ///< to choose from, as in `--set`
    bool range = false;           ///< any number between low and high instead
    double low = 0, high = 0;
    QString note;
    QString current;  ///< of the runs that it changes; empty: they differ
};

/// The knobs of a lesson's block, with the values that its runs have with this seed.
std::vector<Knob> knobsOf(const engine::Lesson& lesson,
                          const std::vector<engine::LessonKnob>& knobs, std::int64_t seed,
                          const SettingsModel& settings);

/// The knobs of Try, each a list or a slider. A changed knob runs the lesson again. GUI thread.
class KnobBar final : public QWidget {
    Q_OBJECT
public:
    KnobBar(const Theme* theme, const std::vector<Knob>& knobs, QWidget* parent = nullptr);

    /// Shows these values, by path, and the lesson's own for all other knobs.
    void setTurned(const std::map<QString, QString>& turned);

signals:
    /// Empty value: each run's own again.
    void turned(const QString& path, const QString& value);

private:
    struct Field {
        QComboBox* list = nullptr;
        RangeSlider* slider = nullptr;
        QTimer* settle = nullptr;  ///< of the slider: runs while it is being moved
    };
    void showValue(const Knob& knob, const QString& value);

    std::vector<Knob> knobs_;
    std::map<QString, Field> fields_;
};

}  // namespace ui
