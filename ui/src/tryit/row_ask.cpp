#include "tryit/row_ask.h"

#include <QLineEdit>
#include <QPushButton>

#include "theme/theme.h"
#include "tryit/answer_view.h"
#include "widgets/choices.h"
#include "widgets/elided_label.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int narrowestRow = 240;
constexpr int formWidth = 320;
constexpr int nameWidth = 130;
constexpr int askRowAfterMs = 150;

/// Six digits, without separators: the engine reads it again.
QString usualText(double value) { return QString::number(value, 'g', 6); }

}  // namespace

RowAsk::RowAsk(Theme* theme, const engine::InputForm& form, const TriedModels& models,
               QWidget* parent)
    : QWidget(parent), theme_(theme), form_(form) {
    soon_.setSingleShot(true);
    soon_.setInterval(askRowAfterMs);
    connect(&soon_, &QTimer::timeout, this, &RowAsk::ask);
    auto* row = makeRow(this, {}, size::gap);
    row->addWidget(makeForm());
    columns_ = new RunColumns(theme_, models, narrowestRow, this);
    row->addWidget(columns_, 1);
    for (RunColumn* column : columns_->columns()) {
        column->setBody(new AnswerView(theme_, column->model()->precision(), column));
        connect(column->model(), &TriedModel::changed, &soon_, qOverload<>(&QTimer::start));
    }
    soon_.start();
}

QWidget* RowAsk::makeForm() {
    auto* card = makeCard(this);
    card->setFixedWidth(formWidth);
    auto* column = makeColumn(card, {size::inside, size::gap, size::grid, size::inside});
    auto* area = new QScrollArea(card);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setFocusPolicy(Qt::NoFocus);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* sheet = withName(new QWidget(area), u"sections"_s);
    auto* grid = new QGridLayout(sheet);
    grid->setContentsMargins(0, 0, size::gap, 0);
    grid->setVerticalSpacing(6);
    int line = 0;
    for (const auto& each : form_.columns) {
        auto* name = new ElidedLabel(sheet);
        name->setText(QString::fromStdString(each.name));
        name->setFixedWidth(nameWidth);
        grid->addWidget(name, line, 0);
        fields_.push_back(makeField(each));
        grid->addWidget(fields_.back(), line++, 1);
    }
    auto* back = new QPushButton(tr("Usual values"), sheet);
    back->setToolTip(
        tr("Sets numbers to their mean in training, and categories to the first one."));
    connect(back, &QPushButton::clicked, this, &RowAsk::reset);
    grid->addWidget(back, line++, 1, Qt::AlignLeft);
    grid->setRowStretch(line, 1);
    area->setWidget(sheet);
    column->addWidget(area, 1);
    return card;
}

QWidget* RowAsk::makeField(const engine::InputForm::Column& column) {
    const QString name = QString::fromStdString(column.name);
    if (column.categories.empty()) {
        auto* edit = new QLineEdit(usualText(column.usual), this);
        edit->setAccessibleName(name);
        connect(edit, &QLineEdit::textChanged, &soon_, qOverload<>(&QTimer::start));
        return edit;
    }
    auto* box = new ChoiceBox(this);
    box->letShrink();  // words of a table may be long
    box->setAccessibleName(name);
    box->addItem(tr("(none)"), QString());
    for (const auto& category : column.categories) {
        const QString word = QString::fromStdString(category);
        box->addItem(word, word);
    }
    box->setCurrentIndex(1);
    connect(box, &QComboBox::currentIndexChanged, &soon_, qOverload<>(&QTimer::start));
    return box;
}

void RowAsk::reset() {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        if (auto* edit = qobject_cast<QLineEdit*>(fields_[i]))
            edit->setText(usualText(form_.columns[i].usual));
        if (auto* box = qobject_cast<QComboBox*>(fields_[i])) box->setCurrentIndex(1);
    }
}

std::map<std::string, std::string> RowAsk::row() const {
    std::map<std::string, std::string> cells;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        const auto* edit = qobject_cast<QLineEdit*>(fields_[i]);
        const auto* box = qobject_cast<QComboBox*>(fields_[i]);
        cells[form_.columns[i].name] =
            (edit != nullptr ? edit->text().trimmed() : box->currentData().toString())
                .toStdString();
    }
    return cells;
}

void RowAsk::ask() {
    for (RunColumn* column : columns_->columns()) {
        if (column->model()->facts()) askOne(column);
    }
}

void RowAsk::askOne(RunColumn* column) {
    auto* view = qobject_cast<AnswerView*>(column->body());
    column->ask(
        this, [row = row()](engine::TrainedModel& model) { return model.answer(row); },
        [column, view](const engine::Answer& answer) {
            if (column->model()->facts()) view->show(answer, *column->model()->facts());
        },
        [view] { view->showNote({}); });
}

}  // namespace ui
