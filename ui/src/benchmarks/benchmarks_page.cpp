#include "benchmarks/benchmarks_page.h"

#include "benchmarks/benchmark_choice.h"
#include "benchmarks/benchmark_table.h"
#include "benchmarks/benchmark_view.h"
#include "commands/commands.h"
#include "models/benchmarks.h"
#include "text/format.h"
#include "text/precision_title.h"
#include "text/speedup_text.h"
#include "theme/theme.h"
#include "widgets/elided_label.h"
#include "widgets/key_bindings.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

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
    run_ = new QPushButton(tr("Run"), this);
    run_->setObjectName(u"primary"_s);
    stop_ = new QPushButton(tr("Stop"), this);
    stop_->setObjectName(u"stopBenchmarks"_s);
    stop_->setToolTip(tr("Stops after the block in progress; the results so far are kept (B)"));
    state_ = new ElidedLabel(this);
    state_->setObjectName(u"benchmarkState"_s);
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
    const BenchmarkJob& job = context_.benchmarks->job();
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
    progress_->setValue(static_cast<int>(job.share() * thousand));
    state_->setText(job.running() && !job.stopping() ? left_.behind(stateText(), job.share())
                                                     : stateText());
}

QString BenchmarksPage::stateText() const {
    const BenchmarkJob& job = context_.benchmarks->job();
    if (!job.running()) {
        const QString why = context_.benchmarks->whyNot();
        return why.isEmpty() ? context_.benchmarks->outcome() : why;
    }
    if (job.stopping()) return tr("Stopping: the block in progress ends first.");
    const BenchmarkJob::Place place = job.place();
    const QString title = speedupTitle(job.order().settings[place.setting]);
    if (place.at.precision.empty()) return tr("%1: preparing").arg(title);
    const QString precision = precisionTitle(place.at.precision);
    if (place.at.batch_size > 0)
        return tr("%1: largest batch in %2, trying %3")
            .arg(title, precision, count(place.at.batch_size));
    return tr("%1: %2 and FP32 in turns, %3 of %4")
        .arg(title, precision, count(place.at.pairs + 1), count(BenchmarkJob::pairs()));
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
