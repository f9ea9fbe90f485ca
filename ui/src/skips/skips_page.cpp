#include <QCoreApplication>
#include <QEvent>
#include <QFormLayout>
#include <QPushButton>
#include <QScrollArea>
#include <QWidget>
#include <algorithm>
#include <cmath>

#include "commands/commands.h"
#include "feed/run_track.h"
#include "skips/sample_grid.h"
#include "skips/skip_list_view.h"
#include "skips/skip_text.h"
#include "skips/skip_verdict.h"
#include "skips/skips_model.h"
#include "text/format.h"
#include "theme/theme.h"
#include "view/context.h"
#include "widgets/elided_label.h"
#include "widgets/key_bindings.h"
#include "widgets/page_export.h"
#include "widgets/panel.h"
#include "widgets/save_dialog.h"
#include "widgets/side_columns.h"

namespace ui {

using engine::SkipReport;

namespace {

/// The first non-finite tensor of the examined step: what made it, its type and shape, where it
/// broke, and what it was computed from. GUI thread.
class TensorFacts final : public QScrollArea {
    Q_DECLARE_TR_FUNCTIONS(ui::TensorFacts)
public:
    explicit TensorFacts(SkipsModel* model, QWidget* parent = nullptr);
    QSize sizeHint() const override;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void refresh();
    void addTensor(const engine::BadTensor& bad, std::int64_t operations);
    void add(const QString& name, const QString& value);

    SkipsModel* model_;
    QFormLayout* form_;
};

}  // namespace

TensorFacts::TensorFacts(SkipsModel* model, QWidget* parent) : QScrollArea(parent), model_(model) {
    auto* facts = new QWidget(this);
    facts->setObjectName(u"sections"_s);  // without a background of its own
    form_ = new QFormLayout(facts);
    setWidget(facts);
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    form_->setContentsMargins(size::inside, 2, size::inside, size::grid);
    form_->setVerticalSpacing(2);
    form_->setLabelAlignment(Qt::AlignRight);
    connect(model_, &SkipsModel::stepChanged, this, &TensorFacts::refresh);
    refresh();
}

/// The full content, so that a column with enough room shows no scroll bar.
QSize TensorFacts::sizeHint() const {
    const QSize all = widget()->sizeHint();
    const int width = viewport()->width();
    return {all.width(), form_->hasHeightForWidth() ? form_->heightForWidth(width) : all.height()};
}

/// Rows become visible after they were added, and a scroll area does not pass the new size hint on
/// to its column.
bool TensorFacts::eventFilter(QObject* watched, QEvent* event) {
    if (watched == widget() && event->type() == QEvent::LayoutRequest) updateGeometry();
    return QScrollArea::eventFilter(watched, event);
}

void TensorFacts::add(const QString& name, const QString& value) {
    auto* title = makeLabel(name, "dim");
    auto* text = makeProse(value);
    for (QLabel* label : {title, text}) label->setFont(Theme::caption());
    text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    text->setAccessibleName(name);
    form_->addRow(title, text);
}

void TensorFacts::refresh() {
    while (form_->rowCount() > 0) form_->removeRow(0);
    const engine::SkipReport* report = model_->report();
    if (report != nullptr && report->first) {
        addTensor(*report->first, report->operations);
    } else {
        auto* words = makeSmall(report == nullptr
                                    ? tr("Its name, shape and inputs, once the step is examined.")
                                    : tr("All tensors of this step are finite."),
                                "dim");
        words->setWordWrap(true);
        form_->addRow(words);
    }
    updateGeometry();
}

void TensorFacts::addTensor(const engine::BadTensor& bad, std::int64_t operations) {
    const auto plain = [](const std::string& text) { return QString::fromStdString(text); };
    const QString where = bad.module.empty() ? plain(bad.name) : plain(bad.module);
    add(tr("tensor"), where.isEmpty() ? tr("outside modules") : where);
    if (!bad.name.empty() && !bad.module.empty()) add(tr("name"), plain(bad.name));
    if (!bad.op.empty())
        add(tr("made by"), tr("%1, operation %2 of %3")
                               .arg(plain(bad.op), count(bad.order + 1), count(operations)));
    add(tr("stage"), plain(engine::name(bad.stage)));
    add(tr("type"), plain(bad.tensor.dtype));
    add(tr("shape"), shapeText(bad.tensor.shape));
    add(tr("bad"),
        tr("%1 inf, %2 NaN of %3").arg(count(bad.infinite), count(bad.nan), count(bad.total)));
    add(tr("first"), u"%1 = %2"_s.arg(indexText(bad.index), significant(bad.value)));
    if (std::isfinite(bad.largest_in_f32)) add(tr("in FP32"), significant(bad.largest_in_f32));
    for (std::size_t i = 0; i < bad.inputs.size() && i < 4; ++i) {
        const auto& input = bad.inputs[i];
        add(tr("input %1").arg(i + 1),
            tr("%1, %2, largest %3")
                .arg(plain(input.dtype), shapeText(input.shape), significant(input.largest)));
    }
}

namespace {

/// Why was this step skipped, and where did the number break? The run's skipped steps, the verdict
/// on one with its tests, the chain of layers, the first non-finite tensor, the scales that would
/// have passed, and the samples of the batch.
class SkipsPage final : public QWidget {
    Q_DECLARE_TR_FUNCTIONS(ui::SkipsPage)
public:
    explicit SkipsPage(const Context& context, QWidget* parent = nullptr);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    QLayout* makeBar();
    Card* makeList();
    SideColumns* makeColumns();
    Card* makeTensor();
    Card* makeBatch();
    void showStep();
    void refreshState();
    QString watchText() const;
    void saveCapsule();
    void exportFigures();

    Context context_;
    SkipsModel* model_;
    QPushButton* examine_;
    QPushButton* capsule_;
    QPushButton* export_;
    SideColumns* columns_;
    ElidedLabel* state_;
    Card* batch_;
    SampleGrid* samples_;
    QPushButton* arm_;
};

constexpr int listWidth = 250;

}  // namespace

QWidget* makeSkipsPage(const Context& context, QWidget* parent) {
    return new SkipsPage(context, parent);
}

SkipsPage::SkipsPage(const Context& context, QWidget* parent)
    : QWidget(parent), context_(context), model_(kept<SkipsModel>(context, this)) {
    auto* column = makeColumn(this, {}, size::gap);
    column->addLayout(makeBar());
    column->addWidget(makeColumns(), 1);
    connect(model_, &SkipsModel::stepChanged, this, &SkipsPage::showStep);
    connect(model_, &SkipsModel::stateChanged, this, &SkipsPage::refreshState);
    showStep();
    if (context_.kept == nullptr) return;
    // A model that is older than the page has told its news already.
    emit model_->listChanged();
    emit model_->stepChanged();
}

QLayout* SkipsPage::makeBar() {
    auto* row = makeRow(size::gap);
    examine_ = withName(new QPushButton(tr("Examine this step"), this), u"primary"_s);
    examine_->setToolTip(
        tr("Computes the step again from the newest checkpoint before it, with a check after every "
           "operation (R). Training waits for it; the run does not change."));
    state_ = new ElidedLabel(this);
    state_->setProperty("role", u"dim"_s);
    arm_ = new QPushButton(tr("Arm"), this);
    arm_->setCheckable(true);
    arm_->setToolTip(
        tr("Examines the next skip as it happens, from the state before its update. On a GPU this "
           "costs one synchronisation per step."));
    connect(arm_, &QPushButton::toggled, model_, &SkipsModel::setArmed);
    capsule_ = new QPushButton(tr("Save as capsule…"), this);
    capsule_->setToolTip(
        tr("One file with everything needed to compute the step again elsewhere: weights, "
           "optimizer, scaler, batch and settings (K)"));
    addWidgets(row, {examine_, arm_});
    row->addWidget(state_, 1);
    export_ = new QPushButton(tr("Export…"), this);
    export_->setToolTip(tr("Save the skipped steps as CSV, or the page as PNG or SVG (Ctrl+E)"));
    addWidgets(row, {capsule_, export_});
    addPageKey(this, u"skips/examine"_s, Qt::Key_R, examine_);
    addPageKey(this, u"skips/capsule"_s, Qt::Key_K, capsule_);
    addPageKey(this, u"skips/export"_s, Qt::CTRL | Qt::Key_E, export_);
    connect(examine_, &QPushButton::clicked, this, [this] {
        if (model_->busy())
            model_->cancel();
        else
            model_->examine();
    });
    connect(model_, &SkipsModel::progressed, this, [this] {
        if (model_->busy()) refreshState();
    });
    connect(capsule_, &QPushButton::clicked, this, &SkipsPage::saveCapsule);
    connect(export_, &QPushButton::clicked, this, &SkipsPage::exportFigures);
    return row;
}

Card* SkipsPage::makeList() {
    auto* card = new Card(tr("Skipped steps"), this);
    connect(model_, &SkipsModel::listChanged, card, [this, card] {
        const bool all = std::ranges::all_of(model_->skips().list, &engine::SkippedStep::skipped);
        card->setTitle(all ? tr("Skipped steps") : tr("Skipped or not finite"));
    });
    card->setMinimumWidth(listWidth);
    card->addBody(new SkipListView(context_.theme, model_, card), 1);
    return card;
}

SideColumns* SkipsPage::makeColumns() {
    auto* verdict = new SkipVerdict(context_.theme, model_, this);
    connect(verdict, &SkipVerdict::withoutSampleWanted, this, [this] {
        if (const auto sample = samples_->sample()) model_->retry({.without = sample});
    });
    using enum SideColumns::Place;
    columns_ = new SideColumns(verdict, this);
    columns_->add(left, tr("Skipped steps"), makeList());
    columns_->add(right, tr("First non-finite tensor"), makeTensor(), 0);
    columns_->add(right, tr("Batch"), makeBatch());
    columns_->add(below, tr("Exponents"), verdict->exponents());
    columns_->add(below, tr("At another scale"), verdict->ladder());
    columns_->setShares(1, 4, 2);
    columns_->setHeights(1, 0);
    return columns_;
}

Card* SkipsPage::makeTensor() {
    auto* card = new Card(tr("First non-finite tensor"), this);
    card->addBody(new TensorFacts(model_, card), 1);
    return card;
}

Card* SkipsPage::makeBatch() {
    batch_ = new Card(tr("Batch"), this);
    samples_ = new SampleGrid(context_.theme, model_, batch_);
    batch_->addBody(samples_, 1);
    return batch_;
}

void SkipsPage::showStep() {
    const SkipReport* report = model_->report();
    batch_->setNote(
        report == nullptr || report->samples.empty()
            ? QString()
            : tr("%1 samples, largest share first").arg(count(std::ssize(report->samples))));
    refreshState();
}

void SkipsPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    model_->setVisible(true);
}

void SkipsPage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    model_->setVisible(false);
}

void SkipsPage::refreshState() {
    const bool any = model_->step() != nullptr;
    examine_->setEnabled(any);
    const double seconds = model_->busy() ? 0 : model_->expectedSeconds();
    examine_->setText(model_->busy()                ? tr("Cancel")
                      : model_->report() != nullptr ? tr("Examine it again")
                      : seconds >= 1 ? tr("Examine this step (about %1)").arg(duration(seconds))
                                     : tr("Examine this step"));
    capsule_->setEnabled(any && !model_->busy());
    export_->setEnabled(any);
    const SkipReport* const seen = model_->report();
    capsule_->setText(seen == nullptr || seen->capsule_bytes == 0
                          ? tr("Save as capsule…")
                          : tr("Save as capsule… %1").arg(bytes(seen->capsule_bytes)));
    arm_->setVisible(model_->needsArming());
    QString text;
    const QString progress = model_->progress();
    if (!progress.isEmpty())
        text = progress;
    else if (model_->busy())
        text = tr("Computing the step again…");
    else if (!model_->problem().isEmpty())
        text = model_->problem();
    else if (const auto* report = model_->report())
        text = tr("computed again with a check after each of %1 operations, on %2")
                   .arg(count(report->operations), QString::fromStdString(report->device).toUpper());
    const QString watch = watchText();
    if (!watch.isEmpty() && model_->problem().isEmpty())
        text = text.isEmpty() ? watch : watch + u" · "_s + text;
    state_->setText(text);
}

QString SkipsPage::watchText() const {
    if (model_->needsArming())
        return model_->watches()
                   ? tr("armed: found_inf is read before the update, one synchronisation per step")
                   : tr("not armed: the weights have changed since; arm to catch the next skip");
    return model_->watches() ? tr("watching: a fault is examined before the next step") : QString();
}

void SkipsPage::exportFigures() {
    if (model_->step() == nullptr) return;
    PageExport page;
    page.name = u"skips-%1"_s.arg(QString::fromStdString(model_->track()->run()));
    page.table = [this] { return to_table(model_->skips()); };
    page.plots = columns_;
    page.write = [this](const QString& file, FileWriter writer) {
        context_.commands->works()->write(file, std::move(writer));
    };
    exportPage(this, page);
}

void SkipsPage::saveCapsule() {
    const auto* step = model_->step();
    if (step == nullptr) return;
    const auto named = askForFile(this, tr("Save as capsule"),
                                  u"step-%1.capsule.safetensors"_s.arg(step->step),
                                  {{tr("Capsules (*.safetensors)"), u"safetensors"_s}});
    if (named) model_->saveCapsule(named->file);
}

}  // namespace ui
