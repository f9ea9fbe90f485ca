#include "panels/verdict_line.h"

#include <QHBoxLayout>

#include "help/help_page.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/elided_label.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

VerdictLine::VerdictLine(QWidget* parent) : QWidget(parent) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(size::gap);
    icon_ = new QLabel(this);
    headline_ = new ElidedLabel(this);
    headline_->setFont(Theme::bold());
    rest_ = new ElidedLabel(this);
    rest_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    link_ = makeLink(tr("evidence"), this);
    connect(link_, &QToolButton::clicked, this, [this] { showHelp(link_, evidence_); });
    measure_ = makeLink(tr("measure"), this);
    measure_->setObjectName(u"measure"_s);
    measure_->setToolTip(tr("Measures on the Benchmarks page why it does not pay off"));
    connect(measure_, &QToolButton::clicked, this, &VerdictLine::measureWanted);
    row->addWidget(icon_);
    row->addWidget(headline_);
    row->addWidget(rest_, 1);
    row->addWidget(link_);
    row->addWidget(measure_);
}

void VerdictLine::show(const VerdictText& text) {
    icon_->setPixmap(iconPixmap(text.icon, text.color, size::icon, 2.0));
    headline_->setText(text.headline);
    rest_->setText(text.rest);
    evidence_ = text.evidence;
    link_->setVisible(!evidence_.isEmpty());
    link_->setAccessibleName(tr("Evidence: %1").arg(text.headline));
    measure_->setVisible(text.canMeasure);
    measure_->setAccessibleName(tr("Measure: %1").arg(text.headline));
    setAccessibleName(text.headline + QChar::Space + text.rest);
}

}  // namespace ui
