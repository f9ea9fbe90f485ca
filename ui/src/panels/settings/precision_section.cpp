#include "panels/settings/precision_section.h"

#include <QApplication>
#include <QMenu>
#include <QToolButton>

#include "engine/settings/catalog.h"
#include "models/settings_model.h"
#include "text/language.h"
#include "text/precision_title.h"
#include "theme/icons.h"
#include "theme/theme.h"
#include "widgets/bit_strip.h"
#include "widgets/flow_layout.h"
#include "widgets/panel.h"

namespace ui {

PrecisionSection::PrecisionSection(const Context& context, QWidget* parent)
    : QWidget(parent), context_(context) {
    auto* column = makeColumn(this, {}, 1);
    row_ = new QWidget(this);
    new FlowLayout(row_, size::grid);
    column->addWidget(row_);
    problem_ = withName(makeSmall({}, "bad", this), u"fieldError"_s);
    problem_->setWordWrap(true);
    column->addWidget(problem_);
    leftOut_ = withName(makeSmall({}, "dim", this), u"leftOut"_s);
    leftOut_->setWordWrap(true);
    column->addWidget(leftOut_);
    column->addSpacing(size::grid);
    addWidgets(column, {new BitStrip(context_.theme, u"FP32"_s, 8, 23, this),
                        new BitStrip(context_.theme, u"FP16"_s, 5, 10, this)});
    tf32_ = new BitStrip(context_.theme, u"TF32"_s, 8, 10, this);
    column->addWidget(tf32_);
    bf16_ = new BitStrip(context_.theme, u"BF16"_s, 8, 7, this);
    column->addWidget(bf16_);
    auto* legend = makeSmall(tr("sign · exponent (range) · fraction (precision)"), "dim", this);
    legend->setWordWrap(true);
    column->addWidget(legend);
    connect(context_.settings, &SettingsModel::changed, this, &PrecisionSection::refreshIfOther);
    connect(context_.theme, &Theme::changed, this, &PrecisionSection::refresh);
    refresh();
}

void PrecisionSection::refreshIfOther() {
    QStringList now = context_.settings->comparison();
    now << context_.settings->text(u"precision.preset"_s);
    for (const auto& info : engine::precisions())
        now << context_.settings->lacking(QString::fromStdString(info.kind));
    for (const auto& run : context_.settings->comparisonConfigs())
        now << precisionTitle(run.precision);
    now << context_.settings->leftOutOfComparison();
    if (now == shown_) return;
    shown_ = now;
    refresh();
}

void PrecisionSection::refresh() {
    const bool focused = row_->isAncestorOf(QApplication::focusWidget());
    while (auto* item = row_->layout()->takeAt(0)) {
        item->widget()->deleteLater();
        delete item;
    }
    const QStringList presets = context_.settings->comparison();
    const auto runs = context_.settings->comparisonConfigs();
    for (qsizetype i = 0; i < presets.size(); ++i)
        addChip(presets[i], precisionTitle(runs[static_cast<std::size_t>(i)].precision));
    problem_->setText(context_.settings->comparisonProblem());
    problem_->setVisible(!problem_->text().isEmpty());
    const QStringList leftOut = context_.settings->leftOutOfComparison();
    leftOut_->setText(tr("Only in the single run: %1.").arg(leftOut.join(u", "_s)));
    leftOut_->setVisible(!leftOut.isEmpty());
    addPlus();
    // A chip that had the focus is gone: its place in the row keeps it.
    if (focused) row_->findChildren<QToolButton*>().constLast()->setFocus(Qt::OtherFocusReason);
    const QString single = context_.settings->text(u"precision.preset"_s);
    bool tf32 = false, bf16 = false;
    for (const auto& info : engine::precisions()) {
        const QString preset = QString::fromStdString(info.kind);
        if (!presets.contains(preset) && single != preset) continue;
        tf32 |= info.settings.tf32;
        bf16 |= info.settings.autocast == engine::AutocastFormat::bf16;
    }
    tf32_->setVisible(tf32);
    bf16_->setVisible(bf16);
}

void PrecisionSection::addChip(const QString& preset, const QString& title) {
    auto* chip = withName(new QToolButton(row_), u"chip"_s);
    chip->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    chip->setIconSize({12, 12});
    chip->setIcon(
        iconPixmap(u"dot"_s, context_.theme->precision(preset.toStdString()), size::icon, 2));
    if (const auto* info = engine::find_kind(engine::precisions(), preset.toStdString())) {
        chip->setText(title);
        chip->setToolTip(u"<p>"_s + engineText(info->summary).toHtmlEscaped() + u"</p>"_s);
    }
    const QString why = context_.settings->lacking(preset);
    chip->setProperty("refused", !why.isEmpty());
    if (!why.isEmpty()) {
        chip->setToolTip(why);
        chip->setAccessibleDescription(why);
    }
    chip->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(chip);
    auto* baseline = menu->addAction(tr("Make it the baseline"));
    connect(baseline, &QAction::triggered, this, [this, preset] {
        QStringList all = context_.settings->comparison();
        all.removeAll(preset);
        all.prepend(preset);
        context_.settings->setComparison(all);
    });
    auto* remove = menu->addAction(tr("Remove from the comparison"));
    remove->setEnabled(context_.settings->comparison().size() > 1);
    connect(remove, &QAction::triggered, this, [this, preset] {
        QStringList all = context_.settings->comparison();
        all.removeAll(preset);
        context_.settings->setComparison(all);
    });
    chip->setMenu(menu);
    row_->layout()->addWidget(chip);
}

void PrecisionSection::addPlus() {
    QList<QPair<QString, QString>> missing;
    for (const auto& info : engine::precisions()) {
        const QString preset = QString::fromStdString(info.kind);
        if (!context_.settings->comparison().contains(preset)) {
            missing.append({preset, engineText(info.title)});
        }
    }
    if (missing.isEmpty()) return;
    auto* plus = withName(new QToolButton(row_), u"chip"_s);
    plus->setIcon(themedIcon(*context_.theme, u"add"_s));
    plus->setIconSize({12, 12});
    plus->setAccessibleName(tr("Add a precision to the comparison"));
    plus->setToolTip(plus->accessibleName());
    plus->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(plus);
    menu->setToolTipsVisible(true);
    for (const auto& [preset, title] : missing) {
        const QString why = context_.settings->lacking(preset);
        auto* add = menu->addAction(why.isEmpty() ? title : tr("%1 – %2").arg(title, why));
        add->setToolTip(why);
        add->setEnabled(why.isEmpty());
        connect(add, &QAction::triggered, this, [this, preset = preset] {
            context_.settings->setComparison(QStringList(context_.settings->comparison())
                                             << preset);
        });
    }
    plus->setMenu(menu);
    row_->layout()->addWidget(plus);
}

}  // namespace ui
