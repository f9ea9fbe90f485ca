#include "panels/verdict_line.h"

#include <QHBoxLayout>

#include "help/help_page.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int narrowestText = 160;

}  // namespace

VerdictLine::VerdictLine(QWidget* parent) : QWidget(parent) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(size::gap);
    row->setSizeConstraint(QLayout::SetNoConstraint);
    icon_ = new QLabel(this);
    text_ = new QLabel(this);
    text_->setTextFormat(Qt::RichText);
    text_->setWordWrap(true);
    text_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    link_ = makeLink(tr("evidence"), this);
    connect(link_, &QToolButton::clicked, this, [this] { showHelp(link_, evidence_); });
    measure_ = makeLink(tr("measure"), this);
    measure_->setObjectName(u"measure"_s);
    measure_->setToolTip(tr("Measures on the Benchmarks page why it does not pay off"));
    connect(measure_, &QToolButton::clicked, this, &VerdictLine::measureWanted);
    row->addWidget(icon_, 0, Qt::AlignTop);
    row->addWidget(text_, 1);
    row->addWidget(link_, 0, Qt::AlignTop);
    row->addWidget(measure_, 0, Qt::AlignTop);
}

void VerdictLine::show(const VerdictText& text) {
    icon_->setPixmap(iconPixmap(text.icon, text.color, size::icon, 2.0));
    headline_ = text.headline;
    rest_ = text.rest;
    const QString between = twoLines_ ? u"<br>"_s : u" "_s;
    const QString html = u"<span style='font-weight:600'>"_s + headline_.toHtmlEscaped() +
                         u"</span>"_s + between + rest_.toHtmlEscaped();
    if (html != text_->text()) text_->setText(html);
    evidence_ = text.evidence;
    link_->setVisible(!evidence_.isEmpty());
    link_->setAccessibleName(tr("Evidence: %1").arg(headline_));
    measure_->setVisible(text.canMeasure);
    measure_->setAccessibleName(tr("Measure: %1").arg(headline_));
    setAccessibleName(headline_ + QChar::Space + rest_);
}

void VerdictLine::setTwoLines(bool two) { twoLines_ = two; }

int VerdictLine::heightFor(int width) const {
    int links = 0;
    for (const QToolButton* link : {link_, measure_}) {
        if (!link->isHidden()) links += link->sizeHint().width() + size::gap;
    }
    const int text = std::max(narrowestText, width - links - size::icon - size::gap);
    const int least = std::max(link_->sizeHint().height(),
                               (twoLines_ ? 2 : 1) * text_->fontMetrics().lineSpacing());
    return std::max(least, text_->heightForWidth(text));
}

QSize VerdictLine::minimumSizeHint() const {
    return {narrowestText + size::icon + size::gap, link_->sizeHint().height()};
}

}  // namespace ui
