#include "network/network_options.h"

#include <QLineEdit>
#include <QSignalBlocker>
#include <QSlider>
#include <algorithm>
#include <cmath>

#include "network/network_model.h"
#include "network/network_totals.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/choices.h"
#include "widgets/flow_layout.h"
#include "widgets/key_rule.h"
#include "widgets/panel.h"

namespace ui {
namespace {

using engine::OptionSpec;
using engine::OptionValue;

constexpr int sliderSteps = 200;
constexpr double widestLinear = 16;  // times between the ends
constexpr std::size_t mostSegments = 4;
constexpr int shortField = 9, longField = 16;  // characters

bool isLogarithmic(const OptionSpec& spec) { return spec.lowest > 0 && spec.highest > widestLinear * spec.lowest; }

bool hasRange(const OptionSpec& spec) { return std::isfinite(spec.lowest) && std::isfinite(spec.highest) && spec.highest > spec.lowest; }

bool areEqual(const OptionSpec& a, const OptionSpec& b) {
    return a.name == b.name && a.default_value == b.default_value && a.help == b.help && a.lowest == b.lowest && a.highest == b.highest &&
           std::ranges::equal(a.choices, b.choices, {}, &engine::FieldChoice::value, &engine::FieldChoice::value);
}

QString optionText(const OptionValue& value) {
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
        QStringList parts;
        for (const std::int64_t each : *list) parts << QString::number(each);
        return parts.join(u", "_s);
    }
    if (const auto* words = std::get_if<std::vector<std::string>>(&value)) return stringList(*words).join(u", "_s);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return QString::number(*whole);
    if (const auto* number = std::get_if<double>(&value)) return QString::number(*number);
    if (const auto* word = std::get_if<std::string>(&value)) return QString::fromStdString(*word);
    return std::get<bool>(value) ? u"true"_s : u"false"_s;
}

/// The text as a value of the option's type; nothing if it is none.
std::optional<OptionValue> readOption(const OptionSpec& spec, const QString& text) {
    bool good = true;
    const auto whole = [&good](const QString& part) {
        bool read = false;
        const std::int64_t value = part.trimmed().toLongLong(&read);
        good = good && read;
        return value;
    };
    OptionValue value = spec.default_value;
    if (std::holds_alternative<std::int64_t>(value)) {
        value = whole(text);
    } else if (std::holds_alternative<double>(value)) {
        value = text.trimmed().toDouble(&good);
    } else if (std::holds_alternative<std::vector<std::int64_t>>(value)) {
        std::vector<std::int64_t> list;
        for (const QString& part : text.split(u',')) list.push_back(whole(part));
        value = list;
    } else if (std::holds_alternative<std::vector<std::string>>(value)) {
        std::vector<std::string> list;
        for (const QString& part : text.split(u',')) list.push_back(part.trimmed().toStdString());
        value = list;
    } else {
        value = text.trimmed().toStdString();
    }
    return good && engine::check_option(spec, value).empty() ? std::optional(value) : std::nullopt;
}

double asNumber(const OptionValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    const auto* number = std::get_if<double>(&value);
    return number != nullptr ? *number : 0;
}

}  // namespace

int sliderPosition(const OptionSpec& spec, double value, int steps) {
    const double share = isLogarithmic(spec) ? std::log(value / spec.lowest) / std::log(spec.highest / spec.lowest)
                                             : (value - spec.lowest) / (spec.highest - spec.lowest);
    return static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * steps));
}

double sliderValue(const OptionSpec& spec, int position, int steps) {
    const double share = static_cast<double>(position) / steps;
    const double value = isLogarithmic(spec) ? spec.lowest * std::pow(spec.highest / spec.lowest, share)
                                             : spec.lowest + share * (spec.highest - spec.lowest);
    if (std::holds_alternative<std::int64_t>(spec.default_value)) return std::round(value);
    const double digits = std::pow(10.0, std::floor(std::log10(std::max(spec.highest - spec.lowest, 1e-12))) - 2);
    return std::clamp(std::round(value / digits) * digits, spec.lowest, spec.highest);
}

NetworkOptions::NetworkOptions(const Theme* theme, NetworkModel* model, QWidget* parent) : QFrame(parent), model_(model) {
    setObjectName(u"card"_s);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    auto* column = makeColumn(this, {size::inside, size::grid, size::inside, size::grid}, 0);
    auto* inside = new QWidget(this);
    fields_ = new FlowLayout(inside, size::inside);
    totals_ = new NetworkTotals(theme, model, inside);
    fields_->addWidget(totals_);
    column->addWidget(inside);
    connect(model, &NetworkModel::checked, this, &NetworkOptions::refresh);
    refresh();
}

void NetworkOptions::refresh() {
    const auto& specs = model_->now().network.options;
    const bool same = specs.size() == shown_.size() && std::ranges::equal(specs, shown_, areEqual, {}, &Field::spec);
    // A text with a fault may have lost its options for a moment: nothing moves while it is typed.
    if (!same && (model_->now().network.usable() || shown_.empty() || specs.size() > shown_.size())) rebuild(specs);
    for (const Field& field : shown_) {
        const auto& set = model_->options();
        const auto given = set.find(field.spec.name);
        const bool own = given != set.end() && given->second.index() == field.spec.default_value.index();
        const bool changed = own && given->second != field.spec.default_value;
        field.show(own ? given->second : field.spec.default_value);
        field.reset->setVisible(changed);
    }
}

void NetworkOptions::rebuild(const std::vector<OptionSpec>& specs) {
    shown_.clear();
    while (QLayoutItem* item = fields_->takeAt(0)) {
        if (item->widget() != totals_) delete item->widget();
        delete item;
    }
    shown_.reserve(specs.size());
    for (const OptionSpec& spec : specs) fields_->addWidget(makeField(spec));
    fields_->addWidget(totals_);
    updateGeometry();
}

QWidget* NetworkOptions::makeField(const OptionSpec& spec) {
    auto* part = new QWidget(this);
    auto* column = makeColumn(part, {}, 2);
    auto* head = makeRow(size::grid);
    const QString name = QString::fromStdString(spec.name), help = QString::fromStdString(spec.help);
    auto* title = makeTitle(name);
    title->setToolTip(help);
    Field& field = shown_.emplace_back();
    field.spec = spec;
    field.reset = makeLink(tr("changed"), part);
    field.reset->setFont(Theme::caption());
    field.reset->setAccessibleName(tr("Back to the text's value of %1").arg(name));
    field.reset->setToolTip(tr("Back to %1, as the text says").arg(optionText(spec.default_value)));
    connect(field.reset, &QToolButton::clicked, this, [this, option = spec.name] { model_->resetOption(option); });
    addWidgets(head, {title, makeSmall(help, "dim"), field.reset});
    head->addStretch(1);
    column->addLayout(head);
    auto* row = makeRow(size::gap);
    if (std::holds_alternative<bool>(spec.default_value))
        addFlag(row, field);
    else if (!spec.choices.empty() && std::holds_alternative<std::string>(spec.default_value))
        addWord(row, field);
    else if (std::holds_alternative<std::int64_t>(spec.default_value) || std::holds_alternative<double>(spec.default_value))
        addNumber(row, field);
    else
        addList(row, field);
    row->addStretch(1);
    column->addLayout(row);
    return part;
}

void NetworkOptions::set(const OptionSpec& spec, QLineEdit* edit, const OptionValue& value) {
    if (edit != nullptr) restyle(edit, "refused", false);
    if (value == spec.default_value)
        model_->resetOption(spec.name);
    else
        model_->setOption(spec.name, value);
}

void NetworkOptions::addNumber(QHBoxLayout* row, Field& field) {
    auto* edit = new QLineEdit(this);
    edit->setAccessibleName(QString::fromStdString(field.spec.name));
    edit->setFixedWidth(edit->fontMetrics().averageCharWidth() * shortField + 2 * size::gap);
    row->addWidget(edit);
    QSlider* slider = nullptr;
    const OptionSpec spec = field.spec;
    if (hasRange(spec)) {
        slider = new QSlider(Qt::Horizontal, this);
        slider->setRange(0, sliderSteps);
        slider->setMinimumWidth(96);
        slider->setAccessibleName(tr("%1, from %2 to %3").arg(QString::fromStdString(spec.name), significant(spec.lowest), significant(spec.highest)));
        setWheelScrolls(slider);
        row->addWidget(slider);
        connect(slider, &QSlider::valueChanged, this, [this, spec, edit](int position) {
            const double value = sliderValue(spec, position, sliderSteps);
            set(spec, edit, std::holds_alternative<double>(spec.default_value) ? OptionValue(value) : OptionValue(static_cast<std::int64_t>(value)));
        });
    }
    connect(edit, &QLineEdit::textEdited, this, [this, spec, edit](const QString& text) {
        const auto value = readOption(spec, text);
        if (value)
            set(spec, edit, *value);
        else
            restyle(edit, "refused", true);
    });
    field.show = [edit, slider, spec](const OptionValue& value) {
        if (readOption(spec, edit->text()) != value && !edit->property("refused").toBool()) edit->setText(optionText(value));
        if (slider == nullptr) return;
        const QSignalBlocker quiet(slider);
        slider->setValue(sliderPosition(spec, asNumber(value), sliderSteps));
    };
}

void NetworkOptions::addList(QHBoxLayout* row, Field& field) {
    auto* edit = new QLineEdit(this);
    edit->setAccessibleName(QString::fromStdString(field.spec.name));
    edit->setFixedWidth(edit->fontMetrics().averageCharWidth() * longField + 2 * size::gap);
    row->addWidget(edit);
    const OptionSpec spec = field.spec;
    connect(edit, &QLineEdit::textEdited, this, [this, spec, edit](const QString& text) {
        const auto value = readOption(spec, text);
        if (value)
            set(spec, edit, *value);
        else
            restyle(edit, "refused", true);
    });
    field.show = [edit, spec](const OptionValue& value) {
        if (readOption(spec, edit->text()) != value && !edit->property("refused").toBool()) edit->setText(optionText(value));
    };
}

void NetworkOptions::addWord(QHBoxLayout* row, Field& field) {
    const OptionSpec spec = field.spec;
    const QStringList titles = stringList(spec.choices, &engine::FieldChoice::value);
    const auto choose = [this, spec](int index) {
        if (index >= 0 && static_cast<std::size_t>(index) < spec.choices.size())
            set(spec, nullptr, spec.choices[static_cast<std::size_t>(index)].value);
    };
    const auto indexOf = [titles](const OptionValue& value) { return static_cast<int>(titles.indexOf(optionText(value))); };
    if (spec.choices.size() <= mostSegments) {
        auto* segments = new Segments(QString::fromStdString(spec.name), titles, this);
        row->addWidget(segments);
        connect(segments->buttons(), &QButtonGroup::idClicked, this, choose);
        field.show = [segments, indexOf](const OptionValue& value) { segments->setCurrent(std::max(0, indexOf(value))); };
    } else {
        auto* box = new ChoiceBox(this);
        box->setAccessibleName(QString::fromStdString(spec.name));
        box->addItems(titles);
        row->addWidget(box);
        connect(box, &QComboBox::activated, this, choose);
        field.show = [box, indexOf](const OptionValue& value) { box->setCurrentIndex(indexOf(value)); };
    }
}

void NetworkOptions::addFlag(QHBoxLayout* row, Field& field) {
    auto* box = new CheckBox(tr("on"), this);
    box->setAccessibleName(QString::fromStdString(field.spec.name));
    row->addWidget(box);
    const OptionSpec spec = field.spec;
    connect(box, &QCheckBox::clicked, this, [this, spec](bool on) { set(spec, nullptr, on); });
    field.show = [box](const OptionValue& value) { box->setChecked(std::get<bool>(value)); };
}

}  // namespace ui
