#include "lab/numbers/block_card.h"

#include <QLabel>
#include <QPushButton>
#include <cmath>

#include "lab/numbers/block_model.h"
#include "lab/numbers/block_plot.h"
#include "lab/numbers/number_words.h"
#include "text/format.h"
#include "widgets/choices.h"
#include "widgets/panel.h"

namespace ui {

BlockCard::BlockCard(const Theme* theme, BlockModel* model, QWidget* parent)
    : QFrame(parent), model_(model) {
    setObjectName(u"card"_s);
    auto* column = makeColumn(this, {size::inside, size::gap, size::inside, size::gap}, size::grid);
    auto* row = makeRow(size::gap);
    kinds_ = new Segments(tr("Formats that share a scale"),
                          {u"MXFP8"_s, u"MXFP4"_s, u"NVFP4"_s, u"FP8 128"_s}, this);
    sum_ = makeLabel({}, nullptr, this);
    auto* again = new QPushButton(tr("Reset"), this);
    row->addWidget(kinds_);
    row->addWidget(sum_, 1);
    row->addWidget(again);
    column->addLayout(row);
    column->addWidget(new BlockPlot(theme, model, this), 1);
    number_ = makeProse({}, nullptr, this);
    random_ = makeProse({}, "dim", this);
    column->addWidget(number_);
    column->addWidget(random_);
    connect(kinds_->buttons(), &QButtonGroup::idClicked, this,
            [this](int id) { model_->setKind(static_cast<engine::BlockKind>(id)); });
    connect(again, &QPushButton::clicked, model_, &BlockModel::reset);
    connect(model_, &BlockModel::changed, this, &BlockCard::refresh);
    refresh();
}

void BlockCard::refresh() {
    kinds_->setCurrent(static_cast<int>(model_->kind()));
    sum_->setText(tr("%1 of %2 became 0; drag a number up, and its neighbours sink")
                      .arg(model_->zeroed())
                      .arg(BlockModel::count));
    const engine::BlockElement& now = model_->element(model_->selected());
    const QString error = now.error == 0 ? tr("exact") : percent(std::fabs(now.error / now.number));
    const engine::NumberFormat& format = engine::block_format(model_->kind());
    // nvfp4 rounds its scales, so some of its numbers lie just above the largest value.
    const double factor = model_->block(model_->selected()).factor;
    const bool above = std::fabs(now.number * factor) > format.largest;
    const QString rounding =
        above ? tr("Number %1: %2 × %3 is above the largest code, %4, whose value is %5; error: %6")
              : tr("Number %1: %2 × %3 is rounded to the code %4, whose value is %5; error: %6");
    number_->setText(rounding.arg(model_->selected() + 1)
                         .arg(nearText(now.number, 6), nearText(factor, 6),
                              QString::number(now.bits, 16).toUpper(), nearText(now.value, 6),
                              error));
    constexpr std::int64_t draws = 10'000;
    const engine::RandomRounding random = model_->atRandom(draws);
    const auto share = [&](std::int64_t count) {
        return percent(static_cast<double>(count) / static_cast<double>(draws));
    };
    const auto value = [&](std::uint32_t bits) { return nearText(from_bits(format, bits), 4); };
    random_->setText(
        above ? tr("Rounded at random it becomes %1 too, the largest value of the format.")
                    .arg(value(random.low))
        : random.chance == 0
            ? tr("Rounded at random it stays %1: it is a value of the format.")
                  .arg(value(random.low))
            : tr("Rounded at random, in 10,000 draws: %1 in %2, %3 in %4; the mean stays.")
                  .arg(value(random.low), share(random.lows), value(random.high),
                       share(random.highs)));
}

}  // namespace ui
