#include "benchmarks/benchmark_choice.h"

#include <QScrollArea>
#include <QSignalBlocker>
#include <QToolButton>
#include <utility>

#include "engine/settings/catalog.h"
#include "models/benchmarks.h"
#include "text/precision_title.h"
#include "text/speedup_text.h"
#include "theme/theme.h"
#include "widgets/choices.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int boxIndent = 5;  // of a check box's square

/// Precisions that store or compute in 16 bits, whose speed here is their own: recipes are emulated.
QStringList lowPresets() {
    QStringList presets;
    for (const auto& info : engine::precisions()) {
        const bool emulated = info.settings.recipe != engine::RecipeKind::none;
        if (info.settings.computes_in_16_bits() && !emulated)
            presets << QString::fromStdString(info.kind);
    }
    return presets;
}

QLabel* heading(const QString& text, QWidget* parent) {
    auto* label = makeSmall(text, "dim", parent);
    label->setIndent(boxIndent);
    return label;
}

}  // namespace

BenchmarkChoice::BenchmarkChoice(Benchmarks* benchmarks, QWidget* parent)
    : QWidget(parent), benchmarks_(benchmarks), card_(new Card(tr("Models"), this)) {
    auto* column = makeColumn(this);
    column->addWidget(card_);
    makeHead();
    card_->addBody(makeList(), 1);
    connect(benchmarks_, &Benchmarks::changed, this, &BenchmarkChoice::refresh);
    refresh();
}

void BenchmarkChoice::makeHead() {
    auto* all = makeLink(tr("all"), card_);
    all->setAccessibleName(tr("Choose all models"));
    connect(all, &QToolButton::clicked, this, [this] { chooseAll(true); });
    auto* none = makeLink(tr("none"), card_);
    none->setAccessibleName(tr("Choose no model"));
    connect(none, &QToolButton::clicked, this, [this] { chooseAll(false); });
    card_->addToHead(all);
    card_->addToHead(none);
}

QWidget* BenchmarkChoice::makeList() {
    auto* area = new QScrollArea(this);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setFocusPolicy(Qt::NoFocus);
    auto* list = withName(new QWidget(area), u"sections"_s);
    auto* column = makeColumn(list, {size::inside - 3, 0, size::gap, size::gap}, size::gap);
    models_ = makeColumn(0);
    column->addLayout(models_);
    column->addWidget(makeRest());
    column->addStretch();
    area->setWidget(list);
    return area;
}

QWidget* BenchmarkChoice::makeRest() {
    auto* rest = new QWidget(this);
    auto* column = makeColumn(rest, {}, 0);
    auto* rule = withName(new QFrame(rest), u"rule"_s);
    column->addWidget(rule);
    column->addSpacing(size::gap);
    column->addWidget(heading(tr("Beside FP32, in turns"), rest));
    for (const QString& preset : lowPresets()) addPrecision(column, preset);
    column->addSpacing(size::gap);
    findsBatches_ = new CheckBox(tr("Largest batch within"), rest);
    findsBatches_->setToolTip(
        tr("Tries one batch size after another with real steps. This takes longer than measuring "
           "the speed."));
    connect(findsBatches_, &QCheckBox::toggled, benchmarks_, &Benchmarks::setFindsBatches);
    memory_ = new QLineEdit(rest);
    memory_->setAccessibleName(tr("Memory limit of the largest batch"));
    memory_->setFixedWidth(70);
    connect(memory_, &QLineEdit::textEdited, benchmarks_, &Benchmarks::setMemory);
    auto* row = makeRow(size::gap);
    addWidgets(row, {findsBatches_, memory_});
    row->addStretch();
    column->addLayout(row);
    return rest;
}

void BenchmarkChoice::addPrecision(QVBoxLayout* column, const QString& preset) {
    auto* box = new CheckBox(precisionTitle(preset.toStdString()), this);
    box->setProperty("preset", preset);
    connect(box, &QCheckBox::toggled, this,
            [this, preset](bool on) { benchmarks_->setPrecision(preset, on); });
    precisionBoxes_.push_back(box);
    column->addWidget(box);
}

void BenchmarkChoice::chooseAll(bool chosen) {
    for (std::size_t i = 0; i < modelBoxes_.size(); ++i) benchmarks_->setChosen(i, chosen);
}

void BenchmarkChoice::rebuildModels() {
    const auto& entries = benchmarks_->book().entries;
    QStringList titles;
    for (const BenchmarkEntry& entry : entries) titles << speedupTitle(entry.settings);
    if (titles == titles_) return;
    titles_ = titles;
    while (QLayoutItem* item = models_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    modelBoxes_.clear();
    bool headed = false;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (entries[i].ofRun && !std::exchange(headed, true)) {
            models_->addSpacing(size::gap);
            models_->addWidget(heading(tr("Settings of runs"), this));
        }
        auto* box = new CheckBox(speedupShortTitle(entries[i].settings), this);
        box->setToolTip(titles[static_cast<qsizetype>(i)]);
        connect(box, &QCheckBox::toggled, this,
                [this, i](bool on) { benchmarks_->setChosen(i, on); });
        modelBoxes_.push_back(box);
        models_->addWidget(box);
    }
}

void BenchmarkChoice::refresh() {
    const BenchmarkBook& book = benchmarks_->book();
    rebuildModels();
    int chosen = 0;
    for (std::size_t i = 0; i < modelBoxes_.size(); ++i) {
        const QSignalBlocker quiet(modelBoxes_[i]);
        modelBoxes_[i]->setChecked(book.entries[i].chosen);
        chosen += book.entries[i].chosen ? 1 : 0;
    }
    card_->setNote(tr("%1 chosen").arg(chosen));
    for (CheckBox* box : precisionBoxes_) {
        const QSignalBlocker quiet(box);
        box->setChecked(book.precisions.contains(box->property("preset").toString()));
    }
    const QSignalBlocker quiet(findsBatches_);
    findsBatches_->setChecked(book.findsBatches);
    memory_->setEnabled(book.findsBatches);
    if (memory_->text() != book.memory) memory_->setText(book.memory);
}

}  // namespace ui
