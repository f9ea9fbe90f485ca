// Actions of the page's menu, keys and buttons.
#include <QKeyEvent>
#include <QMenu>

#include "commands/commands.h"
#include "engine/settings/catalog.h"
#include "feed/run_track.h"
#include "plots/plot_link.h"
#include "text/language.h"
#include "widgets/page_export.h"
#include "xray/search_dialog.h"
#include "xray/timeline.h"
#include "xray/xray_csv.h"
#include "xray/xray_page.h"

namespace ui {

using namespace Qt::StringLiterals;
using engine::ForcedType;
using engine::XrayOp;

namespace {

bool isIn(const XrayOp& op, ForcedType type) {
    const std::string& now = op.compute_dtype;
    return (type == ForcedType::fp16 && now == "f16") ||
           (type == ForcedType::bf16 && now == "bf16") ||
           (type == ForcedType::fp32 && now == "f32");
}

/// FP32 for what runs in 16 bits, else the 16-bit type of the run.
ForcedType otherType(const XrayOp& op, const std::string& precision) {
    if (isIn(op, ForcedType::fp16) || isIn(op, ForcedType::bf16)) return ForcedType::fp32;
    const bool brain = precision.find("bf16") != std::string::npos;
    return brain ? ForcedType::bf16 : ForcedType::fp16;
}

/// As precision.force names it.
std::string keyOf(const XrayOp& op) { return op.module.empty() ? op.op : op.module + ":" + op.op; }

/// Gradients follow the types of the forward pass, so only its operations can be forced.
bool canBeForced(const XrayOp& op) {
    if (op.pass != engine::XrayPass::forward) return false;
    return std::ranges::any_of(engine::ops(), [&](const engine::OpSummary& known) {
        return known.name == op.op && known.forceable;
    });
}

}  // namespace

void XrayPage::addForces(QMenu* menu, const XrayOp* op, const std::string& module) {
    const std::string key = op != nullptr ? keyOf(*op) : module;
    const QString title = op != nullptr ? QString::fromStdString(key)
                                        : tr("all of %1").arg(QString::fromStdString(module));
    for (const ForcedType type : {ForcedType::fp16, ForcedType::bf16, ForcedType::fp32}) {
        const bool already = op != nullptr && isIn(*op, type);
        auto* action =
            menu->addAction(already ? tr("Force %1 to %2 (already)").arg(title, typeTitle(type))
                                    : tr("Force %1 to %2 and rerun").arg(title, typeTitle(type)));
        action->setEnabled(!already);
        if (op != nullptr && type == otherType(*op, model_->ownPrecision()))
            action->setText(action->text() + u"\tF"_s);
        connect(action, &QAction::triggered, model_,
                [this, key, type] { model_->tryForced(key, type); });
    }
}

void XrayPage::openMenu(const QPoint& at) {
    if (tables_->currentWidget() != view_ || model_->view() != XrayView::own) return;
    const QModelIndex index = view_->indexAt(at);
    if (!index.isValid() || model_->busy()) return;
    QMenu menu(this);
    const XrayOp* op = tree_->op(index);
    const std::string module = tree_->moduleOf(index);
    if (op != nullptr && !op->why.empty()) {
        menu.addAction(engineText(op->why))->setEnabled(false);
        menu.addSeparator();
    }
    if (op != nullptr && canBeForced(*op)) {
        addForces(&menu, op, module);
        menu.addSeparator();
    }
    if (!module.empty()) addForces(&menu, nullptr, module);
    if (op != nullptr && !op->module.empty() && model_->track()) {
        menu.addSeparator();
        menu.addAction(tr("Show %1 in Microscope").arg(QString::fromStdString(op->module)), this,
                       [this, op] { showInMicroscope(*op); });
    }
    if (!menu.isEmpty()) menu.exec(view_->viewport()->mapToGlobal(at));
}

/// The modules get a little more of the width that the figures leave than the rules.
void XrayPage::shareWidth() {
    constexpr int leastModule = 250;
    int room = view_->viewport()->width();
    for (int column = 0; column < tree_->columnCount({}); ++column) {
        if (column != OpTree::module && column != OpTree::rule) room -= view_->columnWidth(column);
    }
    view_->setColumnWidth(OpTree::module, std::max(leastModule, room * 11 / 20));
}

bool XrayPage::eventFilter(QObject* watched, QEvent* event) {
    // The viewport's, not the view's: that comes before its viewport has the new width.
    if (watched == view_->viewport() && event->type() == QEvent::Resize) shareWidth();
    const bool press = event->type() == QEvent::KeyPress;
    if (watched != view_ || (!press && event->type() != QEvent::ShortcutOverride))
        return QWidget::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() != Qt::Key_F || key->modifiers() != Qt::NoModifier)
        return QWidget::eventFilter(watched, event);
    event->accept();  // of the override: the key comes here, not to the menu
    if (press) forceOther();
    return true;
}

/// On the current row.
void XrayPage::forceOther() {
    const QModelIndex index = view_->currentIndex();
    const XrayOp* op = tree_->op(index);
    if (op == nullptr || model_->busy() || !canBeForced(*op)) return;
    if (tables_->currentWidget() != view_ || model_->view() != XrayView::own) return;
    model_->tryForced(keyOf(*op), otherType(*op, model_->ownPrecision()));
}

void XrayPage::showInMicroscope(const XrayOp& op) {
    context_.link->selectLayer(QString::fromStdString(op.module));
    const std::int64_t step = model_->ownTrace()->step;
    if (step <= model_->track()->rows()) context_.link->select(step, model_->track());
    context_.commands->showPage(u"microscope"_s);
}

void XrayPage::openSearch() {
    if (!dialog_) dialog_ = new SearchDialog(context_, model_, this);
    dialog_->show();
    dialog_->raise();
    dialog_->activateWindow();
}

QString XrayPage::csv() const {
    if (model_->view() != XrayView::difference)
        return model_->trace() ? xrayCsv(*model_->trace(), filterBy_) : QString();
    if (!model_->ownTrace() || !model_->otherTrace()) return {};
    return xrayCsv(*model_->ownTrace(), *model_->otherTrace(), filterBy_);
}

void XrayPage::exportFigures() {
    if (!model_->trace()) return;
    PageExport page;
    page.name = u"xray-%1-step-%2"_s.arg(
        model_->track() ? QString::fromStdString(model_->track()->run()) : u"settings"_s,
        QString::number(model_->trace()->step));
    page.csv = [this] { return csv(); };
    page.plots = timeline_;
    page.write = [this](const QString& file, FileWriter writer) {
        context_.commands->works()->write(file, std::move(writer));
    };
    exportPage(this, page);
}

void XrayPage::reveal(const XrayOp* op) {
    const std::function<bool(const QModelIndex&)> find = [&](const QModelIndex& parent) {
        for (int row = 0; row < tree_->rowCount(parent); ++row) {
            const QModelIndex index = tree_->index(row, 0, parent);
            if (tree_->op(index) == op) {
                view_->setCurrentIndex(index);
                view_->scrollTo(index, QAbstractItemView::PositionAtCenter);
                return true;
            }
            if (find(index)) return true;
        }
        return false;
    };
    find({});
}

}  // namespace ui
