#include "xray/timeline.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <cmath>

#include "text/format.h"
#include "widgets/panel.h"
#include "xray/op_delegate.h"

namespace ui {

using engine::XrayOp;
using engine::XrayPass;

namespace {

constexpr double minPixels = 5;  // height of an operation that computes little

}  // namespace

Timeline::Timeline(const Theme* theme, XrayModel* model, QWidget* parent)
    : PaintedWidget(theme, parent, {900, 62}, {300, 62}), model_(model) {
    setFont(Theme::caption());
    setAccessibleName(tr("Timeline of the step"));
    connect(model_, &XrayModel::traceChanged, this, qOverload<>(&QWidget::update));
}

QString Timeline::spoken() const {
    if (!model_->trace()) return tr("No step was traced yet.");
    return tr("%1 operations in %2.")
        .arg(count(static_cast<std::int64_t>(model_->trace()->ops.size())),
             milliseconds(end() / 1000));
}

double Timeline::end() const {
    const auto& ops = model_->trace()->ops;
    return ops.empty() ? 1 : std::max(1.0, ops.back().start_us + ops.back().us);
}

double Timeline::xOf(double us) const {
    return size::inside + (width() - 2.0 * size::inside) * us / end();
}

const XrayOp* Timeline::opAt(double x) const {
    if (!model_->trace()) return nullptr;
    const XrayOp* nearest = nullptr;
    for (const XrayOp& op : model_->trace()->ops) {
        if (xOf(op.start_us) > x) break;
        nearest = &op;
    }
    return nearest;
}

void Timeline::paintEvent(QPaintEvent*) {
    if (!model_->trace()) {
        paintEmpty(this, *theme_,
                   tr("The operations over the time of the step. Their height is their share of "
                      "the peak throughput."));
        return;
    }
    const Tokens& t = theme_->tokens();
    QPainter painter(this);
    const int line = fontMetrics().height();
    const double bottom = height() - 6, room = height() - line - 14;
    double passStart = 0;
    std::optional<XrayPass> pass;
    const auto nameOf = [](XrayPass which) {
        return which == XrayPass::forward    ? tr("forward")
               : which == XrayPass::backward ? tr("backward")
                                             : tr("optimizer");
    };
    double named = 0;  // right end of the last name; a short pass between two goes without
    const auto name = [&](XrayPass which, double from, double to) {
        const QString text = tr("%1 %2").arg(nameOf(which), milliseconds((to - from) / 1000));
        painter.setPen(t.dim);
        const double left = xOf(from);
        const double wide = fontMetrics().horizontalAdvance(text) + 4;
        const double x = std::min(left, width() - size::inside - wide);
        if (x >= named) {
            painter.drawText(QRectF(x, 4, wide, line), Qt::AlignLeft, text);
            named = x + wide;
        }
        painter.setPen(t.line);
        // Below a name that had to give way to the left.
        painter.drawLine(QPointF(left, x < left ? 4 + line : 4), QPointF(left, bottom));
    };
    double last = 0;
    for (const XrayOp& op : model_->trace()->ops) {
        if (pass != op.pass) {
            if (pass) name(*pass, passStart, op.start_us);
            pass = op.pass;
            passStart = op.start_us;
        }
        const double left = xOf(op.start_us);
        const double wide = std::max(0.6, xOf(op.start_us + op.us) - left);
        const double share = std::isfinite(op.peak_share) ? std::clamp(op.peak_share, 0.0, 1.0) : 0;
        const double tall = minPixels + share * (room - minPixels);
        const QColor color = typeColor(*theme_, QString::fromStdString(op.compute_dtype));
        painter.fillRect(QRectF(left, bottom - tall, wide, tall),
                         share > 0.02 ? color : blend(t.panel, color, 0.5));
        last = op.start_us + op.us;
    }
    if (pass) name(*pass, passStart, last);
}

bool Timeline::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    auto* help = static_cast<QHelpEvent*>(event);
    const XrayOp* op = opAt(help->pos().x());
    if (op == nullptr) return true;
    QToolTip::showText(
        help->globalPos(),
        tr("%1 %2: %3 µs, %4")
            .arg(QString::fromStdString(op->module), QString::fromStdString(op->op),
                 significant(op->us),
                 std::isfinite(op->peak_share) ? tr("%1 of peak").arg(percent(op->peak_share))
                                               : tr("no products")),
        this);
    return true;
}

void Timeline::mousePressEvent(QMouseEvent* event) {
    if (const XrayOp* op = opAt(event->position().x())) emit opClicked(op);
}

}  // namespace ui
