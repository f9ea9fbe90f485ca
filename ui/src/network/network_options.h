#pragma once

#include <QFrame>
#include <functional>
#include <vector>

#include "engine/base/options.h"

class QHBoxLayout;
class QLineEdit;
class QToolButton;

namespace ui {

class FlowLayout;
class NetworkModel;
class NetworkTotals;
class Theme;

/// The options that a text declares, above it: a number is a field and a slider, a list a field, a
/// word a choice, a flag a box. They set the values of this network, not its text. Behind them stand
/// the network's totals. GUI thread.
class NetworkOptions final : public QFrame {
    Q_OBJECT
public:
    NetworkOptions(const Theme* theme, NetworkModel* model, QWidget* parent);

private:
    struct Field {
        engine::OptionSpec spec;
        std::function<void(const engine::OptionValue&)> show;
        QToolButton* reset = nullptr;
    };
    void refresh();
    void rebuild(const std::vector<engine::OptionSpec>& specs);
    QWidget* makeField(const engine::OptionSpec& spec);
    void addNumber(QHBoxLayout* row, Field& field);
    void addList(QHBoxLayout* row, Field& field);
    void addWord(QHBoxLayout* row, Field& field);
    void addFlag(QHBoxLayout* row, Field& field);
    /// Sets the value if the option takes it; marks the field if it does not.
    void set(const engine::OptionSpec& spec, QLineEdit* edit, const engine::OptionValue& value);

    NetworkModel* model_;
    FlowLayout* fields_;
    NetworkTotals* totals_;  ///< behind the last field
    std::vector<Field> shown_;
};

/// Position of a value on a slider of `steps` steps between the option's bounds; logarithmic where
/// they span more than 16 times.
int sliderPosition(const engine::OptionSpec& spec, double value, int steps);
double sliderValue(const engine::OptionSpec& spec, int position, int steps);

}  // namespace ui
