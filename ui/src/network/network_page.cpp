#include <QMenu>
#include <QPushButton>
#include <QWidget>

#include "engine/network/network.h"
#include "models/settings_model.h"
#include "network/network_columns.h"
#include "network/network_editor.h"
#include "network/network_foot.h"
#include "network/network_model.h"
#include "network/network_sheet.h"
#include "text/format.h"
#include "theme/theme.h"
#include "view/context.h"
#include "widgets/elided_label.h"
#include "widgets/key_bindings.h"
#include "widgets/panel.h"

namespace ui {
namespace {

/// A network as text, checked while it is written, with its shapes and its drawing beside it.
class NetworkPage final : public QWidget {
    Q_DECLARE_TR_FUNCTIONS(ui::NetworkPage)
public:
    explicit NetworkPage(const Context& context, QWidget* parent);

private:
    QLayout* makeBar();
    void addKeys();
    void begin();
    void refresh();

    Context context_;
    NetworkModel* model_;
    NetworkSheet* sheet_;
    QFrame* makeTemplateBar();
    QPushButton* template_ = nullptr;
    QFrame* readOnly_ = nullptr;
    ElidedLabel* totals_ = nullptr;
};

}  // namespace

QWidget* makeNetworkPage(const Context& context, QWidget* parent) { return new NetworkPage(context, parent); }

NetworkPage::NetworkPage(const Context& context, QWidget* parent)
    : QWidget(parent), context_(context), model_(kept<NetworkModel>(context, this)), sheet_(new NetworkSheet(context.theme, model_, this)) {
    auto* column = makeColumn(this, {}, size::gap);
    column->addLayout(makeBar());
    readOnly_ = makeTemplateBar();
    column->addWidget(readOnly_);
    column->addWidget(sheet_, 1);
    column->addWidget(new NetworkFoot(model_, sheet_->editor(), this));
    addKeys();
    connect(model_, &NetworkModel::checked, this, &NetworkPage::refresh);
    connect(model_, &NetworkModel::readOnlyChanged, this, [this] { readOnly_->setVisible(model_->isReadOnly()); });
    if (model_->text().isEmpty()) begin();
    refresh();
}

QLayout* NetworkPage::makeBar() {
    auto* row = makeRow(size::gap);
    template_ = new QPushButton(tr("Template"), this);
    template_->setToolTip(tr("Begin with a network that comes with the program"));
    auto* menu = new QMenu(template_);
    for (const std::string& name : engine::network_templates())
        connect(menu->addAction(QString::fromStdString(name)), &QAction::triggered, this, [this, name] {
            model_->setText(QString::fromStdString(engine::network_template(name)));
            model_->setReadOnly(false);
            sheet_->editor()->setFocus();
        });
    template_->setMenu(menu);
    totals_ = new ElidedLabel(this);
    totals_->setAccessibleName(tr("Totals"));
    totals_->setProperty("role", u"dim"_s);
    row->addWidget(template_);
    row->addWidget(totals_, 1);
    return row;
}

QFrame* NetworkPage::makeTemplateBar() {
    auto* bar = withName(new QFrame(this), u"guide"_s);
    auto* row = makeRow(bar, {size::inside, size::grid, size::inside, size::grid}, size::gap);
    row->addWidget(makeProse(tr("A network that comes with the program. It can be read here; a copy can be changed.")), 1);
    auto* edit = new QPushButton(tr("Edit a copy"), bar);
    row->addWidget(edit);
    connect(edit, &QPushButton::clicked, this, [this] {
        model_->setReadOnly(false);
        sheet_->editor()->setFocus();
    });
    bar->setVisible(model_->isReadOnly());
    return bar;
}

void NetworkPage::addKeys() {
    NetworkEditor* editor = sheet_->editor();
    addPageKey(this, u"network/next-error"_s, tr("Next error"), {Qt::Key_F8}, [editor] { editor->goToFault(true); });
    addPageKey(this, u"network/previous-error"_s, tr("Previous error"), {Qt::SHIFT | Qt::Key_F8}, [editor] { editor->goToFault(false); });
    addPageKey(this, u"network/replace"_s, tr("Replace the error at the cursor"), {Qt::ALT | Qt::Key_Return, Qt::ALT | Qt::Key_Enter},
               [editor] { editor->replaceAtCursor(); });
    addPageKey(this, u"network/next-run"_s, tr("Next use of the block"), {Qt::ALT | Qt::Key_Right}, [editor] { editor->stepRun(1); });
    addPageKey(this, u"network/previous-run"_s, tr("Previous use of the block"), {Qt::ALT | Qt::Key_Left}, [editor] { editor->stepRun(-1); });
}

/// The template of the chosen model, if it has one.
void NetworkPage::begin() {
    const auto names = engine::network_templates();
    const std::string& kind = context_.settings->config().model.kind;
    const bool known = std::ranges::find(names, kind) != names.end();
    model_->setText(QString::fromStdString(engine::network_template(known ? kind : "lenet")));
    model_->setReadOnly(true);
}

void NetworkPage::refresh() {
    const auto& network = model_->good().network;
    totals_->setText(tr("%1 layers · %2 parameters · %3 for one sample · result %4")
                         .arg(count(std::ssize(network.rows)), count(network.parameter_count()), flopsText(network.flops()),
                              network.shape.empty() ? unmeasured() : shapeText(network.shape)));
    totals_->setEnabled(!model_->isStale());
}

}  // namespace ui
