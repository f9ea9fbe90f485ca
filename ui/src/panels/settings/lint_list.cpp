#include "panels/settings/lint_list.h"

#include <QToolButton>

#include "commands/commands.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/elided_label.h"
#include "widgets/panel.h"

namespace ui {
namespace {

QColor colorOf(engine::LintSeverity severity, const Tokens& tokens) {
    switch (severity) {
        case engine::LintSeverity::error:
            return tokens.bad;
        case engine::LintSeverity::warning:
            return tokens.caution;
        case engine::LintSeverity::note:
            return tokens.dim;
    }
    return tokens.dim;
}

}  // namespace

LintList::LintList(const Context& context, QWidget* parent)
    : QWidget(parent), context_(context), check_(new LintCheck(context.settings, this)) {
    makeColumn(this, {0, size::grid, 0, 0}, 1);
    connect(check_, &LintCheck::findingsChanged, this, &LintList::refresh);
    connect(context_.commands, &Commands::hazardsFound, check_, &LintCheck::setMeasured);
    connect(context_.theme, &Theme::changed, this, &LintList::refresh);
    refresh();
}

void LintList::refresh() {
    while (auto* item = layout()->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    for (const auto& finding : check_->findings()) addRow(finding);
    setVisible(!check_->findings().empty());
}

void LintList::addRow(const engine::LintFinding& finding) {
    auto* line = new QWidget(this);
    auto* row = makeRow(line, {}, size::grid);
    auto* mark = new QLabel(line);
    mark->setPixmap(
        iconPixmap(u"dot"_s, colorOf(finding.severity, context_.theme->tokens()), size::icon, 2));
    auto* sentence = withName(new ElidedLabel(line), u"finding"_s);
    sentence->setFont(Theme::caption());
    sentence->setText(engineText(finding.sentence));
    sentence->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    auto* fix = withName(makeLink(tr("Fix it"), line), u"fixIt"_s);
    const QString reason = engineText(finding.reason);
    const QString made = stringList(finding.fix).join(u", "_s);
    const auto paragraphs = [](const QString& first, const QString& second) {
        return u"<p>%1</p><p>%2</p>"_s.arg(first.toHtmlEscaped(), second.toHtmlEscaped());
    };
    fix->setToolTip(paragraphs(reason, made));
    fix->setAccessibleName(tr("Fix it: %1").arg(sentence->text()));
    fix->setAccessibleDescription(joined({reason, made}));
    connect(fix, &QToolButton::clicked, this, [this, finding] { check_->fix(finding); });
    row->addWidget(mark);
    row->addWidget(sentence, 1);
    row->addWidget(fix);
    line->setToolTip(paragraphs(engineText(finding.sentence), reason));
    layout()->addWidget(line);
}

}  // namespace ui
