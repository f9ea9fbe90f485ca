#include "panels/frame/work_strip.h"

#include "commands/commands.h"
#include "theme/theme.h"
#include "widgets/elided_label.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int wholeBar = 1000;

}  // namespace

WorkStrip::WorkStrip(const Context& context, QWidget* parent)
    : QWidget(parent), context_(context) {
    auto* row = makeRow(this, {0, 0, size::inside, 0}, size::gap);
    text_ = new ElidedLabel(this);
    text_->setFixedWidth(fontMetrics().averageCharWidth() * 46);
    text_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    bar_ = new QProgressBar(this);
    bar_->setTextVisible(false);
    bar_->setFixedWidth(110);
    cancel_ = withName(new QToolButton(this), u"cancelWork"_s);
    cancel_->setText(tr("Cancel"));
    cancel_->setFont(Theme::caption());
    cancel_->setFocusPolicy(Qt::StrongFocus);
    addWidgets(row, {text_, bar_, cancel_});
    connect(cancel_, &QToolButton::clicked, context_.commands->works(), &FileWorks::cancel);
    connect(context_.commands->works(), &FileWorks::changed, this, &WorkStrip::refresh);
    hide();
    refresh();
}

void WorkStrip::refresh() {
    FileWorks* works = context_.commands->works();
    const QString text = works->text();
    setVisible(works->isLong());
    text_->setText(text);
    bar_->setAccessibleName(text);
    cancel_->setAccessibleName(tr("Cancel: %1").arg(text));
    cancel_->setToolTip(tr("Stops it and removes what it has written so far."));
    const bool known = works->share() > 0;
    bar_->setRange(0, known ? wholeBar : 0);
    if (known) bar_->setValue(static_cast<int>(works->share() * wholeBar));
}

}  // namespace ui
