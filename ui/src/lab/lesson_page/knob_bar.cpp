#include "lab/lesson_page/knob_bar.h"

#include <QFormLayout>
#include <QTimer>

#include "lab/lesson_page/range_slider.h"
#include "models/settings_model.h"
#include "theme/theme.h"
#include "widgets/choices.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int settles = 600;  // ms: a slider that still moves does not run anything

bool sameSetting(const QString& a, const QString& b) {
    bool first = false, second = false;
    const double x = a.toDouble(&first), y = b.toDouble(&second);
    return first && second ? x == y : a == b;
}

/// The value that the runs of a knob have, as the knob writes it. Empty: they differ.
QString ownValue(const engine::Lesson& lesson, const engine::LessonKnob& knob, std::int64_t seed) {
    QString own;
    for (const auto& run : lesson.runs) {
        if (!engine::knob_applies(lesson, run, knob.path)) continue;
        const auto parsed = engine::lesson_settings(lesson, run, seed);
        QString text = QString::fromStdString(engine::setting_text(parsed.config, knob.path));
        if (text.isEmpty()) return {};  // what the preset stands for
        if (text.startsWith(u'"')) text = text.mid(1, text.size() - 2);  // words stand in quotes
        if (!own.isEmpty() && !sameSetting(own, text)) return {};
        own = text;
    }
    for (const auto& value : knob.values) {
        const QString text = QString::fromStdString(value);
        if (sameSetting(text, own)) return text;
    }
    return own;
}

}  // namespace

std::vector<Knob> knobsOf(const engine::Lesson& lesson,
                          const std::vector<engine::LessonKnob>& knobs, std::int64_t seed,
                          const SettingsModel& settings) {
    std::vector<Knob> out;
    for (const auto& each : knobs) {
        Knob knob;
        knob.path = QString::fromStdString(each.path);
        knob.title = settings.label(knob.path);
        for (const auto& value : each.values) knob.values.push_back(QString::fromStdString(value));
        knob.range = each.values.empty();
        knob.low = each.low;
        knob.high = each.high;
        knob.note = QString::fromStdString(each.note);
        knob.current = ownValue(lesson, each, seed);
        out.push_back(std::move(knob));
    }
    return out;
}

KnobBar::KnobBar(const Theme* theme, const std::vector<Knob>& knobs, QWidget* parent)
    : QWidget(parent), knobs_(knobs) {
    auto* form = new QFormLayout(this);
    form->setContentsMargins(0, 0, 0, 0);
    form->setLabelAlignment(Qt::AlignLeft);
    form->setHorizontalSpacing(size::inside);
    form->setVerticalSpacing(size::grid);
    for (const Knob& knob : knobs) {
        auto* row = new QWidget(this);
        auto* line = makeRow(row);
        if (knob.range) {
            auto* slider = new RangeSlider(theme, knob.low, knob.high, row);
            slider->setAccessibleName(knob.title);
            auto* settle = new QTimer(slider);
            settle->setSingleShot(true);
            settle->setInterval(settles);
            connect(slider, &RangeSlider::moved, settle, qOverload<>(&QTimer::start));
            connect(settle, &QTimer::timeout, this, [this, slider, path = knob.path] {
                emit turned(path, QString::number(*slider->value(), 'g', 12));
            });
            fields_[knob.path] = {nullptr, slider, settle};
            line->addWidget(slider, 1);
        } else {
            auto* list = new ChoiceBox(row);
            list->setAccessibleName(knob.title);
            for (const QString& value : knob.values) list->addItem(value, value);
            if (list->findData(knob.current) < 0)
                list->insertItem(0, knob.current.isEmpty() ? tr("as in the lesson") : knob.current,
                                 knob.current);
            connect(list, &QComboBox::activated, this, [this, list, path = knob.path] {
                emit turned(path, list->currentData().toString());
            });
            line->addWidget(list);
            fields_[knob.path] = {list, nullptr, nullptr};
        }
        auto* note = makeProse(knob.note, "dim", row);
        line->addWidget(note, knob.range ? 0 : 1);
        auto* name = makeLabel(knob.title, nullptr, this);
        form->addRow(name, row);
    }
    setTurned({});
}

void KnobBar::setTurned(const std::map<QString, QString>& turned) {
    for (const Knob& knob : knobs_) {
        const auto at = turned.find(knob.path);
        showValue(knob, at != turned.end() ? at->second : knob.current);
    }
}

void KnobBar::showValue(const Knob& knob, const QString& value) {
    const Field& field = fields_[knob.path];
    if (field.list != nullptr) return field.list->setCurrentIndex(field.list->findData(value));
    if (field.settle->isActive()) return;
    bool known = false;
    const double number = value.toDouble(&known);
    if (known) field.slider->setValue(number);
}

}  // namespace ui
