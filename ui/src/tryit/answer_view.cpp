#include "tryit/answer_view.h"

#include <QPainter>
#include <algorithm>
#include <numeric>

#include "text/format.h"
#include "widgets/panel.h"
#include "widgets/picture_view.h"

namespace ui {
namespace {

constexpr std::size_t inOrder = 12;  // the most classes that keep the data set's order
constexpr int barHeight = 8;

}  // namespace

AnswerView::AnswerView(Theme* theme, const std::string& precision, QWidget* parent)
    : PaintedWidget(theme, parent), precision_(precision), drawing_(new PictureView(this)) {
    setAccessibleName(tr("Answer"));
    auto* column = makeColumn(this);
    column->addWidget(drawing_);
    drawing_->hide();
}

QSize AnswerView::minimumSizeHint() const {
    const int line = fontMetrics().height();
    return {200, 3 * line + static_cast<int>(bars_.size()) * (line + 5)};
}

void AnswerView::showNote(const QString& note) {
    drawing_->hide();
    answer_ = {};
    bars_.clear();
    summary_.clear();
    caption_.clear();
    note_ = note;
    setAccessibleDescription(note);
    updateGeometry();
    update();
}

void AnswerView::show(const engine::Answer& answer, const ModelFacts& facts) {
    showNote({});
    answer_ = answer;
    std::vector<std::size_t> order(answer.probabilities.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (order.size() > inOrder) {
        std::ranges::stable_sort(order, std::greater<>(),
                                 [&](std::size_t i) { return answer.probabilities[i]; });
        order.resize(inOrder);
    }
    for (const std::size_t i : order)
        bars_.push_back({className(facts.classes, i), answer.probabilities[i]});
    QStringList words;
    if (!answer.probabilities.empty() && answer.best() < 0) {
        answer_.probabilities.clear();
        bars_.clear();
        summary_ = noPrediction();
        words << summary_;
    } else if (answer.best() >= 0) {
        const auto best = static_cast<std::size_t>(answer.best());
        summary_ = className(facts.classes, best);
        caption_ = percent(answer.probabilities[best]);
        for (const Bar& bar : bars_) words << bar.name + u' ' + percent(bar.share);
    } else if (!answer.values.empty()) {
        QStringList values;
        for (const double value : answer.values) values << significant(value, 5);
        summary_ = values.join(u", "_s);
        caption_ = QString::fromStdString(facts.target);
        words << caption_ + u' ' + summary_;
    } else if (!answer.picture.rgb.empty()) {
        words << tr("Reconstructed from its code");
    }
    drawing_->setVisible(!answer.picture.rgb.empty());
    drawing_->setImage(answer.picture.rgb.empty() ? QImage() : toImage(answer.picture));
    setAccessibleDescription(words.join(u", "_s));
    updateGeometry();
    update();
}

void AnswerView::paintBars(QPainter& painter, int top) const {
    const Tokens& t = theme_->tokens();
    const QFontMetrics metrics = fontMetrics();
    const int line = metrics.height();
    int names = 0;
    for (const Bar& bar : bars_) names = std::max(names, metrics.horizontalAdvance(bar.name));
    names = std::min(names + 1, width() * 2 / 5);  // the advance is rounded
    const int figures = metrics.horizontalAdvance(percent(1));
    const int left = names + size::gap;
    const int room = std::max(10, width() - left - size::gap - figures);
    const double best = *std::ranges::max_element(answer_.probabilities);
    for (const Bar& bar : bars_) {
        const bool leads = bar.share == best;
        painter.setPen(leads ? t.text : t.dim);
        painter.drawText(QRect(0, top, names, line), Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(bar.name, Qt::ElideRight, names));
        painter.drawText(QRect(width() - figures, top, figures, line),
                         Qt::AlignRight | Qt::AlignVCenter, percent(bar.share));
        const QRectF whole(left, top + (line - barHeight) / 2.0, room, barHeight);
        painter.fillRect(whole, t.grid);
        const QColor color = theme_->precision(precision_);
        painter.fillRect(QRectF(whole.topLeft(), QSizeF(room * bar.share, barHeight)),
                         leads ? color : blend(t.panel, color, 0.6));
        top += line + 5;
    }
}

void AnswerView::paintEvent(QPaintEvent*) {
    const Tokens& t = theme_->tokens();
    QPainter painter(this);
    painter.setPen(t.dim);
    if (!note_.isEmpty()) {
        painter.drawText(rect(), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, note_);
        return;
    }
    if (summary_.isEmpty()) return;
    const QFontMetrics big(Theme::figures());
    const int high = big.height() + 2;
    const int beside = fontMetrics().horizontalAdvance(caption_) + size::gap;
    painter.drawText(QRect(0, 0, width(), high), Qt::AlignRight | Qt::AlignVCenter, caption_);
    painter.setFont(Theme::figures());
    painter.setPen(t.text);
    painter.drawText(QRect(0, 0, width() - beside, high), Qt::AlignLeft | Qt::AlignVCenter,
                     big.elidedText(summary_, Qt::ElideRight, width() - beside));
    painter.setFont(font());
    if (!bars_.empty()) paintBars(painter, high + size::gap);
}

}  // namespace ui
