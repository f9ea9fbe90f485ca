#include "benchmarks/benchmark_view.h"

#include <QToolButton>
#include <algorithm>

#include "help/help_page.h"
#include "text/precision_title.h"
#include "text/speedup_text.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

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
    auto* rule = new QFrame(body_);
    rule->setObjectName(u"rule"_s);
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
    auto* sentence = makeProse(speedupSentence(row), nullptr, body_);
    sentence->setObjectName(u"sentence"_s);
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

}  // namespace ui
