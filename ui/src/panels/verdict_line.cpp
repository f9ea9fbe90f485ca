#include "panels/verdict_line.h"

#include <QHBoxLayout>

#include "help/help_page.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/elided_label.h"
#include "widgets/panel.h"

namespace ui {

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
    row->addWidget(icon_);
    row->addWidget(headline_);
    row->addWidget(rest_, 1);
    row->addWidget(link_);
}

void VerdictLine::show(const VerdictText& text) {
    icon_->setPixmap(iconPixmap(text.icon, text.color, size::icon, 2.0));
    headline_->setText(text.headline);
    rest_->setText(text.rest);
    evidence_ = text.evidence;
    link_->setVisible(!evidence_.isEmpty());
    link_->setAccessibleName(tr("Evidence: %1").arg(text.headline));
    setAccessibleName(text.headline + QChar::Space + text.rest);
}

}  // namespace ui
