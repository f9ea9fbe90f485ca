#include "lab/knob_bar.h"

#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QTimer>

#include "lab/range_slider.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int settles = 600;  // ms: a slider that still moves does not run anything

}  // namespace

KnobBar::KnobBar(const Theme* theme, const std::vector<Knob>& knobs, QWidget* parent)
    : QWidget(parent) {
    auto* form = new QFormLayout(this);
    form->setContentsMargins(0, 0, 0, 0);
    form->setLabelAlignment(Qt::AlignLeft);
    form->setHorizontalSpacing(size::inside);
    form->setVerticalSpacing(size::grid);
    for (const Knob& knob : knobs) {
        auto* row = new QWidget(this);
        auto* line = new QHBoxLayout(row);
        line->setContentsMargins(0, 0, 0, 0);
        if (knob.range) {
            auto* slider = new RangeSlider(theme, knob.low, knob.high, row);
            slider->setAccessibleName(knob.title);
            bool known = false;
            const double now = knob.current.toDouble(&known);
            if (known) slider->setValue(now);
            auto* settle = new QTimer(slider);
            settle->setSingleShot(true);
            settle->setInterval(settles);
            connect(slider, &RangeSlider::moved, settle, qOverload<>(&QTimer::start));
            connect(settle, &QTimer::timeout, this, [this, slider, path = knob.path] {
                emit turned(path, QString::number(*slider->value(), 'g', 12));
            });
            line->addWidget(slider, 1);
        } else {
            auto* list = new QComboBox(row);
            list->setAccessibleName(knob.title);
            for (const QString& value : knob.values) list->addItem(value);
            if (list->findText(knob.current) < 0 && !knob.current.isEmpty())
                list->insertItem(0, knob.current);
            list->setCurrentText(knob.current);
            connect(list, &QComboBox::textActivated, this,
                    [this, path = knob.path](const QString& v) { emit turned(path, v); });
            line->addWidget(list);
        }
        auto* note = makeLabel(knob.note, "dim", row);
        note->setWordWrap(true);
        line->addWidget(note, knob.range ? 0 : 1);
        auto* name = makeLabel(knob.title, nullptr, this);
        name->setToolTip(knob.path);
        form->addRow(name, row);
    }
}

}  // namespace ui
