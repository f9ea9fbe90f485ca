#include "panels/verdict/verdict_line.h"

#include <QGridLayout>

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
    grid_ = new QGridLayout(this);
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setHorizontalSpacing(size::gap);
    grid_->setVerticalSpacing(0);
    grid_->setSizeConstraint(QLayout::SetNoConstraint);
    icon_ = new QLabel(this);
    headline_ = new QLabel(this);
    rest_ = new QLabel(this);
    for (QLabel* label : {headline_, rest_}) {
        label->setTextFormat(Qt::RichText);
        label->setWordWrap(true);
        label->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    }
    link_ = makeLink(tr("evidence"), this);
    connect(link_, &QToolButton::clicked, this, [this] { showHelp(link_, evidence_); });
    measure_ = makeLink(tr("measure"), this);
    measure_->setObjectName(u"measure"_s);
    measure_->setToolTip(tr("Measures on the Benchmarks page why it does not pay off"));
    connect(measure_, &QToolButton::clicked, this, &VerdictLine::measureWanted);
    grid_->addWidget(icon_, 0, 0, Qt::AlignTop);
    grid_->addWidget(headline_, 0, 1);
    grid_->addWidget(link_, 0, 2, Qt::AlignTop);
    grid_->addWidget(measure_, 0, 3, Qt::AlignTop);
    grid_->addWidget(rest_, 1, 1, 1, 3);  // below the links, too
    grid_->setColumnStretch(1, 1);
    grid_->setRowStretch(1, 1);
    rest_->hide();
}

void VerdictLine::show(const VerdictText& text) {
    icon_->setPixmap(iconPixmap(text.icon, text.color, size::icon, 2.0));
    QString first =
        u"<span style='font-weight:700'>"_s + text.headline.toHtmlEscaped() + u"</span>"_s;
    if (!twoLines_) first += u' ' + text.rest.toHtmlEscaped();
    if (first != headline_->text()) headline_->setText(first);
    const QString second = text.rest.toHtmlEscaped();
    if (second != rest_->text()) rest_->setText(second);
    rest_->setVisible(twoLines_);
    evidence_ = text.evidence;
    link_->setVisible(!evidence_.isEmpty());
    link_->setAccessibleName(tr("Evidence: %1").arg(text.headline));
    measure_->setVisible(text.canMeasure);
    measure_->setAccessibleName(tr("Measure: %1").arg(text.headline));
    setAccessibleName(text.headline + QChar::Space + text.rest);
}

void VerdictLine::setTwoLines(bool two) { twoLines_ = two; }

int VerdictLine::heightFor(int width) const {
    int links = 0;
    for (const QToolButton* link : {link_, measure_}) {
        if (!link->isHidden()) links += link->sizeHint().width() + size::gap;
    }
    const int whole = width - size::icon - size::gap, line = headline_->fontMetrics().lineSpacing();
    const int beside = std::max(narrowestText, whole - links);
    const int first =
        std::max({line, link_->sizeHint().height(), headline_->heightForWidth(beside)});
    if (!twoLines_) return first;
    return first + std::max(line, rest_->heightForWidth(std::max(narrowestText, whole)));
}

QSize VerdictLine::minimumSizeHint() const {
    return {narrowestText + size::icon + size::gap, link_->sizeHint().height()};
}

}  // namespace ui
