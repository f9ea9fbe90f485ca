#include "skips/tensor_facts.h"

#include <QEvent>
#include <cmath>

#include "skips/skip_text.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

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

}  // namespace ui
