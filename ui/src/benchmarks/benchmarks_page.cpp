#include "benchmarks/benchmarks_page.h"

#include <QCoreApplication>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <vector>

#include "benchmarks/benchmark_choice.h"
#include "benchmarks/benchmark_table.h"
#include "benchmarks/pair_bars.h"
#include "commands/commands.h"
#include "help/help_page.h"
#include "models/benchmark_book.h"
#include "models/benchmarks.h"
#include "text/precision_title.h"
#include "text/speedup_text.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/elided_label.h"
#include "widgets/key_bindings.h"
#include "widgets/panel.h"

namespace ui {

/// Measurements by model: the bars of FP32 once, below them those of each precision, and a sentence
/// that says why it pays or not.
class BenchmarkView final : public QWidget {
    Q_DECLARE_TR_FUNCTIONS(ui::BenchmarkView)
public:
    /// An exported picture leaves out the links to the figures.
    enum class Medium { screen, paper };

    explicit BenchmarkView(const Theme* theme, Medium medium, QWidget* parent = nullptr);

    /// Shows the results in this order. Those of one model must be adjacent.
    void show(const std::vector<BenchmarkResult>& results);

private:
    void addModel(const BenchmarkResult& first);
    void addResult(const BenchmarkResult& result, const BarScale& scale, bool first);
    QLayout* makeSentence(const engine::Speedup& row);

    const Theme* theme_;
    Medium medium_;
    QVBoxLayout* column_;
    QWidget* body_ = nullptr;  ///< recreated for other results
};

namespace {

constexpr double iconScale = 2.0;
constexpr int linkBorder = 2;
constexpr int sentenceStretch = 100;  // against the gap: a sentence takes the width that it needs

/// The memory limit if all of them have the same; 0 if they have several, or none.
std::int64_t batchMemory(const std::vector<BenchmarkResult>& results) {
    const std::int64_t first = results.front().row.batch_memory;
    const bool same = std::ranges::all_of(
        results, [first](const auto& result) { return result.row.batch_memory == first; });
    return same ? first : 0;
}

std::pair<QString, QColor> markOf(const engine::Speedup& row, const Tokens& t) {
    if (row.pays()) return {u"check"_s, t.good};
    if (row.reason == engine::PayReason::undecided) return {u"dot"_s, t.dim};
    return {u"warning"_s, t.caution};
}

}  // namespace

BenchmarkView::BenchmarkView(const Theme* theme, Medium medium, QWidget* parent)
    : QWidget(parent), theme_(theme), medium_(medium), column_(new QVBoxLayout(this)) {
    column_->setContentsMargins(size::inside, 0, size::inside, size::inside);
    column_->setSpacing(0);
}

void BenchmarkView::show(const std::vector<BenchmarkResult>& results) {
    delete body_;
    body_ = new QWidget(this);
    auto* inside = makeColumn(body_, {}, size::gap);
    column_->addWidget(body_);
    if (results.empty()) return;
    BarScale scale;
    for (const BenchmarkResult& result : results) scale.include(result.row);
    inside->addWidget(new BarHeads(theme_, batchMemory(results), body_));
    for (std::size_t i = 0; i < results.size(); ++i) {
        const bool first = i == 0 || results[i].settings != results[i - 1].settings;
        if (first) addModel(results[i]);
        addResult(results[i], scale, first);
    }
    inside->addStretch();
    body_->show();
}

void BenchmarkView::addModel(const BenchmarkResult& first) {
    auto* rule = withName(new QFrame(body_), u"rule"_s);
    auto* row = makeRow(size::gap);
    auto* title = makeTitle(speedupTitle(first.settings), nullptr, body_);
    title->setTextFormat(Qt::PlainText);
    auto* where = makeSmall(
        tr("%1, measured %2").arg(first.machine, first.when.toString(u"yyyy-MM-dd HH:mm"_s)), "dim",
        body_);
    where->setTextFormat(Qt::PlainText);
    row->addWidget(title);
    row->addWidget(where, 1);
    auto* inside = static_cast<QVBoxLayout*>(body_->layout());
    inside->addWidget(rule);
    inside->addLayout(row);
}

void BenchmarkView::addResult(const BenchmarkResult& result, const BarScale& scale, bool first) {
    auto* inside = static_cast<QVBoxLayout*>(body_->layout());
    auto* group = makeColumn(size::grid);
    group->addWidget(new PairBars(theme_, result.row, scale, first, body_));
    group->addLayout(makeSentence(result.row));
    inside->addLayout(group);
}

QLayout* BenchmarkView::makeSentence(const engine::Speedup& row) {
    const auto [icon, color] = markOf(row, theme_->tokens());
    auto* line = makeRow(size::gap);
    auto* mark = new QLabel(body_);
    mark->setPixmap(iconPixmap(icon, color, size::icon, iconScale));
    auto* sentence = withName(makeProse(speedupSentence(row), nullptr, body_), u"sentence"_s);
    sentence->setTextFormat(Qt::PlainText);
    sentence->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    // The link has a border, which shows where the focus is.
    for (QLabel* each : {mark, sentence}) each->setContentsMargins(0, linkBorder, 0, 0);
    line->addWidget(mark, 0, Qt::AlignTop);
    line->addWidget(sentence, sentenceStretch);
    if (medium_ == Medium::paper) return line;
    sentence->ensurePolished();
    sentence->setMaximumWidth(sentence->fontMetrics().horizontalAdvance(sentence->text()) +
                              size::grid);
    auto* link = makeLink(tr("figures"), body_);
    link->setAccessibleName(tr("Figures of %1").arg(precisionTitle(row.precision)));
    connect(link, &QToolButton::clicked, this,
            [link, figures = speedupFigures(row)] { showHelp(link, figures); });
    line->addWidget(link, 0, Qt::AlignTop);
    line->addStretch(1);
    return line;
}

namespace {

constexpr int choiceWidth = 304;  // the longest title of a model and a scroll bar
constexpr int progressWidth = 160;
constexpr int pictureWidth = 1180;
constexpr int thousand = 1000;  // of the progress bar

}  // namespace

QWidget* makeBenchmarksPage(const Context& context, QWidget* parent) {
    return new BenchmarksPage(context, parent);
}

BenchmarksPage::BenchmarksPage(const Context& context, QWidget* parent)
    : QWidget(parent), context_(context) {
    auto* column = makeColumn(this, {}, size::gap);
    column->addLayout(makeBar());
    auto* row = makeRow(size::gap);
    auto* choice = new BenchmarkChoice(context_.benchmarks, this);
    // For a larger font, in proportion: the titles are measured only once they are styled.
    choice->setFixedWidth(std::max(choiceWidth, choice->fontMetrics().averageCharWidth() * 46));
    row->addWidget(choice);
    row->addWidget(makeResults(), 1);
    column->addLayout(row, 1);
    addPageKey(this, u"benchmarks/run"_s, run_->text(), {Qt::Key_B},
               [this] { (run_->isEnabled() ? run_ : stop_)->click(); });
    takeRunKeys(this, [this] { run_->click(); });
    addPageKey(this, u"benchmarks/export"_s, Qt::CTRL | Qt::Key_E, export_);
    Benchmarks* benchmarks = context_.benchmarks;
    connect(benchmarks, &Benchmarks::resultsChanged, this, &BenchmarksPage::showResults);
    connect(benchmarks, &Benchmarks::stateChanged, this, &BenchmarksPage::refreshState);
    connect(benchmarks, &Benchmarks::progressed, this, &BenchmarksPage::refreshState);
    connect(context_.theme, &Theme::changed, this, &BenchmarksPage::showResults);
    showResults();
    refreshState();
}

QLayout* BenchmarksPage::makeBar() {
    auto* row = makeRow(size::gap);
    run_ = withName(new QPushButton(tr("Run"), this), u"primary"_s);
    stop_ = withName(new QPushButton(tr("Stop"), this), u"stopBenchmarks"_s);
    stop_->setToolTip(tr("Stops after the block in progress; the results so far are kept (B)"));
    state_ = withName(new ElidedLabel(this), u"benchmarkState"_s);
    state_->setProperty("role", u"dim"_s);
    progress_ = new QProgressBar(this);
    progress_->setTextVisible(false);
    progress_->setRange(0, thousand);
    progress_->setFixedWidth(progressWidth);
    progress_->setAccessibleName(tr("Progress of the measurement"));
    export_ = new QPushButton(tr("Export…"), this);
    export_->setToolTip(
        tr("Save the figures as CSV or Markdown, or the bars as PNG or SVG (Ctrl+E)"));
    addWidgets(row, {run_, stop_, progress_});
    row->addWidget(state_, 1);
    row->addWidget(export_);
    connect(run_, &QPushButton::clicked, context_.benchmarks, &Benchmarks::start);
    connect(stop_, &QPushButton::clicked, context_.benchmarks, &Benchmarks::stop);
    connect(export_, &QPushButton::clicked, this, &BenchmarksPage::exportFigures);
    return row;
}

QWidget* BenchmarksPage::makeResults() {
    card_ = new Card(tr("FP32 against mixed precision"), this);
    body_ = new QStackedWidget(card_);
    empty_ = makeProse(
        tr("Choose models and precisions on the left, then press Run (B). Each model trains for a "
           "few seconds in FP32 and in each precision, in turns, on random data. The results show "
           "what is faster on this machine, and why the rest is not."),
        "dim", body_);
    empty_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    empty_->setContentsMargins(size::inside, size::grid, size::inside, 0);
    area_ = new QScrollArea(body_);
    area_->setWidgetResizable(true);
    area_->setFrameShape(QFrame::NoFrame);
    area_->setAccessibleName(tr("Results"));
    view_ = new BenchmarkView(context_.theme, BenchmarkView::Medium::screen, area_);
    view_->setObjectName(u"sections"_s);
    area_->setWidget(view_);
    addWidgets(body_, {empty_, area_});
    card_->addBody(body_, 1);
    return card_;
}

void BenchmarksPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (context_.benchmarks->takeRequest() && run_->isEnabled()) run_->setFocus();
}

void BenchmarksPage::showResults() {
    const auto results = orderedResults(context_.benchmarks->book());
    view_->show(results);
    body_->setCurrentWidget(results.empty() ? static_cast<QWidget*>(empty_) : area_);
    export_->setEnabled(!results.empty());
}

void BenchmarksPage::refreshState() {
    const BenchmarkTask& job = context_.benchmarks->job();
    const QString why = context_.benchmarks->whyNot();
    // Disabling a focused button would move the focus to the next widget of the window. While both
    // buttons are disabled, the page has the focus instead.
    const bool focus = run_->hasFocus() || stop_->hasFocus() || hasFocus();
    run_->setEnabled(!job.running() && why.isEmpty());
    run_->setToolTip(job.running()   ? tr("A measurement is running.")
                     : why.isEmpty() ? tr("Measures what is chosen on the left (B)")
                                     : why);
    stop_->setEnabled(job.running() && !job.stopping());
    if (focus)
        (stop_->isEnabled()  ? stop_
         : run_->isEnabled() ? static_cast<QWidget*>(run_)
                             : this)
            ->setFocus();
    progress_->setVisible(job.running());
    progress_->setValue(static_cast<int>(context_.benchmarks->share() * thousand));
    state_->setText(job.running() && !job.stopping()
                        ? left_.behind(stateText(), context_.benchmarks->share())
                        : stateText());
}

QString BenchmarksPage::stateText() const {
    const BenchmarkTask& job = context_.benchmarks->job();
    if (!job.running()) {
        const QString why = context_.benchmarks->whyNot();
        return why.isEmpty() ? context_.benchmarks->outcome() : why;
    }
    if (job.stopping()) return tr("Stopping: the block in progress ends first.");
    const BenchmarkProgress place = job.progress();
    const QString title = speedupTitle(context_.benchmarks->order().settings[place.setting]);
    if (place.at.precision.empty()) return tr("%1: preparing").arg(title);
    const QString precision = precisionTitle(place.at.precision);
    if (place.at.batch_size > 0)
        return tr("%1: largest batch in %2, trying %3")
            .arg(title, precision, count(place.at.batch_size));
    return tr("%1: %2 and FP32 in turns, %3 of %4")
        .arg(title, precision, count(place.at.pairs + 1), count(BenchmarkOrder::pairs()));
}

void BenchmarksPage::makePicture() {
    picture_ = std::make_unique<QWidget>();
    auto* column = makeColumn(picture_.get(), {0, size::inside, 0, 0});
    auto* title = makeTitle(tr("FP32 against mixed precision"), nullptr, picture_.get());
    title->setContentsMargins(size::inside, 0, size::inside, 0);
    auto* view = new BenchmarkView(context_.theme, BenchmarkView::Medium::paper, picture_.get());
    view->show(orderedResults(context_.benchmarks->book()));
    addWidgets(column, {title, view});
    // A widget has its final fonts and layout only after it was shown.
    picture_->setAttribute(Qt::WA_DontShowOnScreen);
    picture_->resize(pictureWidth, 100);
    picture_->show();
    picture_->resize(pictureWidth, column->heightForWidth(pictureWidth));
}

PageExport BenchmarksPage::whatToExport() {
    makePicture();
    PageExport page;
    page.name = u"benchmarks"_s;
    page.table = [this] { return benchmarkTable(orderedResults(context_.benchmarks->book())); };
    page.markdown = [this] {
        return benchmarkMarkdown(orderedResults(context_.benchmarks->book()));
    };
    page.plots = picture_.get();
    page.write = [this](const QString& file, FileWriter writer) {
        context_.commands->works()->write(file, std::move(writer));
    };
    return page;
}

void BenchmarksPage::exportFigures() {
    exportPage(this, whatToExport());
    picture_.reset();
}

}  // namespace ui
